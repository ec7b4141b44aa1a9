import { expect } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { referenceOf, type TransferContent } from '../../src/worker/chain/transaction.ts'
import { finalityLag, type RunningService, type Surroundings, startService, usdtTo } from '../http/service.ts'
import { finalizedIn, type Head, headOf, stateOf, tickLater } from '../scan/harness.ts'
import { payoutAddress, payoutBase58, type SignedPayout, signTransfer } from '../support/payouts.ts'
import { addressOf, type LogSpec, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'

/** The address that the payouts of tests pay. */
export const recipient = addressOf(60)
/** The address `recipient` in Base58Check. */
export const recipientBase58 = formatBase58(recipient)

/** A `PAYOUTS` that approves payouts of up to 100 TRX or 100 USDT without a person. */
export const payoutsSetting = {
  address: payoutBase58,
  limits: [1, 2].map((cuy) => ({ cuy, each: '100', perDay: '1000000' })),
}

/** A payout as backends see it, as far as tests read it. */
export interface Shown {
  readonly id: number
  readonly state: string
  readonly attempts: number
  readonly txid?: string
  readonly reason?: string
  readonly why?: string
  readonly height?: number
  readonly moved?: readonly object[]
  readonly approved_by?: string
}

/**
 * Starts a service with payouts. User 7 has 1,000 TRX and 1,000 USDT, a signer has asked for work
 * once, the scan stands at the newest final block, and the clock shows the time after the newest
 * block.
 */
export async function startPaying(
  variables: Record<string, unknown> = {},
  surroundings: Surroundings = {},
): Promise<RunningService> {
  const service = await startService({ PAYOUTS: payoutsSetting, ...variables }, surroundings)
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  hold(service, 10n ** 15n, 10n ** 15n)
  await service.get('/tron/generate')
  await service.tick()
  await fund(service)
  expect(await offered(service)).toEqual([])
  return service
}

/** Makes all nodes show these balances of the payout address, in smallest units. */
export function hold({ nodes }: RunningService, trx: bigint, usdt: bigint): void {
  for (const node of nodes) {
    node.balances.set(payoutAddress, trx)
    node.balances.set(`${usdtAddress} ${payoutAddress}`, usdt)
  }
}

/** Posts `amt` of each currency to user 7. */
export async function fund(service: RunningService, amt = '1000'): Promise<void> {
  const entries = [1, 2].map((cuy) => ({ uid: 7, cuy, type: 9, osn: `fund-${amt}`, amt }))
  expect((await service.post(entries)).status).toBe(200)
}

let orders = 0
/** The body of a request for 5 USDT of user 7, with its own `osn`. */
export const payoutRequest = (changes: object = {}) => {
  orders += 1
  return { uid: 7, cuy: 2, amt: '5', to: recipientBase58, osn: `payout-${orders}`, ...changes }
}

/**
 * Sends a request about payouts and waits for what it starts in the background. `by` is the name of
 * the backend that asks.
 */
export async function send(service: RunningService, path: string, body: unknown, by?: string) {
  const response = await service.send(`/ledger/payouts${path}`, body, by)
  const { msg, data } = await response.json<{ msg: string; data?: { list: Shown[]; replayed?: boolean } }>()
  await service.settled()
  return { status: response.status, reason: response.headers.get('x-reason'), msg, data }
}

/** Asks for one payout, which must be accepted. Returns it as it was answered. */
export async function ask(service: RunningService, changes: object = {}): Promise<Shown> {
  const { status, msg, data } = await send(service, '', { payouts: [payoutRequest(changes)] })
  expect([status, msg]).toEqual([200, 'success'])
  const [payout] = data?.list ?? []
  if (payout === undefined) throw new Error('no payout')
  return payout
}

/** The payout as the list shows it now. */
export async function shown(service: RunningService, id: number): Promise<Shown> {
  const response = await service.ledger(`/ledger/payouts?before=${id + 1}&limit=1`)
  const { data } = await response.json<{ data: { list: Shown[] } }>()
  const [payout] = data.list
  if (payout?.id !== id) throw new Error(`no payout ${id}`)
  return payout
}

/** The payout's state as `state:reason/attempts`; without a reason `state/attempts`. */
export async function stateOfPayout(service: RunningService, id: number): Promise<string> {
  const { state, reason, attempts } = await shown(service, id)
  return `${state}${reason === undefined ? '' : `:${reason}`}/${attempts}`
}

/**
 * The content of a transaction that pays 5 USDT to `recipient`. It refers to `head` and expires ten
 * minutes later.
 */
export function contentOf(head: Head, changes: Partial<TransferContent> = {}): Omit<TransferContent, 'from'> {
  return {
    asset: trc20Asset(usdtAddress),
    to: recipient,
    amount: 5_000_000n,
    reference: referenceOf(head),
    expiration: BigInt(head.timestamp + 600_000),
    timestamp: BigInt(head.timestamp),
    feeLimit: 100_000_000n,
    ...changes,
  }
}

/** The content of a transaction that pays 5 TRX to `recipient`. */
export const trxContent = (head: Head, changes: Partial<TransferContent> = {}) =>
  contentOf(head, { asset: nativeAsset, feeLimit: 0n, ...changes })

/** Signs a payout of 5 USDT that refers to the newest final block which the service knows. */
export async function sign(service: RunningService, changes: Partial<TransferContent> = {}): Promise<SignedPayout> {
  return signTransfer(contentOf(await headOf(service), changes))
}

/**
 * The answer about one transaction that was handed in: its payout, or why the transaction was
 * refused.
 */
export type HandedIn = {
  readonly id: number
  readonly state?: string
  readonly txid?: string
  readonly refused?: Refused
}
interface Refused {
  readonly code: number
  readonly reason: string
  readonly why: string
}

/** Hands in one signed transaction for the payout `id`; returns what is answered about it. */
export async function handIn(service: RunningService, id: number, transaction: string): Promise<HandedIn> {
  const { status, msg, data } = await send(service, '/signed', { signed: [{ id, transaction }] }, 'signer')
  expect([status, msg]).toEqual([200, 'success'])
  return (data?.list ?? [])[0] as HandedIn
}

/**
 * Asks for a payout of 5 USDT and hands in its transaction. `changes` are changes to the
 * transaction.
 */
export async function signedPayout(service: RunningService, changes: Partial<TransferContent> = {}) {
  const { id } = await ask(service)
  const signed = await sign(service, changes)
  expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
  return { id, ...signed }
}

/** The log of a USDT transfer from the payout address. */
export const paidLog = (amount = 5_000_000n, to: Address = recipient): LogSpec =>
  transferLog(usdtAddress, payoutAddress, to, amount)

/**
 * The spec of a signed transaction for a block: it succeeded and paid 5 USDT, unless `more` says
 * otherwise.
 */
export const mined = (
  { rawData }: Pick<SignedPayout, 'rawData'>,
  more: { readonly failed?: boolean; readonly logs?: readonly LogSpec[] } = {},
): TransactionSpec => ({ kind: 'signed', rawData, logs: [paidLog()], ...more })

/** Adds `count` empty blocks and scans. */
export async function passBlocks(service: RunningService, count: number): Promise<void> {
  service.chain.addEmpty(count)
  await tickLater(service, Math.max(count * 3, 20))
}

/**
 * Puts transactions into the next block, makes the block final and scans it. Returns its height.
 */
export async function mineFinal(service: RunningService, ...specs: readonly TransactionSpec[]): Promise<number> {
  const { height } = service.chain.add(specs)
  service.chain.addEmpty(finalityLag)
  await tickLater(service, 60)
  return height
}

/** The types of all events about payouts so far, without `payout.`. */
export async function payoutEvents({ db }: RunningService): Promise<readonly string[]> {
  const { results } = await db.prepare(`SELECT type FROM event WHERE type GLOB 'payout.*' ORDER BY id`).all()
  return results.map(({ type }) => String(type).replace('payout.', ''))
}

/** The balance of user 7 in smallest units, by default in USDT. */
export async function balance({ db }: RunningService, cuy = 2): Promise<number> {
  return Number(await db.prepare('SELECT balance FROM wallet WHERE uid = 7 AND cuy = ?').bind(cuy).first('balance'))
}

/** The ids of the payouts that a signer is offered, or the reason why nothing is offered. */
export async function offered(service: RunningService): Promise<readonly number[] | string | null> {
  const response = await service.ledger('/ledger/payouts/unsigned')
  if (response.status !== 200) return response.headers.get('x-reason')
  const { data } = await response.json<{ data: { list: Shown[] } }>()
  return data.list.map(({ id }) => id)
}

/** Milliseconds from one block to the next, in block time. */
export const blockMs = 3_000

/**
 * A signed payout whose transaction expires at the time of the block `blocks` above the newest
 * final one. `last` is that block's height.
 */
export async function expiringAfter(service: RunningService, blocks: number, changes: Partial<TransferContent> = {}) {
  const { height, timestamp } = await headOf(service)
  const payout = await signedPayout(service, { expiration: BigInt(timestamp + blocks * blockMs), ...changes })
  return { ...payout, reference: height, last: height + blocks }
}

/**
 * Starts a service where every block that is not final yet contains a transfer, so that nodes can
 * disagree about each of these blocks.
 */
export async function startBusy(): Promise<RunningService> {
  const service = await startPaying()
  await passBusy(service, finalityLag)
  return service
}

/** Adds `count` blocks with a transfer each, and scans. */
export async function passBusy(service: RunningService, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) service.chain.add([usdtTo(addressOf(80), 1n)])
  await tickLater(service, Math.max(count * 3, 20))
}

/** Adds blocks and scans, so that the block at `height` is the newest final one. */
export async function scanTo(service: RunningService, height: number): Promise<void> {
  await passBusy(service, height - finalizedIn(service))
  expect((await stateOf(service)).height).toBe(height)
}

/** The service with a scanner that is killed before it sends a payout. */
export const withKilledSending = (service: RunningService): RunningService => {
  const killed = {
    sendPayouts: () => Promise.reject(new Error('killed')),
    isRestored: async () => false,
    noteWrite: async () => {},
  }
  return service.with({}, { bindings: { SCANNER: { getByName: () => killed } } } as unknown as RunningService)
}
