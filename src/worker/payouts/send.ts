import type { Chain, Payer, SendingReply } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import { findStopOfAll, stoppedCurrencies } from './leaving.ts'
import type { PayoutMemory } from './memory.ts'
import { selectLeavingFacts } from './store/facts.ts'
import { claimDue, type DueTransaction, storeAnswers } from './store/sending.ts'

/** Pauses after each sending of a transaction; the last one after all further ones. Nobody mines what was sent so often in vain. */
export const sendAgainMs = [2_500, 15_000, 30_000, 60_000, 120_000, 240_000, 480_000] as const
/** A transaction that expires so soon is not sent any more: clocks differ, and a node needs time. */
export const sendMarginMs = 10_000
/** Transactions that are sent at the same time. */
export const sendAtOnceMax = 20
/** Times that one call sends so many. */
const sendRoundsMax = 5
/** Time for sending those. */
const sendMs = 10_000

/** What sending needs. */
export interface SenderParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly currencies: Currencies
  /** Null without `PAYOUTS`: what was handed in before is sent all the same. */
  readonly payouts: PayoutRules | null
  readonly memory: PayoutMemory
  openChain(payer: Payer, deadline: UnixMs): Chain
  /** Lets work go on that nothing waits for. */
  inBackground(work: Promise<unknown>): void
}

/** Sends what was handed in, again and again, until it is in a final block or has expired. */
export interface Sender {
  /** Sends what is due, and what is sent for the first time once more, to another node, some seconds later. */
  send(): Promise<void>
}

/**
 * The sender of an object. All that it knows is stored: a transaction is claimed before it is sent, so calls at the same time send none
 * twice, and a call that dies leaves its own to a later one.
 */
export function createSender(parts: SenderParts): Sender {
  const { clock, inBackground } = parts
  const send = async () => {
    const hasNew = await sendDue(parts)
    // A node can swallow what it has accepted: the second one is another node, without a tick.
    if (hasNew) inBackground(clock.sleep(sendAgainMs[0]).then(send))
  }
  return { send }
}

/** Whether a transaction was sent for the first time. */
async function sendDue({ db, clock, currencies, payouts, memory, openChain }: SenderParts): Promise<boolean> {
  let hasNew = false
  for (let round = 0; round < sendRoundsMax; round += 1) {
    // What is sent must be known although the database is lost. An older copy may lack another transaction of the payout, by another
    // signer: nothing is sent until all that was signed before has expired, and blocks have shown what was mined.
    if ((await memory.compare()) !== null) return hasNew
    const stopped = payouts === null ? new Map() : await findStopped(db, payouts, currencies)
    if (stopped === null) return hasNew
    const now = clock.now()
    const due = await claimDue(
      db,
      { now, stopped: [...stopped.keys()], marginMs: sendMarginMs, max: sendAtOnceMax },
      sendAgainMs,
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

/** The currencies that are not sent now; null: none is. */
async function findStopped(db: WriteDatabase, { address }: PayoutRules, currencies: Currencies) {
  const facts = await selectLeavingFacts(db, address)
  return findStopOfAll(facts, 'send') === null ? stoppedCurrencies(facts, currencies.list, 'send') : null
}

async function broadcast(chain: Chain, { bytes, sends }: DueTransaction): Promise<SendingReply | null> {
  const answer = await chain.broadcast(bytes, sends)
  return answer.ok ? answer.value : null // no node has said anything
}
