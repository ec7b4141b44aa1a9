import type { Api, Reply } from '../kit/api.ts'
import { html } from '../kit/dom.ts'
import type { ListPage } from '../kit/read.ts'
import { explorerLink } from './arrivals.ts'
import type { DepositContext, DepositModel } from './context.ts'
import { type HistoryEntry, type OwnPayout, type OwnPayoutState, readOwnPayouts } from './data.ts'
import type { Texts } from './languages/en.ts'
import { payoutsPath } from './paths.ts'

const withdrawal = 2
const keyOf = ({ cuy, osn }: Pick<OwnPayout, 'cuy' | 'osn'>) => `${cuy} ${osn}`

/** Reads the payouts of the withdrawals that the history shows; null if it shows none. */
export async function loadPayouts(model: DepositModel, api: Api): Promise<Reply<ListPage<OwnPayout>> | null> {
  const { account } = model
  const oldest = model.history?.list.findLast(({ type }) => type === withdrawal)
  if (oldest === undefined) return null
  const payouts = new Map<string, OwnPayout>()
  let last: OwnPayout | undefined
  for (;;) {
    const answer = await api.get(payoutsPath(last?.id), readOwnPayouts)
    if (!answer.ok || model.account !== account) return answer
    for (const payout of answer.data.list) payouts.set(keyOf(payout), payout)
    last = answer.data.list.at(-1)
    // A payout and its entry are stored at the same time.
    if (last === undefined || payouts.size >= answer.data.count || Date.parse(last.at) < Date.parse(oldest.at)) {
      model.payouts = payouts
      return answer
    }
  }
}

/** Where the payout of a withdrawal is, and its transaction in the explorer. Empty if the entry has no payout. */
export function payoutParts({ model, texts }: DepositContext, entry: HistoryEntry): readonly HTMLElement[] {
  const payout = entry.type === withdrawal ? model.payouts.get(keyOf(entry)) : undefined
  if (payout === undefined) return []
  const explorer = model.offer?.explorer ?? null
  const state = html('span', { class: 'muted' }, stateName(texts)[payout.state])
  if (explorer === null || payout.txid === null) return [state]
  return [state, explorerLink(explorer, `transaction/${payout.txid}`, texts.viewTransaction)]
}

const stateName = (texts: Texts): Readonly<Record<OwnPayoutState, string>> => ({
  waiting: texts.payoutWaiting,
  approved: texts.payoutApproved,
  signed: texts.payoutSigned,
  paid: texts.payoutPaid,
  stuck: texts.payoutStuck,
  cancelled: texts.payoutCancelled,
})
