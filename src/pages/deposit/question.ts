import type { Reply } from '../kit/api.ts'
import { html, type PageView, setText } from '../kit/dom.ts'
import { findTxid } from '../kit/read.ts'
import { serviceWords } from './arrivals.ts'
import type { DepositContext } from './context.ts'
import { type OutcomeWords, outcomeWords } from './outcome.ts'
import { refusalHelp } from './trouble.ts'

/** "I paid, but nothing shows": a transaction number, and the answer in words. */
export function createQuestion(context: DepositContext): PageView {
  const { texts, common, api } = context
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
    const words = [html('strong', {}, title), html('p', {}, help), ...serviceWords(common.serviceSays, quoted)]
    result.replaceChildren(html('div', { class: `note ${kind}` }, ...words))
  }
  const ask = async () => {
    const txid = findTxid(input.value)
    input.setAttribute('aria-invalid', String(txid === null))
    if (txid === null) return show({ kind: 'warn', title: texts.notTxid, help: texts.notTxidHelp })
    isBusy = true
    setText(label, texts.asking)
    show({ kind: 'wait', title: texts.asking, help: '' }) // in the place of the answer, so that nothing moves when that comes
    const answer = await api.get(`/tron/recharge?txid=${txid}`, () => null)
    setText(label, texts.ask)
    isBusy = false
    show(answerWords(context, answer))
    context.refresh()
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!isBusy) void ask()
  })
  return {
    element: html('section', { class: 'card' }, html('h2', {}, texts.questionHeading), form),
    update() {},
  }
}

interface Answer extends OutcomeWords {
  readonly kind: 'good' | 'warn' | 'wait' | 'bad'
  /** The sentence of the service, where it says more than the words of this page. */
  readonly quoted?: string
}

function answerWords(context: DepositContext, answer: Reply<null>): Answer {
  const { texts, common, format } = context
  if (answer.ok) return { kind: 'good', title: texts.credited, help: texts.creditedHelp, quoted: answer.msg }
  const { status, reason, retrySeconds } = answer
  const seconds = retrySeconds === null ? null : format.count(retrySeconds)
  if (status === 404) return { kind: 'warn', title: texts.askUnknown, help: texts.askUnknownHelp }
  if (reason === 'finality-late') return { kind: 'wait', title: texts.seen, help: texts.askLate }
  if (reason === 'not-final' && seconds !== null) {
    return { kind: 'wait', title: texts.seen, help: texts.askNotFinal(seconds) }
  }
  const known = outcomeWords(texts, reason)
  const undecided = { title: texts.askUndecided, help: texts.askUndecidedHelp, quoted: answer.msg }
  if (status === 409) return { kind: 'wait', ...(known ?? undecided) }
  if (status === 422)
    return { kind: 'bad', ...(known ?? { title: texts.refused, help: texts.askWorthless, quoted: answer.msg }) }
  const help = seconds === null ? refusalHelp(context, answer) : texts.askLater(seconds)
  return { kind: 'warn', title: common[answer.kind], help }
}
