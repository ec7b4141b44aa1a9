import { expect } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight } from '../../src/worker/chain/block.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { selectScan } from '../../src/worker/scan/store/position.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, usdtTo } from '../http/service.ts'
import { changing, type Fault } from '../support/scripted-node.ts'
import { addressOf, type LogSpec, type TransactionSpec } from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'

/** `CURRENCIES` with TRX and USDT, where USDT has the given member. */
export const usdtWith = (
  more: { readonly retired: true } | { readonly minDeposit: string } | { readonly reviewFrom: string },
) => [
  { cuy: 1, symbol: 'TRX', decimals: 6 },
  { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, ...more },
]

/** `CURRENCIES` with TRX and a retired USDT. */
export const retiredUsdt = usdtWith({ retired: true })

/** The stored state of the scan. Throws if the scan has not started. */
export async function stateOf({ db }: RunningService) {
  const state = await selectScan(writable(db))
  if (state === null) throw new Error('the scan has not started')
  return state
}

/** The height of the chain's newest final block. */
export const finalizedIn = ({ chain }: RunningService) => chain.tip().height - finalityLag

/**
 * The stored transfers: their states, with the reason after a colon, in the order in which they
 * were found.
 */
export async function statesOf({ db }: RunningService): Promise<readonly string[]> {
  const { results } = await db.prepare('SELECT state, reason FROM transfer ORDER BY id').all()
  return results.map(({ state, reason }) => (reason === null ? String(state) : `${state}:${reason}`))
}

/** The types of all stored events, oldest first. */
export async function eventsOf({ db }: RunningService): Promise<readonly string[]> {
  const { results } = await db.prepare('SELECT type FROM event ORDER BY id').all()
  return results.map(({ type }) => String(type))
}

/** A caller's balances by `cuy`, in whole units as the wallet list shows them. */
export async function balancesOf(service: RunningService, uid = 7): Promise<Readonly<Record<number, number>>> {
  const response = await service.get('/wallet/list', uid)
  const { data } = await response.json<{ data: { list: { amt: number; cuy: number }[] } }>()
  return Object.fromEntries(data.list.map(({ amt, cuy }) => [cuy, amt]))
}

/** Starts a service in which user 7 has the address `own`. */
export async function withAddress(variables: Record<string, unknown> = {}) {
  const service = await startService(variables)
  const own: Address = await addressIn(await service.get('/tron/generate'))
  return { service, own }
}

/**
 * Starts a service in which user 7 has the address `own` and a final deposit of 25 USDT, which is
 * not scanned yet.
 */
export async function withDeposit(variables: Record<string, unknown> = {}) {
  const { service, own } = await withAddress(variables)
  const [txid = ''] = payFinal(service, usdtTo(own, 25_000_000n))
  return { service, own, txid }
}

/** The alarms that were logged so far, with their fields. */
export function alarmLines({ lines }: RunningService): readonly Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ alarm }) => alarm !== undefined)
}

/** The alarms of one kind that were logged so far. */
export const alarmsOf = (service: RunningService, kind: string) =>
  alarmLines(service).filter(({ alarm }) => alarm === kind)

/**
 * All calls of one JSON-RPC method, or of one path of the HTTP API, that the nodes have received.
 */
export const callsOf = ({ nodes }: RunningService, method: string) =>
  nodes.flatMap(({ requests }) => requests.flatMap(({ calls }) => calls)).filter((call) => call.method === method)

/**
 * Lets time pass second by second: calls `onSecond`, then runs a tick if the scanner's alarm is
 * due. A tick can itself move the clock forward.
 */
export async function runFor(
  service: RunningService,
  seconds: number,
  onSecond: (now: number) => unknown,
): Promise<void> {
  const start = service.clock.seconds
  for (let second = 1; second <= seconds; second += 1) {
    service.clock.seconds = start + second
    const now = (start + second) * 1000
    await onSecond(now)
    const due = service.scannerHost.alarmAt
    if (due === null || due <= now) await service.tick()
  }
}

