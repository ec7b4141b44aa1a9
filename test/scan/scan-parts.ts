import { type Block, type BlockHash, type BlockHeight, blockSeconds, type Transaction } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAlarmStore } from '../../src/d1/alarm-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import { createAlarms } from '../../src/platform/alarms.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Logger } from '../../src/platform/logger.ts'
import type { RescanParts } from '../../src/scan/rescan.ts'
import type { ScanParts } from '../../src/scan/scan.ts'
import type { Stores } from '../../src/services.ts'
import { currencies } from '../support/currencies.ts'
import { freshDatabase } from '../support/database.ts'

/** The time of a fixed clock. */
export const now = 1_790_000_000_000 as UnixMs
/** The position of a scan that has started. */
export const start = 100 as BlockHeight

/** What a scan needs, with all stores, and the alarms that it raised. */
export type TestScanParts = ScanParts & RescanParts & Stores & { readonly raised: readonly string[] }

/**
 * Real stores over an empty database, a fixed clock, and nodes that answer only the queries of `queries`, for every
 * purpose, and show no unconfirmed block.
 */
export async function createScanParts(queries: Partial<Chain>, db?: D1Database): Promise<TestScanParts> {
  const unexpected = () => Promise.reject(new Error('a query that is not needed'))
  const ignore = () => undefined
  const raised: string[] = []
  const clock: Clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0 }
  const logger: Logger = { info: ignore, warn: ignore, error: ignore, alarm: (kind) => raised.push(kind) }
  const database = db ?? (await freshDatabase())
  const chain: Chain = {
    finalizedHead: unexpected,
    finalizedBlocks: unexpected,
    unconfirmedBlocks: async (after) => ok({ latest: after, blocks: [] }),
    receipts: unexpected,
    transactionBytes: unexpected,
    bytesInBlock: async () => ok(new Map()),
    locateTransaction: unexpected,
    balances: unexpected,
    holder: unexpected,
    activated: unexpected,
    decimals: unexpected,
    requestsLeft: () => 40,
    ...queries,
  }
  return {
    ...createStores(database, ignore),
    chain,
    proofChain: chain,
    rescanChain: chain,
    currencies,
    operators: new Set(),
    clock,
    logger,
    alarms: createAlarms({ store: createAlarmStore(database), clock, logger }),
    lease: 'own',
    raised,
  }
}

/** The hash of the block at a height of a chain without forks. */
export const hashAt = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, '0') as BlockHash

/** The block at a height of a chain without forks. */
export const blockAt = (height: number, transactions: readonly Transaction[] = []): Block => ({
  height: height as BlockHeight,
  hash: hashAt(height),
  parentHash: hashAt(height - 1),
  timestamp: (height * blockSeconds * 1000) as UnixMs,
  transactions,
  logs: [],
})

/** The blocks from one height to another, both included. */
export const blocksBetween = (from: number, to: number, transactions: readonly Transaction[] = []) =>
  Array.from({ length: to - from + 1 }, (_, i) => blockAt(from + i, transactions))
