import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { endGroup, trackChild } from './child-processes.ts'
import { root, Trouble } from './project.ts'

const script = `${root}node_modules/wrangler/bin/wrangler.js`
const stopWithinMs = 10_000

/** A running `wrangler dev`. */
export interface Wrangler {
  /** Resolves when it has ended, asked to or not. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Brings the local database to the newest migration. */
export async function applyMigrations(): Promise<void> {
  const child = run(['d1', 'migrations', 'apply', 'DB', '--local'])
  let output = ''
  child.onLine((line) => {
    output += `${line}\n`
  })
  if ((await child.ended) !== 0) throw new Trouble(`The migrations could not be applied:\n${output.trim()}`)
}

/** Starts the Worker and resolves when it answers. `nodes` overrides `TRON_NODES` of `.dev.vars` where it is not null. */
export async function startWorker(port: number, nodes: string | null, say: (line: string) => void): Promise<Wrangler> {
  const override = nodes === null ? [] : ['--var', `TRON_NODES:${nodes}`]
  const child = run([
    'dev',
    '--ip',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--show-interactive-dev-session=false',
    ...override,
  ])
  const before: string[] = [] // the banner and the list of bindings: worth showing only where the start fails
  const ready = new Promise<'ready'>((resolve) => {
    let isReady = false
    child.onLine((line) => {
      if (isReady) return say(line)
      before.push(line)
      if (line.includes('Ready on')) {
        isReady = true
        resolve('ready')
      }
    })
  })
  const outcome = await Promise.race([ready, child.ended])
  if (outcome !== 'ready') throw new Trouble(`wrangler dev did not start:\n${before.join('\n').trim()}`)
  return { ended: child.ended.then(() => {}), stop: child.stop }
}

function run(args: readonly string[]) {
  if (!existsSync(script)) throw new Trouble('wrangler is not installed: run "npm ci" and start again.')
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', CI: '1' } // CI: ask nothing, go on
  // A process group of its own: Ctrl-C reaches the parent alone, which then stops its children in order.
  const child = spawn(process.execPath, [script, ...args], { cwd: root, env, detached: true })
  trackChild(child)
  const listeners: ((line: string) => void)[] = []
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) for (const listener of listeners) listener(line)
    })
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', (code) => resolve(code))
  })
  return {
    ended,
    onLine: (listener: (line: string) => void) => {
      listeners.push(listener)
    },
    async stop() {
      const { pid } = child
      if (pid === undefined) return
      child.kill('SIGTERM')
      const killed = setTimeout(() => endGroup(pid, 'SIGKILL'), stopWithinMs)
      await ended
      clearTimeout(killed)
      endGroup(pid, 'SIGKILL') // workerd, where wrangler left it behind
    },
  }
}
