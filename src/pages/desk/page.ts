import { accessSession, createApi, type Refusal } from '../kit/api.ts'
import { button, html, type PageView, setText } from '../kit/dom.ts'
import { createFormat } from '../kit/format.ts'
import { browserMemory, tabMemory } from '../kit/memory.ts'
import { createPoller } from '../kit/poll.ts'
import { readMembers, readText } from '../kit/read.ts'
import { type Language, preferredLanguage } from '../kit/texts.ts'
import { applyTheme } from '../kit/theme.ts'
import { createTokenSource } from '../kit/token.ts'
import { createBridge } from './bridge.ts'
import { createCellChoice, placeInCell, readOthers } from './cells.ts'
import { createCharts } from './charts.ts'
import { type DeskContext, type DeskModel, payoutsNow } from './context.ts'
import { readDeskSummary } from './data.ts'
import { createJumps } from './jumps.ts'
import { loadDeskTexts } from './languages.ts'
import { listAt } from './list-place.ts'
import { createLists, type ListsView } from './lists.ts'
import { createNodes } from './nodes.ts'
import { createPayouts } from './payout-section.ts'
import { createDeskQuestion, type QuestionView } from './question.ts'
import { createQueue, type QueueView } from './queue.ts'
import { emptyQueue } from './queue-state.ts'
import { createSignIn } from './sign-in.ts'
import { createStatements, type StatementsView } from './statement.ts'
import { createDelays, createStatus } from './status.ts'
import { noFilter } from './walk.ts'
import { createWholeLists } from './whole-lists.ts'

/** The pause between two reads of the summary. */
const paceMs = 15_000
/** The pause between two reads of the queue, so that its rows follow what others do. */
const queuePaceMs = 3_000
/** The longest pause that a timer takes, for while the queue is not shown. */
const idleMs = 2 ** 31 - 1
/** The path at which Cloudflare Access ends its session, on every host that it protects. */
const accessEnd = '/cdn-cgi/access/logout'
/** The name under which the browser stores the reader's language. */
const languageName = 'language'

const format = createFormat(navigator.languages)
const model: DeskModel = {
  network: null,
  summary: null,
  cell: null,
  cells: [],
  others: [],
  summaryAt: null,
  refusal: null,
  listed: listAt(location.hash) ?? { name: 'deposits', filter: noFilter },
  queue: emptyQueue(),
  charted: null,
  question: '',
  answer: null,
}
const live = html('p', { class: 'unseen', role: 'status' })
/** Functions that are called once the summary was read, or could not be, and are then removed. */
const waiting: (() => void)[] = []
/**
 * Whether an answer left payouts out because there was no summary to say that they are configured.
 * If so, the search is repeated later.
 */
let isUnsure = false
let views: readonly PageView[] = []
let context: DeskContext
let question: QuestionView
let lists: ListsView
let queue: QueueView
let statements: StatementsView

const token = createTokenSource(() => {
  model.refusal = null
  update()
  if (model.answer?.kind === 'refusal') question.answerAgain()
  poller.now()
  queuePoller.now()
}, tabMemory)
const client = createApi(token, undefined, accessSession)
const place = (path: string) => placeInCell(path, model.cell)
const api: typeof client = {
  ...client,
  get: (path, read, waitMs) => client.get(place(path), read, waitMs),
  post: (path, body, read) => client.post(place(path), body, read),
}
const poller = createPoller({
  ask: load,
  paceMs: () => paceMs,
  show(refusal) {
    model.refusal = refusal
    for (const go of waiting.splice(0)) go()
    if (isUnsure && payoutsNow(model) !== null) question.answerAgain()
    if (model.summary !== null) isUnsure = false
    update()
  },
})

const queuePoller = createPoller({
  ask: async () => (model.queue.place === null ? null : queue.read()),
  paceMs: () => (model.queue.place === null ? idleMs : queuePaceMs),
  show: () => {},
})

applyTheme()
await mount(preferredLanguage([browserMemory.read(languageName) ?? '', ...navigator.languages]))
for (const event of ['hashchange', 'popstate']) window.addEventListener(event, showPlace)
poller.now()

/** Shows what the page's URL names: the queue, a list or the answer to a search. */
function showPlace(): void {
  queue.showPlace()
  lists.showPlace()
  question.answerPlace()
}

/**
 * Reads the name of the network once, and the summary each time, into the model. Returns the
 * refusal of the request that failed, or null.
 */
async function load(): Promise<Refusal | null> {
  if (model.network === null) {
    const currencies = await api.get('/currencies', (data) => readText(readMembers(data).network))
    if (!currencies.ok) return currencies
    model.network = currencies.data
  }
  const shown = model.cell
  const summary = await client.get(`/ledger/summary${shown === null ? '' : `?cell=${shown}`}`, readDeskSummary)
  if (!summary.ok && summary.status === 400 && shown === null) {
    model.cell = 1 // 400: a deployment with several databases requires `cell`
    return load()
  }
  if (model.cell !== shown) return null // the reader has chosen another database meanwhile
  if (!summary.ok) return summary
  if (shown !== null) await readCells(summary.data.cells ?? [])
  const isNewer = model.summary !== null && model.summary.newest_event !== summary.data.newest_event
  model.summary = summary.data
  model.summaryAt = api.now()
  if (isNewer) lists.renew(false) // every change of a list is an event, too
  return null
}

