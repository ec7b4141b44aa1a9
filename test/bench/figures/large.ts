import { mkdirSync, rmSync } from 'node:fs'
import { signBackendToken } from '../../shop/sign-backend-token-example.ts'
import { backendSecret } from '../../support/variables.ts'
import { bundleService, workDir } from '../bundles.ts'
import { restoreCopy } from '../copy.ts'
import { compared, type Figure, figure, type Scale } from '../figure.ts'
import { fillLarge, type LargeCounts, type LargeSizes } from '../large.ts'
import { requestsPerSecond } from '../load.ts'
import { firstHeight } from '../mainnet.ts'
import { type RunningWorkers, startWorkers } from '../miniflare.ts'
import { cpuMsOf } from '../processes.ts'
import { alternate, median } from '../rounds.ts'
import { startScanning } from '../scanning.ts'
import { historyUid, seededAddress } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'

const largeEntries = 5_000_000
const smallEntries = 50_000
const countsOf = (entries: number): LargeCounts => ({ entries, users: entries / 10, history: entries / 50 })
const connections = 4
/** Users whose lists are read, in turns. */
const readers = 200
const deposits = 500
/** The blocks of 20 seconds, which one tick reads. */
const blocks = 7
const evictedAfterMs = 12_000
/** How long to wait after the last block of a tick is read, until the tick has ended. */
const restOfTickMs = 3_000
const blockMs = 3_000
/**
 * The filled databases have older events than are kept by default. They are kept here, so that
 * their removal is no part of the figures.
 */
const kept = { EVENTS_KEEP_DAYS: 3650 }

/**
 * Compares a database after years of use with one of a hundredth of its size: bytes of rows, lists,
 * the summary, ticks, and a restore. It takes an hour, and 15 GB of disk.
 */
