import { createAlarms } from '../../src/worker/alarms/alarms.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { referenceOf } from '../../src/worker/chain/transaction.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { type AlarmKind, type AlarmSubjects, alarmTable } from '../../src/worker/platform/alarm-table.ts'
import { testSealKey } from '../archive/seal-key.ts'
import {
  addressFrom,
  addressIn,
  finalityLag,
  oneEndpoint,
  payer,
  payFinal,
  type RunningService,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import {
  ask,
  contentOf,
  expiringAfter,
  handIn,
  mined,
  mineFinal,
  paidLog,
  passBlocks,
  send,
  sign,
  signedPayout,
  startPaying,
} from '../payouts/harness.ts'
import { correct, disagreeOn, finalizedIn, headOf, repairNodes, rescan, tickFor, tickLater } from '../scan/harness.ts'
import { act, destroy, fee, freeze, pause, release, unpause } from '../scan/issuer-acts.ts'
import { payoutBase58, signTransfer } from '../support/payouts.ts'
import { addressOf, type TransactionSpec } from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'
import { bucketName, chainStartMs, type Deployment, openBucket, openDatabase, stop } from './deployment.ts'

/** Contracts of tokens: of a retired one, one without decimals, and one with other decimals. */
const contracts = { retired: addressOf(41), unread: addressOf(42), other: addressOf(43) }
const operator = addressOf(97)

const token = (cuy: number, contract: keyof typeof contracts, more: object = {}) => {
  return { cuy, symbol: `T${cuy}`, contract: formatBase58(contracts[contract]), decimals: 6, ...more }
}

const variables = (bucket: object) => ({
  CURRENCIES: [
    { cuy: 1, symbol: 'TRX', decimals: 6, minDeposit: '2' },
    { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, reviewFrom: '500' },
    token(3, 'retired', { retired: true }),
    token(4, 'unread'),
    token(5, 'other', { scale: 4 }),
  ],
  OPERATOR_ADDRESSES: [formatBase58(operator)],
  TRON_FIRST_INDEX: '0', // otherwise nodes would be asked whether the key's first addresses hold these tokens
  PAYOUTS: {
    address: payoutBase58,
    limits: [{ cuy: 2, each: '100', perDay: '150', perUserPerDay: '150', least: '1' }],
  },
  ...oneEndpoint,
  ARCHIVE: bucketName,
  [bucketName]: bucket,
  SEAL_KEY: testSealKey,
})

/**
 * A deployment in which everything has happened that a service with one database can have: made by
 * the service itself, over nodes of tests.
 */
export async function tellStory(): Promise<Deployment> {
  const database = openDatabase(chainStartMs)
  const objects = new Map<string, string>()
  const service = await startPaying(variables(openBucket(objects)), { db: database.db })
  database.now = () => service.clock.seconds * 1000
  for (const node of service.nodes) {
    node.decimals.set(contracts.other, 18)
    node.decimals.set(contracts.retired, 6)
  }
  await payDeposits(service)
  await postEntries(service)
  await passPayouts(service)
  await writeArchive(service)
  await passIssuer(service)
  await passBlocksAgain(service)
  await passDay(service)
  await passOrders(service)
  await leaveOpen(service)
  await raiseAlarms(service)
  return stop('story', service, { DB: database.sqlite }, objects)
}

const whole = (units: number) => BigInt(units) * 1_000_000n
/** Users beside user 7. */
const [deposited, reviewed] = [9, 8]

/** Sends a POST that must be accepted. */
async function post(service: RunningService, path: string, body: object, by = 'shop'): Promise<void> {
  const response = await service.send(path, body, by)
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
  await service.settled()
}

const tokenTo = (contract: keyof typeof contracts, to: ReturnType<typeof addressOf>) =>
  ({ ...usdtTo(to, whole(5)), contract: contracts[contract] }) as TransactionSpec

/** Deposits in every state, and what is no deposit. */
async function payDeposits(service: RunningService): Promise<void> {
  const own = await addressIn(await service.get('/tron/generate', deposited))
  const foreign = await addressIn(await service.get('/tron/generate', reviewed))
  await service.get('/tron/generate?fresh=1', reviewed)
  await post(service, '/ledger/entries', {
    entries: [{ uid: deposited, cuy: 1, type: 9, osn: 'full', amt: '9007199254.740991' }],
  })
  payFinal(
    service,
    trxTo(own, whole(3)), // the wallet is full
    tokenTo('unread', own),
    tokenTo('other', own),
    tokenTo('retired', own),
    usdtTo(own, 10n ** 30n), // too large
    usdtTo(own, whole(25)),
    usdtTo(own, 0n),
    trxTo(own, whole(1)), // below the minimum
    { ...usdtTo(own, whole(25)), failed: true } as TransactionSpec,
    { kind: 'trc10', from: payer, to: own, amount: 5n },
    { kind: 'trx', from: own, to: addressOf(4), amount: whole(1) }, // collected
    { kind: 'trx', from: foreign, to: own, amount: whole(2) },
    { kind: 'trx', from: operator, to: own, amount: whole(2) },
  )
  await tickLater(service, 60)
  const reviews = payFinal(service, ...[501, 502, 503].map((units) => usdtTo(foreign, whole(units))))
  await tickLater(service, 60)
  const decisions = ['credit', 'refuse']
  await post(service, '/ledger/deposits/decide', {
    deposits: decisions.map((decision, i) => ({ txid: reviews[i], position: 0, decision, why: 'looked at' })),
  })
  await post(
    service,
    '/ledger/deposits/decide',
    { deposits: [{ txid: reviews[1], position: 0, decision: 'credit', why: 'it was right' }] },
    'office',
  )
  const [refused] = payFinal(service, usdtTo(foreign, whole(504)))
  await tickLater(service, 60)
  await post(service, '/ledger/deposits/decide', {
    deposits: [{ txid: refused, position: 0, decision: 'refuse', why: 'not known' }],
  })
}

/** A deposit that nodes show in a block that is not in the chain later. */
async function dropDeposit(service: RunningService, to: ReturnType<typeof addressOf>): Promise<void> {
  const branch = service.chain.fork(service.chain.tip().height)
  branch.add([usdtTo(to, whole(7))])
  for (const node of service.nodes) node.chain = branch
  await tickLater(service)
  for (const node of service.nodes) node.chain = service.chain
  await passBlocks(service, finalityLag + 3)
}

/** Entries of each type that backends post. */
async function postEntries(service: RunningService): Promise<void> {
  const entry = (uid: number, type: number, amt: string, mark = '') => ({
    uid,
    cuy: 2,
    type,
    osn: `tea-${type}`,
    amt,
    mark,
  })
  await post(service, '/ledger/entries', {
    entries: [entry(7, 3, '-40', 'a gift'), entry(reviewed, 3, '40', 'a gift')],
  })
  await post(service, '/ledger/entries', { entries: [entry(7, 4, '-2.5', 'two cups'), entry(7, 2, '-1')] })
  await post(service, '/ledger/entries', { entries: [entry(7, 5, '0.5', 'it was cold')] }, 'office')
  await service.deliver()
}

/** Payouts in every state, with every end of a transaction. */
async function passPayouts(service: RunningService): Promise<void> {
  await ask(service, { cuy: 1 }) // without limits
  await ask(service, { amt: '101' })
  await ask(service, { amt: '0.5' })
  const paid = await signedPayout(service)
  await mineFinal(service, mined(paid))
  const failed = await signedPayout(service)
  await mineFinal(service, mined(failed, { failed: true, logs: [] }))
  const other = await signedPayout(service)
  await mineFinal(service, mined(other, { logs: [paidLog(2_000_000n)] }))
  const { id } = await expiringAfter(service, 10)
  await passBlocks(service, 12)
  for (let attempt = 2; attempt <= 3; attempt += 1) {
    const { timestamp } = await headOf(service)
    const next = await sign(service, { expiration: BigInt(timestamp + 30_000) })
    await handIn(service, id, next.transaction)
    await passBlocks(service, 12)
  }
  const cancelled = await ask(service)
  await send(service, '/cancel', { ids: [cancelled.id], why: 'another address' }, 'office')
  // the limit of the day is used up
  await ask(service, { amt: '100' })
  await ask(service, { amt: '60' })
  service.clock.seconds += 1
}

/** Orders in every state. */
async function passOrders(service: RunningService): Promise<void> {
  const order = (name: string, more: object = {}) => ({ uid: 7, cuy: 2, amt: '25', order: name, ...more })
  const at = () => {
    service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  }
  const payOrder = async (name: string, units: number) => {
    const response = await service.ledger(`/ledger/orders?order=${name}`)
    const { data } = await response.json<{ data: { list: { address: string }[] } }>()
    payFinal(service, usdtTo(addressFrom(data.list[0]?.address ?? ''), whole(units)))
    service.clock.seconds += 60
    await service.tick()
  }
  at()
  const until = new Date((service.clock.seconds + 600) * 1000).toISOString()
  await post(service, '/ledger/orders', {
    orders: [order('paid'), order('taken', { take: true, atLeast: '24', mark: 'cake' }), order('expired', { until })],
  })
  await post(service, '/ledger/orders', { orders: [order('late', { until }), order('partly'), order('open')] })
  await post(service, '/ledger/orders', { orders: [order('cancelled')] })
  await post(service, '/ledger/orders/cancel', { orders: [{ uid: 7, order: 'cancelled' }], why: 'sold out' })
  service.chain.addEmpty(2)
  await payOrder('paid', 25)
  await payOrder('taken', 24)
  await payOrder('partly', 10)
  await payOrder('expired', 5)
  service.chain.addEmpty(240)
  await tickLater(service, 720)
  await tickLater(service, 60)
  await payOrder('late', 25)
  await tickLater(service, 60)
}

/** What the issuer of USDT did. The last acts undo the others, so that payouts go on. */
async function passIssuer(service: RunningService): Promise<void> {
  const own = await addressIn(await service.get('/tron/generate', reviewed))
  await act(service, freeze(own), destroy(own, whole(3)))
  await act(service, pause)
  await act(service, fee(10n, 5n))
  await act(service, fee(0n, 0n), unpause, release(own))
}

/** A block about which nodes disagree until the scan has passed it; returns its height. */
async function passGap(service: RunningService): Promise<number> {
  const { height } = service.chain.add([usdtTo(addressOf(80), 1n)])
  service.chain.add([usdtTo(addressOf(80), 2n)])
  service.chain.addEmpty(finalityLag)
  disagreeOn(service, height)
  await tickLater(service, 60)
  repairNodes(service)
  return height
}

/** A gap that was read, blocks that an operator has had read again, and a corrected height. */
async function passBlocksAgain(service: RunningService): Promise<void> {
  const height = await passGap(service)
  await tickLater(service, 120)
  await rescan(service, height - 3, height - 1)
  await tickLater(service, 120)
  await correct(service, finalizedIn(service) - 1)
  await tickLater(service, 60)
  await passBlocks(service, 4)
  await dropDeposit(service, await addressIn(await service.get('/tron/generate', 7))) // removed a day later
}

/** Lets the archive have all, and an endpoint fail. */
async function writeArchive(service: RunningService): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    service.clock.seconds += 30
    await service.cron()
    await service.deliver()
  }
  service.hookAnswer.status = 503
  await post(service, '/ledger/entries', { entries: [{ uid: 7, cuy: 2, type: 5, osn: 'refused', amt: '1' }] })
  await service.deliver()
  service.hookAnswer.status = 204
}

