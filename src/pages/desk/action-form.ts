import type { Refusal, Reply } from '../kit/api.ts'
import { sumOf } from '../kit/decimal.ts'
import { button, type Child, html } from '../kit/dom.ts'
import { pathOfAction } from './cells.ts'
import { type DeskContext, depositAmount, deskAmount } from './context.ts'
import { type ActionItem, type Failures, isDeposit, isPayout, takenOf } from './data.ts'
import type { ActionTexts } from './languages/en-actions.ts'
import { lackTexts, leftTexts } from './payout-left.ts'

// Each action is a request that backends can make as well.

export type ActionKind = 'approve' | 'cancel' | 'credit' | 'refuse'

/** An action of a person on payouts (approve, cancel) or deposits (credit, refuse). */
export interface Action {
  readonly kind: ActionKind
  readonly list: readonly ActionItem[]
}

/** Longest reason that the service accepts, in characters. */
const whyCharsMax = 200

/**
 * An action: the words of its form, and its request for some of its items. `isKnown` in `body`: the
 * reader has confirmed that they know what has already left the payout address.
 */
interface Plan {
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly effect: string
  /** How much the payout address lacks for what is approved, in sentences. */
  readonly lack: readonly string[]
  /** The outflows from the payout address for the payouts so far, in sentences. */
  readonly left: readonly string[]
  readonly path: string
  readonly body: (ids: readonly number[], why: string, isKnown: boolean) => object
}

/**
 * A form that shows the consequences of an action, asks for a reason if one is required, and sends
 * the request. `settle` is called once the service has decided about each item. Without it the page
 * shows the story again if the action was done, and the form says why if it was not.
 */
export function openActionForm(
  context: DeskContext,
  action: Action,
  close: () => void,
  settle?: (failures: Failures) => void,
): HTMLElement {
  const { acts: texts } = context.texts
  const { kind, list } = action
  const plan = planOf(context, texts, action)
  const heading = html(settle === undefined ? 'h4' : 'h3', { id: 'act', tabindex: '-1' }, plan.title)
  const why = kind === 'approve' ? null : createWhy(texts)
  const left = createLeft(texts, plan.left)
  const fault = html('div', { role: 'alert' })
  const send = html('button', { type: 'submit', class: 'primary' }, texts[kind])
  const back = button({}, texts.back, close)
  const facts = plan.facts.map(([name, value]) => html('div', {}, html('dt', {}, name), html('dd', {}, value)))
  const form = html(
    'form',
    { class: 'note wait act', 'aria-labelledby': 'act' },
    heading,
    html('dl', {}, ...facts),
    html('p', {}, plan.effect),
    ...plan.lack.map((text) => html('p', { class: 'fault' }, text)),
    left.element,
    why?.element ?? null,
    fault,
    html('div', { class: 'row' }, send, back),
  )
  const sendAll = async () => {
    const failures = new Map<number, Refusal>()
    for (const group of groupsOf(list)) {
      const isKnown = left.isKnown() && (list.length === 1 || group.some(hasLeft))
      const post = (ids: readonly number[]) =>
        context.api.post(plan.path, plan.body(ids, why?.input.value.trim() ?? '', isKnown), () => null)
      const ids = group.map(({ id }) => id)
      for (const [id, refusal] of await sendEach(post, ids)) failures.set(id, refusal)
    }
    return failures
  }
  form.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') close()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void (async () => {
      if (why?.isMissing() || left.isOpen()) return
      send.disabled = true
      fault.replaceChildren()
      const failures = await sendAll()
      send.disabled = false
      const [first] = failures.values()
      const isUndone = failures.size === list.length
      if (settle !== undefined && !(first !== undefined && isUndone && isAboutNone(first))) return settle(failures)
      if (first === undefined) return context.done()
      if (first.reason === 'money-moved') left.show([])
      fault.replaceChildren(...faultOf(context, first).filter((one) => one !== null))
    })()
  })
  return form
}

const hasLeft = (item: ActionItem) => isPayout(item) && (item.moved ?? []).length > 0

/**
 * The items in groups of one request each. What is confirmed about payouts for which money has left
 * must not be said of others, for which it may leave meanwhile.
 */
const groupsOf = (list: readonly ActionItem[]) =>
  [list.filter((item) => !hasLeft(item)), list.filter(hasLeft)].filter(({ length }) => length > 0)

