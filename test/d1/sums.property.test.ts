import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { storePost } from '../../src/worker/ledger/store/posts.ts'
import { readingsNeeded } from '../../src/worker/reconciliation/judge.ts'
import { selectDueHoldings, storeHoldings } from '../../src/worker/reconciliation/store/holdings.ts'
import {
  addressAt,
  amount,
  credited,
  cuy,
  height,
  held,
  moved,
  ms,
  openDatabase,
  refused,
  transfer,
  txid,
  uid,
} from './fixtures.ts'

const owners = [1, 2, 1]
const dayMs = 86_400_000
const anyUnits = fc.oneof(
  fc.bigInt({ min: 1n, max: 3_000_000_000n }),
  fc.bigInt({ min: 1n, max: 4_000_000_000_000_000n }),
)
const anyReading = fc.oneof(fc.constant(0n), anyUnits, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))

const anyDeposit = fc.record({
  kind: fc.constant('deposit' as const),
  tx: fc.nat(20),
  to: fc.nat(owners.length - 1),
  currency: fc.integer({ min: 1, max: 2 }),
  units: anyUnits,
  state: fc.constantFrom('credited', 'credited', 'held', 'refused', 'moved', 'collected'),
})
const anyPost = fc.record({
  kind: fc.constant('post' as const),
  owner: fc.integer({ min: 1, max: 2 }),
  currency: fc.integer({ min: 1, max: 2 }),
  units: anyUnits,
  type: fc.constantFrom(2 as const, 4 as const, 5 as const, 9 as const),
})
const anyComparison = fc.record({
  kind: fc.constant('comparison' as const),
  currency: fc.integer({ min: 1, max: 2 }),
  balance: fc.option(anyReading),
  fees: fc.oneof(fc.constant(0n), fc.bigInt({ min: -5_000_000n, max: 0n })),
  difference: fc.oneof(
    fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
    fc.bigInt({ min: -5_000n, max: 5_000n }),
    fc.constant(0n),
  ),
  differing: fc.integer({ min: 1, max: readingsNeeded }),
})
const anyCorrection = fc.record({ kind: fc.constant('correction' as const), to: fc.integer({ min: 95, max: 119 }) })
const anyStep = fc.oneof(
  { weight: 4, arbitrary: anyDeposit },
  { weight: 2, arbitrary: anyPost },
  { weight: 3, arbitrary: anyComparison },
  { weight: 1, arbitrary: anyCorrection },
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

/**
 * Sender and recipient of a transfer from an issued address. Address 2 pays to another issued
 * address; all other addresses pay to a stranger.
 */
const collectedTo = (n: number) => ({ from: addressAt(n), to: addressAt(n === 2 ? 0 : 9) })

async function take(db: WriteDatabase, step: Step, n: number): Promise<void> {
  const at = ms(Math.floor((n * dayMs) / 3))
  if (step.kind === 'deposit') {
    const verdict =
      { credited: credited(step.units), held: held(), refused, moved, collected: moved }[step.state] ?? moved
    const place = { to: addressAt(step.to), ...(step.state === 'collected' && collectedTo(step.to)) }
    const changes = { txid: txid(step.tx), raw: step.units, cuy: cuy(step.currency), ...place }
    const owner = verdict === moved ? {} : { uid: uid(owners[step.to] ?? 0) }
    await storeTransfers(db, [transfer(verdict, { ...changes, ...owner, native: step.currency === 1 })], at)
  } else if (step.kind === 'post') {
    const units = amount(step.type === 5 || (step.type === 9 && n % 2 === 0) ? step.units : -step.units)
    const entry = {
      uid: uid(step.owner),
      cuy: cuy(step.currency),
      type: step.type,
      osn: `post ${n}`,
      amount: units,
      mark: '',
    }
    await storePost(db, [entry], 'shop' as BackendName, at)
  } else if (step.kind === 'comparison') {
    const { balance, difference, differing } = step
    const found = await selectDueHoldings(db, cuy(step.currency), ms(Number.MAX_SAFE_INTEGER), 2)
    const reading = balance === null ? null : { balance, fromHeight: height(90), toHeight: height(90 + n) }
    const after = {
      reading,
      accepted: step.fees,
      acceptedSent: 0,
      readSent: 0,
      difference,
      differing: difference === 0n ? 0 : differing,
    }
    await storeHoldings(
      db,
      found.map((before) => ({ before, after: { ...after, dueAt: at } })),
    )
  } else {
    await db
      .prepare('INSERT INTO correction (finalized, reason, created_at) VALUES (?, ?, ?)')
      .bind(step.to, 'why', at)
      .run()
    await db.prepare('UPDATE scan SET finalized = 120').run()
  }
}

type Row = Readonly<Record<string, number | string>>
const rowsOf = async (db: WriteDatabase, sql: string) => (await db.prepare(sql).all<Row>()).results
const joined = (row: Row, names: readonly string[], base: bigint) =>
  names.reduce((sum, name) => sum * base + BigInt(row[name] ?? 0), 0n)
const parts = [0, 1, 2, 3, 4, 5, 6].map((part) => `part_${part}`)

/**
 * For each key, the number of rows and the sum of their units. The result leaves out keys without
 * rows.
 */
function grouped(list: readonly (readonly [key: string, units: bigint, number?: number])[]): Map<string, string> {
  const groups = [...Map.groupBy(list, ([key]) => key)].map(([key, group]): [string, string, number] => {
    const number = group.reduce((sum, [, , count = 1]) => sum + count, 0)
    return [key, `${number}: ${group.reduce((sum, [, units]) => sum + units, 0n)}`, number]
  })
  return new Map(groups.filter(([, , number]) => number !== 0).map(([key, text]) => [key, text]))
}

/** The same sums twice: as the triggers keep them (`kept`), and as the rows add up (`counted`). */
async function sumsIn(db: WriteDatabase) {
  const [days, totals, flows, transfers, addresses, holdings] = await Promise.all([
    rowsOf(db, 'SELECT * FROM day'),
    rowsOf(db, 'SELECT * FROM total'),
    rowsOf(db, 'SELECT * FROM flow'),
    rowsOf(db, 'SELECT * FROM transfer'),
    rowsOf(db, 'SELECT address FROM address'),
    rowsOf(db, 'SELECT * FROM holding'),
  ])
  const kept = grouped([
    ...days.map(
      (row) =>
        [`${row.day} ${row.cuy} ${row.type}`, joined(row, ['high', 'low'], 10n ** 9n), Number(row.entries)] as const,
    ),
    ...totals.map((row) => [`${row.kind} ${row.cuy}`, joined(row, parts, 10n ** 12n), Number(row.number)] as const),
  ])
  const read = holdings.filter(({ balance }) => balance !== null)
  const paid = holdings.filter(({ accepted }) => accepted !== '0')
  const ours = new Set(addresses.map(({ address }) => address))
  const reported = holdings.filter(({ differing }) => Number(differing) >= readingsNeeded)
  const keyOf = ({ cuy, type }: Row) => `${cuy} ${type}`
  const dayOf = ({ created_at: at }: Row) => Math.floor(Number(at) / dayMs)
  // The row of a day in `day` sums all entries up to the end of that day, not only the day's own
  // entries.
  const flowDays = [...new Map(flows.map((row) => [`${dayOf(row)} ${keyOf(row)}`, row])).values()].map((row) => {
    return { key: keyOf(row), day: dayOf(row) }
  })
  const counted = grouped([
    ...flowDays.flatMap((day) =>
      flows
        .filter((row) => keyOf(row) === day.key && dayOf(row) <= day.day)
        .map((row) => [`${day.day} ${day.key}`, BigInt(row.amount ?? 0)] as const),
    ),
    ...transfers.flatMap((row) => movedBy(row, ours)),
    ...paid.map((row) => [`fees ${row.cuy}`, BigInt(row.accepted ?? 0)] as const),
    ...read.map((row) => [`read ${row.cuy}`, BigInt(row.balance ?? 0)] as const),
    ...reported.map((row) => [`difference ${row.cuy}`, BigInt(row.difference ?? 0)] as const),
  ])
  return { kept, counted }
}

/**
 * The sum that a transfer belongs to, by its state. A `moved` one counts as collected if it leaves
 * the issued addresses, as gas if it comes from outside.
 */
function movedBy({ state, cuy, raw, from_address, to_address }: Row, ours: ReadonlySet<Row[string] | undefined>) {
  const units = BigInt(String(raw))
  // the block is not final, so the transfer has not moved any money
  if (state === 'seen' || state === 'dropped') return []
  if (state !== 'moved') return [[`${state} ${cuy}`, units] as const]
  const [leaves, comes] = [ours.has(from_address), ours.has(to_address)]
  if (leaves === comes) return []
  return [leaves ? ([`collected ${cuy}`, -units] as const) : ([`gas ${cuy}`, units] as const)]
}

/**
 * Steps that come first in each run, so that no sum is empty. Their amounts fill every part of the
 * stored numbers and carry from `low` into `high`.
 */
const first: readonly Step[] = [1, 2].flatMap((currency): Step[] => [
  { kind: 'deposit', tx: 30 + currency, to: 0, currency, units: 5_000_000_000n, state: 'credited' },
  { kind: 'post', owner: 1, currency, units: 2_999_999_999n, type: 4 },
  { kind: 'post', owner: 1, currency, units: 1_999_999_999n, type: 5 },
  { kind: 'post', owner: 1, currency, units: 1_999_999_999n, type: 5 },
  { kind: 'deposit', tx: 40 + currency, to: 1, currency, units: 5n, state: 'moved' },
  { kind: 'deposit', tx: 50 + currency, to: 1, currency, units: 3n, state: 'collected' },
  { kind: 'comparison', currency, balance: 2n ** 256n - 1n, fees: -7n, difference: -3n, differing: readingsNeeded },
])

it('the sums that triggers keep are those of the rows, whatever is stored, posted, compared and corrected', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 35 }), async (steps) => {
      const db = await openDatabase(owners)
      const taken = async (list: readonly Step[], before: number) => {
        for (const [n, step] of list.entries()) await take(db, step, before + n)
        const { kept, counted } = await sumsIn(db)
        expect(kept).toEqual(counted)
        return kept
      }
      const kinds = ['credited', 'read', 'fees', 'gas', 'collected', 'difference'].flatMap((kind) => [
        `${kind} 1`,
        `${kind} 2`,
      ])
      expect([...(await taken(first, 1)).keys()]).toEqual(expect.arrayContaining(kinds))
      await taken(steps, 1 + first.length)
    }),
    { numRuns: 20 },
  )
}, 120_000)
