import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import type { FalseBlock } from './false-blocks.ts'
import { drawLacking, type Lacking } from './lacking.ts'
import { troubleNames } from './node-troubles.ts'
import type { Random } from './random.ts'
import type { Refusals } from './refusals.ts'

/** A token with more decimals than the ledger keeps, and with a minimum deposit. */
export const fineToken = addressOf(0xf1)
/** Its `cuy`. An operator tries to correct its decimals. */
export const fineCuy = 3
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
  /** The amount from which deposits are held for review, in whole units; null if they never are. */
  readonly reviewFrom: string | null
}

/**
 * TRX, a token with 6 decimals of which the ledger keeps 2, and a token with 18 decimals of which
 * it keeps 6. The last has a minimum deposit of 0.5. Ordered by `cuy`.
 */
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
/** The number of requests that a tick sends if it finds no transfer. */
const tickRequests = 5

/**
 * Draws how many requests nodes allow. In three quarters of the runs it is what a free TronGrid key
 * allows. In the other runs it is half more than ticks need, or too little even for ticks, so that
 * the operator must raise the allowance.
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
    ReturnType<typeof drawArchive> &
    ReturnType<typeof drawPayoutScenario> &
    ReturnType<typeof drawOrderScenario> &
    ReturnType<typeof drawFurther> & { readonly refusals: Refusals; readonly hardships: Hardships }
>
/**
 * What happens to the other cell (a database with its scanner) of a deployment, while the
 * simulation checks the first one.
 */
export type NeighbourFate = 'well' | 'killed' | 'full' | 'hanging' | 'halted'

/** Properties that a scenario has in place of those that the seed draws. */
export type Overrides = Partial<Scenario>
/** The properties of one node that the seed draws: whether it may lie, and its oddities. */
export type NodePlan = ReturnType<typeof drawNodes>[number]
/** What one node and the platform do in the trial, the phase in which one of them is in trouble. */
export type Trial = Readonly<ReturnType<typeof drawTrial>>
/** What strangers and callers do in the phase `storm`, while a quorum of nodes answers. */
export type Storm = Readonly<ReturnType<typeof drawStorm>>

/**
 * The properties of a node that never lies, and of a node that may lie. Neither has an oddity, such
 * as replies in another order.
 */
const honest = { byzantine: false, keepsFailedLogs: true, numbersByTransaction: false, reordersBatches: false }
export const nodeKinds = { honest, liar: { ...honest, byzantine: true } } as const satisfies Record<string, NodePlan>
/** The rates of a run without faults, except that liars always lie. */
export const calmRates = { malformed: 0, change: 0, byzantine: 1, database: 0, slow: 0, kill: 0, operator: 0 } as const
/**
 * No node begins a trouble, and the platform has none. So `transfers`, the size of invented blocks,
 * has no effect.
 */
export const noTroubles = { node: 0, transfers: 60, hanging: 0, full: 0 } as const
/**
 * A trial in which the node that has the trouble is the one that is asked first, and the platform
 * works.
 */
export const nodeTrial = { tail: null, isFirst: true, platform: 'well', minutes: 5 } as const

/** The largest number of callers in a run. Their uids are 1, 2, 3 … */
const usersMax = 15

/**
 * A scenario with 1 to 4 nodes. Byzantine nodes are fewer than the quorum and the same ones in all
 * of the run, which is exactly what a quorum tolerates. With a quorum of 1 no node is Byzantine,
 * but each can lag, fail and reply malformed.
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
    // empty blocks at the beginning: can be more blocks than one read takes
    blocksBefore: random.chance(0.1) ? random.int(40, 220) : random.int(1, 5),
    crowd: random.chance(0.04) ? random.int(20, 70) : 0, // transactions in one block of the run; 0 for no such block
    blocks: random.int(30, random.chance(0.1) ? 120 : 40), // blocks that are made while faults occur
    users: random.int(5, usersMax),
    // blocks from the first block to `TRON_START_BLOCK`; null: not set
    startAfter: random.chance(0.3) ? random.int(1, 30) : null,
    decimalsDiffer, // the fine token's contract has other decimals than configured, so no deposit of it may be credited
    hasUnreadable: random.chance(0.1), // one block has a transaction whose logs no reply can hold
    transactionsMax: random.int(1, 4), // the most transactions in one block
    requestsPerBlock: random.pick([0.15, 0.3, 0.3, 0.7]), // requests of callers, on average
    reconciles: random.chance(0.1), // the run goes on until all balances were compared with the chain
    // What all nodes do at the end with blocks that they called final: rewrite them for a while, or
    // replace them.
    ending: random.pick([...Array.from({ length: 8 }, () => 'none' as const), 'fork', 'correction']),
    storm: random.chance(0.12) ? drawStorm(random) : null,
    rates: drawRates(random),
  }
}

/** How often faults occur. All of these probabilities are 0 from the recovery on. */
function drawRates(random: Random) {
  const rate = (light: number, heavy: number) => random.pick([0, light, light, heavy])
  return {
    malformed: rate(0.02, 0.2), // probability, for each request, that the reply of a node is malformed
    change: rate(0.02, 0.1), // probability, for each block, that a node goes away, lags or forks
    // probability, for each request, that a Byzantine node replies with its false view
    byzantine: random.pick([0.1, 0.5, 0.9, 1]),
    // probability that a round trip to the database fails, or that a call of an object is lost
    database: rate(0.02, 0.08),
    slow: rate(0.003, 0.02), // probability that a trip to the database takes up to a minute, in each direction
    kill: rate(0.05, 0.2), // probability that an invocation is killed, or an instance of an object
    // probability, for each block, that the operator repairs, restores or deploys
    operator: random.pick([0, 0.03, 0.1]),
  }
}

