import { deriveAddress, parseExtendedPublicKey } from '../../src/worker/addresses/derive.ts'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import type { Uid } from '../../src/worker/common/ids.ts'
import type { AlarmKind } from '../../src/worker/platform/alarm-table.ts'
import type { LogFields } from '../../src/worker/platform/logger.ts'
import { encodeRawTransaction } from '../support/raw-transaction.ts'
import type { RoundTrip } from '../support/sqlite-d1.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { testXpub } from '../support/variables.ts'
import { drawActs, drawSending } from './aside-payments.ts'
import { createChain } from './chain.ts'
import { type BalanceChange, createChainBalances } from './chain-balances.ts'
import { createDeployed } from './deployed.ts'
import type { LostDatabase } from './lost-database.ts'
import { encodeOddly } from './odd-encodings.ts'
import { createOrderWorld, type OrderWorld } from './order-world.ts'
import { type Act, drawPayment, type Payment, payTrx, payUnreadably, type Transfer } from './payments.ts'
import { createPayoutWorld, minePayouts, type PayoutWorld, payoutFunds } from './payouts.ts'
import type { Random } from './random.ts'
import type { Scenario, Trial } from './scenario.ts'
import type { Scheduler } from './scheduler.ts'
import type { StoredScan, StoredTransfer } from './stored.ts'

/** A transfer in the canonical chain: the one that nodes show at the end of the run. */
export interface MinedTransfer extends Transfer {
  readonly txid: Txid
  readonly height: number
  readonly hash: string
  /**
   * Whether the transfer must be stored even if nobody asks about it: its recipient's address was
   * shown to the owner before, and the scan reads its block.
   */
  readonly promised: boolean
}

/** An act of an issuer in the canonical chain. */
export interface MinedAct extends Act {
  readonly height: number
  /** The place of the transaction in its block. */
  readonly place: number
  /** Whether the act must be stored, because the scan reads its block and knows the address. */
  readonly promised: boolean
}

/**
 * A payment with the bytes of its transaction. After a fork another block can contain the same
 * bytes, which are the same transaction.
 */
export type MinedPayment = Payment & { readonly rawData: Uint8Array }

/**
 * `faults`: everything can fail. `recovery`: nothing fails any more, but the service still avoids
 * nodes, and Byzantine nodes may go on. `storm`: a quorum of nodes works, and strangers, callers
 * and one node try to stop the service. `healthy`: every node can be used, so every answer must be
 * complete.
 */
export type Phase = 'faults' | 'recovery' | 'storm' | 'healthy'

/** A node's reply about a balance, at a time in milliseconds since 1970. */
export interface BalanceReply {
  readonly at: number
  readonly address: Address
  readonly contract: Address | null
  readonly balance: bigint
}

/** An entry as a backend sends it. */
export interface SentEntry {
  readonly uid: number
  readonly cuy: number
  readonly type: 2 | 3 | 4 | 5 | 9
  readonly osn: string
  readonly amount: bigint
  readonly mark: string
}

/**
 * A post that was sent at least once. `isAccepted`: an answer has said that it is stored.
 * `isAnswered`: any answer has come since it was last sent.
 */
export interface SentPost {
  readonly entries: readonly SentEntry[]
  isAccepted: boolean
  isAnswered: boolean
}

/** A decision about a deposit, which a backend has sent at least once. */
export interface SentDecision {
  readonly txid: Txid
  readonly position: number
  readonly decision: 'credit' | 'refuse'
  /**
   * Whether an answer has said that the decision is stored, and no older copy of the database was
   * put back since.
   */
  isAccepted: boolean
}

/** A trip to the database: by whom, its SQL, and what is bound to each statement. */
export interface Trip {
  readonly invocation: { readonly kind: string; readonly name: string }
  readonly statements: readonly string[]
  readonly values: Parameters<RoundTrip>[2]
}

/** Carries out a trip to the database. It may measure it. */
export type Meter = <T>(trip: Trip, carryOut: () => T) => T

/** An alarm as its log line has it, and when it was raised, in milliseconds since 1970. */
export interface RaisedAlarm {
  readonly kind: AlarmKind
  readonly fields: LogFields
  readonly at: number
}

