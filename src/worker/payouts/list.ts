import { countedMax } from '../common/counted.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { ReadContext } from '../ledger/context.ts'
import { pageRowsDefault } from '../ledger/store/entries.ts'
import { readAnswers } from './answers.ts'
import { findLeavingStop, type LeavingFacts } from './leaving.ts'
import { findWaitReason } from './lifecycle.ts'
import type { Payout, WhyItWaits } from './payout.ts'
import { selectHoldings, selectLeavingFacts } from './store/facts.ts'
import { type ListedPayout, type PayoutSelection, selectPayoutPage } from './store/lists.ts'
import { isBeyond } from './wallet.ts'

/**
 * One page of payouts, newest first, or oldest first with `after`. `count` is the number on all
 * pages; `countedMax` means that many or more.
 */
export interface PayoutList {
  readonly list: readonly Payout[]
  readonly count: number
}

/**
 * Reads one page of payouts. An approved payout has the reason why it is not offered to the signer
 * now, if there is one.
 */
export async function listPayouts(
  { db, clock, currencies, payouts: rules }: Pick<ReadContext, 'db' | 'clock' | 'currencies' | 'payouts'>,
  selection: PayoutSelection,
): Promise<PayoutList> {
  const { limit = pageRowsDefault } = selection
  const cuys = selection.cuy === undefined ? currencies.list.map(({ cuy }) => cuy) : [selection.cuy]
  const { list, count } = await selectPayoutPage(db, selection, cuys, limit, countedMax)
  const hasApproved = list.some(({ payout }) => payout.state === 'approved')
  const facts = rules === null || !hasApproved ? null : await selectLeavingFacts(db, rules.address)
  const held = facts === null ? [] : await selectHoldings(db, facts.address)
  const whyOf = ({ payout, isToUser }: ListedPayout): WhyItWaits | null => {
    if (payout.state !== 'approved') return null
    return isToUser ? 'to-user' : (stopOf(payout.cuy, facts) ?? (isBeyond(payout, held, clock.now()) ? 'beyond' : null))
  }
  const stopOf = (cuy: CurrencyId, known: LeavingFacts | null) =>
    known === null ? null : findLeavingStop(known, currencies.byId.get(cuy), 'offer')
  return {
    list: list.map((listed) => {
      return {
        ...listed.payout,
        waitsFor: whyOf(listed),
        waitReason: listed.payout.state === 'waiting' ? findWaitReason(listed.payout) : null,
        other: listed.other,
        failure: listed.failure,
        answers: readAnswers(listed.answers),
      }
    }),
    count,
  }
}
