import { isSameName } from '../../worker/common/ids.ts'
import { button, type Child, html } from '../kit/dom.ts'
import { type Action, type ActionKind, openActionForm } from './action-form.ts'
import type { DeskContext } from './context.ts'
import { type ActionItem, type DeskPayout, type Failures, isPayout } from './data.ts'
import { hint } from './parts.ts'

const cancellable = ['waiting', 'approved', 'stuck']

/** Whether the reader has asked for this payout, so that another name must approve it. */
const isOwn = ({ model }: DeskContext, { by }: DeskPayout) => isSameName(by, model.summary?.reader.name ?? '')

/**
 * The kinds of actions on a payout or a deposit that the reader's token, or `DESK_ACCESS`, allows.
 * Nobody may approve a payout that they have asked for. Of deposits, those can be decided that are
 * held for review, and those that were refused after a review can be credited.
 */
export function actionsFor(context: DeskContext, item: ActionItem): readonly ActionKind[] {
  const scopes = context.model.summary?.reader.scopes ?? []
  const mayApprove = scopes.includes('ledger:approve')
  if (!isPayout(item)) {
    if (item.reason !== 'review' || !mayApprove) return []
    return item.state === 'held' ? ['credit', 'refuse'] : ['credit']
  }
  const isOpen = item.state === 'waiting' || item.state === 'stuck'
  const mayDecide = mayApprove && !isOwn(context, item)
  const mayCancel = (item.moved ?? []).length > 0 ? mayDecide : mayApprove || scopes.includes('ledger:pay')
  return [
    ...(isOpen && mayDecide ? (['approve'] as const) : []),
    ...(cancellable.includes(item.state) && mayCancel ? (['cancel'] as const) : []),
  ]
}

/** Says that another name must approve a payout, if the reader has asked for it. */
export function ownHint(context: DeskContext, payout: DeskPayout): Child {
  const isOpen = payout.state === 'waiting' || payout.state === 'stuck'
  const mayApprove = context.model.summary?.reader.scopes.includes('ledger:approve') === true
  return isOpen && mayApprove && isOwn(context, payout) ? hint(context.texts.ownPayout) : null
}

/** A button for each action on a payout. */
export const payoutActions = (context: DeskContext, payout: DeskPayout): Child[] => [
  ownHint(context, payout),
  ...itemActions(context, payout),
]

/** A button for each action on a payout or a deposit. Only the form sends the request. */
export function itemActions(context: DeskContext, item: ActionItem): Child[] {
  const kinds = actionsFor(context, item)
  if (kinds.length === 0) return []
  const form = createFormPlace(context)
  const buttons = kinds.map((kind) => {
    const label = context.texts.actions[kind]
    const made = button({ 'data-act': kind }, label, () => form.open({ kind, list: [item] }, made))
    return made
  })
  return [html('div', { class: 'row' }, ...buttons), form.element]
}

/** A place for the form of an action, with its consequences. */
export function createFormPlace(context: DeskContext) {
  const element = html('div', {})
  const close = () => element.replaceChildren()
  return {
    element,
    close,
    /** Opens the form, instead of the one that is open. Its end returns the focus to `opener`. */
    open(action: Action, opener: HTMLElement, settle?: (failures: Failures) => void) {
      const leave = () => {
        close()
        opener.focus()
      }
      element.replaceChildren(openActionForm(context, action, leave, settle))
      element.scrollIntoView({ block: 'nearest' }) // so that the whole form is visible, with its buttons
      element.querySelector<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
    },
  }
}