export async function measureLarge({ rounds, work }: Scale): Promise<readonly Figure[]> {
  const folder = `${workDir}large/`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [large, small, restored] = ['large', 'small', 'restored'].map((name) => `${folder}${name}.sqlite`) as [
    string,
    string,
    string,
  ]
  try {
    const counts = countsOf(Math.round((largeEntries * work) / 1000) * 1000)
    const sizes = fillLarge(large, counts)
    fillLarge(small, countsOf(smallEntries))
    const { seconds, bytes } = restoreCopy(large, restored)
    return [
      ...sizeFigures(sizes, counts),
      ...(await measureReads({ large, small }, rounds, work)),
      ...(await measureTicks({ large: restored, small }, rounds)),
      figure(`copy of ${counts.entries.toLocaleString('en')} entries as SQL text`, bytes / 1e9, 'GB'),
      figure('to execute that text in a new database, with its indices and triggers', seconds / 60, 'minutes'),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sizeFigures(sizes: LargeSizes, { entries, users }: LargeCounts): readonly Figure[] {
  return [
    figure(
      `file of ${entries.toLocaleString('en')} entries of ${users.toLocaleString('en')} users`,
      sizes.file / 1e9,
      'GB',
    ),
    figure('bytes of a user with one currency: address, wallet, holding', sizes.user, 'bytes'),
    figure('bytes of a deposit with its entry and its events', sizes.depositWithEvents, 'bytes'),
    figure('bytes of a deposit with its entry, once the events are removed', sizes.deposit, 'bytes'),
    figure('bytes of a posted entry, once its event is removed', sizes.posted, 'bytes'),
    figure('deposits stored by the triggers alone', sizes.depositsPerSecond, 'deposits/s'),
  ]
}

/** Values for the large and for the small database, such as the paths of their files. */
interface Pair<T> {
  readonly large: T
  readonly small: T
}

/**
 * Lists and the summary of the large database, compared with those of the small one, and the rows
 * that writes cost.
 */
async function measureReads(files: Pair<string>, rounds: number, work: number): Promise<readonly Figure[]> {
  const { script } = await bundleService()
  const variables = { ...serviceVariables([noNode]), ...kept }
  const names = ['large', 'small'] as const
  const specs = names.map((name) => ({ name, script, database: name, variables, hasObjects: true }))
  const workers = await startWorkers(specs, { ...files })
  try {
    const users = await Promise.all(Array.from({ length: readers }, (_, i) => bearerOf(i + 1)))
    const history = [await bearerOf(historyUid)]
    const backend = [{ authorization: `Bearer ${await signBackendToken('bench', backendSecret)}` }]
    const ms = Math.max(500, 3_000 * work)
    const figures: Figure[] = []
    for (const [what, path, headers] of [
      ['/wallet/list', '/wallet/list', users],
      ['/wallet/flow/list', '/wallet/flow/list?limit=20', users],
      ['/wallet/flow/list of the longest history', '/wallet/flow/list?limit=20', history],
      ['/tron/deposits of the longest history', '/tron/deposits?limit=20', history],
      ['/ledger/summary', '/ledger/summary', backend],
    ] as const) {
      const load = (name: keyof Pair<string>) => () =>
        requestsPerSecond({ url: workers.url(name), paths: [path], headers, ms, connections })
      const all = await alternate(rounds, { large: load('large'), small: load('small') })
      const measured = { value: all.median('large'), baseline: all.median('small'), ratio: all.ratio('large', 'small') }
      figures.push(compared(what, 'requests/s', measured, `${smallEntries.toLocaleString('en')} entries`))
    }
    return [...figures, ...(await measureWritten(workers))]
  } finally {
    await workers.stop()
  }
}

const txid = (digit: string) => digit.repeat(64)
const stranger = 'f'.repeat(40)

/**
 * Rows that D1 counts as written for what the service stores: each row once, and once for each
 * index entry that changes.
 */
async function measureWritten(workers: RunningWorkers): Promise<readonly Figure[]> {
  const written = async (sql: string) => (await workers.meta('large', sql)).rows_written
  const transfer = (digit: string, state: string, amount: number, seconds: string) => `
    INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state, amount,
      seconds, created_at, changed_at)
    SELECT unhex('${txid(digit)}'), 0, finalized, 2, uid, unhex('${stranger}'), address, '25000000', 0, '${state}',
      ${amount}, ${seconds}, unixepoch() * 1000, unixepoch() * 1000 FROM scan, stored_address
        WHERE stored_address.id = 8`
  const seen = await written(transfer('1', 'seen', 0, '57'))
  const credited = await written(
    `UPDATE stored_transfer SET version = version + 1, state = 'credited', amount = 25000000,
      changed_at = unixepoch() * 1000
      WHERE txid = unhex('${txid('1')}')`,
  )
  const direct = await written(transfer('2', 'credited', 25_000_000, 'NULL'))
  const posted =
    await written(`INSERT INTO posting (entries, posted_by, created_at) SELECT json_array(json_object('uid', uid,
    'cuy', 2, 'type', 4, 'amount', -1, 'mark', '', 'osn', 'written')), 'bench', unixepoch() * 1000 FROM address
      WHERE derivation_index = 7`)
  const address = await written(`INSERT INTO stored_address (id, uid, address, issued_height, created_at)
    SELECT max(id) + 1, 5, unhex('${stranger}'), (SELECT finalized FROM scan), unixepoch() * 1000 FROM stored_address`)
  const comparison = await written(
    `UPDATE stored_holding SET balance = '25000000', read_from = 1, read_to = 1, due_at = due_at + 1 WHERE address_id = (SELECT id FROM address WHERE address = '${seededAddress(7)}')`,
  )
  return [
    figure('rows written for a deposit that was seen first, as D1 counts them', seen + credited, 'rows'),
    figure('rows written for a deposit that was not seen before', direct, 'rows'),
    figure('rows written for a posted entry', posted, 'rows'),
    figure('rows written for an address', address, 'rows'),
    figure('rows written when a holding is compared with the chain', comparison, 'rows'),
  ]
}

/**
 * Ticks on the restored large database, compared with the small one: CPU time and duration, while
 * caught up and with 500 deposits.
 */
async function measureTicks(files: Pair<string>, rounds: number): Promise<readonly Figure[]> {
  const { script } = await bundleService()
  const times = async (database: string, each: number) => {
    const scanning = await startScanning({
      script,
      each,
      addresses: deposits,
      database,
      variables: kept,
    })
    try {
      await wait(blockMs + 200)
      await scanning.scan(blocks)
      const [cpu, wall]: number[][] = [[], []]
      for (let i = 0; i < rounds; i += 1) {
        await wait(evictedAfterMs)
        const begin = performance.now()
        const before = cpuMsOf(scanning.processes)
        await scanning.scan(blocks)
        wall?.push(performance.now() - begin)
        await wait(restOfTickMs)
        cpu?.push(cpuMsOf(scanning.processes) - before)
      }
      const expected = blocks * each * (rounds + 1)
      const credited = scanning.workers.look(
        'service',
        `SELECT count(*) FROM transfer WHERE state = 'credited' AND height > ${firstHeight}`,
      )
      if (credited !== expected) throw new Error(`${credited} of ${expected} deposits were credited`)
      return { cpu: median(cpu ?? []), wall: median(wall ?? []) }
    } finally {
      await scanning.stop()
    }
  }
  const figures: Figure[] = []
  for (const each of [0, Math.ceil(deposits / blocks)]) {
    const what = each === 0 ? 'that is caught up' : `with ${deposits} deposits`
    const [large, small] = [await times(files.large, each), await times(files.small, each)]
    for (const kind of ['cpu', 'wall'] as const) {
      const measured = { value: large[kind], baseline: small[kind], ratio: large[kind] / small[kind] }
      const name = `${kind === 'cpu' ? 'CPU time' : 'time'} of a tick ${what}, after a restore`
      figures.push(compared(name, 'ms', measured, `${smallEntries.toLocaleString('en')} entries`))
    }
  }
  return figures
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
