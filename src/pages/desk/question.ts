import { copyText } from '../kit/copy.ts'
import { button, createSlot, html, type PageView } from '../kit/dom.ts'
import { type DeskAnswer, findAnswer, isNowhere } from './answer.ts'
import { findElsewhere } from './cells.ts'
import { type DeskContext, type DeskModel, payoutsNow } from './context.ts'
import { type DeskQuestion, fragmentOf, parseQuestion, questionAt } from './place.ts'
import { answerElements } from './story.ts'

/**
 * The part of the page with the search box and the answer: the story of a transaction, an address,
 * a user or an order.
 */
export interface QuestionView extends PageView {
  /** Called by other parts of the page: searches for a text, and scrolls to the answer. */
  ask(question: string): void
  /**
   * Answers the search in the page's URL, unless its answer is already shown. Without a search in
   * the URL, removes the answer.
   */
  answerPlace(): void
  /** Repeats the last search, because its answer may be another one now. */
  answerAgain(): void
  /** Moves the focus to the heading of the box, for when the focused element was removed. */
  focus(): void
}

/** Parses a search with the symbols of the currencies in the newest summary. */
const questionOf = ({ summary }: Pick<DeskModel, 'summary'>, text: string): DeskQuestion =>
  parseQuestion(text, summary?.currencies.map(({ symbol }) => symbol) ?? [])

/** Makes the part of the page with the search box. An answer in the model is shown at once. */
export function createDeskQuestion(context: DeskContext): QuestionView {
  const { model, texts } = context
  const input = createInput()
  const heading = html('h2', { id: 'box', tabindex: '-1' }, texts.askHeading)
  const result = html('div', { class: 'result', role: 'status' })
  const fill = createSlot(result)
  const [form, link] = [createForm(context, input), createLinkCopy(context)]
  const top = html('div', { class: 'row between' }, heading, link.element)
  const answer = async (question: string) => {
    const about = questionOf(model, question)
    if (about.kind === 'amount') return context.listAmount(about.amount, about.symbol)
    model.question = question
    model.answer = { kind: 'busy' }
    input.value = question
    context.update()
    const found = await findAnswer(context, about, question)
    const cell = await findCell(context, found, (asker) => findAnswer(asker, about, question))
    if (cell !== null && model.question === question) return context.showCell(cell, true)
    if (model.question !== question) return // the reader has searched for something else meanwhile
    model.answer = found
    // so that the status says that the session has ended
    if (found.kind === 'refusal' && found.refusal.status === 401) context.refresh()
    context.update()
  }
  /**
   * Searches, and puts the search into the page's URL, so that the URL can be sent to a colleague.
   */
  const go = (question: string) => {
    void answer(question)
    const about = questionOf(model, question)
    if (about.kind === 'amount') return // an amount leads to a list: the answer and the URL stay
    const fragment = fragmentOf(about)
    if (fragment !== location.hash) history.pushState(null, '', fragment || location.pathname + location.search)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (input.value.trim() !== '') go(input.value)
  })
  input.value = model.question
  return {
    element: html('section', { class: 'card wide' }, top, form, result),
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
        question !== null && model.question !== '' && fragmentOf(questionOf(model, model.question)) === location.hash
      if (question !== null && !isShown) void answer(question)
      if (question !== null || model.answer === null) return
      Object.assign(model, { question: '', answer: null })
      input.value = ''
      context.update()
    },
    answerAgain() {
      if (model.question !== '') void answer(model.question)
    },
    focus: () => heading.focus(),
  }
}

/**
 * The number of another database that knows what the shown one does not; null if there is none. A
 * search for a user already goes to that user's database.
 */
async function findCell(
  context: DeskContext,
  found: DeskAnswer,
  find: (asker: DeskContext) => Promise<DeskAnswer>,
): Promise<number | null> {
  if (found.kind === 'user' || !isNowhere(found)) return null
  return findElsewhere(context, async (one) => !isNowhere(await find(one)))
}

function createForm({ texts }: DeskContext, input: HTMLElement): HTMLElement {
  const label = html('label', { for: 'question' }, texts.question)
  const row = html('div', { class: 'row' }, input, html('button', { type: 'submit', class: 'primary' }, texts.ask))
  const help = html('p', { id: 'question-help', class: 'muted' }, texts.questionHelp)
  return html('form', {}, label, row, help)
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

/**
 * A button that copies the page's URL, which names the shown story and contains no token. Hidden if
 * the URL names none.
 */
function createLinkCopy({ model, texts, announce }: DeskContext): PageView {
  const label = html('span', {}, texts.copyLink)
  const element = button({ class: 'plain' }, label, () => {
    void copyText(location.href).then((isCopied) => {
      label.textContent = isCopied ? texts.copied : location.href
      announce(label.textContent)
    })
  })
  return {
    element,
    update() {
      const hasPlace = model.answer !== null && fragmentOf(questionOf(model, model.question)) !== ''
      if (element.hidden === hasPlace) label.textContent = texts.copyLink
      element.hidden = !hasPlace
    },
  }
}

/**
 * What the shown answer takes from the newest summary. If it differs from the last time, the answer
 * is drawn again.
 */
function aboutNow({ model: { answer, summary } }: DeskContext): unknown {
  return [summary?.currencies.map(({ symbol }) => symbol), subjectNow(answer, summary), summary?.reader]
}

function subjectNow(answer: DeskModel['answer'], summary: DeskModel['summary']): unknown {
  const payouts = payoutsNow({ summary })
  if (answer?.kind === 'address') return answer.address === payouts?.address ? payouts : null
  if (answer?.kind === 'transaction' || answer?.kind === 'order') return payouts?.stopped
  if (answer?.kind === 'gap') return summary?.gaps.find(({ from }) => from === answer.from)
  return answer?.kind === 'endpoint' ? summary?.endpoints.find(({ number }) => number === answer.number) : null
}
