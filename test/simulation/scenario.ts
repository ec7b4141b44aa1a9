import { type Address, formatBase58 } from '../../src/chain/address.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import type { Random } from './random.ts'

/** A token with more decimals than the ledger keeps, and with a minimum deposit. */
export const fineToken = addressOf(0xf1)
/** The operator's own wallet: what it sends is never a deposit. */
export const operatorWallet = addressOf(0x0b)

/** A configured currency, as the oracle uses it. */
export interface SimulatedCurrency {
  readonly cuy: number
  readonly symbol: string
  readonly contract: Address | null
  readonly decimals: number
  readonly scale: number
  /** In chain units. */
  readonly minDeposit: bigint
}

/** TRX; a token of whose 6 decimals the ledger keeps 2; one of whose 18 it keeps 6, from 0.5 on. Ordered by `cuy`. */
export const currencies: readonly SimulatedCurrency[] = [
  { cuy: 1, symbol: 'C1', contract: null, decimals: 6, scale: 6, minDeposit: 0n },
  { cuy: 2, symbol: 'C2', contract: usdtAddress, decimals: 6, scale: 2, minDeposit: 0n },
  { cuy: 3, symbol: 'C3', contract: fineToken, decimals: 18, scale: 6, minDeposit: 5n * 10n ** 17n },
]

/** `CURRENCIES`: the same currencies as a deployment configures them. */
export const currencyVariable = currencies.map(({ cuy, symbol, contract, decimals, scale, minDeposit }) => ({
  cuy,
  symbol,
  decimals,
  scale,
  ...(contract === null ? {} : { contract: formatBase58(contract) }),
  ...(minDeposit === 0n ? {} : { minDeposit: '0.5' }),
}))

/** How often faults occur, as probabilities. All of them are 0 from the recovery on. */
export interface FaultRates {
  /** A node's reply is malformed, for each request. */
  readonly malformed: number
  /** A node goes away, lags or forks, for each block. */
  readonly change: number
  /** A Byzantine node replies with its false view, for each request. */
  readonly byzantine: number
  /** A round trip to the database fails, or a call of an object is lost. */
  readonly database: number
  /** A trip to the database takes up to a minute, in each direction. */
  readonly slow: number
  /** An invocation is killed, or an instance of an object. */
  readonly kill: number
  /** The operator has something read again, corrected, restored or configured otherwise, for each block. */
  readonly operator: number
}

/** The properties of one node. */
export interface NodePlan {
  readonly byzantine: boolean
  /** Whether it stores the logs of failed transactions. */
  readonly keepsFailedLogs: boolean
  /** Whether its logs are numbered through each transaction in place of the block. */
  readonly numbersByTransaction: boolean
  /** Whether its replies to a batch come in another order than the calls. */
  readonly reordersBatches: boolean
}

/** What strangers and callers do in the phase `storm`, while a quorum of nodes answers. */
export interface Storm {
  /** Worthless TRC-10 transfers to the address of one caller in one block. */
  readonly dust: number
  /** Logs of a stranger's contract in some blocks; nodes refuse replies with more than `logsMax` logs. */
  readonly logs: number
  readonly logsMax: number
  /** Questions of one caller within a minute: those that cost nodes most. */
  readonly questions: number
  /** Whether the scanner goes on with what it remembers of nodes that failed before. */
  readonly keepsMemory: boolean
  /** What is wrong with one node, where the others are a quorum. */
  readonly nodeFault: 'none' | 'away' | 'refusal' | 'malformed' | 'glitch' | 'byzantine'
}

/** What a seed decides before a run begins. */
export interface Scenario {
  readonly nodes: readonly NodePlan[]
  readonly quorum: number
  /** What each node allows, as its provider and the configuration have it. */
  readonly allowance: NodeAllowance
  readonly scanEverySeconds: number
  /** Blocks from the chain's newest to its newest final one. */
  readonly finalityLag: number
  /** Empty blocks before the first one with payments. They can be more than fit one read. */
  readonly blocksBefore: number
  /** Transactions in one block of the run; 0 for no such block. */
  readonly crowd: number
  /** Blocks that are made while faults occur. */
  readonly blocks: number
  readonly users: number
  /** `TRON_START_BLOCK` as blocks after the chain's first, or null. */
  readonly startAfter: number | null
  /** The fine token's contract has other decimals than configured: nothing of it may be credited. */
  readonly decimalsDiffer: boolean
  /** One block has a transaction whose logs no reply of any node can hold. */
  readonly hasUnreadable: boolean
  /** Most transactions of one block. */
  readonly transactionsMax: number
  /** Requests of callers per block, on average. */
  readonly requestsPerBlock: number
  /** Whether the run goes on until all balances were compared with the chain. */
  readonly reconciles: boolean
  /** What all nodes do at the end of the run with blocks that they called final: rewrite them for a while, or replace them. */
  readonly ending: 'none' | 'fork' | 'correction'
  /** Null for no storm. */
  readonly storm: Storm | null
  readonly rates: FaultRates
}

