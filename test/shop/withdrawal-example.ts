import type { Ledger } from '../../src/worker/index.ts'

/** A withdrawal. Your backend stores it before it calls `withdraw`. */
export interface Withdrawal {
  readonly id: string
  readonly uid: number
  readonly cuy: number
  readonly amt: string
  readonly to: string
}

/** Your own tool that pays: it has the private keys, and stores what it has signed. */
export interface Payout {
  /**
   * Returns the stored signed transaction of a withdrawal. If there is none, signs one and stores
   * it before this resolves.
   */
  sign(withdrawal: Withdrawal): Promise<string>
  /**
   * Broadcasts the transaction; repeating this does no harm. Null until its block is final, or a
   * final block is later than its expiration.
   */
  send(signed: string): Promise<{ readonly txid: string; readonly isPaid: boolean } | null>
}

/** The wallet that holds money while its withdrawal is under way: a uid that belongs to no user. */
export const heldBy = 1_000_000_000

/**
 * Takes a withdrawal as far as possible now. If this returns `sent` or throws, call it again later:
 * no step happens twice.
 */
export async function withdraw(ledger: Pick<Ledger, 'post'>, payout: Payout, withdrawal: Withdrawal) {
  const { id, uid, cuy, amt } = withdrawal
  const move = (osn: string, from: number, to: number, mark: string) => [
    { uid: from, cuy, type: 3, osn, amt: `-${amt}`, mark } as const,
    { uid: to, cuy, type: 3, osn, amt, mark } as const,
  ]
  const held = await ledger.post(move(`${id}:hold`, uid, heldBy, 'withdrawal'), 'payout')
  if (!held.ok && held.error.kind === 'insufficient') return 'refused' // the balance is too low, and nothing was stored
  if (!held.ok) throw new Error(held.error.why)
  const sent = await payout.send(await payout.sign(withdrawal))
  if (sent === null) return 'sent'
  // A withdrawal ends as paid out or given back. Both have entries with the same keys and different
  // marks, so the ledger accepts only one.
  const end = sent.isPaid
    ? [
        ...move(`${id}:end`, heldBy, uid, 'paid out'),
        { uid, cuy, type: 2, osn: id, amt: `-${amt}`, mark: sent.txid } as const,
      ]
    : move(`${id}:end`, heldBy, uid, 'given back')
  const ended = await ledger.post(end, 'payout')
  if (!ended.ok) throw new Error(ended.error.why)
  return sent.isPaid ? 'paid' : 'given back'
}
