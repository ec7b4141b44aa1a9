import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { trackChild } from './child-processes.ts'
import { root, UserError } from './project.ts'

const script = `${root}node_modules/wrangler/bin/wrangler.js`

/** Starts wrangler in the project's root, without questions and telemetry. It ends with this process. */
export function spawnWrangler(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
  if (!existsSync(script)) throw new UserError('wrangler is not installed: run "npm ci" and start again.')
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', CI: '1' } // CI: no questions
  // In a process group of its own: Ctrl-C reaches only this process, which then stops its children in order.
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  trackChild(child)
  return child
}

/** Runs wrangler to its end and returns its output. A failure is a `UserError` with the output. */
export async function runWrangler(args: readonly string[], failure: string): Promise<string> {
  const child = spawnWrangler(args)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  if (code !== 0) throw new UserError(`${failure}:\n${output.trim()}`)
  return output
}