function drawNodes(random: Random, count: number, quorum: number) {
  const byzantine = new Set<number>()
  if (random.chance(0.8)) {
    // The first configured node is queried first, so a Byzantine node does most harm in its place.
    for (let i = 1; i < quorum; i += 1) byzantine.add(random.chance(0.4) ? 0 : random.int(0, count - 1))
  }
  return Array.from({ length: count }, (_, i) => ({
    byzantine: byzantine.has(i),
    keepsFailedLogs: random.chance(0.8), // whether the node stores the logs of failed transactions
    // The node numbers logs within each transaction, not within the block. Then one reply does not
    // show that a log is missing.
    numbersByTransaction: random.chance(0.2) && quorum > 1,
    reordersBatches: random.chance(0.3), // the replies to a batch come in another order than the calls
  }))
}

function drawStorm(random: Random) {
  const isFull = random.chance(0.5)
  return {
    dust: random.pick([0, 40, 40, 150, 600]), // worthless TRC-10 transfers to one caller in one block
    logs: isFull ? random.int(12, 40) : 0, // logs of a stranger's contract in some blocks
    logsMax: isFull ? 12 : 10_000, // the most logs in one reply: nodes refuse to send more
    questions: random.pick([3, 8, 40, 90]), // requests of one caller within a minute, of the kinds that cost nodes most
    keepsMemory: random.chance(0.5), // the scanner keeps what it has learned about failing nodes before the storm
    // The trouble of one node, if the other nodes are enough for a quorum.
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
      // probability, for each block, that the next trip of a tick to the database never returns
      hanging: random.pick([0, 0, 0.02]),
      full: random.pick([0, 0, 0, 20, 60]), // for how many seconds of the run the database is full; 0: never
    },
    trial: random.chance(0.2) ? drawTrial(random) : null,
    // the number of the node whose gateway refuses batches; 0 for none
    batchless: random.chance(0.1) ? random.int(1, 4) : 0,
  }
}

/** What issuers of tokens, contracts and people who review deposits do. */
export function drawAside(random: Random) {
  return {
    issuer: random.pick([0, 0, 0, 0.2]), // probability, for each block, that an issuer does anything
    sending: random.pick([0, 0, 0.2]), // probability, for each block, that a contract sends TRX
    keepers: random.int(0, 4), // the number of nodes, from the first on, that keep internal transactions
    reviews: random.chance(0.25), // large deposits are held until a backend has decided about them
  }
}

/** The choices of a seed about the archive: there is one in a sixth of the runs. */
export function drawArchive(random: Random) {
  return { archive: random.chance(1 / 6) ? drawArchiveRates(random) : null }
}

function drawArchiveRates(random: Random) {
  return {
    trouble: random.pick([0, 0.1, 0.4]), // the probability that a call of R2 fails, loses its answer, is late or hangs
    database: random.pick([0, 0.02, 0.08]), // the same as in `rates`, for the archive's object
    kill: random.pick([0, 0.1, 0.3]), // the same, for its instances
    rivals: random.pick([0, 0.2, 0.5]), // probability, for each new object, that another writer begins
    operator: random.pick([0, 0.1]), // the probability, for each block, that the operator acts once more
    sealed: random.chance(0.5), // whether segments have checkpoints
  }
}

/** What clocks and the database do in a trial. `away` comes from `hardships`. */
type Platform = 'well' | 'clock' | 'full' | 'hanging' | 'away'

