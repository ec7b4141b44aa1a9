import type { Address } from '../../src/worker/chain/address.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import { addressOf, issuerLog, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import { alterChain, type Block, type Chain, type ChainView, type Transaction, toTransaction } from './chain.ts'
import { createRandom, type Random } from './random.ts'

/**
 * The chain as Byzantine nodes show it: the hashes are true, and the contents of most blocks are
 * false. Nodes that share this chain collude: they show the same false contents. `count` is called
 * with the kind of each false block. `only`: the kinds of false blocks; null: any.
 */
export function createFalseChain(
  chain: Chain,
  seed: number,
  watchedAddresses: () => readonly Address[],
  count: (kind: string) => void,
  only: readonly FalseBlock[] | null,
): ChainView {
  const falsified = new Map<string, ReturnType<typeof falsify>>()
  const invented = new Map<string, Block>()
  const alter = (block: Block): Block => {
    let existing = falsified.get(block.hash)
    if (existing === undefined) {
      existing = falsify(createRandom(seed * 1_000 + (block.height % 1_000)), block, watchedAddresses(), only)
      falsified.set(block.hash, existing)
      for (const { txid } of existing.block.transactions) {
        if (chain.blockOf(txid) === undefined) invented.set(txid, existing.block)
      }
    }
    if (existing.kind !== null) count(existing.kind)
    return existing.block
  }
  return alterChain(chain, alter, (txid) => invented.get(txid))
}

/**
 * The ways in which the contents of a block can be false while its hash is true. Null where a way
 * does not apply.
 */
const ways = {
  'hidden transaction': (_, list, at) => (list.length > 0 ? list.toSpliced(at, 1) : null),
  'invented transaction': (random, list, _, target) => [...list, invent(random, target, list.length)],
  'altered transaction': (random, list, at, target) =>
    change(list, at, (one) => ({ ...one, rawData: invent(random, target, 0).rawData })),
  'hidden log': (_, list, at) =>
    change(list, at, (one) => (one.logs.length > 0 ? { ...one, logs: one.logs.slice(1) } : null)),
  'invented log': (_, list, at, target) =>
    change(list, at, (one) => ({ ...one, logs: [...one.logs, inventLog(one, target)] })),
  'altered log': (random, list, at, target) => change(list, at, (one) => alterLog(random, one, target)),
  'flipped result': (_, list, at) => change(list, at, (one) => ({ ...one, failed: !one.failed })),
} as const satisfies Readonly<
  Record<string, (random: Random, list: readonly Transaction[], at: number, target: Address) => Transaction[] | null>
>
export type FalseBlock = keyof typeof ways

/** A false log: a transfer to an address or, sometimes, that the address was frozen. */
const inventLog = ({ txid }: Transaction, target: Address) =>
  /^[0-3]/.test(txid)
    ? issuerLog(usdtAddress, 'frozen', target)
    : transferLog(usdtAddress, addressOf(8), target, 77_000_000n)

/** Adds to half of the transactions an invented internal transaction that sends TRX. */
const inventInternal = (one: Transaction, target: Address): Transaction => {
  if (!/^[0-7]/.test(one.txid)) return one
  const to = one.internals[0]?.to ?? target
  return { ...one, internals: [...one.internals, { from: addressOf(8), to, sun: 55_000_000 }] }
}

function falsify(
  random: Random,
  block: Block,
  watched: readonly Address[],
  only: readonly FalseBlock[] | null,
): { block: Block; kind: string | null } {
  if (random.chance(0.2)) return { block, kind: null }
  const list = block.transactions
  const target = watched.length > 0 ? random.pick(watched) : addressOf(1)
  // Most often falsifies a transaction that concerns a watched address: there a false payment could
  // be credited.
  const concerned = list.findIndex((one) => watched.some((address) => concerns(address, one)))
  const at = concerned >= 0 && random.chance(0.8) ? concerned : random.int(0, Math.max(0, list.length - 1))
  const kinds = only ?? (Object.keys(ways) as FalseBlock[]) // safe: the keys of `ways`
  for (const kind of kinds.toSorted(() => random.next() - 0.5)) {
    const transactions = ways[kind](random, list, at, target)
    if (transactions === null) continue
    return { block: { ...block, transactions: transactions.map((one) => inventInternal(one, target)) }, kind }
  }
  return { block, kind: null }
}

const concerns = (address: Address, { rawData, logs }: Transaction) =>
  logs.some(({ topics }) => topics[2]?.endsWith(address)) || Buffer.from(rawData).toString('hex').includes(address)

function change(
  list: readonly Transaction[],
  at: number,
  alter: (one: Transaction) => Transaction | null,
): Transaction[] | null {
  const one = list[at]
  const altered = one === undefined ? null : alter(one)
  return altered === null ? null : list.with(at, altered)
}

function alterLog(random: Random, one: Transaction, target: Address): Transaction | null {
  const at = random.int(0, one.logs.length - 1)
  const log = one.logs[at]
  if (log === undefined) return null
  const other = transferLog(usdtAddress, addressOf(8), target, 88_000_000n)
  return {
    ...one,
    logs: one.logs.with(at, random.chance(0.5) ? { ...log, data: other.data } : { ...other, data: log.data }),
  }
}

/** A TRX or token transfer that no chain has, with bytes that hash to its txid. */
function invent(random: Random, to: Address, number: number): Transaction {
  const from = addressOf(8)
  const amount = 66_000_000n
  const spec: TransactionSpec = random.chance(0.5)
    ? { kind: 'trx', from, to, amount }
    : { kind: 'token', contract: usdtAddress, from, to, amount }
  return toTransaction({ spec, rawData: encodeRawTransaction(spec, random.int(1, 2 ** 40) + number) })
}
