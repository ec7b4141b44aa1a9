import { button, html, type PageView, picture, setText } from '../kit/dom.ts'
import { createFormat } from '../kit/format.ts'
import { reportHeight } from '../kit/frame.ts'
import { createPoller } from '../kit/poll.ts'
import { readText } from '../kit/read.ts'
import { arrivalState, arrivalWords } from './arrivals.ts'
import { createCard } from './card.ts'
import { arrivalAmount, type DepositContext, type DepositModel, emptyAccount, type PayerSession } from './context.ts'
import { type Arrival, isCreditable } from './data.ts'
// `first.ts` is a file of its own in the browser, too
import { api, language as firstShown, texts as firstTexts, here, later, ready, token } from './first.ts'
import { createEarlier, createFold, createWalletFold } from './folds.ts'
import { createStateTeller } from './frame-state.ts'
import type { LanguageName } from './languages.ts'
import { createLoader } from './load.ts'
import { createObstacle, obstacleOf } from './message.ts'
import { isOfOrder } from './order.ts'
import { createHow } from './pay.ts'
import { createQuestion } from './question.ts'
import { applyBrand, readPageSettings } from './settings.ts'
import { isToPay, summaryText, titleOf } from './status.ts'
import { createVisits } from './visit.ts'

/**
 * Milliseconds between requests for transfers. `held`: after one that the service has held.
 * `final`: a transfer is about to be final. `expected`: a transfer is on its way or expected.
 * `quiet`: otherwise.
 */
const paceMs = { held: 100, final: 2_000, expected: 6_000, quiet: 12_000 }
/** A payment is expected for this long after the reader's last action. */
const expectedMs = 15 * 60_000
/** Most characters of the account's name that are shown. */
const ownerCharsMax = 60
/** The name under which the browser stores the currency used last. */
const currencyName = 'currency'

const { browserMemory, tabMemory, claimsOf, readOrderClaim, loadTexts, nextLanguage, ownNames, rememberLanguage } = here

// Waits for the texts first. The session is read after this, so that a token that arrives in the
// meantime is in it.
let texts = await firstTexts
const settings = readPageSettings()
const format = createFormat(navigator.languages)
const visits = createVisits(tabMemory)
const model: DepositModel = { account: 0, session: readSession(), offer: null, folds: new Set(), ...emptyAccount() }
const tellState = createStateTeller(settings.origins)
const live = html('p', { class: 'unseen', role: 'status' })
/** The title, with place and time, that is only shown on paper. */
const printed = html('p', { class: 'printed' })
let views: readonly PageView[] = []
let context: DepositContext
let shown = firstShown
let actedAt = performance.now()
/**
 * The text about the progress of the order when the page was last drawn. When the text changes,
 * it is announced to screen readers.
 */
let summary = ''

later.arrived = (isOtherAccount) => {
  const { claim } = model.session
  model.session = readSession()
  if (isOtherAccount || claim.order !== model.session.claim.order) {
    Object.assign(model, { ...emptyAccount(), account: model.account + 1 })
    setText(live, '')
  }
  if (isOtherAccount) model.offer = null
  follow()
  mount() // the parts may show answers for the first account or an earlier order, so all are made again
  // The first answers are begun by then: begun after a request, they would be taken for later ones.
  void ready.then(poller.now)
}
const loader = createLoader(model, api, settings.origins, { changed: showArrivals, paying: update, isWaiting })
const poller = createPoller({
  ask: loader.load,
  paceMs: pace,
  show(refusal) {
    model.refusal = refusal
    update()
  },
})

if (settings.brand !== null) applyBrand(settings.brand)
mount()
reportHeight()
window.addEventListener('beforeprint', () => {
  const isStatement = document.body.dataset.paper !== undefined
  const title = isStatement ? texts.statement : model.visited.size === 0 ? texts.title : texts.receipt
  const at = format.time(new Date(api.now() ?? performance.timeOrigin).toISOString())
  setText(printed, [title, location.host, texts.printedAt(at)].join(' · '))
})
void start()

async function start(): Promise<void> {
  await ready
  poller.now()
  setInterval(() => {
    if (!document.hidden) for (const view of views) view.tick?.()
  }, 1_000)
}

/** Reads the account and the order's reference from the present token. */
function readSession(): PayerSession {
  const claims = claimsOf(token.current())
  const text = (value: unknown) => (typeof value === 'string' ? readText(value).trim().slice(0, ownerCharsMax) : '')
  return {
    name: text(claims?.name) || null,
    uid: text(claims?.sub) || (settings.devUid?.toString() ?? null),
    claim: readOrderClaim(claims),
  }
}

/** Makes all parts of the page anew from the model, in the current language. */
function mount(): void {
  const isFocused = hasFocus()
  const refresh = () => {
    actedAt = performance.now()
    poller.now()
  }
  const startOver = () => {
    visits.startOver(model.session, model.arrivals?.list ?? [])
    follow()
    update()
    document.querySelector('main')?.scrollIntoView()
  }
  const announce = (text: string) => setText(live, text)
  const { wallet, origins } = settings
  context = { model, texts, format, api, wallet, origins, announce, refresh, update, startOver }
  const obstacle = createObstacle(context, poller.nextAt)
  const card = createCard(context, poller.nextAt, (cuy) => browserMemory.write(currencyName, String(cuy)))
  const folds = [
    createEarlier(context),
    createFold(context, 'how', texts.howHeading, [createHow(context)]),
    createFold(context, 'question', texts.questionHeading, [createQuestion(context)]),
    createWalletFold(context),
  ]
  const below = html('div', { class: 'below' }, ...folds.map(({ element }) => element))
  const showBelow = () => {
    // The parts below the card are hidden until the content of the card is loaded, so that they do
    // not move.
    below.hidden = model.refusal === null && (model.offer === null || model.arrivals === null)
  }
  views = [obstacle, card, ...folds, { element: below, update: showBelow }]
  document.documentElement.lang = texts.tag
  document.body.replaceChildren(createHeader(), html('main', {}, obstacle.element, card.element, below), live)
  update()
  if (isFocused) keepFocus()
}

