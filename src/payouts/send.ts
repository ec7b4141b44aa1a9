import { sql } from 'drizzle-orm'
import type { Chain, Payer } from '../chain/chain.ts'
import type { PayoutTransactionId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { bare, member, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payoutTransactions } from '../d1/payout-tables.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import { seenPauseMs } from './conclusions.ts'
import type { PayoutMemory } from './memory.ts'
import { hasPaidLate } from './stopped.ts'

/** Pauses after the first sending of a transaction, the second one, and each further one, as far as ticks come in time. */
export const sendAgainMs = [15_000, 30_000, 60_000] as const
/** A transaction that expires so soon is not sent any more: clocks differ, and a node needs time. */
export const sendMarginMs = 10_000
/** Transactions that are sent at the same time. */
export const sendAtOnceMax = 20
/** Time for sending those. */
const sendMs = 10_000
/** After this a run counts as lost: a call of the database can be without an end. */
const lostMs = 30_000
const answerCharsMax = 200

/** What sending needs. */
export interface SenderParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly memory: PayoutMemory
  openChain(payer: Payer, deadline: UnixMs): Chain
}

/** Sends what was handed in, again and again, until it is in a final block or has expired. */
export interface Sender {
  /** Sends what is due. One run at a time: a call during a run has another one follow, and waits for it. */
  send(): Promise<void>
}

/** The sender of an object. All that it knows is stored: a run that is lost has left what it has not sent for the next one. */
export function createSender(parts: SenderParts): Sender {
  const { clock } = parts
  let running: { readonly startedAt: UnixMs; readonly over: Promise<void> } | null = null
  let next: Promise<void> | null = null
  const run = () => {
    const own = { startedAt: clock.now(), over: sendDue(parts) }
    running = own
    const end = () => {
      if (running === own) running = null
    }
    own.over.then(end, end)
    return own.over
  }
  return {
    send() {
      if (running === null) return run()
      next ??= endsWithin(running.over, running.startedAt + lostMs - clock.now(), clock).then(() => {
        next = null
        return run()
      })
      return next
    },
  }
}

interface Due {
  readonly id: PayoutTransactionId
  readonly bytes: string
  readonly sends: number
}

async function sendDue({ db, clock, memory, openChain }: SenderParts): Promise<void> {
  for (;;) {
    const now = clock.now()
    const due = await selectDue(db, now)
    if (due.length === 0) return
    // What is sent must be known although the database is lost. An older copy may lack another transaction of the payout, by another
    // signer: nothing is sent until all that was signed before has expired, and blocks have shown what was mined.
    if ((await memory.compare()) !== null) return
    await noteSent(db, due, now)
    const chain = openChain({ kind: 'tick' }, (now + sendMs) as UnixMs) // safe: a later time
    const answers = await Promise.all(
      due.map(async ({ id, bytes, sends }) => {
        const answer = await chain.broadcast(bytes, sends)
        const text = answer.ok ? answer.value : answer.error.kind
        return { id, answer: text.slice(0, answerCharsMax) }
      }),
    )
    await noteAnswers(db, answers)
    if (due.length < sendAtOnceMax) return
  }
}

const { id, payout_id, bytes, sends, next_send, ended, expires_at, answer } = payoutTransactions
const isOpen = sql`${payoutTransactions} INDEXED BY payout_transaction_open`

/**
 * Not beside another transaction that has paid the same: what is sent on would pay it twice. A time that is further ahead than any
 * pause is of a clock that has stepped back.
 */
async function selectDue(db: WriteDatabase, now: UnixMs): Promise<readonly Due[]> {
  const query = sql`SELECT ${id}, ${bytes}, ${sends} FROM ${isOpen}
    WHERE ${ended} IS NULL AND ${next_send} NOT BETWEEN ${now + 1} AND ${now + seenPauseMs} AND ${expires_at} > ${now + sendMarginMs} AND NOT ${hasPaidLate(payout_id)}
    ORDER BY ${next_send} LIMIT ${sendAtOnceMax}`
  return (await toStatement(db, query).all<Due>()).results
}

/** Before they are sent: a run that dies sends none of them again and again. */
async function noteSent(db: WriteDatabase, due: readonly Due[], now: UnixMs): Promise<void> {
  const [first, second, further] = sendAgainMs
  const pause = sql`iif(${sends} = 0, ${first}, iif(${sends} = 1, ${second}, ${further}))`
  const list = JSON.stringify(due.map((one) => one.id))
  const query = sql`UPDATE ${payoutTransactions} SET ${bare(sends)} = ${sends} + 1, ${bare(next_send)} = ${now} + ${pause}
    WHERE ${id} IN (SELECT value FROM json_each(${list}))`
  await toStatement(db, query).run()
}

async function noteAnswers(db: WriteDatabase, answers: readonly { readonly id: number; readonly answer: string }[]) {
  const query = sql`UPDATE ${payoutTransactions} SET ${bare(answer)} = one.${member(answer)}
    FROM json_each(${JSON.stringify(answers)}) AS one WHERE ${id} = one.${member(id)}`
  await toStatement(db, query).run()
}
