import type { BuiltBlock, BuiltChain, BuiltTransaction, Wire } from '../support/chain-builder.ts'

/**
 * A chain as somebody tells it: each block as `about` has it, under its true hash. `invented` finds transactions that
 * the chain does not hold.
 */
export function retell(
  chain: BuiltChain,
  about: (block: BuiltBlock) => BuiltBlock,
  invented: (txid: string) => BuiltTransaction | undefined = () => undefined,
): BuiltChain {
  const tell = (block: BuiltBlock | undefined) => (block === undefined || block.height === 0 ? block : about(block))
  return {
    ...chain,
    at: (height) => tell(chain.at(height)),
    byHash: (hash) => tell(chain.byHash(hash)),
    transaction(txid) {
      const real = chain.transaction(txid)
      if (real === undefined) return invented(txid)
      const block = tell(chain.at(Number(real.wire.blockNumber)))
      return block?.transactions.find((one) => one.txid === txid)
    },
  }
}

/**
 * The chain as a truthful node tells it that kept no logs of failed transactions: those are no consensus data (fact
 * sheet, 7.5), so the numbers of all later logs differ from another node's.
 */
export function withoutFailedLogs(chain: BuiltChain): BuiltChain {
  return retell(chain, (block) => {
    const known = stripped.get(block)
    if (known !== undefined) return known
    const parts = takeApart(block)
    const isSame = parts.every(({ failed, logs }) => !failed || logs.length === 0)
    const told = isSame
      ? block
      : assemble(
          block,
          parts.map((part) => (part.failed ? { ...part, logs: [] } : part)),
        )
    stripped.set(block, told)
    return told
  })
}
const stripped = new WeakMap<BuiltBlock, BuiltBlock>()

/** A transaction taken apart, so that its logs can be changed and numbered anew. */
export interface Part {
  readonly transaction: BuiltTransaction
  wire: Wire
  failed: boolean
  logs: Wire[]
}

/** The transactions of a block, taken apart. */
export function takeApart(block: BuiltBlock): Part[] {
  return block.transactions.map(toPart)
}

/** A transaction, taken apart. */
export function toPart(transaction: BuiltTransaction): Part {
  const { wire, receipt } = transaction
  return { transaction, wire, failed: receipt.status === '0x0', logs: [...(receipt.logs as Wire[])] } // the builder's
}

const hex = (value: number) => `0x${value.toString(16)}`

/** The block with these transactions, all places and numbers fitting. */
export function assemble(block: BuiltBlock, parts: readonly Part[]): BuiltBlock {
  const logs: Wire[] = []
  const transactions = parts.map(({ transaction, wire, failed, logs: own }, i): BuiltTransaction => {
    const where = { blockHash: `0x${block.hash}`, blockNumber: hex(block.height), transactionIndex: hex(i) }
    const transactionHash = `0x${transaction.txid}`
    const numbered = own.map((log, k) => ({ ...log, ...where, transactionHash, logIndex: hex(logs.length + k) }))
    logs.push(...numbered)
    const receipt = { ...transaction.receipt, ...where, status: failed ? '0x0' : '0x1', logs: numbered }
    return { ...transaction, wire: { ...wire, ...where }, receipt }
  })
  return {
    ...block,
    full: { ...block.full, transactions: transactions.map(({ wire }) => wire) },
    brief: { ...block.brief, transactions: transactions.map(({ txid }) => `0x${txid}`) },
    logs,
    transactions,
  }
}
