import type { Address } from '../../../src/worker/chain/address.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import type { ChainTransaction } from '../../support/block-json.ts'
import { toTransaction } from '../../support/chain-builder.ts'
import { encodeRawTransaction } from '../../support/raw-transaction.ts'
import { addressOf, type TransactionSpec } from '../../support/transaction-spec.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { type BenchDeposit, createBlocks, finalityBlocks, firstHeight, slotMs } from '../mainnet.ts'
import { type NodeFault, startVirtual, type VirtualOptions, type VirtualService } from '../virtual.ts'

/** The time of the first block, in milliseconds since 1970. */
export const startMs = 1_790_000_000_000
const hourMs = 3_600_000
/**
 * How long the machine may compute for one service, in milliseconds of real time. A service that a
 * lying node slows down is measured by what it has done in that time.
 */
const limitMs = 120_000
/**
 * The number of transactions in a block. They are few, because the delays do not depend on the size
 * of blocks.
 */
export const smallBlock = 20

/**
 * Measures delays with mainnet's timing: from a block to its deposit being seen, from finality to
 * credit, and from an event's commit to its receiver.
 */
export async function measureDelays({ work }: Scale): Promise<readonly Figure[]> {
  const rare = await delaysWith({ everyBlocks: 197, hours: Math.max(2, 12 * work) })
  const busy = await delaysWith({ everyBlocks: 1, hours: Math.max(0.2, 0.5 * work) })
  const awaited = await delaysWith({ everyBlocks: 67, hours: Math.max(2, 8 * work), isAwaited: () => true })
  return [
    ...figuresOf('a deposit every ten minutes', rare),
    ...figuresOf('a deposit in each block', busy),
    figure(
      'while a payer waits: seen after its block, half of them',
      quantile(awaited.seen, 0.5) / 1000,
      's',
      atMost(2.5, quantile(awaited.seen, 0.5) / 1000),
    ),
    figure(
      'while a payer waits: seen after its block, 99 %',
      quantile(awaited.seen, 0.99) / 1000,
      's',
      atMost(5, quantile(awaited.seen, 0.99) / 1000),
    ),
    figure('while a payer waits: credited after finality, 99 %', quantile(awaited.credited, 0.99) / 1000, 's'),
    ...(await measureJunk(work)),
    await measureDay(work, 'while nobody waits', 34_600, () => false),
    await measureDay(work, 'while somebody waits 5 minutes of each hour', 40_000, (now) => now % hourMs < hourMs / 12),
    await measureDay(work / 2, 'while somebody waits always', 90_000, () => true),
  ]
}

/**
 * Delays in milliseconds, one for each deposit or delivered event. A deposit that was never
 * credited counts as infinite.
 */
export interface Delays {
  readonly seen: readonly number[]
  readonly credited: readonly number[]
  readonly delivered: readonly number[]
}

/** A run with a deposit in one of every `everyBlocks` blocks. */
export interface DelayOptions extends VirtualOptions {
  readonly everyBlocks: number
  readonly hours: number
  /**
   * The fault of the first node. It begins once the user has an address, because the node may lie
   * about that address.
   */
  readonly faultOf?: (address: Address) => NodeFault
  /** Whether the user has the page open at this time; by default never. */
  readonly isAwaited?: (now: number) => boolean
}

/**
 * Lets a page wait for a deposit of user 1 whenever `isAwaited` says so: with one held request
 * after the other. Returns how many there were.
 */
function keepWaiting(service: VirtualService, isAwaited: (now: number) => boolean): () => number {
  let [count, mark]: [number, string | null] = [0, null]
  const wait = async () => {
    for (;;) {
      if (!isAwaited(service.now())) {
        await service.clock.sleep(1_000)
        continue
      }
      count += 1
      const change = await service.waitForDeposit(1 as Uid, mark, 25_000) // safe: the user of `addressOf(1)`
      mark = change.mark
      await service.clock.sleep(change.isChanged ? 6_000 : 100)
    }
  }
  void wait()
  return () => count
}

/** So long a scanner waits for somebody who was given an address. */
const addressMs = 700_000

/** The delays of all deposits except those of the last two minutes. */
export async function delaysWith({
  everyBlocks,
  hours,
  faultOf,
  isAwaited,
  ...options
}: DelayOptions): Promise<Delays> {
  let to: Address | null = null
  const depositsAt = (height: number): readonly BenchDeposit[] => {
    if (to === null || height < firstHeight + 100 + addressMs / slotMs || height % everyBlocks !== 0) return []
    return [{ asset: height % 2 === 0 ? 'TRX' : 'USDT', to, amount: 1_000_000n }]
  }
  const chain = createBlocks({ startMs, transactionsAt: () => smallBlock, depositsAt })
  const service = await startVirtual(chain, options)
  to = await service.addressOf(1)
  await service.run(addressMs)
  if (isAwaited !== undefined) keepWaiting(service, isAwaited)
  if (faultOf !== undefined) service.fail(faultOf(to))
  await service.run(hours * hourMs, limitMs)
  // A deposit that has been final for two minutes must be credited by now.
  const last = firstHeight + (service.now() - startMs - 120_000) / slotMs - finalityBlocks
  const [seen, credited]: [number[], number[]] = [[], []]
  const find = service.sqlite.prepare(
    `SELECT changed_at AS creditedAt,
       (SELECT min(e.created_at) FROM event e WHERE e.txid = t.txid AND e.type = 'deposit.seen') AS seenAt
     FROM transfer t WHERE t.txid = ? AND t.state = 'credited'`,
  )
  for (let height = firstHeight; height < last; height += 1) {
    if (depositsAt(height).length === 0) continue
    const [deposit] = chain.at(height).transactions
    const row = find.get(deposit?.txid ?? '') as { creditedAt: number; seenAt: number | null } | undefined
    const creditedAt = row?.creditedAt ?? Number.POSITIVE_INFINITY
    // A deposit that was not seen before it was credited counts as seen when it was credited.
    seen.push((row?.seenAt ?? creditedAt) - chain.timeOf(height))
    credited.push(creditedAt - chain.timeOf(height + finalityBlocks))
  }
  return { seen, credited, delivered: deliveryTimes(service) }
}

