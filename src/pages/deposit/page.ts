import { button, html, type PageView, setText } from '../kit/dom.ts'
import { createFormat } from '../kit/format.ts'
import { createPoller } from '../kit/poll.ts'
import { commonTexts, type Language, preferredLanguage, textsIn } from '../kit/texts.ts'
import { arrivalWords, createArrivals } from './arrivals.ts'
import { amountText, type DepositContext, type DepositModel, emptyModel, networkOf } from './context.ts'
import type { Arrival } from './data.ts'
import { api, later, ready } from './first.ts' // a file of its own in the browser, too
import { createLoader } from './load.ts'
import { createChoice, createPayment } from './pay.ts'
import { createQuestion } from './question.ts'
import { depositTexts } from './texts.ts'
import { createTrouble } from './trouble.ts'
import { createBalances, createHistory } from './wallet.ts'

/** How often transfers are read: where one is about to be final, where one is on its way or expected, and else. */
const paceMs = { final: 2_000, expected: 5_000, quiet: 30_000 }
/** For how long after the reader's last action a payment is expected. */
const expectedMs = 15 * 60_000

const format = createFormat(navigator.languages)
const model: DepositModel = { ...emptyModel }
const live = html('p', { class: 'unseen', role: 'status' })
let views: readonly PageView[] = []
let context: DepositContext
let shown = preferredLanguage(navigator.languages)
let actedAt = performance.now()

later.arrived = (isOtherAccount) => {
  if (isOtherAccount) {
    Object.assign(model, { ...emptyModel, offer: model.offer, account: model.account + 1 })
    setText(live, '')
    mount(shown) // the answers that its parts show are the first account's
  } else update()
  poller.now()
}
const load = createLoader(model, api, announceArrivals, update)
const poller = createPoller({
  ask: load,
  paceMs: pace,
  show(refusal) {
    model.refusal = refusal
    update()
  },
})

mount(shown)
void start()

async function start(): Promise<void> {
  await ready
  poller.now()
  setInterval(() => {
    if (!document.hidden) for (const view of views) view.tick?.()
  }, 1_000)
}

/** Makes the page in a language, from the model. */
function mount(language: Language): void {
  shown = language
  const texts = textsIn(depositTexts, language)
  const common = textsIn(commonTexts, language)
  const refresh = () => {
    actedAt = performance.now()
    poller.now()
  }
  context = { model, texts, common, format, api, announce: (text) => setText(live, text), refresh, update }
  const parts = [createChoice, createPayment, createArrivals, createQuestion, createBalances, createHistory]
  const made = parts.map((create) => create(context))
  const trouble = createTrouble(context, poller.nextAt)
  views = [...made, trouble]
  const [choice, payment, ...rest] = made.map(({ element }) => element)
  const other = language === 'en' ? 'zh' : 'en'
  const label = html('span', { lang: other }, common.otherLanguage)
  const change = button({ class: 'plain' }, label, () => {
    mount(other)
    document.querySelector<HTMLElement>('header button')?.focus()
  })
  const network = html('p', { class: 'network', id: 'network' })
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  document.title = texts.title
  document.body.replaceChildren(
    html('header', {}, html('h1', {}, texts.title), network, change),
    html('main', {}, html('div', { class: 'column' }, choice ?? null, payment ?? null), ...rest),
    trouble.element,
    live,
  )
  update()
}

/** Shows the model. */
function update(): void {
  const { name, isTest } = networkOf(context)
  const network = document.getElementById('network')
  if (network !== null && model.offer !== null) {
    setText(network, isTest ? context.texts.testMoney(name) : name)
    network.classList.toggle('test', isTest)
  }
  for (const view of views) view.update()
}

/** Says each new state to a screen reader. */
function announceArrivals(arrivals: readonly Arrival[]): void {
  const sentences = arrivals.map((one) => {
    return `${amountText(context, one.amount, one.cuy)}: ${context.texts[one.state]}. ${arrivalWords(context, one)}`
  })
  context.announce(sentences.join(' '))
}

function pace(): number {
  const seen = model.arrivals?.list.filter(({ state }) => state === 'seen') ?? []
  if (seen.some(({ finalAt }) => (finalAt ?? 0) < performance.now() + paceMs.expected)) return paceMs.final
  const isExpected = model.chosen !== null && performance.now() < actedAt + expectedMs
  return seen.length > 0 || isExpected ? paceMs.expected : paceMs.quiet
}
