import type { BlockHeight } from '../chain/block.ts'
import type { ReadDatabase } from '../d1/database.ts'
import { statement } from '../d1/statement.ts'
import type { CreditKey } from '../deposits/transfer.ts'
import type { ScanContext } from './rules.ts'
import type { ScanState } from './scan-state.ts'

/** Credited transfers that are looked for after one correction. */
const lookedForMax = 500
const memoryKey = 'recheck'

/** Credited transfers above the height of a correction that the scan has not found again. */
interface Recheck {
  readonly correction: number
  /** Once the scan is here, what is missing is reported. */
  readonly until: BlockHeight
  /** `txid:position`. */
  readonly missing: readonly string[]
}

const keyOf = ({ txid, position }: CreditKey) => `${txid}:${position}`

/** After a correction: what is credited above the position, and must be found again. */
export async function openRecheck({ db, host }: ScanContext, { correctedBy, height }: ScanState): Promise<Recheck> {
  const stored = await host.load<Recheck>(memoryKey)
  if (stored?.correction === correctedBy) return stored
  const credited = await selectCreditedAbove(db, height)
  const until = Math.max(height, ...credited.map((one) => one.height)) as BlockHeight // safe: one of them
  const recheck = { correction: correctedBy, until, missing: credited.map(keyOf) }
  host.save(memoryKey, recheck)
  return recheck
}

/** Takes away what was found. */
export function noteFound({ host }: Pick<ScanContext, 'host'>, recheck: Recheck, found: readonly CreditKey[]): Recheck {
  if (recheck.missing.length === 0) return recheck
  const keys = new Set(found.map(keyOf))
  const next = { ...recheck, missing: recheck.missing.filter((key) => !keys.has(key)) }
  host.save(memoryKey, next)
  return next
}

/** Raises an alarm for each credited transfer that was not found again, once the scan has passed all of their blocks. */
export async function reportMissing(
  { alarms, host }: Pick<ScanContext, 'alarms' | 'host'>,
  { correctedBy, height }: ScanState,
): Promise<void> {
  const recheck = await host.load<Recheck>(memoryKey)
  if (recheck === undefined || recheck.correction !== correctedBy || recheck.missing.length === 0) return
  if (height < recheck.until) return
  for (const key of recheck.missing) {
    const [txid = '', place = ''] = key.split(':')
    await alarms.raise('corrected-credit', key, { txid, position: Number(place) })
  }
  host.save(memoryKey, { ...recheck, missing: [] })
}

async function selectCreditedAbove(db: ReadDatabase, height: BlockHeight) {
  const rows = await selectAbove(db, { height, max: lookedForMax }).all<CreditKey & { readonly height: BlockHeight }>()
  return rows.results
}

const selectAbove = statement(`
SELECT txid, position, height FROM transfer INDEXED BY transfer_height
WHERE height > :height AND state = 'credited' LIMIT :max`)
