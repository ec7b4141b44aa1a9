import { describe, expect, it } from 'vitest'
import type { Fact, PayoutStep } from '../../src/worker/ledger/stops.ts'
import { finalityLag, type RunningService } from '../http/service.ts'
import { correct, rescan, tickLater } from '../scan/harness.ts'
import { facts, mayGoOnBy } from '../support/contract-11.ts'
import { payoutAddress } from '../support/payouts.ts'
import type { TransactionSpec } from '../support/transaction-spec.ts'
import { type Cause, causes } from './causes.ts'
import {
  ask,
  handIn,
  mined,
  mineFinal,
  offered,
  payoutRequest,
  send,
  sign,
  signedPayout,
  startPaying,
  withKilledSending,
} from './harness.ts'

/** A payout has no sender, so `from-operator` never holds for one. */
const payoutFacts = facts.filter((fact) => fact !== 'from-operator')
const nothing: Cause = async (service) => service

/** Whether the database takes this statement, with its triggers. */
const isTaken = ({ db }: RunningService, sql: string) =>
  db
    .prepare(sql)
    .run()
    .then(...([() => true, () => false] as const))

const asked =
  'attempts_max, uid, cuy, amount, fee, to_address, contract, raw, mark, posted_by, limit_each, limit_least, limit_day, limit_count'
/** An INSERT of a payout like the one with this id. */
const copyOf = (id: number, osn: string, more: string, values: string) =>
  `INSERT INTO payout (${asked}, osn, created_at, changed_at, ${more})
   SELECT ${asked}, '${osn}', created_at, created_at, ${values} FROM payout WHERE id = ${id}`
const stepOf = (id: number, set: string) =>
  `UPDATE payout SET version = version + 1, changed_at = changed_at + 1, ${set} WHERE id = ${id}`

/**
 * The steps of payouts of USDT that are still possible after `cause`: those through the service,
 * and the same ones written directly to the database.
 */
async function doneAfter(cause: Cause) {
  const before = await startPaying()
  const approved = (await ask(before)).id
  const [unwanted, unwantedToo, other] = [(await ask(before)).id, (await ask(before)).id, (await ask(before)).id]
  const [large, largeToo] = [(await ask(before, { amt: '150' })).id, (await ask(before, { amt: '150' })).id]
  const { transaction } = await sign(before)
  const killedBefore = withKilledSending(before)
  const { transaction: stored, id: open } = await signedPayout(killedBefore, { timestamp: 5n })
  const now = await cause(before)
  const killed = now === before ? killedBefore : withKilledSending(now)
  const requested = await send(now, '', { payouts: [payoutRequest()] })
  const list = await offered(now)
  const taken = await handIn(killed, approved, transaction)
  const cancelled = await send(now, '/cancel', { ids: [unwanted], why: 'a test' })
  const allowed = await send(now, '/approve', { ids: [large] }, 'office')
  await tickLater(now, 60)
  const sent = now.nodes.flatMap(({ broadcasts }) => broadcasts)
  const approval = `state = 'approved', approved_by = 'office', approved_at = changed_at + 1, counted = 1`
  return {
    service: {
      ask: requested.status === 200,
      rule: requested.data?.list[0]?.state === 'approved',
      approve: allowed.status === 200,
      cancel: cancelled.status === 200,
      offer: Array.isArray(list) && list.includes(other),
      take: taken.state === 'signed',
      send: sent.includes(stored),
    },
    database: {
      ask: await isTaken(now, copyOf(approved, 'asked', 'state', `'waiting'`)),
      rule: await isTaken(
        now,
        copyOf(approved, 'ruled', 'state, approved_by, approved_at, counted', `'approved', '', created_at, 1`),
      ),
      approve: await isTaken(now, stepOf(largeToo, approval)),
      cancel: await isTaken(
        now,
        stepOf(unwantedToo, `state = 'cancelled', cancelled_by = 'shop', why = 'x', counted = 0`),
      ),
      take: await isTaken(
        now,
        `INSERT INTO payout_transaction (txid, address, payout_id, bytes, reference, expires_at, changed_at, next_send)
         SELECT '${'e'.repeat(64)}', '${payoutAddress}', ${other}, 'ab', height, 9e15, 1, 1 FROM scan`,
      ),
      send: await isTaken(now, `UPDATE payout_transaction SET sends = sends + 1 WHERE payout_id = ${open}`),
    },
    reasons: { ask: requested.reason, cancel: cancelled.reason, take: taken.refused?.reason },
  }
}

/**
 * What holds by the configured address, which the database does not know. Of an offer it knows
 * nothing, because it is a reading.
 */
const notInTheDatabase: Partial<Readonly<Record<PayoutStep, readonly Fact[]>>> = {
  rule: ['frozen'],
  cancel: ['frozen'],
}

