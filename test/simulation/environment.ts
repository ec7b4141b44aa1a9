import { deriveAddress, parseExtendedPublicKey } from '../../src/addresses/derive.ts'
import type { Address } from '../../src/chain/address.ts'
import type { Txid } from '../../src/chain/block.ts'
import type { Uid } from '../../src/common/ids.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { testXpub } from '../support/variables.ts'
import { type BalanceChange, type ChainBalances, createChainBalances } from './chain-balances.ts'
import type { LostDatabase } from './lost-database.ts'
import { drawPayment, type Payment, type Transfer } from './payments.ts'
import type { Random } from './random.ts'
import type { Scenario } from './scenario.ts'
import type { Scheduler } from './scheduler.ts'
import type { SentPost } from './sent-post.ts'
import type { StoredScan } from './stored.ts'

/** A transfer of the chain that stays. */
export interface ChainTransfer extends Transfer {
  readonly txid: Txid
  readonly height: number
  readonly hash: string
  /** Its recipient was shown to its owner before, and the scan reads this block: it must be credited without a question. */
  readonly promised: boolean
}

/**
 * `faults`: everything can fail. `recovery`: nothing fails any more, but the service still avoids nodes, and Byzantine
 * nodes may go on. `storm`: a quorum of nodes works, strangers and callers do what they can. `healthy`: every node can be
 * used, so every answer must be complete.
 */
export type Phase = 'faults' | 'recovery' | 'storm' | 'healthy'

/** A node's reply about a balance, at a time in milliseconds since 1970. */
export interface BalanceReply {
  readonly at: number
  readonly address: Address
  readonly contract: Address | null
  readonly balance: bigint
}

/** When a tick read a balance, in milliseconds since 1970, and the highest position of the scan that it can have read before. */
export interface BalanceReading {
  readonly at: number
  readonly position: number
}

/** Everything outside the service in one run, and what is true there. */
export interface Environment {
  readonly scenario: Scenario
  /** The database that was lost before the run, or null. */
  readonly lost: LostDatabase | null
  readonly random: Random
  readonly scheduler: Scheduler
  /** The chain that stays, and what addresses have on it. */
  readonly chain: BuiltChain
  readonly balances: ChainBalances
  /** By credit key (`txid:position`). */
  readonly transfers: ReadonlyMap<string, ChainTransfer>
  /** Deposit addresses in the database, and their owners. */
  readonly owners: Map<Address, Uid>
  /** The finalized height that the service had at the issue of each. Nothing at or below it is its owner's. */
  readonly issuedHeights: Map<Address, number>
  /** The stored scan after each write, oldest first. */
  readonly scanHistory: { readonly at: number; readonly scan: StoredScan | undefined }[]
  /** Deposit addresses that their owners were shown. */
  readonly shown: Map<Address, Uid>
  /** Addresses and contracts (`contract address`) whose balance can differ from what the service can know of it. */
  readonly unknowable: Set<string>
  /** By contract and address: how many balances ticks read that were not those of the chain of the last minute. */
  readonly falseReadings: Map<string, number>
  /** Balances that nodes have replied, oldest first. */
  readonly balanceReplies: BalanceReply[]
  /** By contract and address: when a tick last read the balance. */
  readonly newestReadings: Map<string, BalanceReading>
  /** Addresses that have sent transactions. */
  readonly senders: Set<Address>
  /** By height: addresses and contracts whose balance that block changed. */
  readonly changedAt: Map<number, readonly string[]>
  /** Blocks that the service has put aside because it could not read them. */
  openGaps: ReadonlySet<number>
  /** Currencies that are retired in the deployed configuration. */
  retired: ReadonlySet<number>
  /** When a currency was last retired, in milliseconds since 1970. */
  retiredAt: number
  /** When a request to a node was last refused because all callers together had used up their requests. */
  callersRefusedAt: number
  /** How often a copy of the database was put back: what ran then has ended. */
  restores: number
  /** How often each fault and each kind of call occurred. */
  readonly counts: Map<string, number>
  /** Every post that backends have sent. */
  readonly posts: SentPost[]
  /** Called after each write to the database. */
  readonly observers: Set<() => void>
  /** The first broken promise, or null. */
  violation: string | null
  phase: Phase
  /** Whether final blocks are being rewritten by all nodes: the only time when the scan may halt. */
  isForked: boolean
  /** The newest height that is final for a node that does not lag. */
  finalized(): number
  /** The height from which the scan reads, where the configuration sets it. */
  startHeight(): number | null
  /** Makes the next block with these payments and those that the phase has, and returns all of them. */
  produce(further?: readonly Payment[]): readonly Payment[]
  count(event: string): void
  /** Reports a broken promise. The first one ends the run. */
  violate(promise: string): void
  trace(line: () => string): void
}

