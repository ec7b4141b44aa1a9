import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { endGroup } from '../support/child-processes.ts'
import { UserError } from '../support/project.ts'
import { runWrangler, spawnWrangler } from '../support/wrangler.ts'

const stopTimeoutMs = 10_000

/** A running `wrangler dev`. */
export interface LocalWorker {
  /** Resolves when `wrangler dev` has ended for any reason. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/**
 * Applies all missing migrations to the local databases with these bindings in the configuration of
 * a folder.
 */
export async function applyMigrations(folder: string, bindings: readonly string[]): Promise<void> {
  for (const binding of bindings) {
    await runWrangler(['d1', 'migrations', 'apply', binding, '--local'], 'The migrations could not be applied', folder)
  }
}

/** How long the Worker may take until it answers: wrangler builds the pages before it starts. */
const readyMsMax = 120_000
const lookMs = 200

/**
 * Starts the Worker of a folder; resolves when it answers a request, whatever wrangler prints.
 * `changes` replace variables of `.dev.vars`. `print` gets every later line of its output.
 */
export async function startWorker(
  folder: string,
  port: number,
  changes: Readonly<Record<string, string>>,
  print: (line: string) => void,
): Promise<LocalWorker> {
  const override = Object.entries(changes).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const options = ['--ip', '127.0.0.1', '--port', `${port}`, '--show-interactive-dev-session=false', ...override]
  const child = spawnWrangler(['dev', ...options], folder)
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  const startLines: string[] = [] // the banner and the list of bindings: printed only if the start fails
  let take = (line: string): void => void startLines.push(line)
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', (line) => take(line))
  const end = await waitForAnswer(`http://127.0.0.1:${port}/health`, ended, readyMsMax)
  const printed = startLines.join('\n').trim()
  if (end === 'ended') throw new UserError(`wrangler dev did not start:\n${printed}`)
  if (end === 'late') {
    throw new UserError(
      `wrangler dev runs, and port ${port} did not answer within ${readyMsMax / 1000} s. It has printed:\n${printed || 'nothing'}`,
    )
  }
  take = print
  return {
    ended,
    async stop() {
      const { pid } = child
      if (pid === undefined) return
      child.kill('SIGTERM')
      const killTimer = globalThis.setTimeout(() => endGroup(pid, 'SIGKILL'), stopTimeoutMs)
      await ended
      clearTimeout(killTimer)
      endGroup(pid, 'SIGKILL') // wrangler can leave workerd running
    },
  }
}

/** Asks a URL until it answers, the program has ended, or `msMax` has passed. */
export async function waitForAnswer(
  url: string,
  ended: Promise<void>,
  msMax: number,
): Promise<'answered' | 'ended' | 'late'> {
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  const end = Date.now() + msMax
  while (!hasEnded && Date.now() < end) {
    const signal = AbortSignal.timeout(end - Date.now())
    const answer = await Promise.race([fetch(url, { signal }).catch(() => null), ended])
    if (answer) return 'answered'
    await setTimeout(lookMs)
  }
  return hasEnded ? 'ended' : 'late'
}
