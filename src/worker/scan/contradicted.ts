import { formatBase58 } from '../chain/address.ts'
import { formatPosition } from '../chain/block.ts'
import { formatUnits } from '../common/amount.ts'
import type { TransferId } from '../common/ids.ts'
import { endSearch, selectNotFound } from '../deposits/store/transfers.ts'
import type { TransferFacts } from '../deposits/transfer.ts'
import type { Contradiction } from '../deposits/transitions.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { ScanContext } from './rules.ts'

/**
 * Raises an alarm for each credited transfer, and each movement, that final blocks show otherwise,
 * with both. Then ends the search for it. If this dies before, the transfer counts as not found
 * (`reportNotFound`), so that no contradiction stays without an alarm.
 */
export async function reportContradicted(
  { db, alarms, currencies }: Pick<ScanContext, 'db' | 'alarms' | 'currencies'>,
  contradicted: readonly Contradiction[],
): Promise<void> {
  for (const { stored, shown } of contradicted) {
    const { txid, position, uid } = stored
    const key = { txid, position: formatPosition(position) }
    const [was, chain] = [describe(stored, currencies), describe(shown, currencies)]
    const fields = { ...key, uid, ...(stored.state === 'moved' ? { moved: was } : { credited: was }), chain }
    await alarms.raise('corrected-credit', { ...key, height: shown.block.height }, fields)
  }
  await endSearches(
    { db },
    contradicted.flatMap(({ stored }) => (stored.isSought ? [stored.id] : [])),
  )
}

/**
 * Raises an alarm for at most `max` credited transfers that were sought in blocks which are all
 * read by now, and are in none of them.
 */
export async function reportNotFound(
  { db, alarms, currencies }: Pick<ScanContext, 'db' | 'alarms' | 'currencies'>,
  max: number,
): Promise<void> {
  const missing = await selectNotFound(db, max)
  for (const stored of missing) {
    const { txid, position, uid } = stored
    const key = { txid, position: formatPosition(position) }
    const chain = 'no such transfer to an address of this service'
    await alarms.raise('corrected-credit', key, { ...key, uid, credited: describe(stored, currencies), chain })
  }
  await endSearches(
    { db },
    missing.map(({ id }) => id),
  )
}

async function endSearches({ db }: Pick<ScanContext, 'db'>, ids: readonly TransferId[]): Promise<void> {
  if (ids.length > 0) await endSearch(db, ids)
}

/** Says a transfer's amount, recipient and block in a few words. */
function describe({ cuy, raw, to, block }: TransferFacts, { byId }: Currencies): string {
  const currency = byId.get(cuy)
  const amount =
    currency === undefined ? `${raw} of currency ${cuy}` : `${formatUnits(raw, currency.decimals)} ${currency.symbol}`
  return `${amount} to ${formatBase58(to)} in block ${block.height}`
}
