import { type SQL, sql } from 'drizzle-orm'
import { amountMax } from '../common/amount.ts'
import type { BackendName } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { bare, bareList, madeOnce, member, memberList, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts } from '../d1/payout-tables.ts'
import { addresses, flows, wallets } from '../d1/tables.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { findShortfall, type PostAttempt, selectWallets } from '../ledger/post-entries.ts'
import type { PayoutFailure } from './failure.ts'
import { type NewPayout, parseAsking, whyNotTo } from './parse-asking.ts'
import { type Payout, payoutColumns } from './payout.ts'

/** The payouts of an asking as they are now, in its order. */
export interface Asked {
  readonly payouts: readonly Payout[]
  /** Whether they were asked for before. */
  readonly replayed: boolean
}

/** What asking needs. */
export interface AskContext {
  readonly db: WriteDatabase
  readonly currencies: Currencies
  readonly payouts: PayoutRules
}

/**
 * Takes payouts: all or none. `list` is what the backend has sent. Their money is taken in the statement that stores them, and what is
 * within the limits is approved in it. Asked for again with the same content by the same backend, they are shown as they are now.
 */
export async function askPayouts(
  context: AskContext,
  list: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<Asked, PayoutFailure>> {
  const asked = parseAsking(list, context.currencies)
  if (!asked.ok) return asked
  const refusal = findUnpayable(asked.value, context)
  const attempt = await storeAsking(context, asked.value, refusal === null, { by, at })
  const { known } = attempt
  if (known.length === 0) return err(refusal ?? whyRefused(attempt, asked.value, context.currencies))
  const byKey = new Map(known.map((payout) => [keyOf(payout), payout]))
  const inOrder: Payout[] = []
  for (const [i, payout] of asked.value.entries()) {
    const one = byKey.get(keyOf(payout))
    if (one === undefined) {
      return conflict(i, 'partly-known', 'new, while other payouts of the request are known: nothing was stored')
    }
    if (one.posted_by !== by) return conflict(i, 'backend-differs', 'another backend has asked for it')
    if (!isSame(one, payout)) {
      return conflict(i, 'content-differs', 'its uid, cuy and osn are known with another amt, fee, to, mark or proof')
    }
    inOrder.push(one)
  }
  return ok({ payouts: inOrder, replayed: !attempt.stored })
}

function conflict(index: number, reason: PayoutReason, why: string): Result<never, PayoutFailure> {
  return err({ kind: 'conflict', payout: index + 1, reason, why })
}

const keyOf = ({ uid, cuy, osn }: Pick<NewPayout, 'uid' | 'cuy' | 'osn'>) => `${uid} ${cuy} ${osn}`

function isSame(stored: StoredAsking, { amount, fee, to, mark, proof }: NewPayout): boolean {
  const isOfMoney = BigInt(stored.amount) === amount && BigInt(stored.fee) === fee && stored.to_address === to
  return isOfMoney && stored.mark === mark && stored.proof === proof
}

function findUnpayable(asked: readonly NewPayout[], { payouts: rules, currencies }: AskContext): PayoutFailure | null {
  for (const [i, { to }] of asked.entries()) {
    const why = whyNotTo(to, rules, currencies)
    if (why !== null) return { kind: 'refused', payout: i + 1, ...why }
  }
  return null
}

/** Why new payouts were not stored. */
function whyRefused(
  { places, balances }: AskAttempt,
  asked: readonly NewPayout[],
  currencies: Currencies,
): PayoutFailure {
  for (const { place, hasEntry, isUsers } of places) {
    if (isUsers === 1) {
      const why = 'to is the address of a user here: post a transfer (type 3) between the two instead'
      return { kind: 'refused', payout: place + 1, reason: 'to-user', why }
    }
    if (hasEntry === 1) {
      const why = 'an entry has its uid, cuy and osn, and a type that it needs itself'
      return { kind: 'conflict', payout: place + 1, reason: 'key-in-use', why }
    }
  }
  const taken = asked.map((one) => ({ ...one, amount: -(one.amount + one.fee) as NewPayout['amount'] })) // safe: see `findShortfall`
  const { kind, entry, why } = findShortfall(balances, taken, currencies)
  return { kind: 'refused', payout: entry, reason: kind, why }
}

type StoredAsking = Payout & Pick<typeof payouts.$inferSelect, 'proof'>

/** What the database had at the moment of an attempt. */
interface AskAttempt extends Pick<PostAttempt, 'balances'> {
  readonly stored: boolean
  /** The stored payouts with the keys of the asking, those of this attempt included. */
  readonly known: readonly StoredAsking[]
  /** What stands against each payout of the list, if it is new. */
  readonly places: readonly { readonly place: number; readonly hasEntry: 0 | 1; readonly isUsers: 0 | 1 }[]
}

/** One batch, so that equal askings at once store one, and 200 of one balance take no more than there is. */
async function storeAsking(
  { db, payouts: { limits } }: AskContext,
  asked: readonly NewPayout[],
  isAllowed: boolean,
  { by, at }: { readonly by: BackendName; readonly at: UnixMs },
): Promise<AskAttempt> {
  const rows = asked.map(({ to, amount, fee, raw, ...payout }): AskedRow => {
    const limit = limits.get(payout.cuy) ?? null
    return {
      ...payout,
      to_address: to,
      amount: Number(amount),
      fee: Number(fee),
      raw: raw.toString(),
      posted_by: by,
      limit_each: limit === null ? null : Number(limit.each),
      limit_day: limit === null ? null : Number(limit.perDay),
      limit_user: limit === null || limit.perUserPerDay === null ? null : Number(limit.perUserPerDay),
    }
  })
  const list = JSON.stringify(rows)
  const [insertion, known, places, balances] = await db.batch([
    toStatement(db, insertPayouts(list, isAllowed, at)),
    toStatement(db, sql`SELECT ${sql.join([...payoutColumns, payouts.proof], sql`, `)} FROM ${knownPayouts(list)}`),
    toStatement(
      db,
      sql`SELECT key AS place, ${hasEntry} AS "hasEntry", ${isUsers} AS "isUsers" FROM json_each(${list})`,
    ),
    toStatement(db, selectWallets(list)),
  ])
  return {
    stored: (insertion?.results.length ?? 0) > 0,
    known: (known?.results ?? []) as StoredAsking[], // safe: the columns of the statement
    places: (places?.results ?? []) as AskAttempt['places'][number][], // safe: as above
    balances: (balances?.results ?? []) as AskAttempt['balances'][number][], // safe: as above
  }
}

const askedNames = [
  ...(['uid', 'cuy', 'osn', 'amount', 'fee', 'to_address', 'contract', 'raw', 'mark', 'proof', 'posted_by'] as const),
  ...(['limit_each', 'limit_day', 'limit_user'] as const),
] as const
type AskedRow = { readonly [Name in (typeof askedNames)[number]]: (typeof payouts.$inferInsert)[Name] | null }

const askedColumns = askedNames.map((name) => payouts[name])
const { uid, cuy, osn, fee, to_address } = payouts

/** CROSS JOIN makes the list the outer loop, whatever the planner estimates. */
const knownPayouts = (list: string) => sql`json_each(${list}) CROSS JOIN ${payouts} INDEXED BY payout_key
  ON ${uid} = ${member(uid)} AND ${cuy} = ${member(cuy)} AND ${osn} = ${member(osn)}`

/** Whether an entry has a key that the payout or its refund would use. */
const hasEntry = madeOnce(sql`EXISTS (SELECT 1 FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_osn
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.osn} = ${member(osn)}
    AND (${flows.type} IN (2, 5) OR (${flows.type} = 4 AND ${member(fee)} > 0))
  WHERE ${wallets.uid} = ${member(uid)} AND ${wallets.cuy} = ${member(cuy)})`)
const isUsers = madeOnce(sql`EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${member(to_address)})`)

/** Triggers take the money and approve what is within the limits. Without the conditions they would fail the batch, without a reason. */
function insertPayouts(list: string, isAllowed: boolean, at: UnixMs): SQL {
  const ownWallet = sql`${wallets} ON ${wallets.uid} = ${member(uid)} AND ${wallets.cuy} = ${member(cuy)}`
  return sql`
INSERT INTO ${payouts} (${bareList([...askedColumns, payouts.created_at, payouts.changed_at])})
SELECT ${memberList(askedColumns)}, ${at}, ${at} FROM json_each(${list})
WHERE ${isAllowed ? 1 : 0} AND NOT EXISTS (SELECT 1 FROM ${knownPayouts(list)})
  AND NOT EXISTS (SELECT 1 FROM json_each(${list}) WHERE ${hasEntry} OR ${isUsers})
  AND NOT EXISTS (
    SELECT 1 FROM (
      SELECT coalesce(${wallets.balance}, 0) - sum(${member(payouts.amount)} + ${member(fee)})
        OVER (PARTITION BY ${member(uid)}, ${member(cuy)} ORDER BY key ROWS UNBOUNDED PRECEDING) AS after
      FROM json_each(${list}) LEFT JOIN ${ownWallet})
    WHERE after NOT BETWEEN 0 AND ${Number(amountMax)})
ORDER BY key RETURNING ${bare(payouts.id)}`
}
