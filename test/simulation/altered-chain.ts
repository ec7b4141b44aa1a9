import type { BuiltBlock, BuiltTransaction, Wire } from '../support/block-json.ts'
import type { BuiltChain } from '../support/chain-builder.ts'
import { quantity } from '../support/hex.ts'

/**
 * A chain whose blocks are changed by `alter` and keep their hashes. `findInvented` finds transactions that the real
 * chain does not have.
 */
export function alterChain(
  chain: BuiltChain,
  alter: (block: BuiltBlock) => BuiltBlock,
  findInvented: (txid: string) => BuiltTransaction | undefined = () => undefined,
): BuiltChain {
  const altered = (block: BuiltBlock | undefined) => (block === undefined || block.height === 0 ? block : alter(block))
  return {
    ...chain,
    at: (height) => altered(chain.at(height)),
    byHash: (hash) => altered(chain.byHash(hash)),
    transaction(txid) {
      const real = chain.transaction(txid)
      if (real === undefined) return findInvented(txid)
      const block = altered(chain.at(Number(real.wire.blockNumber)))
      return block?.transactions.find((one) => one.txid === txid)
    },
  }
}

/**
 * The chain of a correct node that does not store the logs of failed transactions: the numbers of all later logs differ
 * from those of another node (PROTOCOL.md, Failed transactions with logs).
 */
export function withoutFailedLogs(chain: BuiltChain): BuiltChain {
  return alterChain(chain, (block) => {
    const existing = strippedBlocks.get(block)
    if (existing !== undefined) return existing
    const parts = takeApart(block)
    const isSame = parts.every(({ failed, logs }) => !failed || logs.length === 0)
    const stripped = isSame
      ? block
      : assembleBlock(
          block,
          parts.map((part) => (part.failed ? { ...part, logs: [] } : part)),
        )
    strippedBlocks.set(block, stripped)
    return stripped
  })
}
const strippedBlocks = new WeakMap<BuiltBlock, BuiltBlock>()

/** The chain of a node that numbers the logs through each transaction (PROTOCOL.md, Logs). */
export function withNumbersByTransaction(chain: BuiltChain): BuiltChain {
  return alterChain(chain, (block) => {
    const existing = renumberedBlocks.get(block)
    if (existing !== undefined) return existing
    const renumber = (transaction: BuiltTransaction): BuiltTransaction => {
      const own = transaction.receipt.logs as readonly Wire[] // the builder's
      const logs = own.map((log, k) => ({ ...log, logIndex: quantity(k) }))
      return { ...transaction, receipt: { ...transaction.receipt, logs } }
    }
    const transactions = block.transactions.map(renumber)
    const logs = transactions.flatMap(({ receipt }) => receipt.logs as readonly Wire[]) // see above
    const renumbered = block.logs.length === 0 ? block : { ...block, transactions, logs }
    renumberedBlocks.set(block, renumbered)
    return renumbered
  })
}
const renumberedBlocks = new WeakMap<BuiltBlock, BuiltBlock>()

/** A transaction in a form in which its logs can be changed: their places and numbers follow later. */
export interface TransactionPart {
  readonly transaction: BuiltTransaction
  wire: Wire
  failed: boolean
  logs: Wire[]
}

/** The transactions of a block as parts. */
export function takeApart(block: BuiltBlock): TransactionPart[] {
  return block.transactions.map(toPart)
}

/** A transaction as a part. */
export function toPart(transaction: BuiltTransaction): TransactionPart {
  const { wire, receipt } = transaction
  return { transaction, wire, failed: receipt.status === '0x0', logs: [...(receipt.logs as Wire[])] } // the builder's
}

/** The block with other transactions. All places and log numbers are consistent. */
export function assembleBlock(block: BuiltBlock, parts: readonly TransactionPart[]): BuiltBlock {
  const logs: Wire[] = []
  const transactions = parts.map(({ transaction, wire, failed, logs: own }, i): BuiltTransaction => {
    const location = {
      blockHash: `0x${block.hash}`,
      blockNumber: quantity(block.height),
      transactionIndex: quantity(i),
    }
    const transactionHash = `0x${transaction.txid}`
    const numbered = own.map((log, k) => ({
      ...log,
      ...location,
      transactionHash,
      logIndex: quantity(logs.length + k),
    }))
    logs.push(...numbered)
    const receipt = { ...transaction.receipt, ...location, status: failed ? '0x0' : '0x1', logs: numbered }
    return { ...transaction, wire: { ...wire, ...location }, receipt }
  })
  return {
    ...block,
    full: { ...block.full, transactions: transactions.map(({ wire }) => wire) },
    brief: { ...block.brief, transactions: transactions.map(({ txid }) => `0x${txid}`) },
    logs,
    transactions,
  }
}
