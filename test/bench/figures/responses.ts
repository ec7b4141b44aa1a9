import { UserError } from '../../support/project.ts'
import { bundleService, bundleWorker } from '../bundles.ts'
import { atMost, compareSides, type Figure, type Scale, singleFigure } from '../figure.ts'
import { getText, requestsPerSecond } from '../load.ts'
import { type RunningWorkers, startWorkers, type WorkerSpec } from '../miniflare.ts'
import { alternate, joinRounds, type Rounds } from '../rounds.ts'
import { longHistory, seedLedger, shortHistory, userCount } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'
import type { D1Counts, RecordedStatement } from '../workers/counting-database.ts'

const connections = 16
const roundMsFull = 450
const roundMsMin = 200
/** One process is always a little faster than another, so the rounds are spread over several. */
const processesFull = 4
const pagesDeep = 1_000
const pageRows = 20
const rowsMax = 60
const bareWorker = 'a bare Worker with the same query'

/** Requests per second of the routes that only read the database. */
export async function measureResponses(scale: Scale): Promise<readonly Figure[]> {
  const [service, bare] = [await bundleService(), await bundleWorker('bare')]
  const variables = serviceVariables([noNode])
  const { queries, deepCursor, rowsRead } = await inspectQueries()
  const bareVariables = { QUERIES: queries }
  const workers: readonly WorkerSpec[] = [
    { name: 'service', script: service.script, database: 'ledger', variables },
    { name: 'limited', script: service.script, database: 'ledger', variables, limited: true },
    { name: 'bare', script: bare.script, database: 'ledger', variables: bareVariables },
    { name: 'bare-limited', script: bare.script, database: 'ledger', variables: bareVariables, limited: true },
  ]
  const all: ResponseRounds[] = []
  for (let i = 0; i < (scale.work < 1 ? 1 : processesFull); i += 1) {
    const running = await startWorkers(workers, { ledger: seedLedger() })
    try {
      all.push(await measure(running, scale, deepCursor))
    } finally {
      await running.stop()
    }
  }
  const rounds: ResponseRounds = {
    list: joinRounds(all.map(({ list }) => list)),
    limited: joinRounds(all.map(({ limited }) => limited)),
    generate: joinRounds(all.map(({ generate }) => generate)),
    flows: joinRounds(all.map(({ flows }) => flows)),
  }
  return toFigures(rounds, rowsRead)
}

interface RowsRead {
  readonly first: number
  readonly deep: number
}

/** The routes' own queries, the cursor of the deep page and the rows that D1 reads for both pages. */
async function inspectQueries(): Promise<{
  readonly queries: readonly RecordedStatement[]
  readonly deepCursor: number
  readonly rowsRead: RowsRead
}> {
  const { script } = await bundleWorker('counting')
  const variables = serviceVariables([noNode])
  const workers = await startWorkers([{ name: 'counting', script, database: 'ledger', variables }], {
    ledger: seedLedger(),
  })
  await getText(workers.url('counting') + flowPath(), await bearerOf(1)) // an isolate's first request checks stored settings
  const queries = [await queryOf(workers, '/wallet/list'), await queryOf(workers, '/tron/generate')]
  const deepCursor = await findDeepCursor(workers)
  const first = await countsOf(workers, longHistory.uid, flowPath())
  const deep = await countsOf(workers, longHistory.uid, flowPath(deepCursor))
  await workers.stop()
  return { queries, deepCursor, rowsRead: { first: first.rowsRead, deep: deep.rowsRead } }
}

/** Requests per second of each side in each round. */
interface ResponseRounds {
  readonly list: Rounds<'service' | 'bare'>
  readonly limited: Rounds<'service' | 'bare'>
  readonly generate: Rounds<'service' | 'bare'>
  readonly flows: Rounds<'first' | 'deep' | 'short'>
}

