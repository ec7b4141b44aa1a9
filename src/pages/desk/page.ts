import { createApi, type Refusal } from '../kit/api.ts'
import { button, html, type PageView, setText } from '../kit/dom.ts'
import { createFormat } from '../kit/format.ts'
import { createPoller } from '../kit/poll.ts'
import { readMembers, readText } from '../kit/read.ts'
import { commonTexts, type Language, preferredLanguage, textsIn } from '../kit/texts.ts'
import { applyTheme } from '../kit/theme.ts'
import { createTokenSource } from '../kit/token.ts'
import { createCharts } from './charts.ts'
import { type DeskContext, type DeskModel, listedStates } from './context.ts'
import { readDeskEvents, readDeskSummary, readOwnedDeposits } from './data.ts'
import { createLists, listPath } from './lists.ts'
import { createDeskQuestion } from './question.ts'
import { createSignIn } from './sign-in.ts'
import { createDelays, createStatus, createSums } from './status.ts'
import { deskTexts } from './texts.ts'

/** How often everything on the first screen is read. */
const paceMs = 15_000
/** So many of the newest events are shown. */
const eventsShown = 20

const format = createFormat(navigator.languages)
const model: DeskModel = {
  ...{ network: null, summary: null, summaryAt: null, lists: { held: null, refused: null }, refusal: null },
  ...{ events: null, eventsUpTo: null, charted: null, question: '', answer: null },
}
const live = html('p', { class: 'unseen', role: 'status' })
let views: readonly PageView[] = []
let context: DeskContext

const token = createTokenSource(() => {
  model.refusal = null
  update()
  poller.now()
})
const api = createApi(token)
const poller = createPoller({
  ask: load,
  paceMs: () => paceMs,
  show(refusal) {
    model.refusal = refusal
    update()
  },
})

applyTheme()
mount(preferredLanguage(navigator.languages))
poller.now()

/** Reads what can have changed; null, or why that was not possible. Without a token only whether the service is configured. */
async function load(): Promise<Refusal | null> {
  if (model.network === null) {
    const currencies = await api.get('/currencies', (data) => readText(readMembers(data).network))
    if (!currencies.ok) return currencies
    model.network = currencies.data
  }
  const summary = await api.get('/ledger/summary', readDeskSummary)
  if (!summary.ok) return summary
  const { newestEvent } = summary.data
  const [events, ...answers] = await Promise.all([
    model.eventsUpTo === newestEvent ? null : api.get(eventsPath(newestEvent), readDeskEvents),
    ...listedStates.map((state) => api.get(listPath(state), readOwnedDeposits)),
  ])
  model.summary = summary.data
  model.summaryAt = api.now()
  if (events?.ok === true) {
    model.events = events.data.slice(-eventsShown).reverse()
    model.eventsUpTo = newestEvent
  }
  for (const [index, state] of listedStates.entries()) {
    const answer = answers[index]
    const known = model.lists[state]
    const isOpen = known !== null && known.list.length > 20 && answer?.ok === true && known.count === answer.data.count
    if (answer?.ok === true && !isOpen) model.lists[state] = answer.data // what was opened stays until something changes
  }
  return [events, ...answers].find((answer) => answer?.ok === false) ?? null
}

const eventsPath = (newest: number) => `/ledger/events?after=${Math.max(0, newest - eventsShown)}`

/** Makes the page in a language, from the model. */
function mount(language: Language): void {
  const texts = textsIn(deskTexts, language)
  const common = textsIn(commonTexts, language)
  context = {
    ...{ model, language, texts, common, format, api, update },
    isSignedIn: () => token.current() !== null,
    signIn: token.take,
    announce: (text) => setText(live, text),
    refresh: poller.now,
    ask: (text) => (text === 'held' ? showList() : question.ask(text)),
  }
  const question = createDeskQuestion(context)
  const lists = createLists(context)
  const status = [createStatus, createSignIn].map((create) => create(context))
  const rest = [createSums, createDelays, createCharts].map((create) => create(context))
  const header = createHeader(language)
  views = [header, ...status, question, ...rest, ...lists]
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  document.title = texts.title
  const main = [...status, question, ...rest, ...lists].map(({ element }) => element)
  document.body.replaceChildren(header.element, html('main', {}, ...main), live)
  update()
}

function createHeader(language: Language): PageView {
  const { texts, common } = context
  const other = language === 'en' ? 'zh' : 'en'
  const change = button({ class: 'plain' }, html('span', { lang: other }, common.otherLanguage), () => {
    mount(other)
    document.querySelector<HTMLElement>('header button')?.focus()
  })
  const leave = button({ class: 'plain' }, texts.signOut, () => location.reload())
  const facts = html('p', { class: 'muted' })
  return {
    element: html('header', {}, html('h1', {}, texts.title), facts, change, leave),
    update() {
      leave.hidden = token.current() === null
      const { summaryAt } = model
      const time = summaryAt === null ? '' : texts.asOf(format.time(new Date(summaryAt).toISOString()))
      setText(facts, [model.network, time].filter(Boolean).join(' · '))
    },
  }
}

function showList(): void {
  const heading = document.getElementById('held')
  heading?.focus()
  heading?.scrollIntoView({ block: 'start' })
}

/** Shows the model. */
function update(): void {
  const isOpen = model.summary !== null
  for (const view of views) view.update()
  document.querySelector('main')?.classList.toggle('closed', !isOpen)
}
