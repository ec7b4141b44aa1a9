import type { Ledger } from '../../src/worker/index.ts'

/** A withdrawal as your backend has stored it before it begins. */
export interface Withdrawal {
  readonly id: string
  readonly uid: number
  readonly cuy: number
  readonly amt: string
  readonly to: string
}

/** Your own tool, which has the private keys and a store of its own. */
export interface Payout {
  /** The signed transaction of a withdrawal: the one that is stored, else a new one, which is stored before this resolves. */
  sign(withdrawal: Withdrawal): Promise<string>
  /** Broadcasts the transaction, which can be done again. Null while it is neither final nor, by the time of final blocks, expired. */
  send(signed: string): Promise<{ readonly txid: string; readonly isPaid: boolean } | null>
}

/** Where money is while it is on its way: a uid of your own that is no user's. */
export const heldBy = 1_000_000_000

/** Takes a withdrawal as far as it gets. While it answers `sent` or throws, run it again later: each step happens once. */
export async function withdraw(ledger: Pick<Ledger, 'post'>, payout: Payout, withdrawal: Withdrawal) {
  const { id, uid, cuy, amt } = withdrawal
  const move = (osn: string, from: number, to: number, mark: string) => [
    { uid: from, cuy, type: 3, osn, amt: `-${amt}`, mark } as const,
    { uid: to, cuy, type: 3, osn, amt, mark } as const,
  ]
  const held = await ledger.post(move(`${id}:hold`, uid, heldBy, 'withdrawal'), 'payout')
  if (!held.ok && held.error.kind === 'insufficient') return 'refused' // nothing has happened
  if (!held.ok) throw new Error(held.error.why)
  const sent = await payout.send(await payout.sign(withdrawal))
  if (sent === null) return 'sent'
  // A withdrawal ends as paid out or given back. Both have entries with the same keys and different marks, so the ledger accepts only one.
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
