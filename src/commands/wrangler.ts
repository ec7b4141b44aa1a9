import { spawn } from 'node:child_process'
import { parseJson } from '../worker/common/result.ts'
import { childEnvironment, lastPrinted, wranglerVariables } from './child-environment.ts'
import type { CommandOutput } from './command-output.ts'

export interface WranglerEnd {
  /** Null if wrangler did not start, or was ended after its time limit. */
  readonly code: number | null
  /** The standard output of wrangler only. */
  readonly out: string
  /** The standard output and the standard error of wrangler, as they arrived. */
  readonly output: string
  /** Why there is no exit code, in a phrase; null if there is one. */
  readonly failure: string | null
}

/** Time limit for a command that queries a database, in milliseconds. */
export const queryMsMax = 120_000
/**
 * Time limit for a command that deploys: it builds and uploads, and D1 applies migrations one by
 * one.
 */
export const deployMsMax = 1_800_000

/**
 * Runs one wrangler command without questions, because nobody can answer them in a build. Its
 * output is also passed on to `shownOn`.
 */
export async function runWrangler(
  args: readonly string[],
  msMax: number,
  shownOn?: CommandOutput,
): Promise<WranglerEnd> {
  const env = childEnvironment(wranglerVariables)
  const child = spawn('wrangler', args, { env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let [out, output] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    output += chunk.toString()
    shownOn?.stdout.write(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    shownOn?.stderr.write(chunk)
  })
  let failure: string | null = null
  const timer = setTimeout(() => {
    failure = `wrangler ${args.slice(0, 2).join(' ')} did not end within ${msMax / 1000} s; ${lastPrinted(output)}`
    child.kill('SIGKILL')
    // programs that wrangler started may keep the streams open
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
  }, msMax)
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => {
      failure = 'wrangler did not start' // there is no such program, so there is no output
      resolve(null)
    })
    child.once('close', resolve)
  })
  clearTimeout(timer)
  return { code: failure === null ? code : null, out, output, failure }
}

/**
 * The JSON value in a program's output that `read` accepts, or undefined. Other lines may come
 * before and after it.
 */
export function jsonAmong<T>(output: string, read: (value: unknown) => T | undefined): T | undefined {
  const lines = output.split('\n')
  const starts = lines.flatMap((line, i) => (/^[[{]/.test(line) ? [i] : []))
  const ends = lines.flatMap((line, i) => (/^\S*[\]}]\s*$|^[[{].*[\]}]\s*$/.test(line) ? [i + 1] : [])).reverse()
  for (const start of starts) {
    for (const end of ends) {
      const value = end > start ? read(parseJson(lines.slice(start, end).join('\n'))) : undefined
      if (value !== undefined) return value
    }
  }
  return undefined
}
