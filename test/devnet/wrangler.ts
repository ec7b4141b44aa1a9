import { createInterface } from 'node:readline'
import { endGroup } from '../support/child-processes.ts'
import { UserError } from '../support/project.ts'
import { runWrangler, spawnWrangler } from '../support/wrangler.ts'

const stopTimeoutMs = 10_000

/** A running `wrangler dev`. */
export interface LocalWorker {
  /** Resolves when it has ended for any reason. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Applies all missing migrations to the local database. */
export async function applyMigrations(): Promise<void> {
  await runWrangler(['d1', 'migrations', 'apply', 'DB', '--local'], 'The migrations could not be applied')
}

/**
 * Starts the Worker; resolves when it accepts requests. `changes` replace variables of `.dev.vars`, where they are not null.
 * `print` gets every later line of its output.
 */
export async function startWorker(
  port: number,
  changes: Readonly<Record<string, string | null>>,
  print: (line: string) => void,
): Promise<LocalWorker> {
  const override = Object.entries(changes).flatMap(([name, value]) =>
    value === null ? [] : ['--var', `${name}:${value}`],
  )
  const options = ['--ip', '127.0.0.1', '--port', `${port}`, '--show-interactive-dev-session=false', ...override]
  const child = spawnWrangler(['dev', ...options])
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  const startLines: string[] = [] // the banner and the list of bindings: printed only if the start fails
  const ready = new Promise<'ready'>((resolve) => {
    let isReady = false
    const read = (line: string) => {
      if (isReady) return print(line)
      startLines.push(line)
      isReady = line.includes('Ready on')
      if (isReady) resolve('ready')
    }
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read)
  })
  if ((await Promise.race([ready, ended])) !== 'ready') {
    throw new UserError(`wrangler dev did not start:\n${startLines.join('\n').trim()}`)
  }
  return {
    ended,
    async stop() {
      const { pid } = child
      if (pid === undefined) return
      child.kill('SIGTERM')
      const killTimer = setTimeout(() => endGroup(pid, 'SIGKILL'), stopTimeoutMs)
      await ended
      clearTimeout(killTimer)
      endGroup(pid, 'SIGKILL') // wrangler can leave workerd running
    },
  }
}
