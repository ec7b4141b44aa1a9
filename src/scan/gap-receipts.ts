import type { BlockHash, BlockRef, Txid } from '../chain/block.ts'
import type { Chain, ChainTransfer } from '../chain/chain.ts'
import { receiptsMax } from '../chain/limits.ts'
import type { JudgeRules } from '../deposits/judge.ts'
import { storeTransfers } from '../deposits/transfers.ts'
import { createOwners, type FoundOwners } from './owners.ts'
import { judgeTransfers } from './read.ts'
import type { ScanContext } from './rules.ts'

const memoryKey = 'receipts'
/** Blocks of which it is remembered how far their receipts were read. Those of a forgotten one are read from the first on. */
const rememberedMax = 20

/** How far the receipts of a block were read. */
interface Progress {
  readonly done: number
  readonly unreadable: readonly Txid[]
}

/** How reading the receipts of a block ended. `stopped`: there is no time or allowance for more now. */
export type CallsEnd =
  | { readonly kind: 'read'; readonly unreadable: readonly Txid[] }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed' }

/**
 * Reads the receipts of the calls of a block, a batch at a time, and credits what is in them. How far it is outlives this
 * instance. Once all were tried, only those that could not be read are tried again.
 */
export async function readCalls(
  { db, host, clock }: Pick<ScanContext, 'db' | 'host' | 'clock'>,
  chain: Pick<Chain, 'receiptTransfers'>,
  rules: JudgeRules,
  block: BlockRef,
  calls: readonly Txid[],
): Promise<CallsEnd> {
  const all = (await host.load<Record<BlockHash, Progress>>(memoryKey)) ?? {}
  const before = all[block.hash] ?? { done: 0, unreadable: [] }
  const isFirstPass = before.done < calls.length
  const queue = isFirstPass ? calls.slice(before.done) : before.unreadable
  const unreadable = isFirstPass ? [...before.unreadable] : []
  const save = (done: number) => {
    const others = Object.entries(all).filter(([hash]) => hash !== block.hash)
    const kept = others.slice(-(rememberedMax - 1))
    host.save(memoryKey, { ...Object.fromEntries(kept), [block.hash]: { done, unreadable } })
  }
  for (let i = 0; i < queue.length; i += receiptsMax) {
    const batch = queue.slice(i, i + receiptsMax)
    const owners = createOwners(db)
    const read = await readBatch(chain, block, batch, owners)
    if (read.kind === 'failed' && !isFirstPass) return { kind: 'read', unreadable: before.unreadable }
    if (read.kind !== 'read') return read
    const decided = judgeTransfers(read.transfers, block, owners.owners, rules)
    if ((await storeTransfers(db, decided, clock.now())) === 'halted') return { kind: 'stopped' }
    unreadable.push(...read.unreadable)
    if (isFirstPass) save(before.done + i + batch.length)
  }
  if (!isFirstPass) save(before.done)
  return { kind: 'read', unreadable }
}

type BatchEnd =
  | { readonly kind: 'read'; readonly transfers: readonly ChainTransfer[]; readonly unreadable: readonly Txid[] }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed' }

/** Where a batch cannot be read, each receipt is read alone: one of them can be the reason. */
async function readBatch(
  chain: Pick<Chain, 'receiptTransfers'>,
  block: BlockRef,
  txids: readonly Txid[],
  { match }: FoundOwners,
): Promise<BatchEnd> {
  const read = await chain.receiptTransfers(block, txids, match)
  if (read.ok) return { kind: 'read', ...read.value }
  const { kind } = read.error
  if (kind === 'limited' || kind === 'out-of-time') return { kind: 'stopped' }
  if (txids.length === 1)
    return kind === 'disagreement' ? { kind: 'read', transfers: [], unreadable: txids } : { kind: 'failed' }
  const transfers: ChainTransfer[] = []
  const unreadable: Txid[] = []
  let failed = 0
  for (const txid of txids) {
    const one = await readBatch(chain, block, [txid], { match, owners: new Map() })
    if (one.kind === 'stopped') return one
    if (one.kind === 'failed') {
      failed += 1
      unreadable.push(txid)
    } else {
      transfers.push(...one.transfers)
      unreadable.push(...one.unreadable)
    }
  }
  return failed === txids.length ? { kind: 'failed' } : { kind: 'read', transfers, unreadable }
}
