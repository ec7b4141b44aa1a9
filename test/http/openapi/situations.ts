import { hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../../../src/worker/chain/address.ts'
import { bytesOf, readFields } from '../../../src/worker/chain/contract.ts'
import { ordersHeldMax } from '../../../src/worker/common/order-states.ts'
import type { Situation } from '../../../src/worker/http/openapi/docs.ts'
import { payoutTo, signedMessage } from '../../../src/worker/http/openapi/payout.ts'
import { ordersMax } from '../../../src/worker/orders/parse-order-request.ts'
import { checkpointRow } from '../../archive/checkpoint-row.ts'
import { startThreeCells } from '../../cells/three-cells.ts'
import { followChain } from '../../orders/answers.ts'
import { usdtWith } from '../../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../../support/payouts.ts'
import { changing } from '../../support/scripted-node.ts'
import { addressOf, type TransactionSpec, topicOf, transferLog, usdtAddress } from '../../support/transaction-spec.ts'
import { usdtBase58 } from '../../support/variables.ts'
import {
  addressFrom,
  addressIn,
  awayDatabase,
  brokenDatabase,
  finalityLag,
  firstAddress,
  nodesWith,
  payer,
  payFinal,
  postInit,
  type RunningService,
  renewFinal,
  reserveAddress,
  startService as startPlain,
  trxTo,
  usdtTo,
} from '../service.ts'

/**
 * Nodes that allow fewer requests in a day than are reserved for ticks, so that no request of a
 * user is sent to them.
 */
const nodesForTicks = nodesWith({ perDay: 10_000 })
/** Nodes that allow fewer requests in a day than they have received already. */
const nodesUsedUp = nodesWith({ perDay: 1 })
/**
 * Ticks need 22,500 requests a day. Callers have half of the other 1,000, and one caller a tenth of
 * this half.
 */
const nodesWithShares = nodesWith({ perDay: 23_500 })

/** In all examples the service has payouts, and approves up to 5 USDT without a person. */
const payouts = { address: payoutBase58, limits: [{ cuy: 2, each: '5', perDay: '100' }] }
const startService = (variables: Record<string, unknown> = {}) => startPlain({ PAYOUTS: payouts, ...variables })

const unknownTxid = 'ab'.repeat(32)

const reachedLimit = { limit: () => Promise.resolve({ success: false }) }

const withAddress = async (variables: Record<string, unknown> = {}) => {
  const service = await startService(variables)
  return { service, to: await addressIn(await service.get('/tron/generate')) }
}

/**
 * The two deposits of the examples. All situations put them into a block of the same height, so
 * that the documented txids fit.
 */
const deposits = (to: Address) => [trxTo(to, 3_500_000n), usdtTo(to, 25_000_000n)] as const

const twoDeposits = async () => {
  const { service, to } = await withAddress()
  payFinal(service, ...deposits(to))
  for (const node of service.nodes) {
    node.balances.set(to, 3_500_000n)
    node.balances.set(`${usdtAddress} ${to}`, 25_000_000n)
  }
  return service
}

const credited = async () => {
  const service = await twoDeposits()
  await service.get('/tron/recharge')
  service.clock.seconds += 60
  await service.get('/tron/recharge') // starts a scan, so that the newest complete scan is of this moment
  await renewFinal(service)
  return service
}

const inReview = async () => {
  const { service, to } = await withAddress({ CURRENCIES: usdtWith({ reviewFrom: '20' }) })
  payFinal(service, ...deposits(to))
  await service.get('/tron/recharge')
  return service
}

const withPayment = async (by: string) => {
  const service = await credited()
  const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' }
  const { status } = await service.ledger('/ledger/entries', postInit({ entries: [payment] }), { sub: by })
  if (status !== 200) throw new Error('the payment is refused')
  return service
}

const silence = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => ({ kind: 'broken-connection' })
  return service
}

/**
 * Asks for transactions until the shares of the caller, and of backends that look transactions up,
 * are used up.
 */
