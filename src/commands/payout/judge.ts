import * as z from 'zod/mini'
import { formatInstant, minuteMs, type UnixMs } from '../../worker/common/time.ts'
import { expirationAheadMsMax } from '../../worker/payouts/signed-bytes.ts'
import type { JournalEntry } from './journal.ts'
import { base58Text, decimal, naturalNumber, type ShownHead, type ShownPayout, textOfKey, typedKey } from './payout.ts'

// Decides whether a signer may sign a payout, by its journal, the service's answer and its own
// clock. None of the three decides alone.

/**
 * The longest lifetime of a transaction, in minutes. The service refuses a transaction that expires
 * later than this after the newest final block.
 */
export const minutesMax = expirationAheadMsMax / minuteMs
/** Even if the signer's clock is wrong by this much, no unexpired transaction counts as expired. */
const clockMarginMs = 10 * minuteMs
/**
 * The least lifetime that a new transaction must have left by the signer's clock. If it has less,
 * the final block to which it refers (the head) is old, or the clock is ahead.
 */
export const leftMsMin = 5 * minuteMs
/** The time of a final block may be this far ahead of the signer's clock. */
const aheadMsMax = 30_000
/**
 * A final block must be this much later than an expiration before the transaction counts as
 * expired: an earlier block may contain it.
 */
export const pastMs = minuteMs

/** What a signer knows when it judges a payout. */
export interface Known {
  /** The transactions in the journal with the payout's key, in the order of signing. */
  readonly earlier: readonly JournalEntry[]
  readonly startedAt: UnixMs
  readonly head: ShownHead
  readonly now: UnixMs
  /** What the signer's own nodes have proven of transactions in the journal, by txid. */
  readonly proven: ReadonlyMap<string, Proof>
  /**
   * Txids in the journal, and keys of payouts (`textOfKey`), for which a person wants a new
   * transaction to be signed.
   */
  readonly again: ReadonlySet<string>
}

/**
 * Why a transaction can never pay, by a quorum of the signer's own nodes. `failed`: it is in a
 * final block, and has failed there. `absent`: it was in no final block when its time had passed by
 * the clock of the chain.
 */
export type Proof = 'failed' | 'absent'

export type SigningVerdict =
  | { readonly kind: 'sign' }
  /**
   * The newest transaction of the payout in the journal is handed in (sent to the service) again.
   */
  | { readonly kind: 'hand-in'; readonly entry: JournalEntry }
  /** The payout can be signed again once these transactions are proven to have paid nothing. */
  | { readonly kind: 'prove'; readonly entries: readonly JournalEntry[] }
  | { readonly kind: 'leave'; readonly why: string }

/**
 * Decides by the journal what to do about a payout that the service offers. `signOne` checks
 * limits, proof and decimals afterwards.
 */
export function judge(payout: ShownPayout, known: Known): SigningVerdict {
  const { earlier, startedAt, now } = known
  const last = earlier.at(-1)
  const safeAt = startedAt + minutesMax * minuteMs
  const paid = findPaid(payout, known)
  if (last === undefined) {
    const isOld = msOf(payout) <= startedAt && now <= safeAt
    if (isOld) return leave(`asked for before the journal was begun: signed from ${time(safeAt)} on`)
    return paid === null ? { kind: 'sign' } : leave(paid)
  }
  if (!isSameContent(payout, last)) {
    return leave(`this key was signed for ${last.amt} to ${last.to}, txid ${last.txid}: find out who has changed it`)
  }
  if (payout.attempts <= last.attempts) return { kind: 'hand-in', entry: last }
  if (paid !== null) return leave(paid)
  const entries = earlier.filter((entry) => !canNeverPay(entry, known))
  return entries.length === 0 ? { kind: 'sign' } : { kind: 'prove', entries }
}

/**
 * Whether a transaction in the journal can never pay any more. That it has failed in a final block
 * is enough at any time, and only nodes of this signer can say so: the service could lie, and a
 * person could mean a transaction that is not in a block yet. Otherwise it must have expired by two
 * clocks as well.
 */
