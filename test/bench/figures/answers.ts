import { bundleService, bundleWorker } from '../bundles.ts'
import { atLeast, atMost, type Figure, type Scale, stated } from '../figure.ts'
import { answersPerSecond, getText } from '../load.ts'
import { type Platform, startPlatform, type WorkerSpec } from '../platform.ts'
import { Trouble } from '../project.ts'
import { alternate, joinRounds, type Rounds } from '../rounds.ts'
import { callers, longHistory, seedLedger, shortHistory } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'
import type { D1Counts } from '../workers/counting-database.ts'

const connections = 16
const roundMsAtFull = 450
const roundMsMin = 200
/** One process is always a little faster than another, so the rounds are shared out among several. */
const processesAtFull = 4
const pagesDeep = 1_000
const pageRows = 20
const rowsMax = 60

/** Answers per second of the routes that read the database alone. */
export async function measureAnswers(scale: Scale): Promise<readonly Figure[]> {
  const [service, bare, counting] = [await bundleService(), await bundleWorker('bare'), await bundleWorker('counting')]
  const variables = serviceVariables([noNode])
  const databases = { ledger: seedLedger() }
  const counter = await startPlatform(
    [{ name: 'counting', script: counting.script, database: 'ledger', variables }],
    databases,
  )
  const overheard = [await overhear(counter, '/wallet/list'), await overhear(counter, '/tron/generate')]
  const before = await deepCursor(counter)
  const rowsRead = {
    first: (await ask(counter, longHistory.uid, flowPath())).rowsRead,
    deep: (await ask(counter, longHistory.uid, flowPath(before))).rowsRead,
  }
  await counter.stop()

  const workers: readonly WorkerSpec[] = [
    { name: 'service', script: service.script, database: 'ledger', variables },
    { name: 'limited', script: service.script, database: 'ledger', variables, limited: true },
    { name: 'bare', script: bare.script, database: 'ledger', variables: { QUERIES: overheard } },
    { name: 'bare-limited', script: bare.script, database: 'ledger', variables: { QUERIES: overheard }, limited: true },
  ]
  const all: AnswerRounds[] = []
  for (let i = 0; i < (scale.work < 1 ? 1 : processesAtFull); i += 1) {
    const platform = await startPlatform(workers, databases)
    try {
      all.push(await measure(platform, scale, before))
    } finally {
      await platform.stop()
    }
  }
  return toFigures(
    {
      lists: joinRounds(all.map(({ lists }) => lists)),
      limited: joinRounds(all.map(({ limited }) => limited)),
      known: joinRounds(all.map(({ known }) => known)),
      flows: joinRounds(all.map(({ flows }) => flows)),
    },
    rowsRead,
  )
}

/** What every side answered, round by round. */
interface AnswerRounds {
  readonly lists: Rounds<'service' | 'bare'>
  readonly limited: Rounds<'service' | 'bare'>
  readonly known: Rounds<'service' | 'bare'>
  readonly flows: Rounds<'first' | 'deep' | 'short'>
}

async function measure(platform: Platform, scale: Scale, before: number): Promise<AnswerRounds> {
  const uids = Array.from({ length: callers }, (_, i) => i + 1)
  const tokens = await Promise.all(uids.map(bearerOf))
  const ms = Math.max(roundMsMin, roundMsAtFull * scale.work)
  const load = (name: string, paths: readonly string[], headers: readonly { readonly authorization: string }[]) => () =>
    answersPerSecond({ url: platform.url(name), paths, headers, ms, connections })
  const bareQuery = (index: number, name = 'bare') =>
    load(
      name,
      uids.map((uid) => `/query/${index}/${uid}`),
      [],
    )
  const [long, short] = [await bearerOf(longHistory.uid), await bearerOf(shortHistory.uid)]
  return {
    lists: await alternate(scale.rounds, { service: load('service', ['/wallet/list'], tokens), bare: bareQuery(0) }),
    known: await alternate(scale.rounds, { service: load('service', ['/tron/generate'], tokens), bare: bareQuery(1) }),
    flows: await alternate(scale.rounds, {
      first: load('service', [flowPath()], [long]),
      deep: load('service', [flowPath(before)], [long]),
      short: load('service', [flowPath()], [short]),
    }),
    limited: await alternate(scale.rounds, {
      service: load('limited', ['/wallet/list'], tokens),
      bare: bareQuery(0, 'bare-limited'),
    }),
  }
}