/** The word for programs where a step is stopped. */
const words: Readonly<Record<(typeof payoutFacts)[number], string>> = {
  forked: 'chain-forked',
  restored: 'payouts-stopped',
  'unknown-transaction': 'payouts-stopped',
  'address-replaced': 'configuration-differs',
  'decimals-unknown': 'decimals-unknown',
  'decimals-differ': 'decimals-differ',
  frozen: 'frozen',
  paused: 'paused',
  'fee-unconfirmed': 'fee-unconfirmed',
  deprecated: 'deprecated',
  retired: 'retired',
}

describe('what is known to be wrong stops each step that the contract names, and no other', () => {
  it('nothing', async () => {
    const { service, database } = await doneAfter(nothing)
    expect(Object.entries({ ...service, ...database }).filter(([, isDone]) => !isDone)).toEqual([])
  })

  it.each(payoutFacts)('%s', async (fact) => {
    const { service, database, reasons } = await doneAfter(causes[fact])
    const isAllowed = (step: string) => mayGoOnBy(fact, step as PayoutStep)
    const said = Object.keys(service).map((step) => [step, isAllowed(step)])
    expect(service).toEqual(Object.fromEntries(said))
    const refused = Object.keys(database).map((step) => {
      return [step, isAllowed(step) || notInTheDatabase[step as PayoutStep]?.includes(fact) === true]
    })
    expect(database).toEqual(Object.fromEntries(refused))
    for (const [step, reason] of Object.entries(reasons))
      expect([step, reason ?? null]).toEqual([step, isAllowed(step) ? null : words[fact]])
  })
})

/**
 * Has a final block of a wrong chain contain the transaction, and corrects the finalized height.
 * Returns the height of that block.
 */
async function mineAndTakeBack(service: RunningService, transaction: TransactionSpec): Promise<number> {
  const { chain, nodes } = service
  const wrong = chain.fork(chain.tip().height)
  const { height } = wrong.add([transaction])
  wrong.addEmpty(finalityLag)
  for (const node of nodes) node.chain = wrong
  await tickLater(service, 60)
  chain.addEmpty(finalityLag + 3)
  for (const node of nodes) node.chain = chain
  await correct(service, height - 1)
  await tickLater(service, 60)
  return height
}

/**
 * Whether the bytes of a mined transaction that no payout names are taken after `cause`: through
 * the service, and written to the database. `isTakenBack`: the block with the transaction was of a
 * wrong chain, and a correction has taken it back.
 */
async function recoveredAfter(cause: Cause, isTakenBack = false) {
  const before = await startPaying()
  const killedBefore = withKilledSending(before)
  await signedPayout(killedBefore, { timestamp: 5n })
  const [{ id }, { id: other }] = [await ask(before), await ask(before)]
  const signed = await sign(before)
  const height = isTakenBack ? await mineAndTakeBack(before, mined(signed)) : await mineFinal(before, mined(signed))
  const now = await cause(before)
  // a tick tells the database that it is a restored copy
  if (isTakenBack && cause === causes.restored) await tickLater(now)
  const scanned = Number(await now.db.prepare('SELECT height FROM scan').first('height'))
  // 2: above the reference block of the bytes below
  await (isTakenBack ? rescan(now, 2, scanned) : rescan(now, height, height))
  const database = await isTaken(
    now,
    `UPDATE payout_transaction SET version = version + 1, payout_id = ${other}, bytes = 'ab', reference = 1,
      expires_at = 9,
       height = NULL, succeeded = NULL, moved = NULL, ended = NULL, changed_at = changed_at + 1
         WHERE txid = '${signed.txid}'`,
  )
  if (database) return { service: true, database } // its bytes are stored now, under another payout
  const killed = now === before ? killedBefore : withKilledSending(now)
  const { state, refused } = await handIn(killed, id, signed.transaction)
  return { service: state === 'signed', database, reason: refused?.reason }
}

describe('the bytes of a transaction that a final block has, and no payout names', () => {
  it.each(payoutFacts)('are taken as the contract says: %s', async (fact) => {
    const { database, reason } = await recoveredAfter(causes[fact])
    expect(database).toBe(mayGoOnBy(fact, 'recover'))
    if (!database) expect(reason).toBe(words[fact])
  })

  // Otherwise bytes that were never in the chain would be taken, for example, by a restored copy
  // that may lack other ones of the payout.
  it.each(payoutFacts)('are new bytes once a correction has taken its block back: %s', async (fact) => {
    const { database, reason } = await recoveredAfter(causes[fact], true)
    expect(database).toBe(mayGoOnBy(fact, 'take'))
    if (!database) expect(reason).toBe(words[fact])
  })
})
