import { longestMs, type Reply } from '../kit/api.ts'
import { button, html, type PageView, setText } from '../kit/dom.ts'
import { findTxid } from '../kit/read.ts'
import type { DepositContext } from './context.ts'
import { type OutcomeWords, outcomeWords } from './outcome.ts'
import { refusalHelp, refusalTitle } from './refusal.ts'

/** "I paid, but nothing shows": a field for a txid, and the answer in words. */
export function createQuestion(context: DepositContext): PageView {
  const { texts, api } = context
  const input = html('input', {
    id: 'txid',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    maxlength: '400',
    'aria-describedby': 'txid-help',
  })
  input.value = context.model.pasted
  input.addEventListener('input', () => {
    context.model.pasted = input.value
  })
  const label = html('span', {}, texts.ask)
  const result = html('div', { class: 'result', role: 'status' })
  const form = html(
    'form',
    {},
    html('p', { id: 'txid-help' }, texts.questionHelp),
    html('label', { for: 'txid' }, texts.txid),
    html('div', { class: 'row' }, input, html('button', { type: 'submit' }, label)),
    result,
  )
  let isBusy = false
  const show = ({ kind, title, help, quoted = '' }: Answer) => {
    const words = [html('strong', {}, title), html('p', {}, help), ...serviceWords(texts.serviceSays, quoted)]
    result.replaceChildren(html('div', { class: `note ${kind}` }, ...words))
  }
  const ask = async () => {
    const txid = findTxid(input.value)
    input.setAttribute('aria-invalid', String(txid === null))
    if (txid === null) return show({ kind: 'warn', title: texts.notTxid, help: texts.notTxidHelp })
    isBusy = true
    setText(label, texts.asking)
    // shown where the answer will be, so that nothing moves when it comes
    show({ kind: 'wait', title: texts.asking, help: '' })
    const answer = await api.get(`/tron/recharge?txid=${txid}`, () => null, longestMs)
    setText(label, texts.ask)
    isBusy = false
    show(answerWords(context, answer))
    context.refresh()
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!isBusy) void ask()
  })
  return { element: html('div', { class: 'question' }, ...createCheck(context), form), update() {} }
}

/** The button "check now", with its answer. */
function createCheck(context: DepositContext): HTMLElement[] {
  const { texts, api } = context
  const result = html('div', { class: 'result', role: 'status' })
  const label = html('span', {}, texts.checkNow)
  let isBusy = false
  const check = async () => {
    if (isBusy) return
    isBusy = true
    setText(label, texts.checking)
    result.replaceChildren(html('p', {}, texts.checking))
    const answer: Reply<null> = await api.get('/tron/recharge', () => null, longestMs)
    context.refresh()
    setText(label, texts.checkNow)
    isBusy = false
    const words = answer.ok ? [texts.checked] : [refusalTitle(context, answer), refusalHelp(context, answer)]
    result.replaceChildren(...words.map((line) => html('p', {}, line)))
  }
  return [button({}, label, () => void check()), result]
}

/**
 * The service's sentence in quotation marks, below the page's own words. Empty without a sentence.
 */
function serviceWords(introduction: string, msg: string): HTMLElement[] {
  if (msg === '') return []
  return [html('p', { class: 'muted' }, `${introduction} `, html('q', { lang: 'en' }, msg))]
}

interface Answer extends OutcomeWords {
  readonly kind: 'good' | 'warn' | 'wait' | 'bad'
  /** The service's sentence, if it says more than the page's words. */
  readonly quoted?: string
}

function answerWords(context: DepositContext, answer: Reply<null>): Answer {
  const { texts, format } = context
  if (answer.ok) return { kind: 'good', title: texts.credited, help: texts.creditedHelp, quoted: answer.msg }
  const { status, retrySeconds, reason, msg } = answer
  const seconds = retrySeconds === null ? null : format.count(retrySeconds)
  if (status === 404) return { kind: 'warn', title: texts.askUnknown, help: texts.askUnknownHelp }
  if (reason === 'finality-late') return { kind: 'wait', title: texts.seen, help: texts.askLate }
  if (reason === 'not-final') {
    return { kind: 'wait', title: texts.seen, help: seconds === null ? texts.askLate : texts.askNotFinal(seconds) }
  }
  const known = outcomeWords(texts, reason, status === 422)
  if (status === 409) {
    return { kind: 'wait', ...(known ?? { title: texts.askUndecided, help: texts.askUndecidedHelp, quoted: msg }) }
  }
  if (status === 422) {
    return { kind: 'bad', ...(known ?? { title: texts.refused, help: texts.askWorthless, quoted: msg }) }
  }
  const help = seconds === null ? refusalHelp(context, answer) : texts.askLater(seconds)
  return { kind: 'warn', title: refusalTitle(context, answer), help }
}