async function measure(workers: RunningWorkers, scale: Scale, deepCursor: number): Promise<ResponseRounds> {
  const uids = Array.from({ length: userCount }, (_, i) => i + 1)
  const tokens = await Promise.all(uids.map(bearerOf))
  const ms = Math.max(roundMsMin, roundMsFull * scale.work)
  const load = (name: string, paths: readonly string[], headers: readonly { readonly authorization: string }[]) => () =>
    requestsPerSecond({ url: workers.url(name), paths, headers, ms, connections })
  const bareQuery = (index: number, name = 'bare') => {
    const paths = uids.map((uid) => `/query/${index}/${uid}`)
    return load(name, paths, [])
  }
  const [long, short] = [await bearerOf(longHistory.uid), await bearerOf(shortHistory.uid)]
  return {
    list: await alternate(scale.rounds, { service: load('service', ['/wallet/list'], tokens), bare: bareQuery(0) }),
    generate: await alternate(scale.rounds, {
      service: load('service', ['/tron/generate'], tokens),
      bare: bareQuery(1),
    }),
    flows: await alternate(scale.rounds, {
      first: load('service', [flowPath()], [long]),
      deep: load('service', [flowPath(deepCursor)], [long]),
      short: load('service', [flowPath()], [short]),
    }),
    limited: await alternate(scale.rounds, {
      service: load('limited', ['/wallet/list'], tokens),
      bare: bareQuery(0, 'bare-limited'),
    }),
  }
}

function toFigures({ list, limited, generate, flows }: ResponseRounds, rowsRead: RowsRead): readonly Figure[] {
  const unit = 'requests/s'
  const load = `${userCount} users, ${connections} connections`
  const deepPage = `${pagesDeep.toLocaleString('en')} pages deep`
  const entries = longHistory.flows.toLocaleString('en')
  const flowFigure = (side: 'first' | 'deep', page: string, headline?: string): Figure =>
    compareSides(flows, side, 'short', {
      name: `/wallet/flow/list, ${page}, wallet of ${entries} entries`,
      unit,
      baselineName: `first page, wallet of ${shortHistory.flows} entries`,
      ratioMin: 0.9,
      note: `${pageRows} rows and the count`,
      ...(headline === undefined ? {} : { headline }),
    })
  const rowsFigure = (page: string, rows: number) =>
    singleFigure(`D1 rows read, ${page}`, rows, 'rows', '', atMost(rowsMax, rows))
  return [
    compareSides(list, 'service', 'bare', {
      name: '/wallet/list with a token',
      unit,
      baselineName: bareWorker,
      ratioMin: 0.85,
      note: `${load}; no rate limiter`,
      headline:
        'requests/s of `/wallet/list` with a token ÷ requests/s of a bare Worker with the same query (median of rounds)',
    }),
    compareSides(limited, 'service', 'bare', {
      name: '/wallet/list with a token and the rate limiter',
      unit,
      baselineName: `${bareWorker} and limiter`,
      ratioMin: null,
      note: "Miniflare runs the limiter as a separate Worker; on the platform it is a counter in the machine's memory",
    }),
    flowFigure('first', 'first page'),
    rowsFigure('first page', rowsRead.first),
    flowFigure(
      'deep',
      deepPage,
      `requests/s of \`/wallet/flow/list\` ${deepPage} in ${entries} entries ÷ requests/s of the first page in ` +
        `${shortHistory.flows} entries (median of rounds)`,
    ),
    rowsFigure(deepPage, rowsRead.deep),
    compareSides(generate, 'service', 'bare', {
      name: '/tron/generate for users with an address',
      unit,
      baselineName: bareWorker,
      ratioMin: 0.85,
      note: load,
    }),
  ]
}

const flowPath = (before?: number) =>
  `/wallet/flow/list?limit=${pageRows}${before === undefined ? '' : `&before=${before}`}`

/** The cursor of the page that is `pagesDeep` pages deep: the ids of the long history are consecutive. */
async function findDeepCursor(workers: RunningWorkers): Promise<number> {
  const text = await getText(workers.url('counting') + flowPath(), await bearerOf(longHistory.uid))
  const body = JSON.parse(text) as { data: { list: { id: number }[]; count: number } } // the service's own response
  const newest = body.data.list[0]?.id
  if (newest === undefined || body.data.count !== longHistory.flows) {
    throw new UserError('the seeded database has no long history')
  }
  return newest + 1 - pagesDeep * pageRows
}

/** What D1 does for one request. */
async function countsOf(workers: RunningWorkers, uid: number, path: string): Promise<D1Counts> {
  const url = workers.url('counting')
  await getText(`${url}/counts/requests`)
  await getText(url + path, await bearerOf(uid))
  return JSON.parse(await getText(`${url}/counts/requests`)) as D1Counts // from the counting Worker
}

/** The only query of a route, which the bare Worker runs as well. */
async function queryOf(workers: RunningWorkers, path: string): Promise<RecordedStatement> {
  const { newest, statements } = await countsOf(workers, 1, path)
  const [query] = newest
  if (statements !== 1 || query === undefined) throw new UserError(`${path} makes ${statements} queries, not one`)
  return query
}
