import type { Refusal } from '../kit/api.ts'
import { button, type Child, html } from '../kit/dom.ts'
import { type ActionTexts, actionTexts } from './action-texts.ts'
import { pathOfAction } from './cells.ts'
import type { DeskContext } from './context.ts'
import type { DeskPayout, OwnedDeposit } from './data.ts'

// Each action is a request that backends can make as well.

/**
 * An action of a person on a payout or a deposit. Amounts are texts to be shown, with the symbol of
 * the currency.
 */
export type Action =
  | {
      readonly kind: 'approve' | 'cancel'
      readonly payout: DeskPayout
      readonly amount: string
      /**
       * The amount, fee included, that returns to the user's balance if the payout is cancelled.
       */
      readonly back: string
      /** The outflows from the payout address for this payout so far, in sentences. */
      readonly left: readonly string[]
    }
  | { readonly kind: 'credit' | 'refuse'; readonly deposit: OwnedDeposit; readonly amount: string }

/** Longest reason that the service accepts, in characters. */
const whyCharsMax = 200

/**
 * An action: the words of its form, and its request. `isKnown` in `body`: the reader has confirmed
 * that they know what has already left the payout address.
 */
interface Plan {
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly effect: string
  readonly path: string
  readonly body: (why: string, isKnown: boolean) => object
}

/**
 * A form that shows the consequences of an action, asks for a reason if one is required, and sends
 * the request.
 */
export function openActionForm(context: DeskContext, action: Action, close: () => void): HTMLElement {
  const texts: ActionTexts = actionTexts[context.language]
  const { title, facts, effect, path, body } = planOf(context, texts, action)
  const heading = html('h4', { id: 'act', tabindex: '-1' }, title)
  const why = action.kind === 'approve' ? null : createWhy(texts)
  const left = createLeft(texts, 'left' in action ? action.left : [])
  const fault = html('div', { role: 'alert' })
  const send = html('button', { type: 'submit', class: 'primary' }, texts.confirm[action.kind])
  const back = button({}, texts.back, close)
  const form = html(
    'form',
    { class: 'note wait act', 'aria-labelledby': 'act' },
    heading,
    html('dl', {}, ...facts.map(([name, value]) => html('div', {}, html('dt', {}, name), html('dd', {}, value)))),
    html('p', {}, effect),
    left.element,
    why?.element ?? null,
    fault,
    html('div', { class: 'row' }, send, back),
  )
  form.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') close()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void (async () => {
      if (why?.isMissing() || left.isOpen()) return
      send.disabled = true
      fault.replaceChildren()
      const answer = await context.api.post(path, body(why?.input.value.trim() ?? '', left.isKnown()), () => null)
      send.disabled = false
      if (answer.ok) return context.done()
      if (answer.reason === 'money-moved') left.show([])
      fault.replaceChildren(...faultOf(context, texts, answer).filter((one) => one !== null))
    })()
  })
  return form
}

function planOf(context: DeskContext, texts: ActionTexts, action: Action): Plan {
  const { pair, user } = context.texts
  if ('deposit' in action) {
    const { deposit, amount, kind } = action
    const { txid, position, uid, address } = deposit
    return {
      title: pair(texts[kind], amount),
      facts: [
        [texts.user, user(String(uid))],
        [texts.arrived, address],
        [texts.transaction, txid],
      ],
      effect: kind === 'credit' ? texts.creditEffect(amount) : texts.refuseEffect,
      path: pathOfAction(context, '/ledger/deposits/decide', uid),
      body: (why) => ({ deposits: [{ txid, position, decision: kind, why }] }),
    }
  }
  const { payout, amount, back, kind } = action
  const { id, state, attempts } = payout
  const isStuck = state === 'stuck'
  return {
    title: pair(texts[kind], amount),
    facts: [
      [texts.whom, payout.to],
      [texts.user, user(String(payout.uid))],
      [texts.order, payout.osn],
      [texts.askedBy, payout.by],
    ],
    effect:
      kind === 'cancel' ? texts.cancelEffect(back) : isStuck ? texts.againEffect(amount) : texts.approveEffect(amount),
    path: pathOfAction(context, `/ledger/payouts/${kind}`, payout.uid),
    body: (why, isKnown) => ({
      ids: [id],
      ...(kind === 'cancel' ? { why } : isStuck ? { attempts } : {}),
      ...(isKnown ? { moved: true } : {}),
    }),
  }
}

/** A field for a reason, which must not be empty. */
function createWhy(texts: ActionTexts) {
  const input = html('input', {
    id: 'why',
    type: 'text',
    autocomplete: 'off',
    maxlength: String(whyCharsMax),
    'aria-describedby': 'why-help',
  })
  const help = html('p', { id: 'why-help', class: 'muted' }, texts.whyHelp)
  return {
    input,
    element: html('div', {}, html('label', { for: 'why' }, texts.why), input, help),
    /** Whether the reason is missing. If so, the field says that, and gets the focus. */
    isMissing() {
      const isEmpty = input.value.trim() === ''
      input.setAttribute('aria-invalid', String(isEmpty))
      help.textContent = isEmpty ? texts.whyMissing : texts.whyHelp
      help.className = isEmpty ? 'fault' : 'muted'
      if (isEmpty) input.focus()
      return isEmpty
    },
  }
}

/**
 * The lines that say what has already left the payout address for the payout, and a box by which
 * readers confirm that they know it. The action is not sent unless the box is checked. Empty if
 * nothing has left.
 */
function createLeft(texts: ActionTexts, lines: readonly string[]) {
  const known = html('input', { id: 'known', type: 'checkbox' })
  const element = html('div', { class: 'left' })
  const show = (shown: readonly string[]) =>
    element.replaceChildren(
      ...shown.map((line) => html('p', { class: 'fault' }, line)),
      html('label', { for: 'known', class: 'row' }, known, texts.known),
    )
  if (lines.length > 0) show(lines)
  return {
    element,
    show,
    isKnown: () => known.checked,
    /** Whether the box is shown but not checked. If so, it gets the focus. */
    isOpen() {
      const isOpen = element.childElementCount > 0 && !known.checked
      if (isOpen) known.focus()
      return isOpen
    },
  }
}

/** Why the request failed, and what to do. */
function faultOf(
  { texts: ofDesk, language }: DeskContext,
  texts: ActionTexts,
  { kind, status, msg, reason }: Refusal,
): Child[] {
  const next =
    status === 0 ? texts.again : status === 401 ? ofDesk.expiredHelp : reason === 'money-moved' ? texts.leftHelp : null
  const gap = language === 'en' ? ' ' : ''
  return [
    html('p', { class: 'fault' }, ofDesk[kind]),
    next === null ? null : html('p', {}, next),
    msg === '' ? null : html('p', { class: 'muted' }, ofDesk.serviceSays, gap, html('q', { lang: 'en' }, msg)),
  ]
}
