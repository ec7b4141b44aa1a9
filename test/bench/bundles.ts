import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../support/project.ts'
import { runWrangler } from '../support/wrangler.ts'

/** Bundles, seeded databases and running ones. Git ignores the folder, and it can be deleted at any time. */
export const workDir = `${root}.wrangler/bench/`

/** The Workers of the benchmark, by file name. */
export type BenchWorker = 'bare' | 'writing'

/** A Worker as `wrangler deploy` uploads it. */
export interface Bundle {
  readonly script: string
  readonly bytes: number
  readonly gzippedBytes: number
}

/** The service, in the same bundle as a deployment. Two tests can make it at the same time, each in a folder of its own. */
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

/** One of the Workers in `workers/`. */
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