function drawTrial(random: Random) {
  return {
    trouble: random.pick(troubleNames), // what one node does: if the others are no quorum, it does not lie
    // what the node with the trouble invents above the final blocks
    tail: random.pick([null, null, null, null, null, 'many', 'far'] as const),
    isFirst: random.chance(0.7), // the node with the trouble is the one that is asked first
    platform: random.pick(['well', 'well', 'clock', 'full', 'hanging'] as const) as Platform,
    // nine are needed to see that the service goes on after a call that never ends
    minutes: random.pick([4, 4, 5, 6, 9]),
  }
}

/** What a seed decides about payouts: there are some in a third of the runs. */
export function drawPayoutScenario(random: Random) {
  return { payouts: random.chance(1 / 3) ? drawPayouts(random) : null }
}

/** The choices of a seed about orders: there are some in a quarter of the runs. */
export function drawOrderScenario(random: Random) {
  // `asked`: the probability, for each block, that a backend or a payer does something about orders
  return { orders: random.chance(1 / 4) ? { asked: random.pick([0.3, 0.8]) } : null }
}

function drawPayouts(random: Random) {
  return {
    asked: random.pick([0.2, 0.5]), // the probability, for each block, that a backend does something about payouts
    signers: random.pick([1, 1, 2]), // signers that run at the same time, each with its own journal
    // time between blocks while faults occur. With 15 s, transactions can expire in that phase
    blockMs: random.pick([3_000, 3_000, 15_000]),
    kill: random.pick([0, 0.3, 0.8]), // the probability that a process of a signer is killed
    // the probability that a node drops, refuses or delays a transaction, or claims that it had it
    // already
    trouble: random.pick([0, 0.3, 0.8]),
    failing: random.pick([0, 0.1, 0.4]), // the probability that a token's transfer fails, or moves less than it should
    losesJournal: random.chance(0.15), // whether a signer loses its journal and begins a new one
    // each restore deploys without PAYOUTS until the sent transactions are mined; only in named
    // scenarios
    losesSetting: false as boolean,
  }
}

/** `further` without any of the events that `drawFurther` draws. */
export const calmPayouts = { crowd: 0, acts: 0, fee: false, unmined: false, forks: false, restoresLate: false } as const

/**
 * What a seed decides about rare events of payouts, such as a crowd of them at once. They occur
 * only in runs that have payouts.
 */
export function drawFurther(random: Random) {
  return {
    // the fate of the other cell; null: the deployment has one cell. Only named scenarios set it
    neighbour: null as NeighbourFate | null,
    // whether time limits of credits, alarms and payouts are checked, too; only in named scenarios
    timed: false as boolean,
    // the only ways in which Byzantine nodes lie, by false blocks; null: any lie. Only deliberate
    // mistakes set it
    lies: null as readonly FalseBlock[] | null,
    further: {
      // payouts that are requested within a minute; 0: no such crowd
      crowd: random.chance(0.1) ? random.int(110, 260) : 0,
      // probability that an issuer stops the token of a payout between its signing and its sending
      acts: random.pick([0, 0, 0.3]),
      fee: random.chance(0.1), // a token takes a fee, and an operator confirms it
      unmined: random.chance(0.15), // transactions of some payouts are never in a block, whatever else is well
      forks: random.chance(0.1), // all nodes rewrite final blocks while payouts are asked for, approved and signed
      restoresLate: random.chance(0.15), // an older copy of the database is put back when no fault occurs any more
    },
  }
}

/** What a seed decides about what lasts, and about what happens between two statements. */
export interface Hardships {
  /** The blocks that nodes lack for ever. */
  readonly lacking: Lacking | null
  /** For how many seconds of the run the database is away; 0: never. */
  readonly away: number
  /** The probability that a rival acts between two trips of an invocation to the database. */
  readonly rivals: number
  /**
   * The number of the node that has no peers: it says that it takes each transaction, and passes
   * none on; 0: none.
   */
  readonly deaf: number
  /** The probability, for each payout, that every node refuses its transactions. */
  readonly refused: number
  /**
   * All nodes show blocks as final in which transactions of payouts end otherwise, and people act
   * until that is corrected.
   */
  readonly reverses: boolean
  /**
   * On a branch, contracts do otherwise: the same transaction moves another amount, or to another
   * address.
   */
  readonly alters: boolean
}

/** `hardships` without any. */
export const noHardships: Hardships = {
  lacking: null,
  away: 0,
  rivals: 0,
  deaf: 0,
  refused: 0,
  reverses: false,
  alters: false,
}

export function drawHardships(random: Random): Hardships {
  return {
    lacking: drawLacking(random),
    away: random.pick([0, 0, 0, 0, 0, 80]),
    rivals: random.pick([0, 0, 0, 0, 0.05]),
    deaf: random.pick([0, 0, 0, 0, random.int(1, 4)]),
    refused: random.pick([0, 0, 0, 0, 0, 0.3]),
    reverses: random.chance(0.15),
    alters: random.chance(0.5),
  }
}
