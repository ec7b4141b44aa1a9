import type { Reply } from '../kit/api.ts'
import { html, type PageView, setText } from '../kit/dom.ts'
import { findTxid } from '../kit/read.ts'
import { serviceWords } from './arrivals.ts'
import type { DepositContext } from './context.ts'
import { refusalWords } from './trouble.ts'

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
  const show = (kind: string, words: string, msg: string) => {
    result.replaceChildren(
      html('div', { class: `note ${kind}` }, html('p', {}, words), ...serviceWords(common.serviceSays, msg)),
    )
  }
  const ask = async () => {
    const txid = findTxid(input.value)
    input.setAttribute('aria-invalid', String(txid === null))
    if (txid === null) return show('warn', texts.notTxid, '')
    isBusy = true
    setText(label, texts.asking)
    show('wait', texts.asking, '') // in the place of the answer, so that nothing moves when that comes
    const answer = await api.get(`/tron/recharge?txid=${txid}`, () => null)
    setText(label, texts.ask)
    isBusy = false
    const { kind, words } = answerWords(context, answer)
    show(kind, words, answer.msg)
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

function answerWords(context: DepositContext, answer: Reply<null>): { kind: string; words: string } {
  const { texts } = context
  if (answer.ok) return { kind: 'good', words: texts.askCredited }
  const { status, retrySeconds } = answer
  const seconds = retrySeconds === null ? null : context.format.count(retrySeconds)
  if (status === 404) return { kind: 'warn', words: texts.askUnknown }
  if (status === 409) return { kind: 'wait', words: seconds === null ? texts.askUndecided : texts.askNotFinal(seconds) }
  if (status === 422) return { kind: 'bad', words: texts.askWorthless }
  if (seconds !== null) return { kind: 'warn', words: texts.askLater(seconds) }
  return { kind: 'warn', words: refusalWords(context, answer) }
}
