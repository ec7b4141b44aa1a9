import type { Address } from '../../src/worker/chain/address.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { addressOf, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import type { Chain, ChainView, Mined } from './chain.ts'
import type { Environment } from './environment.ts'
import type { TailLie } from './node-troubles.ts'

/** The blocks that one node invents. */
export interface FalseTail {
  /**
   * The chain as the node shows it now; null if the node invents nothing. Whenever another block is
   * final, the node invents other blocks.
   */
  show(lie: { readonly tail: TailLie | null; readonly aheadBy: number }): ChainView | null
}

/** How many blocks above the newest one a node invents as a `far` tail. */
const farBlocks = 300
/**
 * A node that claims a head up to `fewBlocks` too high also invents blocks in place of the newest
 * final ones, this many. With a higher claim it invents only blocks above the final head.
 */
const rewrittenBlocks = 3
const fewBlocks = 10

/** Makes the invented blocks of one node; before `show` there are none. */
export function createFalseTail(env: Environment): FalseTail {
  let made: { readonly chain: Chain; readonly kind: string; readonly from: number } | null = null
  let earlier: ChainView = env.chain
  return {
    show({ tail, aheadBy }) {
      if (tail === null && aheadBy === 0) return null
      const kind = `${tail} ${aheadBy}`
      const from = env.finalized() + 1 - (aheadBy > 0 && aheadBy <= fewBlocks ? rewrittenBlocks : 0)
      if (made?.kind !== kind || made.from !== from) {
        earlier = made?.chain ?? env.chain
        made = { chain: env.chain.fork(from - 1), kind, from }
      }
      const to = env.chain.tip().height + (tail === 'far' ? farBlocks : aheadBy)
      while (made.chain.tip().height < to) inventBlock(env, made.chain, tail)
      return above(from, env.chain, made.chain, earlier)
    },
  }
}

/**
 * The true blocks below the height `from`, and the invented ones from that height on. The blocks
 * that the node invented last time (`earlier`) are still found by their hashes.
 */
function above(from: number, chain: ChainView, invented: ChainView, earlier: ChainView): ChainView {
  const isInvented = (height: number) => height >= from
  return {
    tip: invented.tip,
    at: (height) => (isInvented(height) ? invented : chain).at(height),
    byHash: (hash) => invented.byHash(hash) ?? chain.byHash(hash) ?? earlier.byHash(hash),
    blockOf: (txid) => {
      const block = invented.blockOf(txid) ?? chain.blockOf(txid)
      return block === undefined ? undefined : isInvented(block.height) ? invented.blockOf(txid) : block
    },
  }
}

function inventBlock(env: Environment, invented: Chain, tail: TailLie | null): void {
  const height = invented.tip().height + 1
  const known = [...env.shown.keys()]
  const count = tail === 'many' ? env.scenario.troubles.transfers : tail === 'far' ? 1 : 0
  const transactions = known.length === 0 ? [] : inventTransfers(env, known, count)
  if (count > 0) env.count(`trouble: ${tail === 'far' ? 'a block far ahead' : 'a block of the tail'} invented`)
  // Blocks of a `far` tail are 20 s old, so that a reader does not take them for the newest ones,
  // and asks for further blocks.
  const seconds = env.chain.at(height)?.seconds ?? Math.floor(env.scheduler.now() / 1000) - (tail === 'far' ? 20 : 0)
  invented.mine(transactions, seconds)
}

/**
 * Transfers from a stranger: at most five of TRX, each in its own transaction, and all further ones
 * of a token, in one transaction.
 */
function inventTransfers({ troubles: random }: Environment, known: readonly Address[], count: number): Mined[] {
  const from = addressOf(9)
  const native = Math.min(count, 5)
  const specs: TransactionSpec[] = Array.from({ length: native }, () => {
    return { kind: 'trx', from, to: random.pick(known), amount: BigInt(random.int(1, 2 ** 40)) }
  })
  const logs = Array.from({ length: count - native }, () => {
    return transferLog(usdtAddress, from, random.pick(known), BigInt(random.int(20_000, 2 ** 40)))
  })
  if (logs.length > 0) specs.push({ kind: 'call', contract: addressOf(0xca11), from, logs })
  return specs.map((spec) => ({ spec, rawData: encodeRawTransaction(spec, random.int(1, 2 ** 45)) }))
}