const useShare = async (service: RunningService) => {
  const path = `?txid=${unknownTxid}`
  for (const ask of [() => service.get(`/tron/recharge${path}`), () => service.ledger(`/ledger/transaction${path}`)]) {
    for (let status = 0, i = 0; status !== 429; i += 1) {
      if (i === 100) throw new Error('the share is not used up')
      service.clock.seconds += 4
      status = (await ask()).status
    }
  }
  return service
}

const useRequests = async (service: RunningService) => {
  await service.get(`/tron/recharge?txid=${unknownTxid}`, 8)
  return service.with(nodesUsedUp)
}

/**
 * Contracts of tokens: a retired one, one whose decimals no node knows, one whose decimals differ
 * from the configured ones, and one that is not configured.
 */
const contracts = {
  retired: addressOf(41),
  unread: addressOf(42),
  other: addressOf(43),
  strange: addressOf(44),
}

/**
 * A block with one transaction for each possible answer to a txid. The wallet of user 7 in TRX is
 * full.
 */
const oneOfEachKind = async () => {
  const token = (cuy: number, address: Address, more: object) => {
    return { cuy, symbol: `T${cuy}`, contract: formatBase58(address), decimals: 6, ...more }
  }
  const operator = addressOf(97)
  const service = await startService({
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6, minDeposit: '2' },
      { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, scale: 4 },
      token(3, contracts.retired, { retired: true }),
      token(4, contracts.unread, {}),
      token(5, contracts.other, {}),
    ],
    OPERATOR_ADDRESSES: [formatBase58(operator)],
    TRON_FIRST_INDEX: '0', // otherwise nodes would be asked whether the key's first addresses hold these tokens
  })
  for (const node of service.nodes) node.decimals.set(contracts.other, 18)
  payFinal(service, usdtTo(addressFrom(firstAddress), 25_000_000n))
  const own = await addressIn(await service.get('/tron/generate'))
  const foreign = await addressIn(await service.get('/tron/generate', 8))
  const full = { uid: 7, cuy: 1, type: 9, osn: 'full', amt: '9007199254.740991' }
  if ((await service.post([full])).status !== 200) throw new Error('the wallet is not full')
  const tokenTo = (contract: Address, amount: bigint) => ({ ...usdtTo(own, amount), contract }) as TransactionSpec
  payFinal(
    service,
    tokenTo(contracts.unread, 5_000_000n),
    tokenTo(contracts.other, 5_000_000n),
    usdtTo(own, 10n ** 30n),
    trxTo(own, 3_000_000n),
    { kind: 'bytes', rawData: Uint8Array.of(7), from: addressOf(9), to: own, amount: 5n },
    tokenTo(contracts.retired, 5_000_000n),
    trxTo(own, 1_000_000n),
    usdtTo(own, 5n),
    { ...usdtTo(own, 25_000_000n), failed: true } as TransactionSpec,
    tokenTo(contracts.strange, 5_000_000n),
    { kind: 'trc10', from: addressOf(99), to: own, amount: 5n },
    { kind: 'other', type: 57, from: addressOf(99), to: own, value: 5n },
    usdtTo(own, 0n),
    trxTo(addressOf(4), 5_000_000n),
    { kind: 'trx', from: own, to: addressOf(4), amount: 5_000_000n },
    { kind: 'trx', from: foreign, to: own, amount: 5_000_000n },
    { kind: 'trx', from: operator, to: own, amount: 5_000_000n },
  )
  return service
}

/** The payouts of the examples, as they are asked for. */
const asked = [
  { uid: 7, cuy: 2, amt: '10', to: payoutTo, osn: 'payout-1', fee: '0.5', mark: 'to my own wallet' },
  { uid: 7, cuy: 2, amt: '2.5', to: payoutTo, osn: 'payout-2' },
]

/** The orders of the examples, as they are asked for. */
const askedOrders = [
  { uid: 7, cuy: 2, amt: '25', order: 'tea-1042' },
  { uid: 7, cuy: 2, amt: '25', order: 'cake-7', atLeast: '24', take: true, mark: 'a whole one' },
]

