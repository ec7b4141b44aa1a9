import { copyText } from '../kit/copy.ts'
import { button, createSlot, html, type PageView } from '../kit/dom.ts'
import { findAnswer } from './answer.ts'
import { type DeskContext, type DeskModel, payoutsNow } from './context.ts'
import { fragmentOf, parseQuestion, questionAt } from './place.ts'
import { answerElements } from './story.ts'

/** The box: a transaction, an address, a user or an order, and what happened. */
export interface QuestionView extends PageView {
  /** Answers a question of another part of the page, and goes to the answer. */
  ask(question: string): void
  /** Answers what the address of the page asks, if that is something else. */
  answerPlace(): void
  /** Asks again what is shown: another answer is possible now. */
  answerAgain(): void
}

/** Makes the box. */
export function createDeskQuestion(context: DeskContext): QuestionView {
  const { model, texts } = context
  const input = createInput()
  const heading = html('h2', { id: 'box', tabindex: '-1' }, texts.askHeading)
  const result = html('div', { class: 'result', role: 'status' })
  const fill = createSlot(result)
  const label = html('label', { for: 'question' }, texts.question)
  const row = html('div', { class: 'row' }, input, html('button', { type: 'submit', class: 'primary' }, texts.ask))
  const help = html('p', { id: 'question-help', class: 'muted' }, texts.questionHelp)
  const form = html('form', {}, label, row, help)
  const answer = async (question: string) => {
    model.question = question
    model.answer = { kind: 'busy' }
    input.value = question
    context.update()
    const found = await findAnswer(context, question)
    if (model.question !== question) return // the reader has asked something else meanwhile
    model.answer = found
    if (found.kind === 'refusal' && found.refusal.status === 401) context.refresh() // it says so at the top, and takes another token
    context.update()
  }
  /** The address of the page becomes that of the story, which can be sent to a colleague. */
  const go = (question: string) => {
    void answer(question)
    const place = fragmentOf(parseQuestion(question))
    if (place !== location.hash) history.pushState(null, '', place || location.pathname + location.search)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (input.value.trim() !== '') go(input.value)
  })
  const link = createLinkCopy(context)
  input.value = model.question
  return {
    element: html(
      'section',
      { class: 'card wide' },
      html('div', { class: 'row between' }, heading, link.element),
      form,
      result,
    ),
    update() {
      const { answer: shown } = model
      link.update()
      fill(JSON.stringify([shown, aboutNow(context)]), () => (shown === null ? [] : answerElements(context, shown)))
    },
    ask(question) {
      heading.focus()
      heading.scrollIntoView({ block: 'start' })
      go(question)
    },
    answerPlace() {
      const question = questionAt(location.hash)
      const isShown =
        question !== null && model.question !== '' && fragmentOf(parseQuestion(model.question)) === location.hash
      if (question !== null && !isShown) void answer(question)
      if (question !== null || model.answer === null) return
      Object.assign(model, { question: '', answer: null })
      input.value = ''
      context.update()
    },
    answerAgain() {
      if (model.question !== '') void answer(model.question)
    },
  }
}

const createInput = () =>
  html('input', {
    id: 'question',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    maxlength: '400',
    'aria-describedby': 'question-help',
  })

/** A button that copies the address of the story that is shown: no token is in it. */
function createLinkCopy({ model, texts, common, announce }: DeskContext): PageView {
  const label = html('span', {}, texts.copyLink)
  const element = button({ class: 'plain' }, label, () => {
    void copyText(location.href).then((isCopied) => {
      label.textContent = isCopied ? common.copied : location.href
      announce(label.textContent)
    })
  })
  return {
    element,
    update() {
      const hasPlace = model.answer !== null && fragmentOf(parseQuestion(model.question)) !== ''
      if (element.hidden === hasPlace) label.textContent = texts.copyLink
      element.hidden = !hasPlace
    },
  }
}

/** What the answer shows of the newest summary: the symbols of currencies, a gap or an endpoint, and how payouts are. */
function aboutNow({ model: { answer, summary } }: DeskContext): unknown {
  return [summary?.currencies.map(({ symbol }) => symbol), subjectNow(answer, summary)]
}

function subjectNow(answer: DeskModel['answer'], summary: DeskModel['summary']): unknown {
  const payouts = payoutsNow({ summary })
  if (answer?.kind === 'address') return answer.address === payouts?.address ? payouts : null
  if (answer?.kind === 'transaction' || answer?.kind === 'order') return payouts?.stopped
  if (answer?.kind === 'gap') return summary?.gaps.find(({ from }) => from === answer.from)
  return answer?.kind === 'endpoint' ? summary?.endpoints.find(({ number }) => number === answer.number) : null
}
