import type { Refusal } from '../kit/api.ts'
import { button, type Child, html } from '../kit/dom.ts'
import type { Act } from './act.ts'
import { type ActTexts, actTexts } from './act-texts.ts'
import { pathOfAct } from './cells.ts'
import type { DeskContext } from './context.ts'

// Each action is a request that backends can make as well.

/** Longest reason that the service accepts, in characters. */
const whyCharsMax = 200

/** An action: the words of its form, and its request. `isKnown` in `body`: the reader has confirmed that they know what has already left the payout address. */
interface Plan {
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly effect: string
  readonly path: string
  readonly body: (why: string, isKnown: boolean) => object
}

/** A form that shows the consequences of an action, asks for a reason if one is required, and sends the request. */
export function openAct(context: DeskContext, act: Act, close: () => void): HTMLElement {
  const texts: ActTexts = actTexts[context.language]
  const { title, facts, effect, path, body } = planOf(context, texts, act)
  const heading = html('h4', { id: 'act', tabindex: '-1' }, title)
  const why = act.kind === 'approve' ? null : createWhy(texts)
  const left = createLeft(texts, 'left' in act ? act.left : [])
  const fault = html('div', { role: 'alert' })
  const send = html('button', { type: 'submit', class: 'primary' }, texts.confirm[act.kind])
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

function planOf(context: DeskContext, texts: ActTexts, act: Act): Plan {
  const { pair, user } = context.texts
  if ('deposit' in act) {
    const { deposit, amount, kind } = act
    const { txid, position, uid, address } = deposit
    return {
      title: pair(texts[kind], amount),
      facts: [
        [texts.user, user(String(uid))],
        [texts.arrived, address],
        [texts.transaction, txid],
      ],
      effect: kind === 'credit' ? texts.creditEffect(amount) : texts.refuseEffect,
      path: pathOfAct(context, '/ledger/deposits/decide', uid),
      body: (why) => ({ deposits: [{ txid, position, decision: kind, why }] }),
    }
  }
  const { payout, amount, back, kind } = act
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
    path: pathOfAct(context, `/ledger/payouts/${kind}`, payout.uid),
    body: (why, isKnown) => ({
      ids: [id],
      ...(kind === 'cancel' ? { why } : isStuck ? { attempts } : {}),
      ...(isKnown ? { moved: true } : {}),
    }),
  }
}

/** A field for a reason, which must not be empty. */
function createWhy(texts: ActTexts) {
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
 * The lines that say what has already left the payout address for the payout, and a box by which readers confirm that they know it. The action is not sent
 * unless the box is checked. Empty if nothing has left.
 */
function createLeft(texts: ActTexts, lines: readonly string[]) {
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
  texts: ActTexts,
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
