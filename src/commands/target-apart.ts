import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { err, type Result } from '../worker/common/result.ts'
import type { Bindings } from '../worker/config/schemas.ts'
import { lastPrinted } from './child-environment.ts'
import type { PlaceRef } from './place.ts'
import type { ToolRefusal } from './tool-error.ts'

/**
 * What a command works on. `line` says it in words, as the first line that the command prints.
 * `chainId` is null if none is configured. `values` are the variables of the chosen cell, not yet
 * checked.
 */
export interface Target {
  readonly line: string
  readonly place: PlaceRef
  readonly chainId: string | null
  readonly values: Bindings
}

/**
 * Reads the target of a command: an environment, where undefined is this machine, and the cell as
 * it was typed.
 */
export type TargetReader = (env: string | undefined, cell: string | undefined) => Promise<Result<Target, ToolRefusal>>

const script = fileURLToPath(new URL('./print-target.ts', import.meta.url).href)

/** Time limit for reading the target, in milliseconds. Wrangler loads in one second. */
const readMsMax = 60_000

/**
 * Reads the target of a command in a process of its own, which ends before this returns. So
 * wrangler, with everything that it loads, is never in a process that reads a mnemonic. The answer
 * comes through a channel of its own, which no program can spoil by printing.
 */
export const readTargetApart: TargetReader = (env, cell) =>
  new Promise((resolve) => {
    const child = fork(script, [JSON.stringify({ env, cell })], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let printed = ''
    let answer: Result<Target, ToolRefusal> | null = null
    let why = 'the program that reads the configuration ended without an answer'
    child.stderr?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    const timer = setTimeout(() => {
      why = `the configuration was not read within ${readMsMax / 1000} s`
      child.kill('SIGKILL')
    }, readMsMax)
    child.once('message', (message) => {
      answer = message as Result<Target, ToolRefusal> // safe: print-target.ts sends nothing else
    })
    const end = () => {
      clearTimeout(timer)
      resolve(answer ?? err({ why: `${why}; ${lastPrinted(printed)}`, next: 'run "npm ci", then this command again' }))
    }
    child.once('error', end)
    child.once('close', end)
  })