/** The deposit address at an index, derived once for all runs. */
export function depositAddress(index: number): Address {
  const existing = derived[index]
  if (existing !== undefined) return existing
  const address = deriveAddress(depositKey, index)
  derived[index] = address
  return address
}
const derived: Address[] = []
const depositKey = parseTestKey()

function parseTestKey() {
  const key = parseExtendedPublicKey(testXpub)
  if (!key.ok) throw new Error(key.error)
  return key.value
}

/** The time at which every run begins, in milliseconds since 1970. */
export const startMs = 1_700_000_000_000

/** An environment with the scenario's first blocks. */
export function createEnvironment(
  scenario: Scenario,
  lost: LostDatabase | null,
  random: Random,
  scheduler: Scheduler,
  write: ((line: string) => void) | null,
): Environment {
  const chain = createChain()
  const transfers = new Map<string, ChainTransfer>()
  const env: Environment = {
    scenario,
    lost,
    random,
    scheduler,
    chain,
    balances: createChainBalances(),
    transfers,
    owners: new Map(),
    issuedHeights: new Map(),
    scanHistory: [{ at: 0, scan: undefined }],
    shown: new Map(),
    unknowable: new Set(),
    falseReadings: new Map(),
    balanceReplies: [],
    newestReadings: new Map(),
    senders: new Set(),
    changedAt: new Map(),
    openGaps: new Set(),
    retired: new Set(),
    retiredAt: 0,
    callersRefusedAt: 0,
    restores: 0,
    counts: new Map(),
    posts: [],
    observers: new Set(),
    violation: null,
    phase: 'faults',
    isForked: false,
    finalized: () => chain.tip().height - scenario.finalityLag,
    startHeight: () => (scenario.startAfter === null ? null : chain.firstHeight + scenario.startAfter),
    produce: (further = []) => produceBlock(env, transfers, further),
    count: (event) => env.counts.set(event, (env.counts.get(event) ?? 0) + 1),
    violate(promise) {
      env.trace(() => `VIOLATION ${promise}`)
      env.violation ??= promise
    },
    trace: (line) => write?.(`${((scheduler.now() - startMs) / 1000).toFixed(3).padStart(9)} ${line()}`),
  }
  env.balances.apply(0, lost?.held ?? [])
  chain.addEmpty(scenario.finalityLag + scenario.blocksBefore)
  return env
}

function produceBlock(
  env: Environment,
  transfers: Map<string, ChainTransfer>,
  further: readonly Payment[],
): readonly Payment[] {
  const { chain, balances } = env
  const drawn = env.phase === 'faults' || env.phase === 'storm' ? drawPayments(env) : []
  for (const { changes } of further) balances.apply(chain.tip().height + 1, changes)
  const payments = [...drawn, ...further]
  const { height, hash, transactions } = chain.add(payments.map(({ spec }) => spec))
  const isScanned = height >= (env.startHeight() ?? 0)
  for (const [i, { transfers: own }] of payments.entries()) {
    const txid = transactions[i]?.txid
    if (txid === undefined) continue
    for (const transfer of own) {
      const promised = isScanned && env.shown.has(transfer.to)
      transfers.set(`${txid}:${transfer.position}`, { ...transfer, txid, height, hash, promised })
    }
  }
  const isKnowable = ({ address, hidden }: BalanceChange) => isScanned && env.shown.has(address) && hidden !== true
  const changed = payments.flatMap(({ changes }) => changes)
  env.changedAt.set(
    height,
    changed.map((change) => `${change.contract} ${change.address}`),
  )
  for (const change of changed) {
    if (!isKnowable(change)) env.unknowable.add(`${change.contract} ${change.address}`)
    if (change.amount < 0n && change.hidden !== true) env.senders.add(change.address)
  }
  return payments
}

/** The payments of the next block. Each one sees the balances that those before it leave. */
function drawPayments({ random, scenario, lost, chain, balances, shown, owners }: Environment): readonly Payment[] {
  const crowdAt = chain.firstHeight + scenario.finalityLag + scenario.blocksBefore + 15
  const count = chain.tip().height === crowdAt ? scenario.crowd : 0
  const next = (lost?.firstIndex ?? 0) + owners.size
  const height = chain.tip().height + 1
  const unshown = [...owners.keys()].filter((address) => !shown.has(address))
  const parties = {
    shown: [...shown.keys()],
    unshown: [...unshown, depositAddress(next), depositAddress(next + 1), ...(lost?.issued ?? [])],
    balanceOf: (address: Address, contract: Address | null) => balances.at(height, address, contract),
  }
  return Array.from({ length: count || random.int(0, scenario.transactionsMax) }, () => {
    const payment = drawPayment(random, parties)
    balances.apply(height, payment.changes)
    return payment
  })
}

/** The stored states of the scan since a moment, and the one before it. */
export function statesSince({ scanHistory }: Environment, from: number): readonly (StoredScan | undefined)[] {
  const before = scanHistory.findLastIndex(({ at }) => at <= from)
  return scanHistory.slice(Math.max(0, before)).map(({ scan }) => scan)
}
