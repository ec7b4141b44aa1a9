import * as z from 'zod/mini'
import { formatInstant, type UnixMs } from '../../worker/common/time.ts'
import type { JournalEntry } from './journal.ts'
import { base58Text, decimal, naturalNumber, type ShownHead, type ShownPayout, textOfKey, typedKey } from './payout.ts'

// What a signer may do with a payout, by its journal, the service's word and its own clock. No one of them decides alone.

/** The longest life of a transaction: the service takes none that expires later than this after the newest final block. */
export const minutesMax = 60
const minuteMs = 60_000
/** How far the clock may be wrong before a transaction counts as expired that has not. */
const clockMarginMs = 10 * minuteMs
/** The least time that a transaction must have left: a head that leaves less is old, or the clock is ahead. */
export const leftMsMin = 5 * minuteMs
/** How far a final block may be ahead of the clock. */
const aheadMsMax = 30_000
/** The time that a final block must be past an expiration: what it allows is in a block before that one. */
export const pastMs = minuteMs

/** What a signer knows when it judges a payout. */
export interface Known {
  /** What the journal has of the same key, in the order of signing. */
  readonly earlier: readonly JournalEntry[]
  readonly startedAt: UnixMs
  readonly head: ShownHead
  readonly now: UnixMs
  /** Txids that can never pay any more, by nodes or by a person. */
  readonly gone: ReadonlySet<string>
  /** What a person has said to sign again: txids, and keys (`textOfKey`). */
  readonly again: ReadonlySet<string>
}

/** What to do with a payout. */
export type SigningVerdict =
  | { readonly kind: 'sign' }
  /** The journal's newest transaction of it goes to the service again. */
  | { readonly kind: 'hand-in'; readonly entry: JournalEntry }
  /** It can be signed again once these are known to have paid nothing. */
  | { readonly kind: 'prove'; readonly entries: readonly JournalEntry[] }
  | { readonly kind: 'leave'; readonly why: string }

/** Judges a payout that the service offers for signing. */
export function judge(payout: ShownPayout, known: Known): SigningVerdict {
  const { earlier, startedAt, head, now, gone } = known
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
  const isExpired = now > last.expiration + clockMarginMs && msOf(head) > last.expiration + pastMs
  if (!isExpired) {
    return leave(
      `the service says that txid ${last.txid} has ended, but it can be mined until ${time(last.expiration)}`,
    )
  }
  if (paid !== null) return leave(paid)
  const entries = earlier.filter(({ txid }) => !gone.has(txid))
  return entries.length === 0 ? { kind: 'sign' } : { kind: 'prove', entries }
}

/** What has left for a payout, where that keeps it from being signed: what this journal knows of it does not matter. Null if nothing has. */
function findPaid(payout: ShownPayout, { earlier, again }: Known): string | null {
  const { moved } = payout
  if (moved === undefined || moved === null || (Array.isArray(moved) && moved.length === 0)) return null
  if (again.has(textOfKey(payout)) || earlier.some(({ txid }) => again.has(txid))) return null
  return `${sayMoved(moved)} has left for it already: only if it is to be paid again, --again ${typedKey(payout)}`
}

const movedItems = z.array(z.object({ to: base58Text, cuy: naturalNumber, amt: decimal }))
const movedCharsMax = 160

/** What has left as a part of a sentence. What is of no configured currency, or of another form, is written as the service shows it. */
function sayMoved(moved: unknown): string {
  const items = movedItems.safeParse(moved)
  if (items.success) return items.data.map(({ to, cuy, amt }) => `${amt} of cuy ${cuy} to ${to}`).join(', ')
  return JSON.stringify(moved)
    .replace(/[^\x20-\x7e]/g, '')
    .slice(0, movedCharsMax)
}

/** Whether the journal has signed exactly this for the key. */
export function isSameContent(payout: Pick<ShownPayout, 'to' | 'amt'>, entry: JournalEntry): boolean {
  return payout.to === entry.to && payout.amt === entry.amt
}

/** Why a head must not be referred to, or null. `newest` is the newest one that was referred to. */
export function findHeadFault(head: ShownHead, newest: ShownHead | null, now: UnixMs, minutes: number): string | null {
  const { height, hash } = head
  const at = msOf(head)
  if (!hash.startsWith(height.toString(16).padStart(16, '0'))) return `its hash is not that of a block ${height}`
  if (at > now + aheadMsMax)
    return `it is of ${time(at)}, and this machine's clock shows ${time(now)}: set the clock right`
  if (at + minutes * minuteMs < now + leftMsMin) {
    return `it is of ${time(at)}, and this machine's clock shows ${time(now)}: the service is behind, or the clock is wrong`
  }
  // Times, not heights: an invented one cannot be far in the future, so what is right is soon above it.
  const isBack = newest !== null && (at < msOf(newest) || (at === msOf(newest) && hash !== newest.hash))
  return isBack
    ? `it is not after block ${newest.height}, which was final before: an older copy of the service, or a fork`
    : null
}

/** The expiration of a transaction: not the same for two payouts, so that two signers make different bytes in the same moment. */
export function expirationOf(head: ShownHead, minutes: number, spread: number): number {
  return msOf(head) + minutes * minuteMs - (spread % minuteMs)
}

const leave = (why: string): SigningVerdict => ({ kind: 'leave', why })
const msOf = ({ created_at: at }: { readonly created_at: string }) => Date.parse(at)
const time = (ms: number) => formatInstant(ms as UnixMs) // safe: milliseconds since 1970
