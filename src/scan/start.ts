import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Clock } from '../platform/clock.ts'
import type { ScanStore } from './scan-store.ts'

/** What starting the scan needs. */
export interface ScanStartParts {
  readonly scanStore: Pick<ScanStore, 'state' | 'start'>
  readonly chain: Pick<Chain, 'finalizedHead'>
  readonly clock: Clock
  /** `TRON_START_BLOCK`, or null for the finalized height at the first start. */
  readonly startBlock: BlockHeight | null
}

/** Why the scan cannot start: the chain cannot be read, or `TRON_START_BLOCK` is above the agreed finalized head. */
export type ScanStartFailure = ChainFailure | { readonly kind: 'start-above-head' }

/**
 * Makes sure that the height from which deposits are looked for is stored: the condition for showing an address
 * ("watch before show"). The agreed finalized height is stored with it, so nodes must be queried where nothing is stored.
 */
export async function ensureScanStarted(parts: ScanStartParts): Promise<Result<null, ScanStartFailure>> {
  const { scanStore, startBlock, clock } = parts
  if ((await scanStore.state()) !== null) return ok(null)
  const head = await parts.chain.finalizedHead()
  if (!head.ok) return head
  const { height: finalized, hash } = head.value
  if (startBlock !== null && startBlock > finalized) return err({ kind: 'start-above-head' })
  // By default the finalized block counts as scanned: it was final before any address was issued.
  const position =
    startBlock === null ? { height: finalized, hash } : { height: (startBlock - 1) as BlockHeight, hash: null }
  await scanStore.start(position, clock.now(), finalized)
  return ok(null)
}