function deliveryTimes({ sqlite, received }: VirtualService): readonly number[] {
  const events = sqlite.prepare('SELECT id, created_at AS at FROM event').all() as { id: number; at: number }[]
  return events.flatMap(({ id, at }) => {
    const arrived = received.get(id)
    return arrived === undefined ? [] : [arrived - at]
  })
}

function figuresOf(what: string, { seen, credited, delivered }: Delays): readonly Figure[] {
  const both = (name: string, times: readonly number[]) => [
    figure(`${what}: ${name}, half of them`, quantile(times, 0.5) / 1000, 's'),
    figure(`${what}: ${name}, 99 %`, quantile(times, 0.99) / 1000, 's'),
  ]
  return [
    ...both('seen after its block', seen),
    ...both('credited after finality', credited),
    figure(`${what}: event delivered after its commit, 99 %`, quantile(delivered, 0.99) / 1000, 's'),
  ]
}

/** The smallest value that at least this part of the values (0.99 is 99 %) does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? Number.NaN
}

/**
 * Logs of a block that an attacker fills, and the calls that make them. A node gives at most 10,000
 * logs of a block.
 */
const junk = { logs: 51_000, calls: 17 }
/** Every so many blocks there is a deposit: each comes at another time after the last tick. */
const junkEvery = 203
/** Bytes of an answer that arrive in a millisecond: 80 Mbit/s. */
const bytesPerMs = 10_000
/**
 * What a node needs for each receipt of a block with so many logs, in milliseconds: it reads the
 * results of the whole block.
 */
const receiptMs = 250

/**
 * Measures the delay of a deposit in a block of junk logs, of which nodes do not give the logs,
 * beside the same deposit in a plain block.
 */
async function measureJunk(work: number): Promise<readonly Figure[]> {
  const count = Math.max(2, Math.round(12 * work))
  const [plain, full] = [await junkDelays(count, []), await junkDelays(count, junkCalls())]
  const limit = atMost(30, Math.max(...full) / 1000)
  return [
    figure('a deposit in a plain block: credited after finality, at most', Math.max(...plain) / 1000, 's'),
    figure('a deposit among 51,000 junk logs: credited after finality, at most', Math.max(...full) / 1000, 's', limit),
  ]
}

function junkCalls(): readonly TransactionSpec[] {
  const log = { contract: addressOf(55), topics: [], data: '0x' }
  const logs = Array.from({ length: junk.logs / junk.calls }, () => log)
  return Array.from({ length: junk.calls }, () => {
    return { kind: 'call', contract: addressOf(55), from: addressOf(56), logs } as const
  })
}

/**
 * The delays of `count` deposits, each in a block with these calls. Nobody waits for them, and
 * nobody asks about them.
 */
async function junkDelays(count: number, calls: readonly TransactionSpec[]): Promise<readonly number[]> {
  let to: Address | null = null
  const heights = Array.from({ length: count }, (_, i) => firstHeight + 200 + i * junkEvery)
  const mined = new Map<number, readonly ChainTransaction[]>()
  const minedAt = (height: number) => {
    if (!heights.includes(height)) return []
    const made = calls.map((call, i) => toTransaction(call, encodeRawTransaction(call, startMs + height * 100 + i)))
    const known = mined.get(height) ?? made
    mined.set(height, known)
    return known
  }
  const depositsAt = (height: number): readonly BenchDeposit[] =>
    to !== null && heights.includes(height) ? [{ asset: 'USDT', to, amount: 1_000_000n }] : []
  // There are no other transactions: those of `createBlocks` repeat in other blocks, so that a node
  // would have several receipts for one txid.
  const chain = createBlocks({ startMs, transactionsAt: () => 0, depositsAt, minedAt })
  const extraMs = (body: string, answer: string) =>
    answer.length / bytesPerMs + receiptMs * (body.split('eth_getTransactionReceipt').length - 1)
  const service = await startVirtual(chain, { extraMs })
  to = await service.addressOf(1)
  await service.run((200 + count * junkEvery) * slotMs)
  const find = service.sqlite.prepare(`SELECT changed_at AS at FROM transfer WHERE txid = ? AND state = 'credited'`)
  return heights.map((height) => {
    const row = find.get(chain.at(height).transactions[0]?.txid ?? '') as { at: number } | undefined
    return (row?.at ?? Number.POSITIVE_INFINITY) - chain.timeOf(height + finalityBlocks)
  })
}

/**
 * The number of requests that two nodes together get in a day on which no deposit arrives, where
 * somebody waits for one whenever `isAwaited` says so.
 */
async function measureDay(
  work: number,
  when: string,
  max: number,
  isAwaited: (now: number) => boolean,
): Promise<Figure> {
  const chain = createBlocks({ startMs, transactionsAt: () => smallBlock, depositsAt: () => [] })
  const service = await startVirtual(chain)
  await service.addressOf(1)
  keepWaiting(service, isAwaited)
  await service.run(hourMs)
  const hours = Math.max(1, Math.round(24 * work))
  const before = service.requests()
  await service.run(hours * hourMs)
  const requests = ((service.requests() - before) * 24) / hours
  return figure(`requests a day to two nodes together, ${when}`, requests, 'requests', atMost(max, requests))
}
