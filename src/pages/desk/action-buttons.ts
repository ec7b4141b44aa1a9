import { isSameName } from '../../worker/common/ids.ts'
import { button, type Child, html } from '../kit/dom.ts'
import { type Action, openActionForm } from './action-form.ts'
import { type DeskContext, depositAmount, deskAmount } from './context.ts'
import type { DeskPayout, OwnedDeposit } from './data.ts'
import { hint } from './parts.ts'

type PayoutAction = Extract<Action, { payout: DeskPayout }>
const cancellable = ['waiting', 'approved', 'stuck']

/**
 * A button for each action on a payout that the reader's token, or `DESK_ACCESS`, allows. Nobody
 * may approve a payout that they have asked for.
 */
export function payoutActions(context: DeskContext, about: Omit<PayoutAction, 'kind'>): Child[] {
  const { texts, model } = context
  const { payout, left } = about
  const { name, scopes } = model.summary?.reader ?? { name: '', scopes: [] }
  const mayApprove = scopes.includes('ledger:approve')
  const isOwn = isSameName(payout.by, name)
  const isOpen = payout.state === 'waiting' || payout.state === 'stuck'
  const mayCancel = left.length > 0 ? mayApprove && !isOwn : mayApprove || scopes.includes('ledger:pay')
  const actions: readonly Action[] = [
    ...(isOpen && mayApprove && !isOwn ? [{ ...about, kind: 'approve' } as const] : []),
    ...(cancellable.includes(payout.state) && mayCancel ? [{ ...about, kind: 'cancel' } as const] : []),
  ]
  return [isOpen && mayApprove && isOwn ? hint(texts.ownPayout) : null, ...buttonsOf(context, actions)]
}

/**
 * The amounts in the texts of actions: what the payout pays (`amount`), and what returns to the
 * wallet if it is cancelled (`back`).
 */
export const sumsOfPayout = (context: DeskContext, payout: DeskPayout, taken: string) => ({
  amount: deskAmount(context, payout.amt, payout.cuy),
  back: deskAmount(context, taken, payout.cuy),
})

/**
 * The buttons of a deposit that is held for review (credit, refuse), or was refused after a review
 * (credit).
 */
export function depositActions(context: DeskContext, deposit: OwnedDeposit): Child[] {
  const { state, reason, amt, cuy } = deposit
  const mayApprove = context.model.summary?.reader.scopes.includes('ledger:approve') === true
  if (reason !== 'review' || !mayApprove) return []
  const about = { deposit, amount: depositAmount(context, amt, cuy) }
  const kinds = state === 'held' ? (['credit', 'refuse'] as const) : (['credit'] as const)
  return buttonsOf(
    context,
    kinds.map((kind) => ({ ...about, kind })),
  )
}

/**
 * A button for each action, which opens a form with its consequences. Only the form sends the
 * request.
 */
function buttonsOf(context: DeskContext, actions: readonly Action[]): Child[] {
  const { texts } = context
  if (actions.length === 0) return []
  const place = html('div', {})
  const open = (action: Action, opener: HTMLElement) => {
    const close = () => {
      place.replaceChildren()
      opener.focus()
    }
    place.replaceChildren(openActionForm(context, action, close))
    place.scrollIntoView({ block: 'nearest' }) // so that the whole form is visible, with its buttons
    place.querySelector<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
  }
  const buttons = actions.map((action) => {
    const made = button({ 'data-act': action.kind }, texts.actions[action.kind], () => open(action, made))
    return made
  })
  return [html('div', { class: 'row' }, ...buttons), place]
}
