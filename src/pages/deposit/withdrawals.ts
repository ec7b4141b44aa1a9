import type { PayoutState } from '../../worker/common/payout-states.ts'
import type { Api, Reply } from '../kit/api.ts'
import { html } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import type { ListPage } from '../kit/read.ts'
import { explorerLink } from './arrivals.ts'
import type { DepositContext, DepositModel } from './context.ts'
import { type HistoryEntry, type OwnPayout, readOwnPayouts } from './data.ts'
import { payoutsPath } from './paths.ts'

const withdrawal = 2
/** How many payouts are requested at a time. */
const payoutRows = 100
const keyOf = ({ cuy, osn }: Pick<OwnPayout, 'cuy' | 'osn'>) => `${cuy} ${osn}`

/** Reads the payouts of the withdrawals that the history shows; null if it shows none. */
export async function loadPayouts(model: DepositModel, api: Api): Promise<Reply<ListPage<OwnPayout>> | null> {
  const { account, filter } = model
  const oldest = model.history?.list.findLast(({ type }) => type === withdrawal)
  if (oldest === undefined) return null
  for (let before: number | undefined; ; ) {
    const answer = await api.get(payoutsPath(filter, payoutRows, before), readOwnPayouts)
    if (!answer.ok || model.account !== account) return answer
    const { list } = answer.data
    model.payouts = new Map([...model.payouts, ...list.map((payout) => [keyOf(payout), payout] as const)])
    const last = list.at(-1)
    // A payout has the time of its entry. If the last payout on this page is not older than the
    // oldest shown entry, further payouts may be on the next page.
    const isMissing =
      last !== undefined && list.length === payoutRows && Date.parse(last.created_at) >= Date.parse(oldest.created_at)
    if (!isMissing || last.id >= (before ?? Number.POSITIVE_INFINITY)) return answer
    before = last.id
  }
}

/**
 * For the line of an entry: the state of the withdrawal's payout, and a link to its transaction.
 * Empty if the entry has no payout.
 */
export function payoutParts(context: DepositContext, entry: HistoryEntry): readonly HTMLElement[] {
  const { model, texts } = context
  const payout = entry.type === withdrawal ? model.payouts.get(keyOf(entry)) : undefined
  if (payout === undefined) return []
  const explorer = model.offer?.explorer ?? null
  const state = html('span', { class: 'muted' }, lookUp(stateNames(context), payout.state) ?? payout.state)
  if (explorer === null || payout.txid === null) return [state]
  return [state, explorerLink(explorer, `transaction/${payout.txid}`, texts.viewTransaction)]
}

/** The names of a payout's states, by the states that the service returns. */
const stateNames = ({ texts }: DepositContext): Readonly<Record<PayoutState, string>> => ({
  waiting: texts.payoutWaiting,
  approved: texts.payoutApproved,
  signed: texts.payoutSigned,
  paid: texts.payoutPaid,
  stuck: texts.payoutStuck,
  cancelled: texts.payoutCancelled,
})
