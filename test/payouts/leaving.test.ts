import { describe, expect, it } from 'vitest'
import { writable } from '../../src/worker/d1/database.ts'
import { type LeavingStop, type PayoutAct, stopRules } from '../../src/worker/payouts/leaving.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import type { RunningService } from '../http/service.ts'
import { tickLater } from '../scan/harness.ts'
import { act, deprecate, fee, freeze, pause } from '../scan/issuer-acts.ts'
import { payoutAddress } from '../support/payouts.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import {
  ask,
  handIn,
  mineFinal,
  offered,
  payoutRequest,
  recipient,
  send,
  sign,
  signedPayout,
  startPaying,
  withKilledSending,
} from './harness.ts'

const change = ({ db }: RunningService, ...statements: readonly string[]) => withoutTriggers(writable(db), statements)
type Cause = (service: RunningService) => Promise<unknown>
/** Brings about each reason that stops payouts. */
const causes: Readonly<Record<LeavingStop, Cause>> = {
  forked: (service) => change(service, `UPDATE scan SET halted = 'chain-forked'`),
  restored: async ({ scannerHost }) => {
    scannerHost.values.set('payouts', { newest: { id: 9_999, digest: 'ab'.repeat(32) }, restoredAt: null })
  },
  'unknown-transaction': (service) =>
    mineFinal(service, { kind: 'trx', from: payoutAddress, to: recipient, amount: 1n }),
  // The row that an instance with another configured address would have stored. An instance that notices the other address itself answers nothing at all.
  'address-replaced': (service) => change(service, `UPDATE payout_transaction SET address = '${'f'.repeat(40)}'`),
  'decimals-unknown': (service) => {
    for (const { decimals } of service.nodes) decimals.delete(usdtAddress)
    return change(service, `DELETE FROM stored_setting WHERE name GLOB 'DECIMALS.*'`, 'DELETE FROM token')
  },
  'decimals-differ': (service) => change(service, `UPDATE stored_setting SET value = '8' WHERE name GLOB 'DECIMALS.*'`),
  frozen: (service) => act(service, freeze(payoutAddress)),
  paused: (service) => act(service, pause),
  'fee-unconfirmed': (service) => act(service, fee(10n, 1_000_000n)),
  deprecated: (service) => act(service, deprecate(addressOf(98))),
}
const stops = Object.keys(causes) as readonly LeavingStop[] // safe: the keys of `causes`

/** The acts with payouts of USDT that are still possible after `cause`: each act through the service, and two writes directly to the database. */
async function doneAfter(cause: Cause) {
  const service = await startPaying()
  const { id: approved } = await ask(service)
  const { id: unwanted } = await ask(service)
  const { transaction } = await sign(service)
  const killed = withKilledSending(service)
  const { transaction: stored } = await signedPayout(killed, { timestamp: 5n })
  await cause(service)
  const asked = await send(service, '', { payouts: [payoutRequest()] })
  const list = await offered(service)
  const taken = await handIn(killed, approved, transaction)
  const cancelled = await send(service, '/cancel', { ids: [unwanted], why: 'a test' })
  await tickLater(service, 60)
  const sent = service.nodes.flatMap(({ broadcasts }) => broadcasts)
  const columns =
    'attempts_max, uid, cuy, osn, amount, fee, to_address, contract, raw, mark, posted_by, created_at, changed_at'
  const limits = 'limit_each, limit_least, limit_day, limit_count'
  const rule = `INSERT INTO payout (${columns}, ${limits}, state, approved_by, approved_at, counted)
    SELECT ${columns.replace('osn', `'raw'`).replace('changed_at', 'created_at')}, ${limits}, 'approved', '', created_at, 1 FROM payout WHERE id = ${approved}`
  const bytes = `INSERT INTO payout_transaction (txid, address, payout_id, bytes, reference, expires_at, changed_at, next_send)
    SELECT '${'e'.repeat(64)}', '${payoutAddress}', id, 'ab', (SELECT height FROM scan), 9e15, 1, 1 FROM payout WHERE id = ${unwanted}`
  await change(service, `UPDATE payout SET state = 'approved', cancelled_by = NULL, why = NULL WHERE id = ${unwanted}`)
  const isDone = (sql: string) =>
    service.db
      .prepare(sql)
      .run()
      .then(...([() => true, () => false] as const))
  return {
    ask: asked.status === 200,
    'approve-by-rule': asked.data?.list[0]?.state === 'approved',
    offer: Array.isArray(list) && list.includes(approved),
    take: taken.state === 'signed',
    cancel: cancelled.status === 200,
    send: sent.includes(stored),
    database: { rule: await isDone(rule), bytes: await isDone(bytes) },
  }
}

const acts: readonly PayoutAct[] = ['ask', 'approve-by-rule', 'offer', 'take', 'send', 'cancel']
/**
 * The reasons for which the service stops an act that the database alone allows. The database does not know the configured address, and decimals are compared
 * before a payout is stored.
 */
const notInTheDatabase = {
  rule: ['frozen', 'address-replaced'],
  bytes: ['unknown-transaction', 'address-replaced', 'decimals-unknown', 'decimals-differ'],
} as const satisfies Record<string, readonly LeavingStop[]>

const isOnly = (list: readonly LeavingStop[], stop: LeavingStop) => list.includes(stop)

describe('what is known to be wrong stops each act that the table names, and no other', () => {
  it('nothing', async () => {
    const { database, ...done } = await doneAfter(async () => {})
    expect(done).toEqual(Object.fromEntries(acts.map((one) => [one, true])))
    expect(database).toEqual({ rule: true, bytes: true })
  })

  it.each(stops)('%s', async (stop) => {
    const { database, ...done } = await doneAfter(causes[stop])
    const isStopped = (one: PayoutAct) => stopRules[stop].stops.includes(one)
    expect(done).toEqual(Object.fromEntries(acts.map((one) => [one, !isStopped(one)])))
    expect(database).toEqual({
      rule: !isStopped('approve-by-rule') || isOnly(notInTheDatabase.rule, stop),
      bytes: !isStopped('take') || isOnly(notInTheDatabase.bytes, stop),
    })
  })
})