/** Goes on to the next day, in which limits begin again. */
async function passDay(service: RunningService): Promise<void> {
  await tickFor(service, 600, () => service.chain.addEmpty(6), 20)
  service.clock.seconds += 86_400
  service.chain.add([], Math.floor(service.clock.seconds - 3) * 1000)
  service.chain.addEmpty(finalityLag)
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  await tickLater(service)
}

/** What is under way at the end: payouts, a gap, and deposits that are not final. */
async function leaveOpen(service: RunningService): Promise<void> {
  const own = await addressIn(await service.get('/tron/generate', 7))
  await dropDeposit(service, own)
  const [refused] = payFinal(service, usdtTo(own, whole(505)), {
    kind: 'trx',
    from: own,
    to: addressOf(4),
    amount: whole(1),
  })
  await tickLater(service, 60)
  const deposits = [{ txid: refused, position: 0, decision: 'refuse', why: 'not known' }]
  await post(service, '/ledger/deposits/decide', { deposits })
  await service.get('/tron/generate?fresh=1', 7)
  await passGap(service)
  await signedPayout(service)
  await handInLate(service)
  await ask(service)
  service.chain.add([usdtTo(own, whole(11)), trxTo(own, whole(12))])
  await tickLater(service)
}

/** Hands in bytes that a block before may have, so that these blocks are read again. */
async function handInLate(service: RunningService): Promise<void> {
  const { id } = await ask(service)
  const head = await headOf(service)
  await passBlocks(service, 5)
  const older = signTransfer(contentOf(await headOf(service), { reference: referenceOf(head), timestamp: 1n }))
  await handIn(service, id, older.transaction)
}

