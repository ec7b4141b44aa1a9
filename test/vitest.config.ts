import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { projects } from './projects.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const configPath = `${root}wrangler.toml`
const migrations = await readD1Migrations(`${root}migrations`)

/** Lets requests to this machine pass, where the local chain is. All others fail. */
const loopbackOnly = async (request: Request) =>
  new URL(request.url).hostname === '127.0.0.1'
    ? fetch(request.url, { method: request.method, headers: request.headers, body: await request.arrayBuffer() })
    : closedNetwork(request)

/** Answers every request that no test scripted with a failure that names its URL. */
const closedNetwork = (request: { readonly url: string }) =>
  new Response(`the network is closed in tests: ${request.url}`, { status: 599 })

/** Runs the files of a project in workerd, with three databases. Each project starts its own. */
const inWorkerd = (outboundService: (request: Request) => Response | Promise<Response>) =>
  cloudflareTest({
    wrangler: { configPath },
    miniflare: { bindings: { MIGRATIONS: migrations }, d1Databases: ['DB_2', 'DB_3'], outboundService },
  })

/** A folder in memory, which some machines have. On a disk, D1 waits for each commit, a third of the time of its tests. */
const memoryFolder = '/dev/shm'
const memoryBytesMin = 2 ** 30
const folderPrefix = 'wallet-tests-'

/** Whether a folder has room, and programs in it can be run: tests write some. */
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

/** The temporary files of all tests are in one folder, which is removed at the end of this process. */
function makeTemporaryFolder(): void {
  if (tmpdir().includes(folderPrefix)) return // this file is loaded several times
  const folder = mkdtempSync(`${isUsable(memoryFolder) ? memoryFolder : tmpdir()}/${folderPrefix}`)
  process.env.TMPDIR = folder
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // a process that was killed still writes: what is left is no reason for the tests to fail
    }
  })
}
makeTemporaryFolder()
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/node` // commands that tests start begin a quarter faster with it

export default defineConfig({
  root,
  test: {
    silent: 'passed-only',
    maxWorkers: 3, // one more than a small machine has cores: files wait for a chain or a command for much of their time
    testTimeout: 180_000, // a hang ends; how fast anything is, is the benchmark's business
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } }, // as long as the tests' other waits, because a busy machine can be slow
    projects: [
      { extends: true, test: { name: 'checks', ...projects.checks } }, // checks of the source, made by other programs such as compilers
      {
        extends: true,
        test: {
          name: 'simulation', // in processes of its own: it patches the source and the derivation of keys
          ...projects.simulation,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false, // no file keeps state in a module; a process for each file took a quarter of the time
          ...projects.unit,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(closedNetwork)],
        test: {
          name: 'worker',
          isolate: false, // no file keeps state in a module; an isolate for each file took more than half of the time
          ...projects.worker,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(closedNetwork)],
        test: {
          name: 'cells', // a project of its own, because an isolate evaluates a module once, and files of `worker` run here again
          ...projects.cells,
        },
      },
      {
        extends: true,
        plugins: [inWorkerd(loopbackOnly)],
        test: {
          name: 'integration', // apart from the others: it sets the environment of the objects, and their alarms go on
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
