import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { minedMs } from '../../src/worker/payouts/watch.ts'
import type { AlarmKind } from '../../src/worker/platform/alarm-table.ts'
import type { LogFields } from '../../src/worker/platform/logger.ts'
import type { Environment } from './environment.ts'
import { hasActed } from './issuer-audit.ts'
import { expectedDeposit, mayWait } from './oracle.ts'
import type { PayoutWorld } from './payouts.ts'
import { currencies, freeAllowance, type Scenario } from './scenario.ts'
import type { Stored } from './stored.ts'

/**
 * Reports a violation if nothing in the run so far can have caused this alarm. `begunAt` is when
 * the invocation that raises it began.
 */
export function checkAlarm(env: Environment, kind: AlarmKind, fields: LogFields, begunAt: number): void {
  if (env.expected.has(kind)) return
  if (!hasCause(env, kind, fields, begunAt)) env.violate(`the alarm ${kind} has no cause: ${JSON.stringify(fields)}`)
}

function hasCause(env: Environment, kind: AlarmKind, fields: LogFields, begunAt: number): boolean {
  switch (kind) {
    case 'reconciliation-shortfall':
    case 'reconciliation-surplus':
      return canDiffer(env, fields)
    case 'chain-forked':
      return env.isForked || begunAt < env.forkedUntil // a tick of a superseded instance ends late
    case 'decimals-differ':
      return env.scenario.decimalsDiffer
    case 'deposit-too-large':
      return isTooLarge(env, fields)
    case 'nodes-disagree':
      return env.isForked || canDisagree(env.scenario) || isLimited(env, fields)
    case 'address-frozen':
    case 'token-paused':
    case 'token-fee-set':
    case 'token-deprecated':
      return hasActed(env, kind, fields) || env.isForked || env.creditedElsewhere.size > 0
    case 'configuration-differs':
      return env.counts.has('call: misconfigured')
    case 'key-was-used':
      return env.lost !== null
    case 'payout-refused':
    case 'payout-stuck':
    case 'payouts-unsigned':
    case 'payout-unknown':
      return hasPayoutCause(env, kind, fields)
    case 'endpoint-failing': // in a run with payouts an hour can pass before an event is sent again
      return env.scenario.payouts !== null
    case 'review-overdue':
      return env.scenario.reviews
    case 'payout-wallet-low':
    case 'misconfigured':
    case 'database-filling':
    case 'database-nearly-full':
    case 'events-expiring':
    case 'event-set-aside':
      return false
    case 'transaction-unreadable':
      return env.scenario.quorum === 1 && env.scenario.rates.malformed > 0
    case 'gap-unread':
      return canBeUnread(env, fields)
    case 'tick-failed':
      return env.scenario.rates.database > 0 || env.scenario.rates.kill > 0 || hasFailed(env)
    case 'allowance-used-up':
      return env.scenario.allowance !== freeAllowance
    case 'corrected-credit':
      return env.counts.has('operator: correction')
    case 'finality-stalled': // one node that is cut off is no cause, unless a clock jumps in a tick
      return env.trial?.trouble !== 'cut off' || env.trial.platform === 'clock'
    case 'node-behind': // in a trial only the troubled node is behind, unless a clock jumps
      return env.troubled === null || fields.node === env.troubled || env.trial?.platform === 'clock'
    case 'node-failing': // troubles of the platform can make requests to any node fail
    case 'archive-behind': // only a run with an archive can raise it
    case 'endpoint-behind':
    case 'node-lies':
    case 'node-unfit':
    case 'scan-stalled':
    case 'scan-behind':
    case 'paid-before-issue':
      return true // a node's lag or another chain id, a long fault, a payment too early: possible in any run
  }
}

function hasPayoutCause(env: Environment, kind: AlarmKind, { payout }: LogFields): boolean {
  const { payouts, restores } = env
  if (payouts === null) return false
  // In a restored copy the payout has no transaction. A chain that is corrected can have one that
  // had failed, after the payout was signed again.
  if (kind === 'payout-unknown') return restores > 0 || env.scenario.hardships.reverses
  // The blocks of a wrong chain, and those of a chain that is corrected, show late what has become
  // of a transaction.
  if (kind !== 'payout-refused' || env.scenario.hardships.reverses) return true
  const key = payouts.keyOfPayout(Number(payout))
  const own = [...payouts.signed].flatMap(([txid, signed]) => (signed.key === key ? [txid] : []))
  return own.some((txid) => isUntaken(env, payouts, txid))
}

/**
 * What nodes answer is stored this many milliseconds later at most, where nothing fails, and read
 * by a tick that has begun.
 */
const notedMs = 30_000

/**
 * Whether the service can know of no node that has a transaction and passes it on: the last answer
 * of each node says so, or final blocks. An answer can be lost where requests fail.
 */
function isUntaken(env: Environment, payouts: PayoutWorld, txid: Txid): boolean {
  const { scenario, chain, scheduler } = env
  const { malformed, database, slow, kill } = scenario.rates
  const { untakenUntil } = payouts.sendings.get(txid) ?? { untakenUntil: Infinity }
  const { rivals, away } = scenario.hardships
  const mayLose =
    rivals + away > 0 ||
    scenario.storm !== null ||
    scenario.trial !== null ||
    [malformed, database, slow, kill].some((rate) => rate > 0)
  const block = chain.blockOf(txid)
  const finalMs = (chain.at(env.finalized())?.seconds ?? 0) * 1_000
  const isMissing = finalMs >= payouts.sentAt(txid) + minedMs && (block === undefined || block.height > env.finalized())
  return untakenUntil >= scheduler.now() - notedMs || mayLose || isMissing
}