const where = { txid: 'ab'.repeat(32), position: 0 }
const holding = { cuy: 2, address: addressOf(5) }

/** The subjects of alarms that are about something. */
const subjects: Readonly<Partial<{ [Kind in AlarmKind]: AlarmSubjects[Kind] }>> = {
  'gap-unread': { from: 70_000_001 },
  'transaction-unreadable': { height: 70_000_001 },
  'nodes-disagree': { height: 70_000_001 },
  'node-lies': { node: 2, why: 'wrong-chain' },
  'node-unfit': { node: 2 },
  'node-behind': { node: 2 },
  'node-failing': { node: 2, question: 'blocks' },
  'allowance-used-up': { node: 2 },
  'decimals-differ': { cuy: 5 },
  'deposit-too-large': where,
  'review-overdue': { cuy: 2 },
  'corrected-credit': { ...where, height: 70_000_001 },
  'paid-before-issue': where,
  'address-frozen': holding,
  'token-paused': { cuy: 2 },
  'token-fee-set': { cuy: 2 },
  'token-deprecated': { cuy: 2 },
  'reconciliation-shortfall': holding,
  'reconciliation-surplus': holding,
  'payout-stuck': { payout: 1 },
  'payout-refused': { payout: 1 },
  'payout-unknown': { txid: where.txid },
  'payout-wallet-low': { cuy: 2 },
  'configuration-differs': { setting: 'TRON_XPUB' },
  'endpoint-failing': { endpoint: 1 },
  'endpoint-behind': { endpoint: 1 },
  'events-expiring': { endpoint: 1 },
  'event-set-aside': { endpoint: 1, event: 1 },
}

/** Raises an alarm of each kind that nothing above has raised. */
async function raiseAlarms(service: RunningService): Promise<void> {
  const now = () => Math.round(service.clock.seconds * 1000) as UnixMs
  const clock = { now, sleep: () => new Promise<void>(() => {}) }
  const alarms = createAlarms({ db: writable(service.db), clock, logger: { alarm: () => undefined } })
  const { results } = await service.db.prepare('SELECT kind FROM alarm').all()
  for (const kind of Object.keys(alarmTable) as AlarmKind[]) {
    if (!results.some((row) => row.kind === kind)) await alarms.raise(kind, (subjects[kind] ?? {}) as never, {})
  }
}
