import { createService, type Platform } from '../../../src/worker/compose.ts'
import { systemClock } from '../../../src/worker/platform/clock.ts'
import { withSessions } from '../../simulation/database.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bundleService, bundleWorker } from '../bundles.ts'
import { atMost, comparedSpeeds, type Figure, figure, type Scale } from '../figure.ts'
import { getText, sendRequests } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { workerdProcesses } from '../processes.ts'
import { alternateSpeeds, speedOf } from '../rounds.ts'
import { historyUid, seedLedger, userCount } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'

const paths = ['/wallet/list', '/wallet/flow/list?limit=20'] as const
const connections = 16
/**
 * The CPU time of a list beside that of its queries alone, at most: tokens, headers, log lines and
 * checks cost less than a fifth of a millisecond.
 */
const cpuMax = 1.25
const recordedUid = 7_777_777
const histories = [1_000, 100_000] as const

interface Recorded {
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * Requests per second and CPU time of the lists, compared with a bare Worker that runs the same
 * queries, and the rows that D1 reads for them.
 */
export async function measureLists({ rounds, work }: Scale): Promise<readonly Figure[]> {
  const [service, bare] = [await bundleService(), await bundleWorker('bare')]
  const routes = await Promise.all(paths.map(queriesOf))
  const bareOf = (name: string) => {
    const variables = { ROUTES: routes, RECORDED_UID: recordedUid }
    return { name, script: bare.script, database: name, variables }
  }
  const [small, large] = histories
  const workers = await startWorkers(
    [
      {
        name: 'service',
        script: service.script,
        database: 'bare',
        variables: serviceVariables([noNode]),
        hasObjects: true,
      },
      bareOf('bare'),
      bareOf('large'),
    ],
    { bare: seedLedger(small), large: seedLedger(large) },
  )
  const processes = workerdProcesses()
  try {
    const uids = Array.from({ length: userCount }, (_, i) => i + 1)
    const headers = await Promise.all(uids.map((uid) => bearerOf(uid)))
    const ms = Math.max(200, 1_500 * work)
    const figures: Figure[] = []
    for (const [i, path] of paths.entries()) {
      const load = (side: { readonly url: string; readonly paths: readonly string[] }) => () =>
        speedOf(processes, () => sendRequests({ ...side, headers, ms, connections }))
      const all = await alternateSpeeds(rounds, {
        service: load({ url: workers.url('service'), paths: [path] }),
        bare: load({ url: workers.url('bare'), paths: uids.map((uid) => `/query/${i}/${uid}`) }),
      })
      figures.push(
        ...comparedSpeeds(path, 'requests', all, ['service', 'bare'], 'a bare Worker with the same queries', {
          cpuMax,
        }),
      )
      const rowsIn = async (name: string) => Number(await getText(`${workers.url(name)}/rows/${i}/${historyUid}`))
      const few = await rowsIn('bare')
      const many = await rowsIn('large')
      const what = `rows read for ${path}, a history of`
      figures.push(figure(`${what} ${small.toLocaleString('en')} entries`, few, 'rows'))
      figures.push(figure(`${what} ${large.toLocaleString('en')} entries`, many, 'rows', atMost(few, many)))
    }
    return figures
  } finally {
    await workers.stop()
  }
}

/**
 * The queries of the service for a request to `path`, without those that only a new isolate makes.
 */
async function queriesOf(path: string): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = []
  const store = openSqliteD1()
  const db = recording(
    store.connect(async (work) => work()),
    recorded,
  )
  const quiet = () => undefined
  const platform: Platform = {
    clock: systemClock,
    logger: { info: quiet, warn: quiet, error: quiet, alarm: quiet },
    fetch: () => Promise.reject(new Error('no node is needed')),
    uniqueName: () => 'bench',
    waitUntil: (promise) => void promise.catch(quiet),
  }
  const objects = { getByName: () => ({}) }
  const bindings = { ...serviceVariables([noNode]), DB: withSessions(db), SCANNER: objects, ENDPOINT: objects }
  const service = createService(platform)
  const headers = await bearerOf(recordedUid)
  for (const isLast of [false, true]) {
    if (isLast) recorded.length = 0
    const request = new Request(`https://bench.test${path}`, { headers })
    const response = await service.fetch(request as never, bindings) // a Request of Node lacks only `cf`
    if (response.status !== 200) throw new Error(`${path} responded with ${response.status}: ${await response.text()}`)
  }
  return recorded
}

/**
 * A database that records its statements with their values: the service binds each of them just
 * before it runs.
 */
function recording(db: D1Database, recorded: Recorded[]): D1Database {
  const prepare = (sql: string) => ({
    bind(...values: unknown[]) {
      recorded.push({ sql, values })
      return db.prepare(sql).bind(...values)
    },
  })
  return { ...db, prepare } as unknown as D1Database // safe: the part of it that the lists use
}