/** Whether this run can leave blocks unread for long enough to raise `gap-unread`. */
function canBeUnread(env: Environment, { attempts }: LogFields): boolean {
  const { scenario, phase, unreadable, restores } = env
  const isOfPayouts = scenario.payouts !== null
  // for a quarter of an hour no tick had requests left to read the blocks
  if (isOfPayouts && attempts === 0) return true
  // after a restore, the blocks of a payout can be above the scan's position
  if (isOfPayouts && restores > 0) return true
  // a tick that began in the storm can end after it
  if (phase === 'storm' || (phase === 'recovery' && scenario.storm !== null)) return true
  const cannotRender = scenario.refusals !== null && scenario.refusals.unrendered !== null
  return (
    scenario.hardships.lacking !== null ||
    canDisagree(scenario) ||
    unreadable.size > 0 ||
    cannotRender ||
    hasFailed(env) || // the ticks that it leaves are too short for some blocks
    scenario.rates.database > 0 ||
    scenario.rates.malformed > 0
  )
}

const databaseFaults = ['database: away', 'database: full', 'database: no end', 'database: slow', 'database: cancelled']

/**
 * Whether the database was full, hung or slow, or cancelled a query, in this run. `rates.database`
 * does not decide about these faults.
 */
const hasFailed = ({ counts }: Environment) => databaseFaults.some((fault) => counts.has(fault))

/**
 * Whether a node has refused a receipt as too large that other nodes have sent: its limit for
 * replies is lower, or it refuses all receipts in a storm.
 */
function isLimited({ counts, scenario }: Environment, { answer, otherAnswer }: LogFields): boolean {
  const isRefused = answer === 'too large' || otherAnswer === 'too large'
  return isRefused && (counts.has('reply limit') || scenario.storm?.nodeFault === 'refusal')
}

/**
 * Whether nodes can disagree about final blocks in this run. Correct nodes can, too, because two
 * servers behind one URL can differ.
 */
function canDisagree({ nodes, rates, storm, troubles, trial }: Scenario): boolean {
  return (
    troubles.node > 0 ||
    trial !== null ||
    rates.change > 0 ||
    rates.malformed > 0 ||
    storm?.nodeFault === 'malformed' ||
    nodes.some((node) => node.byzantine)
  )
}

function canDiffer(env: Environment, { address, cuy }: LogFields): boolean {
  const owned = [...env.owners.keys()].find((one) => formatBase58(one) === address)
  const currency = currencies.find((one) => one.cuy === cuy)
  return owned !== undefined && currency !== undefined && hasDifference(env, owned, currency.contract)
}

/**
 * How many readings must differ before an alarm. It is a copy of the service's limit, because a
 * check must not use the service's own constants.
 */
const readingsNeeded = 3

/**
 * Whether a difference between records and chain can be reported: the chain has changed the balance
 * by something that the service cannot know, or three readings were false. For TRX one false
 * reading can suffice. A shortfall that fees of the address can explain is accepted as fees at
 * once; if it was too large, later readings show the excess as a surplus.
 */
function hasDifference(
  { unknowable, falseReadings, senders }: Environment,
  address: Address,
  contract: Address | null,
): boolean {
  const key = `${contract} ${address}`
  const needed = contract === null && senders.has(address) ? 1 : readingsNeeded
  return unknowable.has(key) || (falseReadings.get(key) ?? 0) >= needed
}

function isTooLarge(env: Environment, { txid, position }: LogFields): boolean {
  if (env.isForked || env.creditedElsewhere.size > 0) return true // the transfer's block may have been replaced
  const transfer = env.transfers.get(`${txid}:${position}`)
  const expected = transfer === undefined ? null : expectedDeposit(env, transfer)
  return expected !== null && (expected.reason === 'too-large' || mayWait(env, expected, 'wallet-full'))
}

/**
 * The fault that is left once all comparisons are made, or null. For each address and currency, the
 * recorded amount, the accepted fees and the reported difference must add up to what the chain has,
 * and a reported difference must have a cause.
 */
export function auditHoldings(env: Environment, stored: Stored): string | null {
  const holdings = new Map(stored.holdings().map((one) => [`${one.cuy} ${one.address}`, one]))
  for (const address of env.owners.keys()) {
    for (const { cuy, contract } of currencies) {
      const holding = holdings.get(`${cuy} ${address}`)
      const held = env.balances.at(env.finalized(), address, contract)
      const { recorded = 0n, accepted = 0n, reported = 0n } = holding ?? {}
      const explained = recorded + accepted + reported
      const what = `${cuy} of ${address}`
      if (held !== explained) return `${what}: the chain has ${held}, and ${explained} is explained`
      const isFee = contract === null && accepted <= 0n && env.senders.has(address)
      if (accepted !== 0n && !isFee) return `${what}: ${accepted} was accepted as fees`
      if (reported !== 0n && !hasDifference(env, address, contract)) {
        return `${what}: a difference of ${reported} was reported and there is none`
      }
    }
  }
  return null
}