/** Asks for orders as the shop, and returns their addresses. */
const askOrders = async (service: RunningService, orders: readonly object[]) => {
  const response = await service.ledger('/ledger/orders', postInit({ orders }))
  if (response.status !== 200) throw new Error(await response.text())
  const { data } = (await response.json()) as { data: { list: { address: string }[] } } // our own answer
  return data.list.map(({ address }) => addressFrom(address))
}

const sendAll = async (
  service: RunningService,
  ...requests: readonly (readonly [path: string, body: object, by?: string])[]
) => {
  for (const [path, body, by] of requests) {
    const response = await service.send(`/ledger/payouts${path}`, body, by)
    if (response.status !== 200) throw new Error(await response.text())
  }
  await service.settled()
  return service
}
const withPayouts = async () => sendAll(await credited(), ['', { payouts: asked }])
const withSigned = async () => {
  return sendAll(await withPayouts(), ['/signed', { signed: [{ id: 2, transaction: signedMessage }] }])
}

/** Brings a new service into each situation that examples are given for. */
/** Stores a checkpoint, whose note is the same each time. */
async function storeCheckpoint({ db }: RunningService): Promise<void> {
  await db.prepare(checkpointRow).run()
}

export const situations: Readonly<Record<Situation, () => Promise<RunningService>>> = {
  'a new caller': () => startService(),
  'a token without a scope': () => startService(),
  'a token that only reads': () => startService(),
  'no token': () => startService(),
  'an address': async () => (await withAddress()).service,
  'a reserved address': async () => {
    const service = await startService()
    await reserveAddress(service, 0, firstAddress)
    return service
  },
  'twenty addresses without a deposit': async () => {
    const { service } = await withAddress()
    for (let i = 1; i < 20; i += 1) await service.get('/tron/generate?fresh=1')
    return service
  },
  'no issue of addresses': () => startService({ ISSUE_ADDRESSES: 'off' }),
  'a key that was used': async () => {
    const service = await startService()
    for (const node of service.nodes) node.balances.set(addressFrom(firstAddress), 1n)
    return service
  },
  'a start that is not final': async () => {
    const service = await startService()
    return service.with({ TRON_START_BLOCK: String(service.chain.tip().height + 1_000) })
  },
  'a deployment': async () => {
    const service = await startService()
    return service.with({}, service.with({ TRON_FIRST_INDEX: '1' }))
  },
  'two deposits, not scanned yet': twoDeposits,
  'two deposits, credited': credited,
  'two deposits and a payment': () => withPayment('shop'),
  'a payment by another backend': () => withPayment('office'),
  'a sealed archive': async () => {
    const service = await startService()
    await storeCheckpoint(service)
    return service
  },
  'a deposit that is held for review': inReview,
  'a deposit that is held for review, of a sender that is an operator by now': async () =>
    (await inReview()).with({ OPERATOR_ADDRESSES: [formatBase58(payer)] }),
  'a deposit that was looked at': async () => {
    const service = await inReview()
    const { results } = await service.db
      .prepare(`SELECT txid FROM transfer WHERE state = 'held'`)
      .all<{ txid: string }>()
    const deposits = results.map(({ txid }) => ({ txid, position: 0, decision: 'credit', why: 'checked' }))
    await service.ledger('/ledger/deposits/decide', postInit({ deposits }))
    return service
  },
  'two deposits that are not final': async () => {
    const { service, to } = await withAddress()
    service.chain.add(deposits(to))
    return service
  },
  'two deposits that are not final, late': async () => {
    const { service, to } = await withAddress()
    service.chain.add(deposits(to))
    await service.tick()
    service.clock.seconds += 240
    return service
  },
  'a transaction of each kind': oneOfEachKind,
  'a deposit that was credited to somebody else': async () => {
    const { service, to } = await withAddress()
    const other = await addressIn(await service.get('/tron/generate', 8))
    payFinal(service, ...deposits(to))
    const payOther = (logs: unknown) =>
      (logs as { topics: string[] }[]).map((log) => ({ ...log, topics: [...log.topics.slice(0, 2), topicOf(other)] }))
    for (const node of service.nodes) node.script = () => changing('eth_getLogs', payOther)
    await service.get('/tron/recharge', 8)
    for (const node of service.nodes) node.script = () => null
    return service
  },
  'nodes that disagree': async () => {
    const service = await twoDeposits()
    const [, second] = service.nodes
    if (second === undefined) throw new Error('the service has two nodes')
    second.chain = service.chain.fork(service.chain.tip().height - finalityLag - 1)
    second.chain.addEmpty(finalityLag + 1)
    return service
  },
  'a chain that has forked': async () => {
    const service = await credited()
    await service.db.prepare('UPDATE scan SET halted = ?').bind('block 70000020 does not follow the stored one').run()
    return service
  },
  'nodes that do not respond': async () => silence(await startService()),
  'an address and nodes that do not respond': async () => silence((await withAddress()).service),
  'no requests to nodes': async () => useRequests(await startService()),
  'an address and no requests to nodes': async () => useRequests((await withAddress()).service),
  'no requests for callers': () => startService(nodesForTicks),
  'an address and no requests for callers': async () => (await withAddress()).service.with(nodesForTicks),
  'no requests for this caller': async () => useShare(await startService(nodesWithShares)),
  'an address and no requests for this caller': async () => useShare((await withAddress(nodesWithShares)).service),
  'token signing keys that cannot be fetched': () =>
    startService({
      AUTH_JWT_SECRET: undefined,
      AUTH_JWKS_URL: 'https://keys.example/jwks',
      BACKEND_JWKS_URL: 'https://keys.example/backends',
    }),
  'no configuration': () => startService({ TRON_XPUB: undefined }),
  'a configuration that differs': async () => {
    const { service } = await withAddress()
    return service.with({ TRON_CHAIN_ID: '0xcd8690dc' })
  },
  'a scanner whose configuration differs': async () => {
    const service = await twoDeposits()
    return service.with({}, service.with({ TRON_CHAIN_ID: '0xcd8690dc' }))
  },
  'no database': () => startService({ DB: brokenDatabase() }),
  'a database that is away': () => startService({ DB: awayDatabase() }),
  'a rate limit that is reached': () =>
    startService({ RATE_LISTS: reachedLimit, RATE_NODES: reachedLimit, RATE_LEDGER: reachedLimit }),
  'an open order and one that is partly paid': async () => {
    const service = await startService()
    followChain(service)
    payFinal(service, ...deposits(await addressIn(await service.get('/tron/generate'))))
    followChain(service)
    await service.get('/tron/recharge')
    const [, cake] = await askOrders(service, askedOrders)
    if (cake === undefined) throw new Error('the answer lacks an order')
    payFinal(service, usdtTo(cake, 10_000_000n))
    followChain(service)
    await service.get('/tron/recharge')
    return service
  },
  'as many orders of a user as hold an address': async () => {
    const service = await credited()
    for (let first = 0; first < ordersHeldMax; first += ordersMax) {
      const references = Array.from({ length: ordersMax }, (_, i) => `many-${first + i}`)
      await askOrders(
        service,
        references.map((order) => ({ uid: 7, cuy: 2, amt: '1', order })),
      )
    }
    return service
  },
  'a payout that waits and an approved one': withPayouts,
  'a cancelled payout': async () => sendAll(await withPayouts(), ['/cancel', { ids: [1], why: 'a test' }]),
  'a signed payout': withSigned,
  'a stuck payout that has moved money': async () => {
    const service = await withSigned()
    const rawData = bytesOf(readFields(hexToBytes(signedMessage), { 1: 'bytes' }), 1)
    const logs = [transferLog(usdtAddress, payoutAddress, addressFrom(payoutTo), 2_000_000n)]
    payFinal(service, { kind: 'signed', rawData, logs })
    service.clock.seconds += 60
    await service.tick()
    return service
  },
  'a transaction of the payout address that no payout names': async () => {
    const service = await withPayouts()
    payFinal(service, { kind: 'trx', from: payoutAddress, to: addressOf(4), amount: 1n })
    service.clock.seconds += 60
    await service.tick()
    return service
  },
  'three databases': () => startThreeCells(),
  'no scan for four minutes': async () => {
    const service = await credited()
    service.clock.seconds += 180
    return service
  },
}
