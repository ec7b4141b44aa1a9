import { amountMax, formatUnits } from '../common/amount.ts'
import type { BackendName } from '../common/ids.ts'
import type { ConflictReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { Currencies } from './currencies.ts'
import type { Entry, NewEntry } from './entry.ts'
import { type BadPost, keyText, parsePost } from './parse-post.ts'
import { type PostAttempt, storePost } from './store/posts.ts'

/**
 * Why the whole post was refused. `entry` counts the entries of the post from 1 and names the
 * faulty one. `why` is one sentence for people.
 */
export type PostFailure =
  | BadPost
  /**
   * An entry's key (wallet, type and `osn`) is stored already or belongs to a payout or an order,
   * and the post does not exactly repeat an earlier one.
   */
  | { readonly kind: 'conflict'; readonly reason: ConflictReason; readonly entry: number; readonly why: string }
  /** The entry takes more than its wallet holds after the entries before it in the post. */
  | { readonly kind: 'insufficient'; readonly reason: 'insufficient'; readonly entry: number; readonly why: string }
  /** A wallet would hold more than 2^53−1 smallest units. */
  | { readonly kind: 'wallet-full'; readonly reason: 'wallet-full'; readonly entry: number; readonly why: string }

/** The entries of a post as they are stored, in the order of the post. */
export interface Posted {
  readonly entries: readonly Entry[]
  /** True if this call has stored nothing, because the same post was stored before. */
  readonly replayed: boolean
}

/**
 * Posts entries, all or none. `list` is unchecked, as the backend sent it. Repeating a post (same
 * backend, keys, amounts and marks) stores nothing and returns the stored entries, so a backend
 * that got no answer sends the post again.
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

/**
 * Turns what an attempt to post has read into the answer. Stored keys count before balances, so a
 * repeated post succeeds whatever the balances are now.
 */
function judgeAttempt(
  { stored, reserved, known, balances }: PostAttempt,
  entries: readonly NewEntry[],
  by: BackendName,
  currencies: Currencies,
): Result<Posted, PostFailure> {
  if (reserved !== null) {
    return conflict(reserved, 'key-in-use', 'a payout or an order has its uid, cuy and osn, and needs this type itself')
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

/**
 * Finds the first entry after which its wallet would be below 0 or above 2^53−1 units; null if
 * there is none. `balances` are those before the post.
 */
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