/** Reads the summaries of those that the page does not show. */
async function readCells(cells: DeskModel['cells']): Promise<void> {
  const isFirst = model.cells.length === 0
  model.others = await readOthers(client, model.cell, cells, readDeskSummary)
  model.cells = cells
  // the first search named no database, so it was refused
  if (isFirst && model.answer?.kind === 'refusal') question.answerAgain()
}

/**
 * Whether payouts are configured. Waits for the first summary if that is being read: without
 * `PAYOUTS` the routes about payouts answer 404.
 */
async function hasPayouts(): Promise<boolean> {
  if (model.summary === null && model.refusal === null) await new Promise<void>((resolve) => waiting.push(resolve))
  isUnsure ||= model.summary === null
  return payoutsNow(model) !== null
}

/** Makes all parts of the page anew from the model, in a language. */
async function mount(language: Language): Promise<void> {
  const texts = await loadDeskTexts(language)
  context = {
    model,
    language,
    texts,
    format,
    api,
    update,
    isSignedIn: () => token.current() !== null,
    signIn: token.take,
    showCell(cell, keepsAnswer = false) {
      Object.assign(model, { cell, summary: null, others: [] })
      if (!keepsAnswer) history.pushState(null, '', location.pathname + location.search)
      if (!keepsAnswer) showPlace()
      else question.answerAgain()
      lists.renew(false)
      update()
      poller.now()
    },
    announce: (text) => setText(live, text),
    refresh: poller.now,
    hasPayouts,
    listAmount(amount, symbol) {
      const cuy = model.summary?.currencies.find((one) => one.symbol === symbol)?.cuy ?? ''
      lists.show('deposits', { ...noFilter, cuy: String(cuy), least: amount, most: amount })
    },
    done() {
      lists.renew(true)
      question.answerAgain()
      question.focus()
      poller.now()
    },
    ask(text) {
      if (text.startsWith('#')) {
        history.pushState(null, '', text === '#' ? location.pathname + location.search : text)
        return showPlace()
      }
      const [, name, state = '', cuy = ''] = /^(deposits|payouts) ([a-z]+) ?(\d*)$/.exec(text) ?? []
      const [, uid] = /^statement (\d+)$/.exec(text) ?? []
      if (uid !== undefined) statements.showUser(uid)
      else if (name === undefined) question.ask(text)
      else lists.show(name, { ...noFilter, state, cuy })
      queue.showPlace()
    },
  }
  question = createDeskQuestion(context)
  lists = createLists(context)
  queue = createQueue(context, () => queuePoller.now())
  statements = createStatements(context)
  const status = [createStatus, createSignIn].map((create) => create(context))
  const nodes = [createNodes, createDelays].map((create) => create(context))
  const sums = [createBridge, createPayouts, createCharts].map((create) => create(context))
  const jumps = createJumps(context, [...sums, lists, statements])
  const header = createHeader(language)
  const parts = [...status, queue, jumps, question, ...nodes, ...sums, ...createWholeLists(context), lists, statements]
  views = [header, ...parts.filter((part) => part !== jumps), jumps] // a jump is hidden where its part is
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  document.title = texts.title
  const main = parts.map(({ element }) => element)
  document.body.replaceChildren(header.element, html('main', {}, ...main), live)
  update()
  if (model.answer === null) showPlace()
}

function createHeader(language: Language): PageView {
  const { texts } = context
  const other = language === 'en' ? 'zh' : 'en'
  const change = button({ class: 'plain' }, html('span', { lang: other }, texts.otherLanguage), () => {
    browserMemory.write(languageName, other)
    mount(other).then(
      () => document.querySelector<HTMLElement>('header button')?.focus(),
      () => setText(live, texts.offline),
    )
  })
  const leave = button({ class: 'plain' }, texts.signOut, () => {
    const isPerson = token.current() === null
    token.forget()
    if (isPerson) location.assign(accessEnd)
    else location.reload()
  })
  const facts = html('p', { class: 'muted' })
  const element = html('header', {}, html('h1', {}, texts.title), facts, change, leave)
  let choice: PageView | null = null
  return {
    element,
    update() {
      const { summary, summaryAt } = model
      if (choice === null && model.cells.length > 0) {
        choice = createCellChoice(context)
        element.append(choice.element)
      }
      choice?.update()
      leave.hidden = token.current() === null && summary === null
      const time = summaryAt === null ? '' : texts.asOf(format.time(new Date(summaryAt).toISOString()))
      setText(facts, [model.network, time, summary?.reader.name].filter(Boolean).join(' · '))
    },
  }
}

/**
 * Has every part draw what has changed in the model. Without a summary, only the status and the
 * sign-in are visible (`closed`).
 */
function update(): void {
  const isOpen = model.summary !== null
  const main = document.querySelector('main')
  main?.classList.toggle('closed', !isOpen)
  main?.classList.toggle('queueing', model.queue.place !== null)
  for (const view of views) view.update()
}
