import { beforeAll, expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { countedMax } from '../../src/worker/common/counted.ts'
import { orderStates } from '../../src/worker/common/order-states.ts'
import { payoutStates } from '../../src/worker/common/payout-states.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { type DocumentedOperation, documentedOperations } from '../../src/worker/http/openapi/document.ts'
import { depositStates } from '../../src/worker/schemas/deposit.ts'
import { situations } from '../http/openapi/situations.ts'
import { addressFrom, firstAddress, payFinal, postInit, type RunningService, usdtTo } from '../http/service.ts'
import { ask, payoutRequest, recipientBase58, sign, startPaying } from '../payouts/harness.ts'
import { payoutAddress } from '../support/payouts.ts'
import { type RunStatement, recordDatabase } from '../support/recorded-database.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { numbers, withoutTriggers } from './fixtures.ts'
import { manyOrders, ordersBase58 } from './many-orders.ts'

// Every statement that a request sends is run beside 1,000 and beside 20,000 rows of whatever can
// grow, in the worst shape: one user with one wallet, one address and one recipient, and one `osn`
// of all other users. The requests come from the documentation, so that a new route or parameter is
// asked for, or a test here fails; and a statement that only an example of the documentation sends
// fails the last one.

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const sizes = [1_000, 20_000] as const
/** The recipient of all payouts, and the sender of all transfers. */
const other = addressOf(60)
const kinds = ['credited', 'held', 'review', 'refused', 'seen', 'dropped', 'moved'] as const
/** SQL for the txid of transfer `i` of a kind. */
const txidOf = (kind: (typeof kinds)[number], i: number | 'i' = 'i') =>
  `printf('%064x', ${1_000_000 + kinds.indexOf(kind)} + 10 * ${i})`
const hexOf = (kind: (typeof kinds)[number], i: number) =>
  (1_000_000 + kinds.indexOf(kind) + 10 * i).toString(16).padStart(64, '0')

const payoutRow = `payout (id, uid, cuy, osn, amount, fee, to_address, contract, raw, mark, posted_by, created_at,
  changed_at, state, approved_by, approved_at, counted, attempts, attempts_max, txid, expires_at, height, reason,
  cancelled_by, why)`
/** SQL for what a payout has in its `state`: the columns from `state` to `why`. */
const payoutColumns = (id: string) => `state, iif(state = 'waiting', NULL, ''),
  iif(state = 'waiting', NULL, 1), state NOT IN ('waiting', 'cancelled'), state = 'stuck', 3,
  iif(state IN ('signed', 'paid', 'stuck'), printf('%064x', 900000000 + ${id}), NULL),
  iif(state IN ('signed', 'paid', 'stuck'), 9000000000000, NULL),
  iif(state IN ('paid', 'stuck'), 1, NULL), iif(state = 'stuck', 'failed', NULL),
  iif(state = 'cancelled', 'shop', NULL), iif(state = 'cancelled', 'x', NULL)`

/** Stores `count` rows of each kind. */
async function fill({ db, clock }: RunningService, count: number): Promise<void> {
  const begun =
    (await db.prepare('SELECT max(created_at) AS at FROM stored_flow WHERE id < 1000').first<number>('at')) ?? 0
  const own =
    (await db.prepare('SELECT lower(hex(address)) AS own FROM stored_address WHERE id = 1').first<string>('own')) ?? ''
  const insert = (table: string, select: string) => `${numbers(count)} INSERT INTO ${table} ${select}`
  const transfers = kinds.map((kind, part) => {
    const [state, reason, review] =
      kind === 'review'
        ? ['held', `'review'`, `'open'`]
        : [kind, kind === 'held' ? `'too-large'` : kind === 'refused' ? `'dust'` : 'NULL', 'NULL']
    return insert(
      'stored_transfer (id, txid, position, height, cuy, uid, from_address, to_address, raw, native, state, reason, amount, review, created_at, changed_at)',
      `SELECT ${1_000 + part} + 10 * i, unhex(${txidOf(kind)}), 0, ${kind === 'seen' ? 900_000_000 : 1}, 2,
        ${kind === 'moved' ? 'NULL' : '7'}, unhex('${other}'),
        unhex('${own}'), '5', 0, '${state}', ${reason}, ${kind === 'credited' ? 5 : 0}, ${review}, 1,
          ${kind === 'dropped' ? 9_000_000_000_000 : 1} FROM n`,
    )
  })
  const entry = (part: number, values: string) =>
    insert('stored_flow', `SELECT ${1_000 + part} + 10 * i, ${values} FROM n`)
  const payouts = (id: string, owner: string, osn: string) =>
    insert(
      payoutRow,
      `SELECT ${id}, ${owner}, 2, ${osn}, 5, 0, '${other}', '${usdtAddress}', '5', '', 'shop', 1, 1,
        ${payoutColumns(id)}
        FROM (SELECT i, '["waiting","approved","signed","paid","stuck","cancelled"]' ->> (i % 6) AS state FROM n)`,
    )
  await withoutTriggers(writable(db), [
    'UPDATE stored_address SET issued_height = 0 WHERE id = 1', // all transfers are above it
    ...transfers,
    entry(0, `2, 1, NULL, 1000 + 10 * i, 5, 5, '', ${begun} + i, '', 2 * i, i`),
    entry(1, `2, 9, 'x' || i, NULL, 5, 5, '', ${begun} + i, 'shop', 2 * i + 1, i + 1`),
    entry(2, `100 + i, 9, 'same', NULL, 5, 5, '', ${begun} + i, 'shop', 1, 1`),
    insert('wallet', 'SELECT 100 + i, 1000 + i, 2, 5, 1, 1002 + 10 * i FROM n'),
    `UPDATE wallet SET entry_count = (SELECT max(number) FROM stored_flow WHERE wallet_id = 2), balance = 1000000000,
      newest_entry = (SELECT max(id) FROM stored_flow WHERE wallet_id = 2) WHERE id = 2`,
    insert(
      'stored_event (id, type, uid, created_at, txid, position, cuy, raw, address, reason)',
      `SELECT 1003 + 10 * i, 'deposit.refused', 7, ${begun} + i, unhex(${txidOf('refused')}), 0, 2, '5', unhex('${own}'), 'dust' FROM n`,
    ),
    insert('stored_address', `SELECT 1 + i, 7, unhex(printf('%040x', 5000000 + i)), 1, 1, NULL, 0 FROM n`),
    ...manyOrders(count),
    `UPDATE stored_address SET unpaid = '${JSON.stringify(numbersTo(18).map((id) => 1 + id))}' WHERE id = ${count} + 1`,
    insert(
      'stored_holding (cuy, address_id, due_at)',
      `SELECT cuy.value, 1 + i, 9000000000000 FROM n, json_each('[1,2]') AS cuy`,
    ),
    payouts('2 * i', '7', `'o' || i`),
    payouts('2 * i + 1', '1000 + i', `'same'`),
    `INSERT INTO payout_transaction (txid, address, payout_id, bytes, reference, expires_at, changed_at, next_send,
      height, succeeded, moved, ended)
      SELECT txid, '${payoutAddress}', id, 'ab', 1, expires_at, 1, ${Math.round(clock.seconds * 1000) + 300_000},
        height, iif(height IS NULL, NULL, state = 'paid'), iif(height IS NULL, NULL, '[]'),
        iif(state = 'signed', NULL, iif(state = 'paid', 'paid', 'failed'))
      FROM payout WHERE txid IS NOT NULL`,
    insert(
      'payout_transaction (txid, address, changed_at, height, succeeded, moved, ended, excused, next_send)',
      `SELECT printf('%064x', 800000000 + i), '${payoutAddress}', 1, 1, 1,
        json_array(json_object('contract', '${usdtAddress}', 'to', '${other}', 'raw', '6')), 'unknown',
        'a test', 1 FROM n`,
    ),
    `INSERT INTO unnamed_outflow SELECT '${usdtAddress}', '${other}', '6', id FROM payout_transaction WHERE payout_id IS NULL`,
    'DELETE FROM payout_sum',
    `INSERT INTO payout_sum SELECT state, cuy, count(*), sum(amount) FROM payout WHERE state NOT IN ('paid', 'cancelled') GROUP BY 1, 2`,
    insert('sent', `SELECT printf('%064x', 700000000 + i), '${own}', 1, 1 FROM n`),
    insert('alarm', `SELECT 'x', json_object('n', i), 1, 1 FROM n`),
    insert(
      'rescan (kind, from_height, to_height, next_height, created_at, next_try, finished_at)',
      `SELECT 'gap', i, i, i + done.value, 1, 9000000000000, iif(done.value, 1, NULL) FROM n, json_each('[0,1]') AS done`,
    ),
    insert('decision', `SELECT ${txidOf('refused')}, 0, 'refuse', 'x', 'office', 1 FROM n`),
  ])
}

/**
 * The values of each query parameter beside `size` rows of each kind. Only the first is combined
 * with others.
 */
const valuesBeside = (size: number, now: Date): Readonly<Record<string, readonly string[]>> => ({
  uid: ['7'],
  cuy: ['2'],
  wid: ['2'],
  type: ['9'],
  limit: ['100'],
  order: ['same', 'o5'],
  osn: ['same', 'x5', hexOf('credited', 3), `${hexOf('credited', 3)}:0`],
  to: [recipientBase58],
  address: [firstAddress],
  format: ['csv'],
  state: payoutStates,
  txid: kinds.map((kind) => hexOf(kind, 3)),
  page: [String(Math.min(2 * size, 10_000) / 20)],
  before: ['1035'],
  after: ['1035'],
  reason: ['review', 'too-large'],
  month: [now.toISOString().slice(0, 7)],
  day: [now.toISOString().slice(0, 10)],
  from: ['2020-01-01T00:00:00Z'],
  fresh: ['1'],
  wait: ['1'],
  mark: ['k3v9x0q1-17'],
  begin: [firstAddress.slice(0, 6), hexOf('credited', 3).slice(0, 50)],
  end: ['a'],
})
const until = ['2100-01-01T00:00:00Z']
const first = ['15']
const overrides: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/wallet/flow/list': { to: until },
  '/ledger/entries': { to: until },
  '/tron/deposits': { state: depositStates },
  '/ledger/deposits': { state: depositStates },
  '/ledger/payouts': { before: first, after: first },
  '/tron/payouts': { before: first },
  '/ledger/orders': { before: first, state: orderStates, address: [ordersBase58] },
  '/tron/orders': { before: first, state: orderStates },
  '/ledger/payouts/unsigned': { after: first },
}