/** What is deployed, and what only a year changes. */
const createDeployedState = () => ({
  listsOperator: true as boolean, // whether the deployed configuration has the operator's wallet
  paysOut: true as boolean, // whether the deployed configuration has PAYOUTS, in a run with payouts
  deployed: createDeployed(), // what an operator changes over a year
  expected: new Set<AlarmKind>(), // kinds of alarms that what happens beside the scenario can raise
  deadEndpoints: new Set<string>(), // URLs of endpoints that take nothing, whatever the phase
  formerVerifiers: [] as string[], // keys that have verified the archive before they were replaced
  bucketAwayUntil: 0, // until then every call of R2 fails
  meter: ((_, carryOut) => carryOut()) as Meter, // measures each trip to the database
})

/**
 * The state of one run: what has happened, and what is true, whatever the service knows. Times are
 * in milliseconds since 1970.
 */
function createState(scenario: Scenario, payouts: PayoutWorld | null, orders: OrderWorld | null) {
  return {
    chain: createChain(), // the canonical chain: the one that nodes show at the end of the run
    balances: createChainBalances(), // the balances of addresses on the canonical chain
    transfers: new Map<string, MinedTransfer>(), // by credit key (`txid:position`)
    sent: new Map<string, MinedTransfer>(), // TRX that contracts sent: it is credited only if somebody asks about it
    acts: new Map<string, MinedAct>(), // acts of issuers, by `txid:position`
    unreadable: new Set<string>(), // transactions whose logs no reply can hold
    unrenderedAt: null as number | null, // the height of the block that nodes cannot render now; null if there is none
    // the height of the first block that nodes lack now (`lacking.ts`); null if they lack none
    lackedFrom: null as number | null,
    hidden: new Map<string, MinedTransfer>(), // the transfers in unreadable transactions
    // deposits that were credited in blocks that were replaced later
    creditedElsewhere: new Map<string, StoredTransfer>(),
    owners: new Map<Address, Uid>(), // the owners of the deposit addresses in the database
    issuedHeights: new Map<Address, number>(), // deposit addresses, with the finalized height when each was issued
    shown: new Map<Address, Uid>(), // deposit addresses that their owners were shown
    scanHistory: [{ at: 0, scan: undefined }] as { readonly at: number; readonly scan: StoredScan | undefined }[],
    unknowable: new Set<string>(), // by `contract address`: balances that differ from what the service can know
    // by `contract address`: how often a node showed a balance that is false or older than a minute
    falseReadings: new Map<string, number>(),
    balanceReplies: [] as BalanceReply[], // what nodes have replied about balances, oldest first
    senders: new Set<Address>(), // addresses that have sent transactions
    changedAt: new Map<number, readonly string[]>(), // by height: the balances that the block changed
    openGaps: new Set() as ReadonlySet<number>, // blocks that the service could not read and has put aside
    retired: new Set() as ReadonlySet<number>, // the `cuy` of currencies that the deployed configuration retires
    retiredAt: 0, // when a currency was last retired, or accepted again
    allowance: scenario.allowance, // how many requests each node allows, as the deployed configuration says
    ...createDeployedState(),
    restores: 0, // how often a copy of the database was put back, which ends every running invocation and instance
    instancesAt: [] as number[], // when instances of Durable Objects began
    counts: new Map<string, number>(), // how often each fault and each kind of call occurred
    payouts, // null in a run without payouts
    orders, // null in a run without orders
    posts: [] as SentPost[], // every post that backends have sent
    decisions: [] as SentDecision[], // every decision that backends have sent
    alarmed: [] as RaisedAlarm[], // every alarm that was raised, in order
    observers: new Set<() => void>(), // called after each write to the database
    violation: null as string | null, // the first broken promise
    phase: 'faults' as Phase,
    blockMs, // milliseconds from one block to the next; more than 3,000 while nothing happens for long
    sleepsUntil: 0, // until this time there is no alarm and no cron, so that a day can pass without work
    queued: [] as Payment[], // payments for the next block, beside those that are drawn in this phase
    clockMs: 0, // by how much all clocks are ahead
    steppedAt: 0, // when all clocks stepped ahead: requests of the second before look older to the service
    slowedUntil: 0, // until then a node that refused requests as too many a second gets few requests a second
    batchlessUntil: 0, // until then a node that refused a batch gets smaller batches, perhaps of a single request
    failures: { at: 0, killedAt: 0 }, // the newest failed trip to the database (or the end of a slow one), and kill
    awayUntil: 0, // until then every trip to the database fails
    // acts between two trips of an invocation to the database; null if nothing does
    rival: null as (() => Promise<void>) | null,
    // the next event of the scanner starts another instance, beside the one that works
    supersedesScanner: false as boolean,
    fullUntil: 0, // until then the database is full: no write succeeds
    hangsNext: false as boolean, // the next trip of a tick to the database never returns
    named: new Map<number, Set<string>>(), // by node: the alarms and warnings that name it, in this trial
    trial: null as Trial | null, // the trial that is going on, or null
    troubled: null as number | null, // the number of the only node that has a trouble in the trial
    isForked: false as boolean, // all nodes rewrite final blocks: the only time when the scan may halt
    forkedUntil: 0, // when the newest fork of final blocks has ended
  }
}

