import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { childEnvironment, lastPrinted, wranglerVariables } from '../../src/commands/child-environment.ts'
import { endGroup, trackChild } from './child-processes.ts'
import { root, UserError } from './project.ts'

const script = `${root}node_modules/wrangler/bin/wrangler.js`

/** Starts wrangler in a folder, without questions and telemetry. It ends when this process ends. */
function spawnWrangler(args: readonly string[], cwd = root): ChildProcessByStdio<null, Readable, Readable> {
  if (!existsSync(script)) throw new UserError('wrangler is not installed: run "npm ci" and start again.')
  const env = childEnvironment({ ...wranglerVariables, WRANGLER_SEND_METRICS: 'false' })
  // Its own process group: Ctrl-C then reaches only this process, which stops its children in
  // order.
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  trackChild(child)
  return child
}

/** Long, because wrangler also builds the pages. */
const endMsMax = 300_000

/**
 * Runs wrangler to its end; returns what it printed. Throws a `UserError` that begins with
 * `failure` if it fails or takes longer than `endMsMax`.
 */
export async function runWrangler(args: readonly string[], failure: string, cwd = root): Promise<string> {
  const child = spawnWrangler(args, cwd)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) endGroup(child.pid, 'SIGKILL')
  }, endMsMax)
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  clearTimeout(timer)
  if (isLate) {
    throw new UserError(
      `${failure}: "wrangler ${args.join(' ')}" did not end within ${endMsMax / 1000} s; ${lastPrinted(output)}.`,
    )
  }
  if (code !== 0) throw new UserError(`${failure}:\n${output.trim()}`)
  return output
}
