import type { Address } from '../../src/chain/address.ts'
import type { BuiltBlock, BuiltTransaction, Wire } from '../support/block-json.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { addressOf, type LogSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import { alterChain, assembleBlock, type TransactionPart, takeApart, toPart } from './altered-chain.ts'
import { createRandom, type Random } from './random.ts'

/** The ways in which the contents of a block can be false while its hash is true. */
const falseContents = [
  'hidden transaction',
  'invented transaction',
  'altered transaction',
  'hidden log',
  'invented log',
  'altered log',
  'flipped status',
] as const

/**
 * The chain as Byzantine nodes show it: the hashes are true, and the contents of most blocks are false. Nodes that share
 * this chain collude: they show the same false contents. `count` is called with the kind of each false block.
 */
export function createFalseChain(
  chain: BuiltChain,
  seed: number,
  watchedAddresses: () => readonly Address[],
  count: (kind: string) => void,
): BuiltChain {
  const falsified = new Map<string, ReturnType<typeof falsify>>()
  const invented = new Map<string, BuiltTransaction>()
  const alter = (block: BuiltBlock): BuiltBlock => {
    let existing = falsified.get(block.hash)
    if (existing === undefined) {
      existing = falsify(createRandom(seed * 1_000 + (block.height % 1_000)), block, watchedAddresses())
      falsified.set(block.hash, existing)
      for (const transaction of existing.block.transactions) {
        if (chain.transaction(transaction.txid) === undefined) invented.set(transaction.txid, transaction)
      }
    }
    if (existing.kind !== null) count(existing.kind)
    return existing.block
  }
  return alterChain(chain, alter, (txid) => invented.get(txid))
}

function falsify(random: Random, block: BuiltBlock, watched: readonly Address[]) {
  if (random.chance(0.2)) return { block, kind: null }
  const parts = takeApart(block)
  const paid = watched.filter((address) => parts.some(({ wire, logs }) => concerns(address, [wire, ...logs])))
  const targets = paid.length > 0 && random.chance(0.7) ? paid : watched
  const target = targets.length > 0 ? random.pick(targets) : addressOf(1)
  const order = [...falseContents].sort(() => random.next() - 0.5)
  const kind = order.find((name) => apply(name, random, block, parts, target)) ?? null
  return { block: kind === null ? block : assembleBlock(block, parts), kind }
}

/** Makes the parts false in one way. False where the block has nothing to which that way applies. */
function apply(
  kind: (typeof falseContents)[number],
  random: Random,
  block: BuiltBlock,
  parts: TransactionPart[],
  target: Address,
): boolean {
  const concerned = parts.filter(({ wire, logs }) => concerns(target, [wire, ...logs]))
  const candidates = concerned.length > 0 ? concerned : parts
  const part = candidates.length > 0 ? random.pick(candidates) : undefined
  const withLogs = candidates.filter(({ logs }) => logs.length > 0)
  const logged = withLogs.length > 0 ? random.pick(withLogs) : undefined
  switch (kind) {
    case 'hidden transaction':
      if (part !== undefined) parts.splice(parts.indexOf(part), 1)
      return part !== undefined
    case 'invented transaction':
      parts.push(inventTransaction(random, block, target))
      return true
    case 'altered transaction':
      return part !== undefined && alterTransaction(random, part, target)
    case 'hidden log':
      logged?.logs.splice(random.int(0, logged.logs.length - 1), 1)
      return logged !== undefined
    case 'invented log':
      part?.logs.push(toWire(transferLog(usdtAddress, addressOf(8), target, 77_000_000n)))
      return part !== undefined
    case 'altered log':
      if (logged !== undefined) alterLog(random, logged, target)
      return logged !== undefined
    case 'flipped status':
      if (part !== undefined) part.failed = !part.failed
      return part !== undefined
  }
}

/** Only where the transaction looks like a TRX transfer. */
function alterTransaction(random: Random, part: TransactionPart, target: Address): boolean {
  if (part.wire.input !== '0x') return false
  const change = random.pick([
    { to: `0x${target}` },
    { to: `0x${addressOf(9)}` },
    { value: '0x5f5e100' },
    { gas: '0x1' },
  ])
  part.wire = { ...part.wire, ...change }
  return true
}

function alterLog(random: Random, { logs }: TransactionPart, target: Address): void {
  const i = random.int(0, logs.length - 1)
  const changesAmount = random.chance(0.5)
  const { contract, topics, data } = transferLog(usdtAddress, addressOf(8), target, 88_000_000n)
  logs[i] = changesAmount ? { ...logs[i], data } : { ...logs[i], address: `0x${contract}`, topics }
}

/** Whether any of these names the address: false contents matter most where they are about a payment to a caller. */
const concerns = (address: Address, wires: readonly Wire[]) =>
  wires.some(
    ({ to, topics }) => to === `0x${address}` || (Array.isArray(topics) && String(topics[2]).endsWith(address)),
  )

/** A TRX or token transfer that no chain has, with bytes that hash to its txid. */
function inventTransaction(random: Random, block: BuiltBlock, to: Address): TransactionPart {
  const other = createChain({ firstHeight: block.height, salt: 'invented' })
  const from = addressOf(8)
  const { transactions } = other.add([
    random.chance(0.5)
      ? { kind: 'trx', from, to, amount: 66_000_000n }
      : { kind: 'token', contract: usdtAddress, from, to, amount: 66_000_000n },
  ])
  const [transaction] = transactions
  if (transaction === undefined) throw new Error('a block of one transaction has one')
  return toPart(transaction)
}

const toWire = ({ contract, topics, data }: LogSpec): Wire => ({
  address: `0x${contract}`,
  topics,
  data,
  removed: false,
})