/**
 * The body of a POST, as it is possible beside rows up to a size, and the backend that sends it.
 */
const bodies: Readonly<Record<string, (size: number) => readonly [body: object, by?: string]>> = {
  '/ledger/entries': (size) => [{ entries: [{ uid: 7, cuy: 2, type: 4, osn: `new-${size}`, amt: '-0.000001' }] }],
  '/ledger/orders': (size) => [{ orders: [{ uid: 7, cuy: 2, amt: '5', order: `new-${size}` }] }],
  '/ledger/orders/cancel': (size) => [{ orders: [{ uid: 7, order: `o${size / 20}` }] }],
  '/ledger/payouts': (size) => [{ payouts: [payoutRequest({ osn: `new-${size}`, amt: '0.000005' })] }],
  '/ledger/payouts/approve': (size) => [{ ids: [2 * 6 * (size / 100)] }, 'office'],
  '/ledger/payouts/cancel': (size) => [{ ids: [2 * (6 * (size / 100) + 1)], why: 'a test' }, 'office'],
  '/ledger/payouts/signed': (size) => [{ signed: [{ id: 2 * (6 * (size / 100) + 7), transaction: 'ab' }] }],
  '/ledger/deposits/decide': (size) => [
    {
      deposits: ['credit', 'refuse'].map((decision, i) => ({
        txid: hexOf('review', size / 100 + i),
        position: 0,
        decision,
        why: 'a test',
      })),
    },
    'office',
  ],
}

