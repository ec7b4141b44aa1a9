import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../support/project.ts'
import { runWrangler } from '../support/wrangler.ts'

/**
 * The folder for bundles and for the databases of the benchmark. Git ignores it, and it can be
 * deleted at any time.
 */
export const workDir = `${root}.wrangler/bench/`

/** The Workers of the benchmark, by their file names in `workers/`. */
export type BenchWorker = 'bare' | 'writing'

/** A bundled Worker: the one script that `wrangler deploy` uploads. */
export interface Bundle {
  readonly script: string
  readonly bytes: number
  readonly gzippedBytes: number
}

/**
 * Bundles the service as a deployment does. Each call has a folder of its own, so that two can run
 * at the same time.
 */
export async function bundleService(): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'service-bundle-'))
  const options = ['--dry-run', '--minify', '--env=', '--outdir', folder]
  try {
    await runWrangler(['deploy', ...options], 'The service could not be bundled')
    return read(`${folder}/index.js`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Bundles one of the Workers in `workers/`, into a folder that each call for the same Worker
 * overwrites.
 */
export async function bundleWorker(name: BenchWorker): Promise<Bundle> {
  const folder = `${workDir}bundles/${name}`
  const sources = `${root}test/bench/workers`
  const options = ['--dry-run', '--minify', '--config', `${sources}/wrangler.toml`, '--outdir', folder]
  await runWrangler(['deploy', `${sources}/${name}.ts`, ...options], `The Worker ${name} could not be bundled`)
  return read(`${folder}/${name}.js`)
}

function read(path: string): Bundle {
  const script = readFileSync(path, 'utf8')
  return { script, bytes: Buffer.byteLength(script), gzippedBytes: gzipSync(script).length }
}
