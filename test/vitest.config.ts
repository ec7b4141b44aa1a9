import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { projects } from './projects.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const configPath = `${root}wrangler.toml`
const migrations = await readD1Migrations(`${root}migrations`)

/**
 * Lets requests to this machine pass, because the local chain runs here. All other requests fail.
 */
const loopbackOnly = async (request: Request) =>
  new URL(request.url).hostname === '127.0.0.1'
    ? fetch(request.url, { method: request.method, headers: request.headers, body: await request.arrayBuffer() })
    : closedNetwork(request)

/** Answers requests that no test has scripted: with a failure that names the URL. */
const closedNetwork = (request: { readonly url: string }) =>
  new Response(`the network is closed in tests: ${request.url}`, { status: 599 })

/**
 * Runs the test files of a project in workerd, with three databases and a bucket. Each project
 * starts another workerd.
 */
const inWorkerd = (outboundService: (request: Request) => Response | Promise<Response>) =>
  cloudflareTest({
    wrangler: { configPath },
    miniflare: {
      bindings: { MIGRATIONS: migrations },
      d1Databases: ['DB_2', 'DB_3'],
      r2Buckets: ['ARCHIVE_BUCKET'],
      outboundService,
    },
  })

/**
 * A folder in memory, which some machines have. With a folder on a disk, tests of D1 spend a third
 * of their time waiting for commits.
 */
const memoryFolder = '/dev/shm'
const memoryBytesMin = 2 ** 30
const folderPrefix = 'wallet-tests-'

/**
 * Whether a folder has `memoryBytesMin` free bytes and allows programs in it to be run, because
 * tests write programs.
 */
function isUsable(folder: string): boolean {
  const program = `${folder}/${folderPrefix}${process.pid}`
  try {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(program, '', { mode: 0o700 })
    accessSync(program, constants.X_OK)
    return bavail * bsize >= memoryBytesMin
  } catch {
    return false // the folder does not exist, cannot be written, or does not allow programs to be run
  } finally {
    rmSync(program, { force: true })
  }
}

/**
 * The temporary files of all tests are in one folder, which is removed at the end of this process.
 */
function makeTemporaryFolder(): void {
  // this file is loaded several times, and the folder was made the first time
  if (tmpdir().includes(folderPrefix)) return
  const folder = mkdtempSync(`${isUsable(memoryFolder) ? memoryFolder : tmpdir()}/${folderPrefix}`)
  process.env.TMPDIR = folder
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // a killed process may still be writing into the folder; files that stay are no reason for
      // the tests to fail
    }
  })
}
makeTemporaryFolder()
// with it, commands that tests start need a quarter less time to begin
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/node`

export default defineConfig({
  root,
  test: {
    silent: 'passed-only',
    maxWorkers: 3, // one more than a small machine has cores, because test files often wait for a chain or a command
    testTimeout: 180_000, // only so that a test that hangs ends; speed is measured by the benchmark, not by tests
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } }, // long, because a busy machine can be slow
    projects: [
      // tests that check the source with other programs, such as compilers
      { extends: true, test: { name: 'checks', ...projects.checks } },
      {
        extends: true,
        test: {
          name: 'simulation', // in separate processes, because it patches the source and the derivation of keys
          ...projects.simulation,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          // files share a process, because none keeps state in a module; a process for each file
          // took a quarter of the time
          isolate: false,
          ...projects.unit,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(closedNetwork)],
        test: {
          name: 'worker',
          // files share an isolate, because none keeps state in a module; an isolate for each file
          // took more than half of the time
          isolate: false,
          ...projects.worker,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(closedNetwork)],
        test: {
          // a separate project, because it runs files of `worker` again, and an isolate evaluates
          // each module only once
          name: 'cells',
          ...projects.cells,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(loopbackOnly)],
        test: {
          // a separate project, because its tests change the environment of the Durable Objects,
          // whose alarms go on after a test
          name: 'integration',
          ...projects.integration,
          globalSetup: 'test/integration/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'pages',
          isolate: false, // the files of a process share one open page of the browser
          ...projects.pages,
          globalSetup: 'test/pages/global-setup.ts',
        },
      },
    ],
  },
})