function canNeverPay(entry: JournalEntry, { proven, again, ...clocks }: Known): boolean {
  const proof = proven.get(entry.txid)
  return proof === 'failed' || (isExpired(entry, clocks) && (proof === 'absent' || again.has(entry.txid)))
}

type Clocks = Pick<Known, 'now' | 'head'>

/** Whether a transaction has expired by the signer's own clock and by the chain's. */
export function isExpired({ expiration }: JournalEntry, { now, head }: Clocks): boolean {
  return now > expiration + clockMarginMs && msOf(head) > expiration + pastMs
}

/**
 * When a transaction that has paid nothing so far will have expired for this signer, as part of a
 * sentence.
 */
export function sayWhenExpired({ expiration }: JournalEntry, { now }: Pick<Clocks, 'now'>): string {
  const from = `signed again from ${time(expiration + clockMarginMs)} on`
  if (now <= expiration) return `it can be mined until ${time(expiration)}: ${from}`
  if (now <= expiration + clockMarginMs) return `it has expired: ${from}`
  return `it has expired: signed again once the newest final block is of after ${time(expiration + pastMs)}`
}

/**
 * Why a payout must not be signed because money has left for it already, as part of a sentence.
 * Null if no money has left, or if a person wants to pay again.
 */
function findPaid(payout: ShownPayout, { earlier, again }: Known): string | null {
  const { moved } = payout
  if (moved === undefined || moved === null || (Array.isArray(moved) && moved.length === 0)) return null
  if (again.has(textOfKey(payout)) || earlier.some(({ txid }) => again.has(txid))) return null
  return `${sayMoved(moved)} has left for it already: only if it is to be paid again, --again ${typedKey(payout)}`
}

const movedItems = z.array(z.object({ to: base58Text, cuy: naturalNumber, amt: decimal }))
const movedCharsMax = 160

/**
 * Writes what has left the payout address, as part of a sentence. A token that is not configured,
 * or an unknown form, is written as the service shows it.
 */
function sayMoved(moved: unknown): string {
  const items = movedItems.safeParse(moved)
  if (items.success) return items.data.map(({ to, cuy, amt }) => `${amt} of cuy ${cuy} to ${to}`).join(', ')
  return JSON.stringify(moved)
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, movedCharsMax)
}

/**
 * Whether a line of the journal pays the same amount to the same recipient as a payout with the
 * same key.
 */
export function isSameContent(payout: Pick<ShownPayout, 'to' | 'amt'>, entry: JournalEntry): boolean {
  return payout.to === entry.to && payout.amt === entry.amt
}

/**
 * Why transactions must not refer to this head (the service's newest final block), or null.
 * `newest` is the head of the newest transaction in the journal.
 */
export function findHeadFault(head: ShownHead, newest: ShownHead | null, now: UnixMs, minutes: number): string | null {
  const { height, hash } = head
  const at = msOf(head)
  if (!hash.startsWith(height.toString(16).padStart(16, '0'))) return `its hash is not that of a block ${height}`
  if (at > now + aheadMsMax)
    return `it is of ${time(at)}, and this machine's clock shows ${time(now)}: set the clock right`
  if (at + minutes * minuteMs < now + leftMsMin) {
    return `it is of ${time(at)}, and this machine's clock shows ${time(now)}: the service is behind, or the clock is wrong`
  }
  // Times are compared, not heights: a service could invent a height that no true head reaches, but
  // a time at most `aheadMsMax` ahead of the clock.
  const isBack = newest !== null && (at < msOf(newest) || (at === msOf(newest) && hash !== newest.hash))
  return isBack
    ? `it is not after block ${newest.height}, which was final before: an older copy of the service, or a fork`
    : null
}

/**
 * The expiration of a transaction, in milliseconds since 1970. `spread` differs from payout to
 * payout, so that two signers that pay equal payouts at the same moment make different
 * transactions.
 */
export function expirationOf(head: ShownHead, minutes: number, spread: number): number {
  return msOf(head) + minutes * minuteMs - (spread % minuteMs)
}

const leave = (why: string): SigningVerdict => ({ kind: 'leave', why })
const msOf = ({ created_at: at }: { readonly created_at: string }) => Date.parse(at)
const time = (ms: number) => formatInstant(ms as UnixMs) // safe: milliseconds since 1970
