/**
 * The Worker and its static files as `npm start` and the tests of pages run them: built once, and
 * kept while their sources are the same. wrangler, which takes seconds to load, is loaded only for
 * a build, in a process of its own.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { V4WorkerOptions } from 'miniflare'
import { parseJson } from '../../src/worker/common/result.ts'
import { trackChild } from '../support/child-processes.ts'
import { root, UserError } from '../support/project.ts'

/** A build of the Worker, which Miniflare runs. */
export interface WorkerBuild {
  /** The one script of the Worker. */
  readonly script: string
  /** The Worker in wrangler's configuration, and its static files. */
  readonly options: Omit<V4WorkerOptions, 'modules' | 'script' | 'scriptPath' | 'bindings'>
  /** The variables of wrangler's configuration, without those of `.dev.vars`. */
  readonly bindings: Readonly<Record<string, string>>
  /** The ids of its databases on this machine. */
  readonly databases: readonly string[]
}

interface KeptBuild extends WorkerBuild {
  /** The hash of all that the build is made of. */
  readonly sources: string
  /** The hash of the static files that belong to it. */
  readonly assets: string
}

/** The sources of a build, beside wrangler's configuration. */
const sources = [
  'src/**/*',
  'test/http/openapi/{build,licences}.ts',
  'test/devnet/build-worker.ts',
  'package-lock.json',
]

/**
 * Builds the Worker of wrangler's configuration in `folder` and the static files, unless those that
 * are kept are of the same sources. Throws a `UserError` with what a build has printed if it fails.
 */
export async function keepBuild(folder: string): Promise<WorkerBuild> {
  const config = ['wrangler.toml', 'wrangler.json'].map((name) => `${folder}${name}`).find((path) => existsSync(path))
  if (config === undefined) throw new UserError(`${folder} has no configuration of wrangler.`)
  const kept = `${folder}.wrangler/kept-build.json`
  const key = hashOf([config, ...globSync(sources, { cwd: root }).map((path) => `${root}${path}`)])
  const before = existsSync(kept) ? (parseJson(readFileSync(kept, 'utf8')) as KeptBuild | undefined) : undefined
  const isSame = before?.sources === key
  if (before !== undefined && isSame && before.assets === hashOfAssets()) return before
  const [printed] = await Promise.all([
    isSame ? JSON.stringify(before) : run('test/devnet/build-worker.ts', config),
    run('test/http/openapi/build.ts'),
  ])
  const made = JSON.parse(printed) as WorkerBuild // safe: `build-worker.ts` prints one
  const build: KeptBuild = { ...made, sources: key, assets: hashOfAssets() }
  mkdirSync(`${folder}.wrangler`, { recursive: true })
  writeFileSync(`${kept}.${process.pid}`, JSON.stringify(build))
  renameSync(`${kept}.${process.pid}`, kept)
  return build
}

const hashOfAssets = () => hashOf(globSync('.assets/**/*', { cwd: root }).map((path) => `${root}${path}`))

/** A hash of files, by their names and their content. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of paths.toSorted()) {
    if (!statSync(path).isFile()) continue
    const content = readFileSync(path)
    hash.update(`${path} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/** Runs a program of this project to its end; returns what it printed. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [`${root}${program}`, ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  trackChild(child)
  let [printed, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new UserError(`The Worker could not be built (${program}):\n${errors.trim()}`)
  return printed
}