/** Properties that a scenario has in place of those that the seed draws. */
export type Overrides = Partial<Scenario>

/** What a node allows. */
export interface NodeAllowance {
  readonly perSecond: number
  readonly perDay: number
}

/** What a free TronGrid key allows. */
export const freeAllowance: NodeAllowance = { perSecond: 15, perDay: 100_000 }
/** Requests of a tick that finds nothing. */
const tickRequests = 5

/** Usually that of a free key; half more than ticks need; or too little even for these, so that the operator must raise it. */
function drawAllowance(random: Random, scanEverySeconds: number): NodeAllowance {
  const ticks = (25 * 3_600) / scanEverySeconds
  const perSecond = random.pick([3, 5, 15])
  const few = random.int(100, 2_000)
  if (random.chance(0.75)) return freeAllowance
  return { perSecond, perDay: random.chance(0.5) ? few : Math.ceil(ticks * tickRequests * 1.5) }
}

/**
 * A scenario with 1 to 4 nodes. Byzantine nodes are fewer than the quorum and the same ones in all of the run, which is
 * exactly what a quorum tolerates. With a quorum of 1 no node is Byzantine, but each can lag, fail and reply malformed.
 */
export function drawScenario(random: Random): Scenario {
  const count = random.pick([1, 2, 2, 3, 3, 3, 4])
  const quorum = Math.min(count, random.pick([1, 2, 2, 2, random.int(1, count)]))
  const rate = (light: number, heavy: number) => random.pick([0, light, light, heavy])
  const decimalsDiffer = random.chance(0.1)
  const scanEverySeconds = random.pick([10, 20, 20, 60])
  return {
    nodes: drawNodes(random, count, quorum),
    quorum,
    allowance: drawAllowance(random, scanEverySeconds),
    scanEverySeconds,
    finalityLag: random.int(2, random.chance(0.3) ? 18 : 7),
    blocksBefore: random.chance(0.1) ? random.int(40, 220) : random.int(1, 5),
    crowd: random.chance(0.04) ? random.int(20, 70) : 0,
    blocks: random.int(30, random.chance(0.1) ? 120 : 40),
    users: random.int(5, usersMax),
    startAfter: random.chance(0.3) ? random.int(1, 30) : null,
    decimalsDiffer,
    hasUnreadable: random.chance(0.1),
    transactionsMax: random.int(1, 4),
    requestsPerBlock: random.pick([0.15, 0.3, 0.3, 0.7]),
    reconciles: random.chance(0.1),
    ending: random.pick(['none', 'none', 'none', 'none', 'none', 'none', 'none', 'none', 'fork', 'correction']),
    storm: random.chance(0.12) ? drawStorm(random) : null,
    rates: {
      malformed: rate(0.02, 0.2),
      change: rate(0.02, 0.1),
      byzantine: random.pick([0.1, 0.5, 0.9, 1]),
      database: rate(0.02, 0.08),
      slow: rate(0.003, 0.02),
      kill: rate(0.05, 0.2),
      operator: random.pick([0, 0.03, 0.1]),
    },
  }
}

/** Most callers of a run. Their uids are 1, 2, 3 … */
export const usersMax = 15

function drawNodes(random: Random, count: number, quorum: number): readonly NodePlan[] {
  const byzantine = new Set<number>()
  if (random.chance(0.8)) {
    // The first configured node is queried first: there a Byzantine node does most harm.
    for (let i = 1; i < quorum; i += 1) byzantine.add(random.chance(0.4) ? 0 : random.int(0, count - 1))
  }
  return Array.from({ length: count }, (_, i) => ({
    byzantine: byzantine.has(i),
    keepsFailedLogs: random.chance(0.8),
    // With such numbers a single reply does not show that a log is missing.
    numbersByTransaction: random.chance(0.2) && quorum > 1,
    reordersBatches: random.chance(0.3),
  }))
}

function drawStorm(random: Random): Storm {
  const isFull = random.chance(0.5)
  return {
    dust: random.pick([0, 40, 40, 150, 600]),
    logs: isFull ? random.int(12, 40) : 0,
    logsMax: isFull ? 12 : 10_000,
    questions: random.pick([3, 8, 40, 90]),
    keepsMemory: random.chance(0.5),
    nodeFault: random.pick(['none', 'away', 'refusal', 'malformed', 'glitch', 'byzantine']),
  }
}