/** Everything outside the service in one run. */
export interface Environment extends ReturnType<typeof createState> {
  readonly scenario: Scenario
  /** The database that was lost before the run, or null. */
  readonly lost: LostDatabase | null
  readonly random: Random
  /**
   * The random numbers for troubles of a node, of clocks and of the platform: a stream of their
   * own, so that they change no other draw.
   */
  readonly troubles: Random
  /**
   * The random numbers for issuers, contracts that send TRX and reviews of deposits: a stream of
   * their own, so that they change no other draw.
   */
  readonly aside: Random
  /** The random numbers for hardships: a stream of their own, so that they change no other draw. */
  readonly hard: Random
  /** The random numbers for the archive: also a stream of their own. */
  readonly archiving: Random
  readonly scheduler: Scheduler
  /** The height from which the scan reads; null if the configuration does not set it. */
  finalized(): number
  /** The height from which the scan reads, where the configuration sets it. */
  startHeight(): number | null
  /**
   * Makes the next block and returns its payments: those that are queued, and those that are drawn
   * in this phase.
   */
  produce(): readonly MinedPayment[]
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
/** Milliseconds from one block to the next. */
const blockMs = 3_000

/**
 * Makes an environment whose chain has the blocks that the scenario has before the first payment.
 */
export function createEnvironment(
  scenario: Scenario,
  lost: LostDatabase | null,
  {
    random,
    troubles,
    payouts,
    further,
    aside,
    hard,
    archiving,
    orders,
  }: Pick<Environment, 'random' | 'troubles' | 'aside' | 'hard' | 'archiving'> &
    Readonly<Record<'payouts' | 'further' | 'orders', Random>>,
  scheduler: Scheduler,
  write: ((line: string) => void) | null,
): Environment {
  const state = createState(
    scenario,
    createPayoutWorld(scenario.payouts !== null, payouts, further),
    scenario.orders === null ? null : createOrderWorld(orders),
  )
  const { chain } = state
  const env: Environment = Object.assign(state, {
    scenario,
    lost,
    random,
    troubles,
    aside,
    hard,
    archiving,
    scheduler,
    finalized: () => chain.tip().height - scenario.finalityLag,
    startHeight: () => (scenario.startAfter === null ? null : chain.firstHeight + scenario.startAfter),
    produce: () => produceBlock(env),
    count: (event: string) => env.counts.set(event, (env.counts.get(event) ?? 0) + 1),
    violate(promise: string) {
      env.trace(() => `VIOLATION ${promise}`)
      env.violation ??= promise
    },
    trace: (line: () => string) => write?.(`${((scheduler.now() - startMs) / 1000).toFixed(3).padStart(9)} ${line()}`),
  })
  env.balances.apply(0, [...(lost?.held ?? []), ...payoutFunds])
  for (let left = scenario.finalityLag + scenario.blocksBefore; left > 0; left -= 1) {
    chain.mine([], (startMs - left * blockMs) / 1000)
  }
  return env
}

function produceBlock(env: Environment): readonly MinedPayment[] {
  const { chain, balances } = env
  const further = [...env.queued.splice(0), ...minePayouts(env)]
  const drawn = env.phase === 'faults' || env.phase === 'storm' ? drawPayments(env) : []
  for (const { changes } of further) balances.apply(chain.tip().height + 1, changes)
  return mineBlock(env, encodePayments(env, [...drawn, ...further]))
}

/**
 * Encodes payments. Some TRX transfers get an unusual encoding. `first` shifts the timestamps, so
 * that two calls at the same time make different transactions.
 */
export function encodePayments(
  { random, scheduler }: Environment,
  payments: readonly Payment[],
  first = 0,
): readonly MinedPayment[] {
  return payments.map((payment, i) => {
    const timestamp = scheduler.now() + first + i
    const isOdd = payment.spec.kind === 'trx' && random.chance(0.1)
    const rawData =
      isOdd && payment.spec.kind === 'trx'
        ? encodeOddly(random, payment.spec, timestamp)
        : encodeRawTransaction(payment.spec, timestamp)
    return { ...payment, rawData }
  })
}

/**
 * Appends a block to the canonical chain, and notes its transfers and acts. The caller has changed
 * the balances already.
 */
function mineBlock(env: Environment, payments: readonly MinedPayment[]): readonly MinedPayment[] {
  const { height, hash, transactions } = env.chain.mine(payments, Math.floor(env.scheduler.now() / 1000))
  const isScanned = height >= (env.startHeight() ?? 0)
  for (const [i, { transfers: own, isUnreadable, sent = [], acts = [] }] of payments.entries()) {
    const txid = transactions[i]?.txid
    if (txid === undefined) continue
    if (isUnreadable === true) env.unreadable.add(txid)
    for (const transfer of own) {
      const promised = isScanned && env.shown.has(transfer.to)
      const known = isUnreadable === true ? env.hidden : env.transfers
      known.set(`${txid}:${transfer.position}`, { ...transfer, txid, height, hash, promised })
    }
    for (const one of sent) {
      env.sent.set(`${txid}:${one.position}`, { ...one, txid, height, hash, promised: false })
    }
    for (const act of acts) {
      env.count(`issuer: ${act.kind}`)
      const isKnown = act.address === null || act.kind === 'deprecated' || env.shown.has(act.address)
      env.acts.set(`${txid}:${act.position}`, { ...act, height, place: i, promised: isScanned && isKnown })
    }
  }
  noteChanges(env, height, payments, isScanned)
  return payments
}

function noteChanges(env: Environment, height: number, payments: readonly Payment[], isScanned: boolean): void {
  const isKnowable = ({ address, hidden }: BalanceChange) => isScanned && env.shown.has(address) && hidden !== true
  const changed = payments.flatMap(({ changes }) => changes)
  env.changedAt.set(
    height,
    changed.map((change) => `${change.contract} ${change.address}`),
  )
  for (const change of changed) {
    if (!isKnowable(change)) env.unknowable.add(`${change.contract} ${change.address}`)
    if (change.amount < 0n && change.hidden !== true && change.byIssuer !== true) env.senders.add(change.address)
  }
}

/**
 * Draws the payments of the next block. Each payment is drawn with the balances that the payments
 * before it leave.
 */
function drawPayments(env: Environment): readonly Payment[] {
  const { random, scenario, lost, chain, balances, shown, owners } = env
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
  const payments = Array.from({ length: count || random.int(0, scenario.transactionsMax) }, () => {
    const payment = drawPayment(random, parties)
    balances.apply(height, payment.changes)
    return payment
  })
  for (const [rate, draw] of [
    [scenario.issuer, drawActs],
    [scenario.sending, drawSending],
  ] as const) {
    if (parties.shown.length === 0 || !env.aside.chance(rate)) continue
    const payment = draw(env.aside, parties)
    balances.apply(height, payment.changes)
    payments.push(payment)
  }
  if (!scenario.hasUnreadable || env.unreadable.size > 0 || height < crowdAt || shown.size === 0) return payments
  const to = random.pick(parties.shown)
  const last = [payUnreadably(random, to), payTrx(addressOf(0x2000), to, 5_000n)]
  for (const { changes } of last) balances.apply(height, changes)
  return [...payments, ...last]
}

/** The nodes show the canonical chain again, and the scan has gone on. */
export function endFork(env: Environment): void {
  env.isForked = false
  env.forkedUntil = env.scheduler.now()
}

/**
 * The state of the scan that was stored at the time `from`, and each state that was stored since.
 */
export function statesSince({ scanHistory }: Environment, from: number): readonly (StoredScan | undefined)[] {
  const before = scanHistory.findLastIndex(({ at }) => at <= from)
  return scanHistory.slice(Math.max(0, before)).map(({ scan }) => scan)
}
