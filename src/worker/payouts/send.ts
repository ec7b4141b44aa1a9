import type { Chain, RequestQuota, SendingReply } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import { findStopOfAll, stoppedCurrencies } from './leaving.ts'
import type { PayoutMemory } from './memory.ts'
import { selectLeavingFacts, selectOpenAddress } from './store/facts.ts'
import { claimDue, type DueTransaction, storeAnswers } from './store/sending.ts'

/**
 * Shortest pauses between the broadcasts of one transaction, in order; the last pause repeats. After the first pause, a timer sends again. After a later pause,
 * the next tick sends again, or a hand-in that comes before that tick. So with a long `SCAN_EVERY_SECONDS` the real pauses are longer.
 */
export const sendPausesMsMin = [2_500, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000] as const
/** A transaction that expires within this time is not sent: clocks differ, and a node needs time. */
export const sendMarginMs = 10_000
/** Most transactions that are sent at the same time. */
export const sendAtOnceMax = 20
/** Most batches of `sendAtOnceMax` transactions in one call of `send`. */
const sendRoundsMax = 5
/** Time limit of one batch of `sendAtOnceMax` transactions. */
const sendMs = 10_000

export interface SenderParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly currencies: Currencies
  /** Null if `PAYOUTS` is not configured. Transactions that a signer has handed in before are sent all the same. */
  readonly payouts: PayoutRules | null
  readonly memory: PayoutMemory
  openChain(quota: RequestQuota, deadline: UnixMs): Chain
  /** Lets work continue after the call has returned. */
  inBackground(work: Promise<unknown>): void
}

/** Sends the transactions that signers have handed in, repeatedly, until each is in a final block or has expired. */
export interface Sender {
  /** Sends due transactions. Each new one is sent once more, to another node, a few seconds later. */
  send(): Promise<void>
}

/**
 * Makes the sender. It keeps no state of its own: a transaction is claimed in the database before it is sent, so concurrent calls do not send it twice. If a
 * call dies, a later call sends the transactions that it has not claimed.
 */
export function createSender(parts: SenderParts): Sender {
  const { clock, inBackground } = parts
  const send = async () => {
    const hasNew = await sendDue(parts)
    // A node may drop a transaction that it accepted, so the second sending goes to another node, without waiting for a tick.
    if (hasNew) inBackground(clock.sleep(sendPausesMsMin[0]).then(send))
  }
  return { send }
}

/** Sends due transactions. Returns whether any of them was sent for the first time. */
async function sendDue({ db, clock, currencies, payouts, memory, openChain }: SenderParts): Promise<boolean> {
  let hasNew = false
  for (let round = 0; round < sendRoundsMax; round += 1) {
    // Comparing also notes the newest event, so that a later loss of the database is noticed. A restored older copy may lack another transaction of the payout,
    // handed in by another signer. So nothing is sent until every transaction that was signed before has expired, and blocks have shown which ones were mined.
    const restoredAt = await memory.compare()
    const stopped = await findStopped(db, payouts, currencies, restoredAt)
    if (stopped === null) return hasNew
    const now = clock.now()
    const due = await claimDue(
      db,
      { now, stopped: [...stopped.keys()], marginMs: sendMarginMs, max: sendAtOnceMax },
      sendPausesMsMin,
    )
    if (due.length === 0) return hasNew
    hasNew ||= due.some(({ sends }) => sends === 0)
    const chain = openChain({ kind: 'sending' }, (now + sendMs) as UnixMs) // safe: a later time
    const answers = await Promise.all(due.map((one) => broadcast(chain, one)))
    await storeAnswers(
      db,
      due.map((one, i) => ({ ...one, answer: answers[i] ?? null })),
      clock.now(),
    )
    if (due.length < sendAtOnceMax) return hasNew
  }
  return hasNew
}

/**
 * The currencies in which nothing is sent now; null if nothing is sent at all. Without `PAYOUTS`, what holds is that of the address whose transactions are open:
 * all of them are of one address.
 */
async function findStopped(
  db: WriteDatabase,
  payouts: PayoutRules | null,
  currencies: Currencies,
  restoredAt: UnixMs | null,
) {
  const address = payouts?.address ?? (await selectOpenAddress(db))
  if (address === null) return null // nothing is open
  const facts = { ...(await selectLeavingFacts(db, address)), restoredAt }
  return findStopOfAll(facts, 'send') === null ? stoppedCurrencies(facts, currencies.list, 'send') : null
}

async function broadcast(chain: Chain, { bytes, sends }: DueTransaction): Promise<SendingReply | null> {
  const answer = await chain.broadcast(bytes, sends)
  return answer.ok ? answer.value : null // no node has answered
}