/**
 * The queries of a GET: with no parameter, with each, with each two, and all of these with a user.
 */
function queriesOf({ path, operation }: DocumentedOperation, size: number, now: Date): readonly string[] {
  const values = { ...valuesBeside(size, now), ...overrides[path] }
  const names = Object.keys(operation.query?.shape ?? {})
  expect([path, names.filter((name) => !(name in values))]).toEqual([path, []])
  const [users, others] = [names.filter((name) => name === 'uid'), names.filter((name) => name !== 'uid')]
  const write = (name: string, value = values[name]?.[0] ?? '') => `${name}=${encodeURIComponent(value)}`
  const sets = others.flatMap((one, i) => [
    ...(values[one] ?? []).map((value) => [write(one, value)]),
    ...others.slice(i + 1).map((two) => [write(one), write(two)]),
  ])
  const ofUsers = users.map((name) => write(name))
  return [[], ...sets]
    .flatMap((set) => (users.length === 0 ? [set] : [set, [...ofUsers, ...set]]))
    .map((set) => set.join('&'))
}

/** The most rows that each statement has read, by what sent it. */
type Measured = ReadonlyMap<string, ReadonlyMap<string, number>>
const add = (statements: readonly RunStatement[]) => {
  const rows = new Map<string, number>()
  for (const { sql, rows: read } of statements) rows.set(sql, Math.max(rows.get(sql) ?? 0, read))
  return rows
}

