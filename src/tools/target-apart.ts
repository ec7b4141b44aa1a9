import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Result } from '../common/result.ts'
import type { Bindings } from '../config/schemas.ts'
import type { ToolRefusal } from './tool-error.ts'

/** On what a command acts: its first line, the chain id, or null if none is configured, and the settings as they were read. */
export interface Target {
  readonly line: string
  readonly chainId: string | null
  readonly values: Bindings
}

/** Reads on what a command acts; undefined is this machine. */
export type TargetReader = (env: string | undefined) => Promise<Result<Target, ToolRefusal>>

const script = fileURLToPath(new URL('./print-target.ts', import.meta.url).href)

/**
 * Reads on what a command acts in a process of its own, which ends before this returns: wrangler, with all that it loads, is never
 * in a process that reads a mnemonic.
 */
export const readTargetApart: TargetReader = (env) =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [script, JSON.stringify({ env })], (error, out) => {
      if (error === null)
        resolve(JSON.parse(out)) // what the script writes
      else reject(error)
    })
  })