function isShown(element: Element | null): boolean {
  return (element?.getClientRects().length ?? 0) > 0
}

/**
 * Whether something that is shown has the focus. After the end of a session that is not the card,
 * so that the focus goes to the message when it appears.
 */
function hasFocus(): boolean {
  const focused = document.activeElement
  return focused !== document.body && isShown(focused) && focused?.closest('.ended .screen') === null
}

/**
 * If the focused element is gone, focuses the part with the news. Otherwise a screen reader would
 * begin again at the top of the page.
 */
function keepFocus(): void {
  if (hasFocus()) return
  const news = ['.obstacle', '.summary', '.status:not([hidden])', '.screen'].map((one) =>
    document.querySelector<HTMLElement>(one),
  )
  const shown = news.find(isShown)
  if (!shown) return
  shown.tabIndex = -1
  shown.focus({ preventScroll: true })
}

/** The brand or the purpose of the page, and the switch of the language. */
function createHeader(): HTMLElement {
  const { brand } = settings
  const other = nextLanguage(shown)
  const change = button({ class: 'plain' }, html('span', { lang: other }, ownNames[other]), () => void switchTo(other))
  const logo = brand?.logo ? picture(brand.logo, { class: 'logo', width: '28', height: '28' }) : null
  const named = brand === null ? null : html('span', { class: 'brand' }, brand.name)
  return html(
    'header',
    {},
    logo,
    named,
    html('h1', { class: brand === null ? null : 'muted' }, texts.title),
    printed,
    change,
  )
}

/** Shows the page in the language that the reader has chosen, and remembers it. */
async function switchTo(language: LanguageName): Promise<void> {
  texts = await loadTexts(language)
  shown = language
  rememberLanguage(browserMemory, language)
  mount()
  document.querySelector<HTMLElement>('header button')?.focus()
}

/**
 * Has every part draw what has changed in the model, and tells the framing page the state of the
 * order.
 */
function update(): void {
  const isFocused = hasFocus()
  choose()
  const obstacle = obstacleOf(context)
  const isBlocked = obstacle !== null
  document.body.classList.toggle('blocked', isBlocked)
  document.body.classList.toggle('ended', obstacle === 'ended' && model.offer !== null && model.address !== null)
  for (const view of views) view.update()
  const title = isBlocked ? context.texts.title : titleOf(context)
  document.title = settings.brand === null ? title : `${title} · ${settings.brand.name}`
  if (isFocused) keepFocus()
  summary = summaryText(context)
  tellState(context)
}

/** Chooses a currency for the reader: the one used last, else the first open one. */
function choose(): void {
  const { offer, chosen } = model
  if (offer === null || chosen !== null || model.session.claim.order !== null) return
  const open = offer.list.filter(isCreditable)
  const last = browserMemory.read(currencyName)
  model.chosen = (open.find(({ cuy }) => String(cuy) === last) ?? open[0])?.cuy ?? null
}

/** Finds the loaded transfers that belong to this visit: with an order, those to its address. */
function follow(): void {
  const { arrivals, session, order } = model
  if (arrivals === null) return
  if (session.claim.order === null) model.visited = visits.follow(session, arrivals.list)
  else if (order === null || order === 'unknown') model.visited = new Set()
  else model.visited = new Set(arrivals.list.filter((one) => isOfOrder(order, one)).map(({ id }) => id))
}

/**
 * Draws transfers, and announces their new states and the progress of the order to screen
 * readers.
 */
function showArrivals(news: readonly Arrival[]): void {
  const before = summary
  follow()
  update()
  if (news.length === 0) return
  const sentences = news.map((one) => {
    const state = texts.titleWith(arrivalState(context, one.state), arrivalAmount(context, one))
    return state + texts.stop + texts.gap + arrivalWords(context, one)
  })
  context.announce([...sentences, ...(summary === before ? [] : [summary])].join(texts.gap))
}

/** Whether the page shows an address to pay to, and nothing is on its way. */
function isWaiting(): boolean {
  const { address, offer, refusal, arrivals } = model
  if (address === null || offer === null || offer.late !== null || refusal !== null || arrivals === null) return false
  if (model.session.claim.order !== null && !isToPay(context)) return false
  return obstacleOf(context) === null && arrivals.list.every(({ state }) => state !== 'seen' && state !== 'held')
}

function pace(): number {
  if (loader.wasHeld()) return paceMs.held
  const seen = model.arrivals?.list.filter(({ state }) => state === 'seen') ?? []
  if (seen.some(({ finalAt }) => finalAt !== null && finalAt < performance.now() + paceMs.expected)) return paceMs.final
  return seen.length > 0 || performance.now() < actedAt + expectedMs ? paceMs.expected : paceMs.quiet
}