const send = async (service: RunningService, path: string, init: RequestInit = {}, by?: string) =>
  path.startsWith('/ledger/')
    ? service.ledger(path, init, by === undefined ? {} : { sub: by })
    : service.get(path, 7, init)

let measured: readonly Measured[]
beforeAll(async () => {
  const all: Measured[] = []
  for (const size of sizes) {
    const plain = await startPaying()
    const { db, statements } = recordDatabase(plain.db)
    const service = plain.with({ DB: db })
    await fill(service, size)
    service.clock.seconds += 60 // so that the newest entry is older than the requests
    const now = new Date(service.clock.seconds * 1000)
    const found = new Map<string, ReadonlyMap<string, number>>()
    const note = async (label: string, work: () => Promise<unknown>) => {
      statements.length = 0
      if (/health|currencies|summary/.test(label)) service.clock.seconds += 2 // what requests share is read anew
      await work()
      found.set(label, add(statements))
    }
    await note('the first request', () => service.get('/wallet/list'))
    await note('a first address', () => service.get('/tron/generate', 8))
    await note('a further address of many', async () =>
      expect((await service.get('/tron/generate?fresh=1')).status).toBe(200),
    )
    for (const one of documentedOperations()) {
      const { method, path } = one
      if (method === 'get') {
        for (const [place, query] of queriesOf(one, size, now).entries()) {
          const names = query.replaceAll(/=[^&]*/g, '')
          await note(`GET ${path}?${names} (${place})`, async () =>
            expect((await send(service, `${path}?${query}`)).status).not.toBe(500),
          )
        }
        continue
      }
      const [body, by] = bodies[path]?.(size) ?? []
      if (body === undefined) throw new Error(`no body for ${path}`)
      await note(`POST ${path}`, async () => {
        const response = await send(service, path, postInit(body), by)
        expect([path, response.status, service.lines.slice(-3).join('\n')]).toEqual([path, 200, expect.anything()])
        await service.settled()
      })
    }
    await note('an order at a new address', async () => {
      const orders = [{ uid: 9, cuy: 2, amt: '5', order: 'first' }]
      expect((await send(service, '/ledger/orders', postInit({ orders }))).status).toBe(200)
    })
    const payout = await ask(service, { amt: '0.00001' })
    const { transaction } = await sign(service, { amount: 10n })
    await note('a hand-in', async () => {
      const taken = await send(
        service,
        '/ledger/payouts/signed',
        postInit({ signed: [{ id: payout.id, transaction }] }),
      )
      expect(await taken.text()).toContain('"state":"signed"')
      await service.settled() // then it is sent
    })
    const [txid] = payFinal(service, usdtTo(addressFrom(firstAddress), 5n))
    const [elsewhere] = payFinal(service, usdtTo(addressOf(61), 5n))
    await note('a question about a transaction to nobody here', async () =>
      expect((await send(service, `/tron/recharge?txid=${elsewhere}`)).status).toBe(422),
    )
    await note('a question about a new transaction', () => send(service, `/ledger/transaction?txid=${txid}`))
    await note('a question that credits', () => send(service, `/tron/recharge?txid=${txid}`))
    all.push(found)
  }
  measured = all
}, 600_000)

