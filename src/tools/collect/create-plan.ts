import { formatBase58 } from '../../chain/address.ts'
import { ok, type Result } from '../../common/result.ts'
import { formatInstant, type UnixMs } from '../../common/time.ts'
import type { ListedAddress } from './address-list.ts'
import { gatherFacts, type OnProgress, planCurrency } from './gather.ts'
import { decideSteps } from './make-plan.ts'
import { type CollectNodes, readFinalHead } from './node-access.ts'
import { type CollectPlan, type LeftOut, planHeader } from './plan.ts'
import type { CollectSettings } from './settings.ts'
import type { TransactionHeader } from './transaction.ts'

const hourMs = 3_600_000
const unknownWhy = 'the nodes do not agree on the balance: plan again'

/**
 * A plan for these addresses: `hours` is how long its transactions are valid. It reads from the nodes and needs no key. The
 * error is one sentence.
 */
export async function createPlan(
  nodes: CollectNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  hours: number,
  onProgress: OnProgress,
): Promise<Result<CollectPlan, string>> {
  const facts = await gatherFacts(nodes, settings, listed, onProgress)
  if (!facts.ok) return facts
  const head = await readFinalHead(nodes)
  if (!head.ok) return head
  const { height, hash, timestamp: newest } = head.value
  const now = nodes.platform.clock.now()
  const { to, mode, min, trxPrice, gasAddress } = settings
  const currencies = settings.currencies.map(planCurrency)
  const header: TransactionHeader = {
    to: formatBase58(to),
    gas: { mode, address: formatBase58(gasAddress) },
    reference: { height, hash },
    timestamp: now,
    expiration: Math.min(newest, now) + hours * hourMs, // also where the clock of this machine is wrong
    currencies,
  }
  const wishes = { to: header.to, mode, currencies, min, trxPrice }
  const { addresses, unknown, prices, gas } = facts.value
  const decided = decideSteps(header, addresses, wishes, prices, gas)
  if (!decided.ok) return decided
  const undecided = unknown.map((one): LeftOut => ({ ...one, units: '0', why: unknownWhy }))
  return ok({
    ...planHeader,
    chainId: settings.config.chainId,
    createdAt: formatInstant(now),
    expiresAt: formatInstant(header.expiration as UnixMs), // safe: milliseconds since 1970
    account: settings.account,
    ...header,
    steps: decided.value.steps,
    leftOut: [...decided.value.leftOut, ...undecided],
  })
}
