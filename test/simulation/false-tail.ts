import type { Address } from '../../src/worker/chain/address.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { addressOf, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import type { Chain, ChainView, Mined } from './chain.ts'
import type { Environment } from './environment.ts'
import type { TailLie } from './node-troubles.ts'

/** The blocks that one node invents. */
export interface FalseTail {
  /** The chain as the node shows it in this moment, or null if it invents nothing. With each final block it invents others. */
  show(lie: { readonly tail: TailLie | null; readonly aheadBy: number }): ChainView | null
}

/** Blocks of a far tail above the newest one. */
const farBlocks = 300
/** Blocks below the final head that a node with a head too high shows otherwise. By more than a few it shows them as they are. */
const rewrittenBlocks = 3
const fewBlocks = 10

/** The invented blocks of a node. */
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

/** The true blocks below `from`, and the invented ones. Of those before them, `earlier`, it still knows the hashes. */
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
  // Blocks of this age do not look like the newest ones, so that a reader asks for more.
  const seconds = env.chain.at(height)?.seconds ?? Math.floor(env.scheduler.now() / 1000) - (tail === 'far' ? 20 : 0)
  invented.mine(transactions, seconds)
}

/** Transfers from a stranger: some of TRX, most of them in one transaction. */
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