/** Statements whose rows grow with what they do not show, and why that is left. */
const growing: readonly (readonly [statement: RegExp, why: string])[] = [
  [/^\s*UPDATE "payout_transaction" SET "sends"/, 'it reads what can still be mined: what was signed within an hour'],
]

it('no statement reads more rows beside twenty times as many', () => {
  const [few, many] = measured
  const grown = [...(many ?? [])].flatMap(([label, statements]) =>
    [...statements].flatMap(([sql, rows]) => {
      const before = few?.get(label)?.get(sql) ?? 0
      // A count, the search for an order with a recipient, and that for a user's open orders end at
      // this many, which the smaller database has not reached.
      const isBounded = /count\(|AS "payout" WHERE|json_group_array/.test(sql)
      // A binary search takes some steps more.
      const rowsMax = 1.3 * before + 200 + (isBounded ? 3 * countedMax : 0)
      return rows <= rowsMax || growing.some(([statement]) => statement.test(sql))
        ? []
        : [{ label, before, rows, sql: sql.slice(0, 400) }]
    }),
  )
  expect(grown).toEqual([])
})

it('no request reads more than 12,000 rows', () => {
  const isCounted = (sql: string) => !growing.some(([statement]) => statement.test(sql))
  const sums = [...(measured[1] ?? [])].map(([label, statements]) => {
    return { label, rows: [...statements].reduce((sum, [sql, rows]) => sum + (isCounted(sql) ? rows : 0), 0) }
  })
  expect(sums.filter(({ rows }) => rows > 12_000)).toEqual([])
})

const dataOf = async (response: Response) =>
  (await response.json()) as { readonly data: { readonly list: readonly unknown[] } }

/** A currency for each id from 1 to `count`; the first two are those as shipped. */
const currenciesUpTo = (count: number) =>
  numbersTo(count).map((cuy) => {
    const contract = formatBase58(cuy === 2 ? usdtAddress : addressOf(100 + cuy))
    return { cuy, symbol: `T${cuy}`, decimals: 6, ...(cuy === 1 ? {} : { contract }) }
  })

// Within an index, ids are in order only for one state and currency. `id` says how these pairs lie:
// each with all of its rows above those of the one before it or below them, or mixed.
it.each([
  ['one pair after the other', (pairs: number) => `(i % ${pairs}) * 101 + i / ${pairs}`],
  ['in the opposite order', (pairs: number) => `${pairs} * 102 - (i % ${pairs}) * 101 - i / ${pairs}`],
  ['mixed', () => 'i'],
])(
  'no list reads more than 12,000 rows for fifty currencies, %s',
  async (_, idOf) => {
    const count = 50
    const plain = await startPaying({ CURRENCIES: currenciesUpTo(count) })
    const { db, statements } = recordDatabase(plain.db)
    const service = plain.with({ DB: db })
    const each = (states: readonly string[], table: string, select: (id: string) => string) => {
      const pairs = states.length * count
      return `${numbers(100 * pairs)} INSERT INTO ${table} ${select(`10000 + ${idOf(pairs)}`)}
      FROM (SELECT i, '${JSON.stringify(states.toSorted((a, b) => a.localeCompare(b)))}' ->> ((i % ${pairs}) / ${count})
        AS state, 1 + i % ${count} AS cuy FROM n)`
    }
    await withoutTriggers(writable(plain.db), [
      `${numbers(count)} INSERT OR IGNORE INTO wallet SELECT 100 + i, 7, i, 5, 1, 1 FROM n`,
      each(
        depositStates,
        'stored_transfer (id, txid, position, height, cuy, uid, from_address, to_address, raw, native, state, reason, amount, created_at, changed_at)',
        (
          id,
        ) => `SELECT ${id}, unhex(printf('%064x', ${id})), 0, 1, cuy, 7, unhex('${other}'), unhex('${other}'), '5', 0,
          state,
        CASE state WHEN 'held' THEN 'too-large' WHEN 'refused' THEN 'dust' END, iif(state = 'credited', 5, 0), 1, 1`,
      ),
      `INSERT INTO stored_flow SELECT id, (SELECT wallet.id FROM wallet WHERE wallet.uid = 7
        AND wallet.cuy = stored_transfer.cuy), 1, NULL, id, 5, 5, '', 1, '', id, id
      FROM stored_transfer WHERE state = 'credited'`,
      each(
        payoutStates,
        payoutRow,
        (id) =>
          `SELECT ${id}, 7, cuy, 'o' || i, 5, 0, '${other}', '${usdtAddress}', '5', '', 'shop', 1, 1, ${payoutColumns(id)}`,
      ),
    ])
    const rowsOf = async (path: string, filters: readonly string[]) => {
      const sums = []
      for (const filter of filters) {
        statements.length = 0
        const { data } = await dataOf(await send(service, `${path}?limit=100&${filter}`))
        sums.push({ path, filter, shown: data.list.length, rows: statements.reduce((sum, { rows }) => sum + rows, 0) })
      }
      return sums
    }
    const filters = ['', 'cuy=2', 'before=20000', 'after=0', 'state=held']
    const ofPayouts = ['', 'cuy=2', 'before=20000', 'after=0', 'state=paid']
    const sums = [
      ...(await rowsOf('/ledger/deposits', [...filters, ...filters.map((one) => `uid=7&${one}`)])),
      ...(await rowsOf('/tron/deposits', filters)),
      ...(await rowsOf('/ledger/payouts', [
        ...ofPayouts,
        ...ofPayouts.map((one) => `uid=7&to=${recipientBase58}&${one}`),
      ])),
      ...(await rowsOf('/tron/payouts', ofPayouts)),
    ]
    await withoutTriggers(writable(plain.db), [`UPDATE payout SET uid = 1000 + id, osn = 'same'`])
    sums.push(...(await rowsOf('/ledger/payouts', ['osn=same', `osn=same&to=${recipientBase58}`])))
    expect(sums.filter(({ shown, rows }) => shown !== 100 || rows > 12_000)).toEqual([])
  },
  120_000,
)

/** Statements that no request above sends, and where they are measured. */
const elsewhere: readonly (readonly [statement: RegExp, where: string])[] = [
  [
    /^\s*INSERT INTO "(scan|stored_setting|stored_currency|kept_address|agreed_decimals|token)"/,
    'once for a database, or for a token in it',
  ],
  [/^\s*SELECT "token"/, 'the configured tokens, by contract'],
  [/^(select|INSERT INTO|DELETE FROM) .*"alarm"/, 'by kind and subject'],
]

it('no example of the documentation sends a statement that was not measured', async () => {
  // Days are written into the text of the summary.
  const textOf = (sql: string) => sql.replaceAll(/\b\d{5}\b/g, 'day')
  const known = new Set(
    measured.flatMap((one) => [...one.values()].flatMap((statements) => [...statements.keys()].map(textOf))),
  )
  const unknown = new Map<string, string>()
  for (const { method, path, operation } of documentedOperations()) {
    for (const { given, query = '', request, by } of operation.examples) {
      // it runs a tick, whose statements test/d1 measures one by one
      if (path === '/tron/recharge' && !query.includes('txid')) continue
      const plain = await situations[given]()
      const { db, statements } = recordDatabase(plain.db)
      const service = plain.with({ DB: db })
      const init = request === undefined ? {} : postInit(request)
      await send(service, path + query, { ...init, method: method.toUpperCase() }, by)
      await service.settled()
      for (const { sql } of statements) {
        if (!known.has(textOf(sql)) && !elsewhere.some(([statement]) => statement.test(sql)))
          unknown.set(sql.slice(0, 300), `${method} ${path}${query}`)
      }
    }
  }
  expect([...unknown]).toEqual([])
})
