import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { root, Trouble, workDir } from './project.ts'

const wrangler = `${root}node_modules/wrangler/bin/wrangler.js`
const buildWithinMs = 90_000
const live = new Set<ChildProcess>()

/** The Workers of the benchmark, by file name. */
export type BenchWorker = 'bare' | 'counting' | 'crediting' | 'deriving'

/** A Worker as `wrangler deploy` would upload it. */
export interface Bundle {
  readonly script: string
  readonly bytes: number
  readonly gzippedBytes: number
}

/** The service: the very bundle that a deployment gets. */
export async function bundleService(): Promise<Bundle> {
  const folder = `${workDir}bundles/service`
  await runWrangler(['deploy', '--dry-run', '--minify', '--env=', '--outdir', folder])
  return read(`${folder}/index.js`)
}

/** One of the Workers in `workers/`. */
export async function bundleWorker(name: BenchWorker): Promise<Bundle> {
  const folder = `${workDir}bundles/${name}`
  const here = `${root}test/bench/workers`
  const entry = `${here}/${name}.ts`
  await runWrangler(['deploy', entry, '--dry-run', '--minify', '--config', `${here}/wrangler.toml`, '--outdir', folder])
  return read(`${folder}/${name}.js`)
}

/** Runs wrangler without the network's help and gives what it printed. */
export async function runWrangler(args: readonly string[]): Promise<string> {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', CI: '1' }
  // A process group of its own, so that what wrangler starts ends with it.
  const child = spawn(process.execPath, [wrangler, ...args], { cwd: root, env, timeout: buildWithinMs, detached: true })
  live.add(child)
  child.once('exit', () => live.delete(child))
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
  if (code !== 0) throw new Trouble(`wrangler ${args[0]} failed:\n${output.trim()}`)
  return output
}

/** Ends whatever wrangler is still doing. */
export function stopBundling(): void {
  for (const { pid } of live) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGTERM')
    } catch {
      // it ended by itself
    }
  }
}

function read(path: string): Bundle {
  const script = readFileSync(path, 'utf8')
  return { script, bytes: Buffer.byteLength(script), gzippedBytes: gzipSync(script).length }
}
