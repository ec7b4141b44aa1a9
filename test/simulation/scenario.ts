import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { troubleNames } from './node-troubles.ts'
import type { Random } from './random.ts'
import type { Refusals } from './refusals.ts'

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
  /** As configured. Null: deposits of this currency are never reviewed. */
  readonly reviewFrom: string | null
}

/** TRX; a token with 6 decimals, of which the ledger keeps 2; one with 18, of which it keeps 6, and with a minimum of 0.5. Ordered by `cuy`. */
export const currencies: readonly SimulatedCurrency[] = [
  { cuy: 1, symbol: 'C1', contract: null, decimals: 6, scale: 6, minDeposit: 0n, reviewFrom: null },
  { cuy: 2, symbol: 'C2', contract: usdtAddress, decimals: 6, scale: 2, minDeposit: 0n, reviewFrom: '300' },
  { cuy: 3, symbol: 'C3', contract: fineToken, decimals: 18, scale: 6, minDeposit: 5n * 10n ** 17n, reviewFrom: '0' },
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

/** How many requests a node allows. */
export interface NodeAllowance {
  readonly perSecond: number
  readonly perDay: number
}

/** What a free TronGrid key allows. */
export const freeAllowance: NodeAllowance = { perSecond: 15, perDay: 100_000 }
/** Requests of a tick that finds nothing. */
const tickRequests = 5

/**
 * Draws how many requests nodes allow. Usually they are as many as with a free key. Else they are half more than ticks need, or too few even for ticks, so
 * that the operator must raise the allowance.
 */
function drawAllowance(random: Random, scanEverySeconds: number): NodeAllowance {
  const ticks = (25 * 3_600) / scanEverySeconds
  const perSecond = random.pick([3, 5, 15])
  const few = random.int(100, 2_000)
  if (random.chance(0.75)) return freeAllowance
  return { perSecond, perDay: random.chance(0.5) ? few : Math.ceil(ticks * tickRequests * 1.5) }
}

/** What a seed decides before a run begins. */
export type Scenario = Readonly<
  ReturnType<typeof drawScenario> &
    ReturnType<typeof drawTroubledScenario> &
    ReturnType<typeof drawAside> &
    ReturnType<typeof drawPayoutScenario> &
    ReturnType<typeof drawFurther> & { readonly refusals: Refusals }
>
/** What befalls the other cell of a deployment while the one that is checked goes on. */
export type NeighbourFate = 'well' | 'killed' | 'full' | 'hanging' | 'halted'

/** Properties that a scenario has in place of those that the seed draws. */
export type Overrides = Partial<Scenario>
/** The properties of one node. */
export type NodePlan = ReturnType<typeof drawNodes>[number]
/** What one node and the platform do in the trial. */
export type Trial = Readonly<ReturnType<typeof drawTrial>>
/** What strangers and callers do in the phase `storm`, while a quorum of nodes answers. */
export type Storm = Readonly<ReturnType<typeof drawStorm>>

/** Kinds of nodes, without oddities: one that never lies, and one that may. */
const honest = { byzantine: false, keepsFailedLogs: true, numbersByTransaction: false, reordersBatches: false }
export const nodeKinds = { honest, liar: { ...honest, byzantine: true } } as const satisfies Record<string, NodePlan>
/** The rates of a run without faults, except that liars always lie. */
export const calmRates = { malformed: 0, change: 0, byzantine: 1, database: 0, slow: 0, kill: 0, operator: 0 } as const
/** No trouble of a node or of the platform. */
export const noTroubles = { node: 0, transfers: 60, hanging: 0, full: 0 } as const
/** A trial in which the node that is asked first has the trouble. */
export const nodeTrial = { tail: null, isFirst: true, platform: 'well', minutes: 5 } as const

/** Most callers of a run. Their uids are 1, 2, 3 … */
export const usersMax = 15

/**
 * A scenario with 1 to 4 nodes. Byzantine nodes are fewer than the quorum and the same ones in all of the run, which is
 * exactly what a quorum tolerates. With a quorum of 1 no node is Byzantine, but each can lag, fail and reply malformed.
 */
export function drawScenario(random: Random) {
  const count = random.pick([1, 2, 2, 3, 3, 3, 4])
  const quorum = Math.min(count, random.pick([1, 2, 2, 2, random.int(1, count)]))
  const decimalsDiffer = random.chance(0.1)
  const scanEverySeconds = random.pick([10, 20, 20, 60])
  return {
    nodes: drawNodes(random, count, quorum),
    quorum,
    allowance: drawAllowance(random, scanEverySeconds),
    scanEverySeconds,
    finalityLag: random.int(2, random.chance(0.3) ? 18 : 7), // blocks from the chain's newest to its newest final one
    blocksBefore: random.chance(0.1) ? random.int(40, 220) : random.int(1, 5), // empty blocks at the beginning; can be more than one read takes
    crowd: random.chance(0.04) ? random.int(20, 70) : 0, // transactions in one block of the run; 0 for no such block
    blocks: random.int(30, random.chance(0.1) ? 120 : 40), // blocks that are made while faults occur
    users: random.int(5, usersMax),
    startAfter: random.chance(0.3) ? random.int(1, 30) : null, // `TRON_START_BLOCK` after the chain's first
    decimalsDiffer, // the fine token's contract has other ones than configured: nothing of it may be credited
    hasUnreadable: random.chance(0.1), // one block has a transaction whose logs no reply can hold
    transactionsMax: random.int(1, 4), // in one block
    requestsPerBlock: random.pick([0.15, 0.3, 0.3, 0.7]), // of callers, on average
    reconciles: random.chance(0.1), // the run goes on until all balances were compared with the chain
    // What all nodes do at the end with blocks that they called final: rewrite them for a while, or replace them.
    ending: random.pick([...Array.from({ length: 8 }, () => 'none' as const), 'fork', 'correction']),
    storm: random.chance(0.12) ? drawStorm(random) : null,
    rates: drawRates(random),
  }
}

/** How often faults occur, as probabilities. All of them are 0 from the recovery on. */
function drawRates(random: Random) {
  const rate = (light: number, heavy: number) => random.pick([0, light, light, heavy])
  return {
    malformed: rate(0.02, 0.2), // a node's reply is malformed, for each request
    change: rate(0.02, 0.1), // a node goes away, lags or forks, for each block
    byzantine: random.pick([0.1, 0.5, 0.9, 1]), // a Byzantine node replies with its false view, for each request
    database: rate(0.02, 0.08), // a round trip to the database fails, or a call of an object is lost
    slow: rate(0.003, 0.02), // a trip to the database takes up to a minute, in each direction
    kill: rate(0.05, 0.2), // an invocation is killed, or an instance of an object
    operator: random.pick([0, 0.03, 0.1]), // the operator repairs, restores or deploys, for each block
  }
}

function drawNodes(random: Random, count: number, quorum: number) {
  const byzantine = new Set<number>()
  if (random.chance(0.8)) {
    // The first configured node is queried first: there a Byzantine node does most harm.
    for (let i = 1; i < quorum; i += 1) byzantine.add(random.chance(0.4) ? 0 : random.int(0, count - 1))
  }
  return Array.from({ length: count }, (_, i) => ({
    byzantine: byzantine.has(i),
    keepsFailedLogs: random.chance(0.8), // whether the node stores the logs of failed transactions
    // The node numbers logs within each transaction, not within the block. Then one reply does not show that a log is missing.
    numbersByTransaction: random.chance(0.2) && quorum > 1,
    reordersBatches: random.chance(0.3), // the replies to a batch come in another order than the calls
  }))
}

function drawStorm(random: Random) {
  const isFull = random.chance(0.5)
  return {
    dust: random.pick([0, 40, 40, 150, 600]), // worthless TRC-10 transfers to one caller in one block
    logs: isFull ? random.int(12, 40) : 0, // logs of a stranger's contract in some blocks
    logsMax: isFull ? 12 : 10_000, // nodes refuse replies with more
    questions: random.pick([3, 8, 40, 90]), // of one caller within a minute: those that cost nodes most
    keepsMemory: random.chance(0.5), // the scanner goes on with what it remembers of nodes that failed before
    // What is wrong with one node, where the others are a quorum.
    nodeFault: random.pick(['none', 'away', 'refusal', 'malformed', 'glitch', 'byzantine'] as const),
  }
}

/** What one node does at any time, and what clocks and the platform do. */
export function drawTroubledScenario(random: Random) {
  return {
    evicts: random.chance(0.5), // the platform evicts the scanner after each tick
    troubles: {
      node: random.pick([0, 0.02, 0.1]), // for each block, the probability that a node begins a trouble
      transfers: random.pick([20, 60, 60, 260]), // the transfers in an invented block
      hanging: random.pick([0, 0, 0.02]), // the next trip of a tick to the database never returns, for each block
      full: random.pick([0, 0, 0, 20, 60]), // seconds for which the database is full, once
    },
    trial: random.chance(0.2) ? drawTrial(random) : null,
    batchless: random.chance(0.1) ? random.int(1, 4) : 0, // the number of the node whose gateway takes no batches; 0 for none
  }
}

/** What issuers of tokens, contracts and people who review deposits do. */
export function drawAside(random: Random) {
  return {
    issuer: random.pick([0, 0, 0, 0.2]), // how often issuers do anything, for each block
    sending: random.pick([0, 0, 0.2]), // how often contracts send TRX, for each block
    keepers: random.int(0, 4), // so many of the nodes, the first ones, keep internal transactions
    reviews: random.chance(0.25), // large deposits are held until a backend has decided about them
  }
}

function drawTrial(random: Random) {
  return {
    trouble: random.pick(troubleNames), // of one node: anything if the others are a quorum, else only what makes it slower
    tail: random.pick([null, null, null, null, null, 'many', 'far'] as const), // what the same node invents above the final blocks
    isFirst: random.chance(0.7), // the node is the one that is asked first
    platform: random.pick(['well', 'well', 'clock', 'full', 'hanging'] as const),
    minutes: random.pick([4, 4, 5, 6, 9]), // nine are needed to see that the service goes on after a call that never ends
  }
}

/** What a seed decides about payouts: there are some in a third of the runs. */
export function drawPayoutScenario(random: Random) {
  return { payouts: random.chance(1 / 3) ? drawPayouts(random) : null }
}

function drawPayouts(random: Random) {
  return {
    asked: random.pick([0.2, 0.5]), // requests of backends, for each block
    signers: random.pick([1, 1, 2]), // at once, each with a journal of its own
    blockMs: random.pick([3_000, 3_000, 15_000]), // of the faulty phase. With 15 s, transactions expire in it
    kill: random.pick([0, 0.3, 0.8]), // a process of a signer is killed
    trouble: random.pick([0, 0.3, 0.8]), // a node does another thing with a transaction than it should
    failing: random.pick([0, 0.1, 0.4]), // a token's transfer fails or moves something else
    losesJournal: random.chance(0.15), // a signer begins a new journal
    losesSetting: false as boolean, // each restore deploys without PAYOUTS, until what was sent is mined
  }
}

/** No further events of payouts. */
export const calmPayouts = { crowd: 0, acts: 0, fee: false, unmined: false, forks: false, restoresLate: false } as const

/** What a seed decides about further events of payouts, in runs that have payouts. */
export function drawFurther(random: Random) {
  return {
    neighbour: null as NeighbourFate | null, // the other cell of the deployment: only in named scenarios
    timed: false as boolean, // how soon things come is checked as well: only in named scenarios
    further: {
      crowd: random.chance(0.1) ? random.int(110, 260) : 0, // payouts that are asked for within a minute
      acts: random.pick([0, 0, 0.3]), // an issuer stops the token of a payout between its signing and its sending
      fee: random.chance(0.1), // a token takes a fee, and an operator confirms it
      unmined: random.chance(0.15), // transactions of some payouts are never in a block, whatever else is well
      forks: random.chance(0.1), // all nodes rewrite final blocks while payouts are asked for, approved and signed
      restoresLate: random.chance(0.15), // an older copy of the database is put back when no fault occurs any more
    },
  }
}
