import type { Address } from '../../src/addresses/address.ts'
import {
  addressOf,
  type BuiltBlock,
  type BuiltChain,
  type BuiltTransaction,
  createChain,
  type LogSpec,
  transferLog,
  usdt,
  type Wire,
} from '../support/chain-builder.ts'
import { assemble, type Part, retell, takeApart, toPart } from './altered-chain.ts'
import { createRandom, type Random } from './random.ts'

/** The lies about one block that fit together with its true hash. */
const blockLies = [
  'hidden transaction',
  'invented transaction',
  'altered transaction',
  'hidden log',
  'invented log',
  'altered log',
  'flipped status',
] as const

/**
 * The chain as liars tell it: the hashes are right, and about most blocks something is not. Liars that share a view
 * collude: they tell the same lies. `tell` is called with the name of each lie that is told.
 */
export function createLiesAbout(
  chain: BuiltChain,
  seed: number,
  watched: () => readonly Address[],
  tell: (lie: string) => void,
): BuiltChain {
  const told = new Map<string, ReturnType<typeof distort>>()
  const invented = new Map<string, BuiltTransaction>()
  const about = (block: BuiltBlock): BuiltBlock => {
    let known = told.get(block.hash)
    if (known === undefined) {
      known = distort(createRandom(seed * 1_000 + (block.height % 1_000)), block, watched())
      told.set(block.hash, known)
      for (const transaction of known.block.transactions) {
        if (chain.transaction(transaction.txid) === undefined) invented.set(transaction.txid, transaction)
      }
    }
    if (known.lie !== null) tell(known.lie)
    return known.block
  }
  return retell(chain, about, (txid) => invented.get(txid))
}

function distort(random: Random, block: BuiltBlock, watched: readonly Address[]) {
  if (random.chance(0.2)) return { block, lie: null }
  const parts = takeApart(block)
  const paid = watched.filter((address) => parts.some(({ wire, logs }) => concerns(address, [wire, ...logs])))
  const targets = paid.length > 0 && random.chance(0.7) ? paid : watched
  const us = targets.length > 0 ? random.pick(targets) : addressOf(1)
  const order = [...blockLies].sort(() => random.next() - 0.5)
  const lie = order.find((name) => apply(name, random, block, parts, us)) ?? null
  return { block: lie === null ? block : assemble(block, parts), lie }
}

/** Tells one lie, or says that the block offers nothing to tell it about. */
function apply(lie: (typeof blockLies)[number], random: Random, block: BuiltBlock, parts: Part[], us: Address) {
  const ours = parts.filter(({ wire, logs }) => concerns(us, [wire, ...logs]))
  const about = ours.length > 0 ? ours : parts
  const part = about.length > 0 ? random.pick(about) : undefined
  const withLogs = about.filter(({ logs }) => logs.length > 0)
  const logged = withLogs.length > 0 ? random.pick(withLogs) : undefined
  switch (lie) {
    case 'hidden transaction':
      if (part !== undefined) parts.splice(parts.indexOf(part), 1)
      return part !== undefined
    case 'invented transaction':
      parts.push(invent(random, block, us))
      return true
    case 'altered transaction': {
      if (part === undefined || part.wire.input !== '0x') return false
      const change = random.pick([
        { to: `0x${us}` },
        { to: `0x${addressOf(9)}` },
        { value: '0x5f5e100' },
        { gas: '0x1' },
      ])
      part.wire = { ...part.wire, ...change }
      return true
    }
    case 'hidden log':
      logged?.logs.splice(random.int(0, logged.logs.length - 1), 1)
      return logged !== undefined
    case 'invented log':
      part?.logs.push(toWire(transferLog(usdt, addressOf(8), us, 77_000_000n)))
      return part !== undefined
    case 'altered log': {
      if (logged === undefined) return false
      const at = random.int(0, logged.logs.length - 1)
      const amount = random.chance(0.5)
      const { contract, topics, data } = transferLog(usdt, addressOf(8), us, 88_000_000n)
      const before = logged.logs[at]
      logged.logs[at] = amount ? { ...before, data } : { ...before, address: `0x${contract}`, topics }
      return true
    }
    case 'flipped status': {
      if (part === undefined) return false
      part.failed = !part.failed
      return true
    }
  }
}

/** Whether any of these names the address: lies about what pays us are the ones that matter. */
const concerns = (us: Address, wires: readonly Wire[]) =>
  wires.some(({ to, topics }) => to === `0x${us}` || (Array.isArray(topics) && String(topics[2]).endsWith(us)))

/** A TRX or token transfer that never was, with bytes that hash to its txid. */
function invent(random: Random, block: BuiltBlock, us: Address): Part {
  const scratch = createChain({ firstHeight: block.height, salt: 'invented' })
  const from = addressOf(8)
  const { transactions } = scratch.add([
    random.chance(0.5)
      ? { kind: 'trx', from, to: us, amount: 66_000_000n }
      : { kind: 'token', contract: usdt, from, to: us, amount: 66_000_000n },
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
