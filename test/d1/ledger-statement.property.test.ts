import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EntryId } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import type { Entry } from '../../src/worker/ledger/entry.ts'
import type { Period, StatementSelection } from '../../src/worker/ledger/period.ts'
import { readStatement } from '../../src/worker/ledger/statement.ts'
import { currencies } from '../support/currencies.ts'
import { measure, ms, numbers, openDatabase, uid, withoutTriggers } from './fixtures.ts'

const dayMs = 86_400_000
const month = (n: number): Period => ({ from: ms(Date.UTC(2024, n, 1)), to: ms(Date.UTC(2024, n + 1, 1)) })
const day = (at: number): Period => ({ from: ms(at), to: ms(at + dayMs) })

/**
 * Borders of months and days, among them those of a leap year's February: `anyTime` often draws one
 * of them or the millisecond beside it.
 */
const borders = [
  Date.UTC(2024, 0, 1),
  Date.UTC(2024, 1, 1),
  Date.UTC(2024, 1, 29),
  Date.UTC(2024, 2, 1),
  Date.UTC(2024, 3, 1),
]
const anyTime = fc.oneof(
  fc.tuple(fc.constantFrom(...borders), fc.constantFrom(-1, 0, 1)).map(([at, beside]) => at + beside),
  fc.integer({ min: Date.UTC(2023, 11, 20), max: Date.UTC(2024, 3, 10) }),
)
const anyUnits = fc.oneof(
  fc.integer({ min: 1, max: 2_000_000_000 }),
  fc.integer({ min: 1, max: 4_000_000_000_000_000 }),
)
const anyPost = fc.record({
  owner: fc.integer({ min: 1, max: 3 }),
  cuy: fc.integer({ min: 1, max: 2 }),
  units: anyUnits,
  takes: fc.boolean(),
  at: anyTime,
})
type Post = typeof anyPost extends fc.Arbitrary<infer T> ? T : never

/**
 * Stores the posts as adjustments in the order of their times, except those after which a balance
 * would be out of range. Returns the stored posts.
 */
async function store(db: WriteDatabase, posts: readonly Post[]): Promise<readonly Post[]> {
  const balances = new Map<string, number>()
  const stored = [...posts]
    .sort((a, b) => a.at - b.at)
    .filter((post) => {
      const key = `${post.owner} ${post.cuy}`
      const after = (balances.get(key) ?? 0) + (post.takes ? -post.units : post.units)
      if (after < 0 || after > Number.MAX_SAFE_INTEGER) return false
      balances.set(key, after)
      return true
    })
  const insert = db.prepare(`INSERT INTO posting (entries, posted_by, created_at) VALUES (json_array(json_object(
    'uid', ?1, 'cuy', ?2, 'type', 9, 'osn', ?3, 'amount', ?4, 'mark', '')), 'shop', ?5)`)
  const rows = stored.map(({ owner, cuy, units, takes, at }, n) =>
    insert.bind(owner, cuy, `n${n}`, takes ? -units : units, at),
  )
  if (rows.length > 0) await db.batch(rows)
  return stored
}

const clockAt = (at: number) => ({ now: () => ms(at) })

/**
 * Reads a statement page by page. Returns the last page with the entries of all pages as `entries`.
 */
async function readAll(db: WriteDatabase, selection: StatementSelection, now: number) {
  const entries: Entry[] = []
  for (;;) {
    const after = entries.at(-1)?.id as EntryId
    const page = await readStatement({ db, currencies, clock: clockAt(now) }, { ...selection, after })
    entries.push(...page.list)
    if (page.list.length < (selection.limit ?? 100)) return { ...page, entries }
  }
}

const sumOf = (posts: readonly Post[], before: number, cuy: number) =>
  posts.reduce(
    (sum, one) => (one.cuy === cuy && one.at < before ? sum + BigInt(one.takes ? -one.units : one.units) : sum),
    0n,
  )

