import { type Address, formatBase58 } from '../../src/chain/address.ts'
import type { AlarmKind, LogFields } from '../../src/platform/logger.ts'
import type { Environment } from './environment.ts'
import { clockSkewMaxMs } from './invocation.ts'
import { expectedDeposit, mayBeFull } from './oracle.ts'
import { currencies, type Scenario } from './scenario.ts'
import type { Stored, StoredChange } from './stored.ts'

/** Checks that an alarm has a cause. */
export function checkAlarm(env: Environment, kind: AlarmKind, fields: LogFields): void {
  const { scenario } = env
  const hasCause = () => {
    switch (kind) {
      case 'reconciliation-shortfall':
      case 'reconciliation-surplus':
        return canDiffer(env, fields)
      case 'chain-forked':
        return env.isForked
      case 'decimals-differ':
        return scenario.decimalsDiffer
      case 'deposit-too-large':
        return isTooLarge(env, fields)
      case 'nodes-disagree':
        return env.isForked || canDisagree(scenario) || isStormOfMalformedReplies(env)
      case 'configuration-differs':
        return env.counts.has('call: misconfigured')
      case 'key-was-used':
        return env.lost !== null
      case 'misconfigured':
      case 'bytes-unreadable':
      case 'webhook-failing':
        return false
      case 'block-unreadable':
        return canDisagree(scenario) || env.phase === 'storm'
      case 'tick-failed':
        return scenario.rates.database > 0
      case 'finality-stalled':
      case 'node-lies':
      case 'scan-stalled':
      case 'paid-before-issue':
        return true // from a node's lag or another chain's id; a long fault; a payment to an address that is issued later
    }
  }
  if (!hasCause()) env.violate(`the alarm ${kind} has no cause: ${JSON.stringify(fields)}`)
}

/**
 * Whether nodes can disagree about final blocks. Correct ones can where one does not store the logs of failed transactions
 * and their receipts cannot be read, or where the backends of one differ and it takes no batches.
 */
function canDisagree({ nodes, rates }: Scenario): boolean {
  return rates.change > 0 || nodes.some(({ byzantine, keepsFailedLogs }) => byzantine || !keepsFailedLogs)
}

/** In such a storm one node can leave a log out of both of its replies, and give no receipt that shows it. */
function isStormOfMalformedReplies({ phase, scenario: { storm } }: Environment): boolean {
  return phase === 'storm' && storm?.nodeFault === 'malformed'
}

function canDiffer(env: Environment, { address, cuy }: LogFields): boolean {
  const owned = [...env.owners.keys()].find((one) => formatBase58(one) === address)
  const currency = currencies.find((one) => one.cuy === cuy)
  return owned !== undefined && currency !== undefined && hasDifference(env, owned, currency.contract)
}

/** Readings with a difference before an alarm. The numbers of the checks are never the service's own. */
const readingsNeeded = 3

/**
 * Whether a difference can be confirmed: the chain has changed the balance by something that the service cannot know, or
 * three readings were false. Of TRX one false reading can suffice: a shortfall that fees of the address can explain is
 * accepted as fees at once, and what is too much of it is confirmed later as a surplus.
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
  const transfer = env.transfers.get(`${txid}:${position}`)
  const expected = transfer === undefined ? null : expectedDeposit(env, transfer)
  return expected !== null && (expected.outcome === 'too-large' || mayBeFull(env, expected))
}

/** Blocks by which the node of a balance may be behind the scan: so much later each balance includes a change. */
const readingLagBlocks = 20

/**
 * A stored deposit or movement after which no balance of its address was read, or null. It counts from where every balance
 * includes it.
 */
export function findUnread({ newestReadings }: Environment, { reconciliation }: Stored): StoredChange | null {
  const isRead = ({ address, cuy, height, storedAt }: StoredChange) => {
    const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
    const newest = newestReadings.get(`${contract} ${address}`)
    return (
      newest !== undefined && newest.at >= storedAt - clockSkewMaxMs && newest.position >= height + readingLagBlocks
    )
  }
  return reconciliation.changes().find((change) => !isRead(change)) ?? null
}

/**
 * What is wrong with a reconciliation that is complete, or null: of each address and currency, what is stored explains
 * what the chain has, together with fees and the confirmed difference, and a confirmed difference has a cause.
 */
export function auditReconciliation(env: Environment, stored: Stored): string | null {
  for (const address of env.owners.keys()) {
    for (const { cuy, contract } of currencies) {
      const { received, sent, pending } = stored.reconciliation.totals(address, cuy)
      const { fees, confirmed } = stored.reconciliation.difference(address, cuy)
      const held = env.balances.at(env.finalized(), address, contract)
      const explained = received - sent + fees + confirmed
      const what = `${cuy} of ${address}`
      if (held < explained || held > explained + pending) {
        return `${what}: the chain has ${held}, and ${explained} is explained`
      }
      if (fees > 0n || (contract !== null && fees < 0n)) return `${what}: ${fees} was accepted as fees`
      if (confirmed !== 0n && !hasDifference(env, address, contract)) {
        return `${what}: a difference of ${confirmed} was confirmed and there is none`
      }
    }
  }
  return null
}
