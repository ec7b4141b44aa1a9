import { formatBase58 } from '../../chain/address.ts'
import { formatInstant, type UnixMs } from '../../common/time.ts'
import { readFinalizedHead } from '../../tron/finalized-head.ts'
import { ToolError } from '../keys/terminal.ts'
import type { ListedAddress } from './address-list.ts'
import { gatherFacts, type OnProgress, planCurrency } from './gather.ts'
import { decideSteps } from './make-plan.ts'
import type { CollectNodes } from './nodes.ts'
import { type CollectPlan, planHeader } from './plan.ts'
import type { CollectSettings } from './settings.ts'
import type { TransactionHeader } from './transaction.ts'

const hourMs = 3_600_000

/**
 * A plan for these addresses: `hours` is how long its transactions are valid. It reads from the nodes and needs no key. Where no plan
 * is possible it throws a `ToolError`.
 */
export async function createPlan(
  nodes: CollectNodes,
  settings: CollectSettings,
  listed: readonly ListedAddress[],
  hours: number,
  onProgress: OnProgress,
): Promise<CollectPlan> {
  const { addresses, unknown, prices, gas } = await gatherFacts(nodes, settings, listed, onProgress)
  const { height, hash, timestamp: newest } = await nodes.read((session) => readFinalizedHead(session, null))
  const now = nodes.clock.now()
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
  const decided = decideSteps(header, addresses, { to: header.to, mode, currencies, min, trxPrice }, prices, gas)
  if (!decided.ok) throw new ToolError(decided.error)
  return {
    ...planHeader,
    chainId: settings.config.chainId,
    createdAt: formatInstant(now),
    expiresAt: formatInstant(header.expiration as UnixMs), // safe: milliseconds since 1970
    account: settings.account,
    ...header,
    steps: decided.value.steps,
    leftOut: [...decided.value.leftOut, ...unknown],
  }
}