it('opening and entries add up to closing, for a user and for all, in any month and on any day, at any page size', async () => {
  const anyPeriod = fc.oneof(fc.integer({ min: -1, max: 4 }).map(month), fc.constantFrom(...borders).map(day))
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyPost, { maxLength: 25 }),
      fc.option(fc.integer({ min: 1, max: 4 })),
      fc.array(fc.tuple(anyPeriod, fc.integer({ min: 1, max: 7 })), { minLength: 1, maxLength: 4 }),
      async (posts, owner, statements) => {
        const db = await openDatabase()
        const own = (await store(db, posts)).filter((one) => owner === null || one.owner === owner)
        for (const [period, limit] of statements) {
          const now = Date.UTC(2026, 0, 1)
          const selection = { period, limit, ...(owner === null ? {} : { uid: uid(owner) }) }
          const { balances, entries, count, until } = await readAll(db, selection, now)
          const within = own.filter(({ at }) => at >= period.from && at < period.to)
          expect(entries.map(({ uid, cuy, amount, createdAt }) => [uid, cuy, amount, createdAt])).toEqual(
            within.map(({ owner, cuy, units, takes, at }) => [owner, cuy, BigInt(takes ? -units : units), at]),
          )
          expect([count, until]).toEqual([within.length, period.to])
          expect(balances.map(({ currency, opening, closing }) => [currency.cuy, opening, closing])).toEqual(
            [1, 2].map((cuy) => [cuy, sumOf(own, period.from, cuy), sumOf(own, period.to, cuy)]),
          )
          for (const { currency, opening, closing } of balances) {
            const moved = entries.filter(({ cuy }) => cuy === currency.cuy)
            expect(moved.reduce((sum, { amount }) => sum + amount, opening)).toBe(closing)
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

const year = (n: number): Period => ({ from: ms(Date.UTC(2020 + n, 0, 1)), to: ms(Date.UTC(2021 + n, 0, 1)) })

it('of a running period says until when, and its pages fit together while entries come', async () => {
  const db = await openDatabase()
  const post = { owner: 1, cuy: 2, units: 5, takes: false }
  const [start, now] = [Date.UTC(2024, 1, 1), Date.UTC(2024, 1, 9, 12)]
  await store(
    db,
    [start - 1, start, start + 1].map((at) => ({ ...post, at })),
  )
  const context = { db, currencies, clock: clockAt(now) }
  const selection = { period: month(1), uid: uid(1), limit: 1 }
  const first = await readStatement(context, selection)
  expect([first.until, first.count, first.list.map(({ id }) => id)]).toEqual([now, 2, [2]])
  await db
    .prepare(`INSERT INTO posting (entries, posted_by, created_at) VALUES (json_array(json_object('uid', 1, 'cuy', 2,
      'type', 9, 'osn', 'later', 'amount', 7, 'mark', '')), 'shop', ?)`)
    .bind(now)
    .run()
  const rest = await readStatement(context, { ...selection, after: 2 as EntryId, limit: 9 })
  const [, usdt] = rest.balances
  expect([usdt?.opening, usdt?.closing, rest.list.map(({ amount }) => amount)]).toEqual([5n, 22n, [5n, 7n]])
})

it('costs no more with a longer history: neither a page nor its sums', async () => {
  const db = await openDatabase()
  const many = 20_000
  await withoutTriggers(db, [
    'INSERT INTO wallet (id, uid, cuy, balance, entry_count, newest_entry) VALUES (1, 1, 1, 20000, 20000, 20000), (2, 1, 2, 0, 0, 0)',
    `INSERT INTO stored_flow (id, wallet_id, type, osn, amount, balance, mark, created_at, posted_by, number,
      type_number)
      ${numbers(many)} SELECT i, 1, 9, 'o' || i, 1, i, '', ${Date.UTC(2020, 0, 1)} + i * 3600000, 'shop', i, i FROM n`,
    `INSERT INTO day (cuy, type, day, entries, high, low)
      SELECT 1, 9, created_at / 86400000, max(id), 0, max(id) FROM flow GROUP BY 3`,
  ])
  const statement = (selection: StatementSelection) =>
    measure(db, (metered) => readStatement({ db: metered, currencies, clock: clockAt(0) }, { limit: 10, ...selection }))
  for (const scope of [{ uid: uid(1) }, { uid: uid(1), cuy: currencies.list[0]?.cuy }]) {
    const { result, rows, trips } = await statement({ ...scope, period: year(1) })
    expect([result.count, result.balances[0]?.opening, result.balances[0]?.closing]).toEqual([8_760, 8_783n, 17_543n])
    expect(rows).toBeLessThan(350) // two wallets at most, with two borders each found by binary search
    expect(trips).toBe(1)
    const deep = await statement({ ...scope, period: year(1), after: ((result.list[0]?.id ?? 0) + 8_000) as EntryId })
    expect([deep.result.list.length, deep.rows < 350]).toEqual([10, true])
  }
  const last = await statement({ period: day(Date.UTC(2022, 3, 1)) })
  expect([last.result.count, last.result.balances[0]?.opening, last.result.balances[0]?.closing]).toEqual([
    24,
    19_703n,
    19_727n,
  ])
  expect(last.rows).toBeLessThan(350)
})