function toFigures(
  { lists, limited, known, flows }: AnswerRounds,
  rowsRead: { readonly first: number; readonly deep: number },
): readonly Figure[] {
  const flowFigure = (side: 'first' | 'deep', where: string, rows: number): readonly Figure[] => {
    const ratio = flows.ratio(side, 'short')
    const name = `/wallet/flow/list in a wallet of ${longHistory.flows.toLocaleString('en')} entries, ${where}`
    return [
      {
        name,
        value: flows.median(side),
        unit: 'answers/s',
        beside: { name: `the same in a wallet of ${shortHistory.flows}`, value: flows.median('short') },
        ratio,
        reach: atLeast(0.9, ratio),
        note: `${pageRows} rows and the count`,
      },
      stated(`D1 rows read, ${where}`, rows, 'rows', '', atMost(rowsMax, rows)),
    ]
  }
  const pair = (name: string, rounds: Rounds<'service' | 'bare'>, note: string): Figure => {
    const ratio = rounds.ratio('service', 'bare')
    const beside = { name: 'a bare Worker with the same query', value: rounds.median('bare') }
    return {
      name,
      value: rounds.median('service'),
      unit: 'answers/s',
      beside,
      ratio,
      reach: atLeast(0.85, ratio),
      note,
    }
  }
  return [
    pair('/wallet/list with a token', lists, `${callers} callers, ${connections} connections; no rate limiter`),
    {
      name: 'the same with the rate limiter, which Miniflare plays by a Worker of its own',
      value: limited.median('service'),
      unit: 'answers/s',
      beside: { name: 'a bare Worker with the same query and limiter', value: limited.median('bare') },
      ratio: limited.ratio('service', 'bare'),
      reach: null,
      note: "on the platform it is a counter in the machine's memory",
    },
    ...flowFigure('first', 'first page', rowsRead.first),
    ...flowFigure('deep', `${pagesDeep.toLocaleString('en')} pages deep`, rowsRead.deep),
    pair('/tron/generate for known callers', known, `${callers} callers, ${connections} connections`),
  ]
}

const flowPath = (before?: number) =>
  `/wallet/flow/list?limit=${pageRows}${before === undefined ? '' : `&before=${before}`}`

/** The id below which the page `pagesDeep` begins: ids of the long history are consecutive. */
async function deepCursor(platform: Platform): Promise<number> {
  const text = await getText(platform.url('counting') + flowPath(), await bearerOf(longHistory.uid))
  const body = JSON.parse(text) as { data: { list: { id: number }[]; count: number } } // the service's own answer
  const newest = body.data.list[0]?.id
  if (newest === undefined || body.data.count !== longHistory.flows) throw new Trouble('the long history is not there')
  return newest + 1 - pagesDeep * pageRows
}

/** What D1 did for one answer. */
async function ask(platform: Platform, uid: number, path: string): Promise<D1Counts> {
  const url = platform.url('counting')
  await getText(`${url}/counts/answers`)
  await getText(url + path, await bearerOf(uid))
  return JSON.parse(await getText(`${url}/counts/answers`)) as D1Counts // the counting Worker's own words
}

/** The one query that a route makes: what the bare Worker has to make as well. */
async function overhear(platform: Platform, path: string): Promise<D1Counts['newest'][number]> {
  const { newest, statements } = await ask(platform, 1, path)
  const [query] = newest
  if (statements !== 1 || query === undefined) throw new Trouble(`${path} makes ${statements} queries, not one`)
  return query
}