/** Corrects the finalized height as an operator's command does. */
export async function correct({ db }: RunningService, finalized: number): Promise<void> {
  await db
    .prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (?1, 'a wrong node', 1700000000000)`)
    .bind(finalized)
    .run()
}

/** Asks for a rescan of these blocks, as an operator's command does. */
export async function rescan({ db }: RunningService, from: number, to: number): Promise<void> {
  const columns = 'kind, from_height, to_height, next_height, reason, created_at, next_try'
  await db
    .prepare(`INSERT INTO rescan (${columns}) VALUES ('request', ?1, ?2, ?1, 'a test', 1700000000000, 0)`)
    .bind(from, to)
    .run()
}

/** Makes all nodes answer HTTP 500. */
export function breakNodes({ nodes }: RunningService): void {
  for (const node of nodes) node.script = () => ({ kind: 'status', status: 500 })
}

/** Makes all nodes answer correctly again. */
export function repairNodes({ nodes }: RunningService): void {
  for (const node of nodes) node.script = () => null
}

/**
 * Makes the first node hide the logs of the blocks at these heights, so that the nodes disagree
 * about them.
 */
export function disagreeOn({ nodes }: RunningService, ...heights: readonly number[]): void {
  const [first] = nodes
  if (first === undefined) throw new Error('a node')
  first.script = () =>
    changing('eth_getLogs', (result, { params }) => {
      const { blockHash = '' } = params[0] as { blockHash?: string }
      return heights.includes(Number.parseInt(blockHash.slice(2, 18), 16)) ? [] : result
    })
}

/**
 * For `seconds` seconds, runs a tick every `step` seconds, and calls `each` before each of them.
 */
export async function tickFor(
  service: RunningService,
  seconds: number,
  each: () => unknown = () => undefined,
  step = 20,
) {
  for (let passed = 0; passed < seconds; passed += step) {
    service.clock.seconds += step
    each()
    await service.tick()
  }
}

/** Moves the clock forward and runs one tick. */
export async function tickLater(service: RunningService, seconds = 20): Promise<void> {
  service.clock.seconds += seconds
  await service.tick()
}

/**
 * The ranges of blocks that are still to be read: gaps, which the scan has put aside, and rescans,
 * which an operator has requested.
 */
export const openGaps = async ({ db }: RunningService) => {
  const { results } = await db.prepare('SELECT * FROM rescan WHERE finished_at IS NULL ORDER BY from_height').all()
  return results
}

/** Makes all nodes refuse to return more than `max` logs at once. */
export const limitLogs = ({ nodes }: RunningService, max: number) => {
  for (const node of nodes) node.logsMax = max
}

/** A call of a foreign contract that emits `count` empty logs. */
export const noise = (count: number): TransactionSpec => {
  const log: LogSpec = { contract: addressOf(55), topics: [], data: '0x' }
  return { kind: 'call', contract: addressOf(55), from: addressOf(56), logs: Array.from({ length: count }, () => log) }
}
/** Makes a node refuse the receipt of this transaction as too large. */
export const withoutReceiptOf = (txid: string): Fault => ({
  kind: 'changed-calls',
  change: ({ method, params }) =>
    method === 'eth_getTransactionReceipt' && params[0] === `0x${txid}`
      ? { error: { code: -32005, message: 'the response is too large' } }
      : undefined,
})
/**
 * A deposit that is held because its currency is retired, in a block in which no node gives the
 * receipt of the transaction `hugeId`.
 */
export async function withHeldInGap() {
  const { service, own } = await withAddress({ CURRENCIES: retiredUsdt })
  limitLogs(service, 50)
  const [hugeId = ''] = payFinal(service, noise(60), usdtTo(own, 2_000_000n))
  for (const node of service.nodes) node.script = () => withoutReceiptOf(hugeId)
  await service.tick()
  expect(await statesOf(service)).toEqual(['held:retired'])
  return { service, hugeId }
}

export interface Head {
  readonly height: BlockHeight
  readonly hash: BlockHash
  readonly timestamp: number
}

/** The newest final block that the service has stored. Throws if the scan has not started. */
export async function headOf({ db }: RunningService): Promise<Head> {
  const head = await db
    .prepare('SELECT finalized AS height, finalized_hash AS hash, finalized_time AS timestamp FROM scan')
    .first<Head>()
  if (head === null) throw new Error('the scan has not started')
  return head
}
