import type { PayoutId } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { PayoutFailure } from './failure.ts'
import { noHead } from './hand-in.ts'
import { findStopOfAll, refuseStopped, stoppedCurrencies } from './leaving.ts'
import type { Payout } from './payout.ts'
import type { Head } from './signed-bytes.ts'
import { selectHoldings, selectLeavingFacts } from './store/facts.ts'
import { type OpenCurrency, selectOffer } from './store/signing.ts'
import { payableMost } from './wallet.ts'

/**
 * The payouts that a signer may sign now, and the newest final block, to which the signed
 * transactions should refer.
 */
export interface SignerOffer {
  readonly payouts: readonly (Payout & { readonly proof: string | null })[]
  readonly head: Head
}

export const offeredMax = 100

export interface OfferContext {
  readonly db: ReadDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly currencies: Currencies
  readonly rules: PayoutRules
  /**
   * Whether the database is a restored older copy, which only the scanner's memory can tell. Called
   * after the payouts were read, so that nothing of a copy is offered.
   */
  readonly isRestored: () => Promise<boolean>
}

/**
 * The approved payouts with an id above `after`, oldest first, or why none is offered. Payouts in a
 * currency that may not leave now are left out, and those to an address that has since been issued
 * to a user, and those that the payout address plainly cannot pay for. `other` may already have
 * paid one.
 */
export async function offerPayouts(
  { db, clock, currencies, rules, isRestored }: OfferContext,
  after: PayoutId | undefined,
): Promise<Result<SignerOffer, PayoutFailure>> {
  const facts = await selectLeavingFacts(db, rules.address)
  const stop = findStopOfAll(facts, 'offer')
  if (stop !== null) return err(refuseStopped(stop))
  const stopped = stoppedCurrencies(facts, currencies.list, 'offer')
  const held = await selectHoldings(db, rules.address)
  const open = currencies.list.flatMap(({ cuy, asset }): OpenCurrency[] => {
    const most = payableMost(asset.kind === 'native' ? '' : asset.contract, held, clock.now())
    return stopped.has(cuy) ? [] : [{ cuy, most: most === null ? null : String(most) }]
  })
  const { offered, head } = await selectOffer(db, open, after ?? 0, offeredMax)
  const restored = (await isRestored()) ? findStopOfAll({ ...facts, restoredAt: clock.now() }, 'offer') : null
  if (restored !== null) return err(refuseStopped(restored))
  if (head === null) return err(noHead)
  const payouts = offered.map(({ payout, other }) => ({ ...payout, other }))
  return ok({ payouts, head })
}
