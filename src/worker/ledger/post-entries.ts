import { sql } from 'drizzle-orm'
import { amountMax, formatUnits } from '../common/amount.ts'
import type { BackendName } from '../common/ids.ts'
import type { ConflictReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { bareList, fixedStatement, member, type WriteDatabase } from '../d1/database.ts'
import { payouts } from '../d1/payout-tables.ts'
import { flows, postings, wallets } from '../d1/tables.ts'
import type { Currencies } from './currencies.ts'
import { type EntryRow, entryColumns, readEntry, withTransfer } from './entries.ts'
import type { Entry, NewEntry } from './entry.ts'
import { type BadPost, keyText, parsePost } from './parse-post.ts'

/** Why nothing of a post was stored. `entry` is the number of the entry, from 1; `why` is one sentence for people. */
export type PostFailure =
  | BadPost
  /** The keys of the post are known with other content, by another backend, or only some of them. */
  | { readonly kind: 'conflict'; readonly reason: ConflictReason; readonly entry: number; readonly why: string }
  /** A wallet holds less than the entry takes, the entries before it included. */
  | { readonly kind: 'insufficient'; readonly reason: 'insufficient'; readonly entry: number; readonly why: string }
  /** A wallet would hold more than 2^53−1 smallest units. */
  | { readonly kind: 'wallet-full'; readonly reason: 'wallet-full'; readonly entry: number; readonly why: string }

/** The entries of a post as stored, in the order of the post. */
export interface Posted {
  readonly entries: readonly Entry[]
  /** Whether they were stored before. */
  readonly replayed: boolean
}

/**
 * Posts entries: all or none. `list` is what the backend has sent. A post whose keys are all known with the same amounts
 * and marks, by the same backend, gets the stored entries again, however often it is sent.
 */
export async function postEntries(
  { db, currencies }: { readonly db: WriteDatabase; readonly currencies: Currencies },
  list: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<Posted, PostFailure>> {
  const entries = parsePost(list, currencies)
  if (!entries.ok) return entries
  const attempt = await storePost(db, entries.value, by, at)
  return judgeAttempt(attempt, entries.value, by, currencies)
}

/** The result of an attempt. Known keys come before balances: a repeated post never depends on what a wallet holds now. */
function judgeAttempt(
  { stored, ofPayout, known, balances }: PostAttempt,
  entries: readonly NewEntry[],
  by: BackendName,
  currencies: Currencies,
): Result<Posted, PostFailure> {
  if (ofPayout !== null) {
    return conflict(ofPayout, 'key-in-use', 'a payout has its uid, cuy and osn, and needs this type itself')
  }
  if (known.length === 0) {
    const shortfall = findShortfall(balances, entries, currencies)
    if (shortfall === null) throw new Error('a post was refused although its keys are new and its wallets have room')
    return err(shortfall)
  }
  const byKey = new Map(known.map((entry) => [keyText(entry), entry]))
  const inOrder: Entry[] = []
  for (const [i, entry] of entries.entries()) {
    const one = byKey.get(keyText(entry))
    if (one === undefined) {
      return conflict(i, 'partly-known', 'new, while other entries of the post are known: nothing was stored')
    }
    if (one.amount !== entry.amount || one.mark !== entry.mark) {
      return conflict(i, 'content-differs', 'its uid, cuy, osn and type are known with another amount or mark')
    }
    if (one.by !== by) return conflict(i, 'backend-differs', 'another backend has posted its uid, cuy, osn and type')
    inOrder.push(one)
  }
  return ok({ entries: inOrder, replayed: !stored })
}

function conflict(index: number, reason: ConflictReason, why: string): Result<never, PostFailure> {
  return err({ kind: 'conflict', reason, entry: index + 1, why })
}

/** The first change whose wallet would leave its bounds, or null. */
export function findShortfall(
  balances: PostAttempt['balances'],
  entries: readonly Pick<NewEntry, 'uid' | 'cuy' | 'amount'>[],
  { byId }: Currencies,
): (Extract<PostFailure, { kind: 'insufficient' | 'wallet-full' }> & { readonly entry: number }) | null {
  const held = new Map(balances.map(({ uid, cuy, balance }) => [`${uid} ${cuy}`, BigInt(balance)]))
  for (const [i, { uid, cuy, amount }] of entries.entries()) {
    const before = held.get(`${uid} ${cuy}`) ?? 0n
    const after = before + amount
    const { symbol = '', scale = 0 } = byId.get(cuy) ?? {}
    const wallet = `wallet of user ${uid} in ${symbol} holds ${formatUnits(before, scale)}`
    if (after < 0n) {
      const why = `${wallet}, ${formatUnits(-amount, scale)} are needed`
      return { kind: 'insufficient', reason: 'insufficient', entry: i + 1, why }
    }
    if (after > amountMax) {
      const most = `a wallet can hold at most ${formatUnits(amountMax, scale)}`
      const why = `${wallet}, ${formatUnits(amount, scale)} do not fit: ${most}`
      return { kind: 'wallet-full', reason: 'wallet-full', entry: i + 1, why }
    }
    held.set(`${uid} ${cuy}`, after)
  }
  return null
}

/** What the database had at the moment of one attempt to post. */
export interface PostAttempt {
  /** Whether this attempt has stored the entries. */
  readonly stored: boolean
  /** The place in the post of the first entry whose key a payout or its refund uses, or null. */
  readonly ofPayout: number | null
  /** The stored entries with the keys of the post, those of this attempt included, in the order of the post. */
  readonly known: readonly Entry[]
  /** The balances of the wallets of the post after the attempt; a wallet without an entry is absent. */
  readonly balances: readonly Pick<typeof wallets.$inferSelect, 'uid' | 'cuy' | 'balance'>[]
}

/**
 * Stores all entries in their order, or none: none where one of their keys is known or a payout's, or where a balance would be below
 * zero or above 2^53−1 after one of them. One batch, so that equal posts at once store one.
 */
export async function storePost(
  db: WriteDatabase,
  entries: readonly NewEntry[],
  by: BackendName,
  at: UnixMs,
): Promise<PostAttempt> {
  const list = JSON.stringify(entries.map(({ amount, ...entry }) => ({ ...entry, amount: Number(amount) })))
  const [before, , known, balances] = await db.batch([
    selectInUse(db, { list }),
    insertPosting(db, { list, by, at }),
    selectKnown(db, { list }),
    selectWallets(db, { list }),
  ])
  const [inUse] = (before?.results ?? []) as InUseRow[] // safe: the columns of the statement
  if (inUse === undefined || known === undefined || balances === undefined) {
    throw new Error('a batch returned too few results')
  }
  return {
    stored: inUse.isKnown === 0 && known.results.length > 0,
    ofPayout: inUse.place,
    known: (known.results as EntryRow[]).map(readEntry), // safe: the columns of the statement
    balances: balances.results as PostAttempt['balances'][number][], // safe: as above
  }
}

/** What was so before the attempt: whether a key of the post is known, and the place of the first one that a payout uses. */
interface InUseRow {
  readonly isKnown: 0 | 1
  readonly place: number | null
}

const { entries, posted_by, created_at } = postings
const posted = sql`json_each(${sql.placeholder('list')})`
const ownWallet = sql`${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`
/** CROSS JOIN makes the list the outer loop, whatever the planner estimates. */
const knownEntries = sql`${posted} CROSS JOIN ${ownWallet} CROSS JOIN ${flows} INDEXED BY flow_key
  ON ${flows.osn} = ${member(flows.osn)} AND ${flows.wallet_id} = ${wallets.id} AND ${flows.type} = ${member(flows.type)}`
/** The entries of a list whose key a payout or its refund uses. */
const payoutEntries = sql`${posted} CROSS JOIN ${payouts} INDEXED BY payout_key ON ${payouts.uid} = ${member(wallets.uid)}
  AND ${payouts.cuy} = ${member(wallets.cuy)} AND ${payouts.osn} = ${member(flows.osn)}
  AND (${member(flows.type)} IN (2, 5) OR (${member(flows.type)} = 4 AND ${payouts.fee} > 0))`

const selectInUse = fixedStatement<'list'>(sql`
SELECT EXISTS (SELECT 1 FROM ${knownEntries}) AS "isKnown", (SELECT key FROM ${payoutEntries} ORDER BY key LIMIT 1) AS place`)

/** A trigger creates the entries and ignores the row, so that it returns nothing. Without the condition it would fail the batch, without a reason. */
const insertPosting = fixedStatement<'list' | 'by' | 'at'>(sql`
INSERT INTO ${postings} (${bareList([entries, posted_by, created_at])})
SELECT ${sql.placeholder('list')}, ${sql.placeholder('by')}, ${sql.placeholder('at')}
WHERE NOT EXISTS (SELECT 1 FROM ${knownEntries}) AND NOT EXISTS (SELECT 1 FROM ${payoutEntries})
  AND NOT EXISTS (
    SELECT 1 FROM (
      SELECT coalesce(${wallets.balance}, 0) + sum(${member(flows.amount)})
        OVER (PARTITION BY ${member(wallets.uid)}, ${member(wallets.cuy)} ORDER BY key ROWS UNBOUNDED PRECEDING) AS after
      FROM ${posted} LEFT JOIN ${ownWallet})
    WHERE after NOT BETWEEN 0 AND ${sql.raw(String(amountMax))})`)

const selectKnown = fixedStatement<'list'>(
  sql`SELECT ${entryColumns} FROM ${knownEntries} ${withTransfer} ORDER BY key`,
)

/** The balances of the wallets that a list of objects with `uid` and `cuy` names. */
const selectWallets = fixedStatement<'list'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM ${posted} CROSS JOIN ${ownWallet}`)