/** Whether a refusal says nothing of the payouts or deposits of the request. */
const isAboutNone = ({ status }: Refusal) => status === 0 || status === 401 || status === 429 || status >= 500

/**
 * Sends one request for all of these ids. The service does all or none, so if it refuses, each half
 * is sent alone, down to those with which nothing can be done.
 */
async function sendEach(
  send: (ids: readonly number[]) => Promise<Reply<null>>,
  ids: readonly number[],
): Promise<Failures> {
  const answer = await send(ids)
  if (answer.ok) return new Map()
  if (ids.length === 1 || isAboutNone(answer)) return new Map(ids.map((id) => [id, answer]))
  const middle = Math.ceil(ids.length / 2)
  const first = await sendEach(send, ids.slice(0, middle))
  return new Map([...first, ...(await sendEach(send, ids.slice(middle)))])
}

function planOf(context: DeskContext, texts: ActionTexts, { kind, list }: Action): Plan {
  const { pair } = context.texts
  const [payouts, deposits] = [list.filter(isPayout), list.filter(isDeposit)]
  const amount = sumText(context, list)
  const many = list.length > 1
  const isStuck = payouts.some(({ state }) => state === 'stuck')
  const effects = {
    approve: (isStuck ? texts.againEffect : texts.approveEffect)(amount),
    cancel: texts.cancelEffect(sumText(context, payouts, takenOf)),
    credit: texts.creditEffect(amount),
    refuse: texts.refuseEffect,
  }
  const path = deposits.length > 0 ? '/ledger/deposits/decide' : `/ledger/payouts/${kind}`
  return {
    title: pair(texts[kind], many ? texts.together(context.format.count(list.length), amount) : amount),
    facts: list.flatMap((item) => factsOf(context, texts, item, many)),
    effect: effects[kind],
    lack: kind === 'approve' ? lackTexts(context, payouts) : [],
    left: payouts.flatMap((payout) => leftTexts(context, payout)),
    path: pathOfAction(context, path, list[0]?.uid ?? 0),
    body: (ids, why, isKnown) => {
      if (deposits.length === 0) {
        const attempts = isStuck && kind === 'approve' ? { attempts: payouts[0]?.attempts } : {}
        return { ids, ...(kind === 'cancel' ? { why } : attempts), ...(isKnown ? { moved: true } : {}) }
      }
      const own = deposits.filter(({ id }) => ids.includes(id))
      return { deposits: own.map(({ txid, position }) => ({ txid, position, decision: kind, why })) }
    },
  }
}

/** The facts about an action: all of one payout or deposit, and one line of each of many. */
function factsOf(
  context: DeskContext,
  texts: ActionTexts,
  item: ActionItem,
  isOneOfMany: boolean,
): (readonly [name: string, value: string])[] {
  const user = context.texts.user(String(item.uid))
  const place = isPayout(item) ? item.to : item.address
  if (isOneOfMany) return [[sumText(context, [item]), `${place} · ${user}`]]
  if (!isPayout(item)) {
    return [
      [texts.user, user],
      [texts.arrived, place],
      [texts.transaction, item.txid],
    ]
  }
  return [
    [texts.whom, place],
    [texts.user, user],
    [texts.order, item.osn],
    [texts.askedBy, item.by],
  ]
}

/** The sums of payouts or deposits in words: one for each currency. */
export function sumText<Item extends ActionItem>(
  context: DeskContext,
  list: readonly Item[],
  amountOf: (item: Item) => string = ({ amt }) => amt,
): string {
  const shown = list.some(isDeposit) ? depositAmount : deskAmount
  const sums = [...new Set(list.map(({ cuy }) => cuy))].map((cuy) => {
    return shown(context, sumOf(list.filter((one) => one.cuy === cuy).map(amountOf)), cuy)
  })
  return sums.join(' + ')
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

/** Why a request failed, and what to do. */
export function faultOf({ texts: ofDesk, language }: DeskContext, { kind, status, msg, reason }: Refusal): Child[] {
  const { acts: texts } = ofDesk
  const next =
    status === 0 ? texts.again : status === 401 ? ofDesk.expiredHelp : reason === 'money-moved' ? texts.leftHelp : null
  const gap = language === 'en' ? ' ' : ''
  return [
    html('p', { class: 'fault' }, ofDesk[kind]),
    next === null ? null : html('p', {}, next),
    msg === '' ? null : html('p', { class: 'muted' }, ofDesk.serviceSays, gap, html('q', { lang: 'en' }, msg)),
  ]
}
