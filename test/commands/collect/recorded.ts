import { readFileSync } from 'node:fs'
import { root } from '../../support/project.ts'

/** A recorded call of the HTTP API (test/recordings/collecting). */
export interface RecordedApiCall {
  readonly name: string
  readonly path: string
  readonly request: Readonly<Record<string, unknown>>
  readonly response: Readonly<Record<string, unknown>>
}

/** All recorded calls of a file, by its name without `.json`. */
export function recordedCalls(file: string): readonly RecordedApiCall[] {
  // safe: the files have this form
  return JSON.parse(readFileSync(`${root}test/recordings/collecting/${file}.json`, 'utf8'))
}

/** One recorded call of a file. Throws if the file has no call of this name. */
export function recordedCall(file: string, name: string): RecordedApiCall {
  const call = recordedCalls(file).find((one) => one.name === name)
  if (call === undefined) throw new Error(`no recording ${name} in ${file}`)
  return call
}
