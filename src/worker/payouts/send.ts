import type { Chain, RequestQuota } from '../chain/chain.ts'
import type { PayoutTransactionId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import { findStopOfAll, stoppedCurrencies } from './leaving.ts'
import type { RestoreDetector } from './restore-detector.ts'
import { selectLeavingFacts, selectOpenAddress } from './store/facts.ts'
import { type Answered, claimDue, type DueTransaction, storeAnswers } from './store/transactions.ts'

/**
 * Pauses between the broadcasts of one transaction, in order; the last pause repeats. After the
 * first `timedPauses` of them a timer sends again. Later ones are sent by the next tick, or by an
 * earlier hand-in. So with a long `SCAN_EVERY_SECONDS` the real pauses are longer.
 */
export const sendPausesMsMin = [2_500, 5_000, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000] as const
/** So a transaction is sent to each of three nodes without waiting for a tick. */
const timedPauses = 2
/**
 * A transaction that expires within this time is not sent: clocks differ, and a node needs time.
 */
export const sendMarginMs = 10_000
/** Most transactions that are sent at the same time. */
export const sendAtOnceMax = 20
/** Most transactions that each call of `send` adds to what is sent. */
const sentPerCallMax = 100
/** Time limit of one broadcast, with the time that it waits for a node. */
const sendMs = 10_000
/**
 * A broadcast or a run that has not gone on for this long is given up, because it hangs in the
 * platform.
 */
export const lostMs = 15_000

export interface SenderParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly currencies: Currencies
  /**
   * Null if `PAYOUTS` is not configured. Transactions that a signer has handed in before are sent
   * all the same.
   */
  readonly payouts: PayoutRules | null
  readonly restores: RestoreDetector
  openChain(quota: RequestQuota, deadline: UnixMs): Chain
  /** Lets work continue after the call has returned. */
  inBackground(work: Promise<unknown>): void
}

/**
 * Sends the transactions that signers have handed in, repeatedly, until each is in a final block or
 * has expired.
 */
export interface Sender {
  /** Sends due transactions. Each new one is sent twice more, to other nodes, within seconds. */
  send(): Promise<void>
}

/**
 * Makes the sender. It remembers only what is underway: a transaction is claimed in the database
 * before it is sent, so two instances do not send it twice. If a run dies, a later call sends the
 * transactions that it has not claimed.
 */
export function createSender(parts: SenderParts): Sender {
  const { db, clock, inBackground } = parts
  const underway = new Set<PayoutTransactionId>()
  const answered: Answered[] = []
  let [isWanted, left] = [false, 0]
  let current: Run | null = null
  let wake = () => {}
  /** Resolves when at most `count` transactions are underway, or when `send` is called. */
  const untilUnderway = (count: number) =>
    new Promise<void>((resolve) => {
      wake = () => (isWanted || underway.size <= count ? resolve() : undefined)
      wake()
    })
  const start = async (chain: Chain, due: DueTransaction) => {
    underway.add(due.id)
    const dueAgainAt = clock.now() + (sendPausesMsMin[due.sends] ?? 0)
    const broadcast = chain.broadcast(due.bytes, due.answers).then((answer) => {
      if (answer.ok) answered.push({ ...due, reply: answer.value, at: clock.now() }) // else no node has answered
    })
    await endsWithin(broadcast, lostMs, clock)
    underway.delete(due.id)
    wake()
    // A node may drop a transaction that it accepted, so the next sendings go to other nodes,
    // without waiting for a tick.
    if (due.sends < timedPauses) inBackground(clock.sleep(Math.max(dueAgainAt - clock.now(), 0)).then(send))
  }
  const run = async (own: Run) => {
    for (let mayBeMore = true; isWanted || mayBeMore; ) {
      isWanted = false
      own.busyAt = clock.now()
      const room = Math.min(sendAtOnceMax - underway.size, left)
      const due = room > 0 ? await claim(parts, [...underway], room) : []
      left -= due.length
      mayBeMore = left > 0 && due.length === room
      if (due.length > 0) {
        const chain = parts.openChain({ kind: 'sending' }, (clock.now() + sendMs) as UnixMs) // safe: a later time
        for (const one of due) inBackground(start(chain, one))
      }
      await untilUnderway(mayBeMore ? sendAtOnceMax / 2 : 0)
      await storeAnswers(db, answered.splice(0))
    }
    if (current === own) current = null
  }
  const send = async () => {
    ;[isWanted, left] = [true, sentPerCallMax]
    wake()
    if (current === null || clock.now() - current.busyAt >= lostMs) {
      const own: Run = { ended: Promise.resolve(), busyAt: clock.now() }
      current = own
      own.ended = run(own).finally(() => {
        if (current === own) current = null
      })
    }
    await current.ended
  }
  return { send }
}

/** One run of the sender. It ends when nothing is due. */
interface Run {
  ended: Promise<void>
  busyAt: UnixMs
}

/** Claims at most `max` due transactions to send, except those that are underway. */
async function claim(
  { db, clock, currencies, payouts, restores }: SenderParts,
  underway: readonly PayoutTransactionId[],
  max: number,
): Promise<readonly DueTransaction[]> {
  // Comparing also notes the newest event, so that a later loss of the database is noticed. A
  // restored older copy may lack another transaction of the payout, handed in by another signer. So
  // nothing is sent until every transaction that was signed before has expired, and blocks have
  // shown which ones were mined.
  const restoredAt = await restores.compare()
  const stopped = await findStopped(db, payouts, currencies, restoredAt)
  if (stopped === null) return []
  const query = { now: clock.now(), stopped: [...stopped.keys()], underway, marginMs: sendMarginMs, max }
  return claimDue(db, query, sendPausesMsMin)
}

/**
 * The currencies in which nothing is sent now; null if nothing is sent at all. Without `PAYOUTS`,
 * what holds is that of the address whose transactions are open: all of them are of one address.
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
