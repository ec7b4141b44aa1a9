import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { violationsOf } from './browser.ts'
import { usePages } from './fixture.ts'
import { languages, type Seen, windows, wrongLooks } from './looks.ts'
import { askAbout, openFold, poke, seeIn, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import {
  currencies,
  newcomer,
  order,
  regular,
  type Story,
  type ToldOrder,
  transfer,
  txidOf,
  withdrawing,
} from './story.ts'

const pages = usePages()

interface State {
  readonly story?: Partial<Story>
  readonly claims?: object
  /** What must be visible without scrolling. */
  readonly seen: Seen
  /** What a reader does once the page has loaded. */
  readonly acts?: (page: Page) => Promise<void>
}

const shop = 'https://shop.example'
const brand = { name: 'Tea, Coffee & Chocolate Company, Bristol', color: '#635bff', logo: null }
const asked = order({ return: `${shop}/orders/1041` })
const longAsked = order({ amt: '1234567.891234', order: 'A-1041-2026' })
const claims = { order: '1041' }
const asking = (story: Partial<Story> = {}, own: ToldOrder = asked) => ({
  claims: { order: own.order },
  story: { orders: [own], ...story },
})
/** An order that ends in nine minutes, which the page counts down. */
const short = (): ToldOrder => ({ ...asked, until: new Date(Date.now() + 540_000).toISOString() })
const longName = 'Maximiliana Wolfeschlegelsteinhausen'
const paid = (amount: string, state = 'credited', id = 4) =>
  transfer(id, state, {
    amt: exact(amount),
    created_at: '2026-11-25T14:04:00.000Z',
    ...(state === 'seen' ? { seconds: 40 } : {}),
  })
const unavailable = { status: 503, msg: 'later' }
const oneClosed = [currencies[0] ?? {}, { ...currencies[1], open: false }]
const many = Array.from({ length: 30 }, (_, n) => ({ ...currencies[1], cuy: n + 1, symbol: `LONGTOKEN${n}` }))

/** What a payer needs; on the narrowest phone at least the address and its button. */
const payment: Seen = ({ width }) => [
  ...['.address', '.destination button'],
  ...(width === 320 ? [] : ['.owner', '.send h2', '.badge', '.warning', '.qr']),
]
/** What tells a payer at once how the newest payment stands. */
const status: Seen = () => ['.owner', '.status .head strong', '.status .state', '.status .words']
const withReturn: Seen = (window) => [...status(window), '.summary h2', '.actions a']
const also =
  (seen: Seen, ...more: readonly string[]): Seen =>
  (window) => [...seen(window), ...more]
const only =
  (...selectors: readonly string[]): Seen =>
  () =>
    selectors

/** Opens all folded parts, and asks about a transaction. */
async function openAll(page: Page): Promise<void> {
  for (const name of ['arrivals', 'how', 'question', 'wallet']) await openFold(page, name)
  await page.waitForSelector('.chart details')
  await page.$$eval('.chart details', (all) => {
    for (const one of all) one.open = true
  })
  pages.answer('/tron/recharge', { status: 422, msg: 'x', headers: { 'x-reason': 'transaction-failed' } })
  await askAbout(page, txidOf(1))
}

/**
 * Presses all buttons that copy. Their words change for a moment only; timers are switched off so
 * that the change stays.
 */
async function copyAll(page: Page): Promise<void> {
  await page.waitForSelector('.pay button')
  await page.$$eval('.pay button', async (all) => {
    const { setTimeout: own } = window
    window.setTimeout = (() => 0) as unknown as typeof setTimeout // safe: it ignores its arguments
    for (const one of all) {
      const label = one.textContent
      one.click()
      while (one.textContent === label) await new Promise((done) => requestAnimationFrame(done))
    }
    window.setTimeout = own
  })
}

const fails = (answer: object) => async (page: Page) => {
  pages.answer('/tron/deposits', answer)
  await poke(page)
}

/** What arrives once the page shows an address: a visit has no transfers of before. */
const comes =
  (transfers: Story['transfers']) =>
  async (page: Page): Promise<void> => {
    await page.waitForSelector('.address', { visible: true })
    pages.story.transfers = transfers
    await poke(page)
  }

const states: Readonly<Record<string, State>> = {
  'before a payment': { seen: payment },
  'a user with a long name': { seen: payment, claims: { name: longName } },
  'on a test network': { seen: also(payment, '.badge.test'), story: { network: 'Nile' } },
  'many currencies, and a user without a name': {
    seen: payment,
    story: { currencies: many },
    claims: { sub: '9007199254740990', name: '' },
  },
  'an order': { seen: also(payment, '.destination h3'), ...asking() },
  'an order of a long amount': { seen: payment, ...asking({}, longAsked) },
  'an order of which the last minutes are counted down': {
    seen: also(payment, '.destination h3'),
    ...asking({}, short()),
  },
  'an amount and an address that are copied': { seen: payment, ...asking({}, longAsked), acts: copyAll },
  'on its way': { seen: status, story: { transfers: [paid('25', 'seen')] } },
  credited: { seen: status, acts: comes([paid('25')]) },
  held: {
    seen: status,
    acts: comes([transfer(4, 'held', { reason: 'review', why: 'x', created_at: '2026-11-25T14:04:00.000Z' })]),
  },
  refused: {
    seen: status,
    acts: comes([transfer(4, 'refused', { reason: 'below-minimum', why: 'x', amt: exact('0.25') })]),
  },
  'an order on its way': { seen: also(status, '.summary h2'), ...asking({ transfers: [paid('25', 'seen')] }) },
  'an order that is held': {
    seen: also(status, '.summary h2'),
    ...asking({ transfers: [transfer(4, 'held', { reason: 'review', why: 'x' })] }),
  },
  'an order paid in part': {
    seen: only('.owner', '.summary p', '.send h2'),
    ...asking({ transfers: [paid('20')] }),
  },
  'an order that is paid': { seen: withReturn, ...asking({ transfers: [paid('26')] }) },
  'an order that is short by its tolerance': {
    seen: withReturn,
    ...asking({ transfers: [paid('24')] }, { ...asked, at_least: '24' }),
  },
  'an order, and something in another currency': {
    seen: also(payment, '.summary .note'),
    ...asking({ transfers: [transfer(4, 'credited', { cuy: 1, created_at: '2026-11-25T14:04:00.000Z' })] }),
  },
  'an order that is paid, and something else on its way': {
    seen: only('.owner', '.summary h2', '.summary .note'),
    ...asking({ transfers: [paid('3', 'seen', 6), { ...paid('1', 'seen', 5), cuy: 1 }, paid('25')] }),
  },
  'an order that has expired': {
    seen: only('.owner', '.summary h2', '.summary p', '.actions a'),
    ...asking({}, { ...asked, state: 'expired' }),
  },
  'an order that has expired and is paid in part': {
    seen: only('.owner', '.summary h2', '.summary p', '.status .state'),
    ...asking({ transfers: [paid('20')] }, { ...asked, state: 'expired' }),
  },
  'an order that is cancelled': {
    seen: only('.owner', '.summary h2', '.summary p', '.actions a'),
    ...asking({}, { ...asked, state: 'cancelled' }),
  },
  'an order that is not there': { seen: only('.obstacle h2'), claims, story: { orders: [] } },
  'an order that cannot be read': { seen: only('.obstacle h2'), claims: { deposit: { cuy: 2 } } },
  'several at once': {
    seen: status,
    story: { transfers: [paid('9007199254.740991', 'seen', 6), paid('7', 'seen', 5), paid('3.5', 'seen', 4)] },
  },
  'everything else that can become of a payment': { seen: only('.owner'), story: regular(), acts: openAll },
  withdrawals: {
    seen: only('.owner'),
    story: withdrawing(),
    acts: async (page) => {
      await openFold(page, 'wallet')
      await page.waitForSelector('.ledger a')
    },
  },
  late: { seen: also(payment, '.notice strong'), story: { late: 7_000 } },
  'late, and on its way': {
    seen: also(status, '.notice strong'),
    story: { late: 200, transfers: [transfer(4, 'seen')] },
  },
  'a currency that is closed': { seen: also(payment, '.choice .closed'), story: { currencies: oneClosed } },
  'an order in it': { seen: only('.owner', '.pay .note'), ...asking({ currencies: oneClosed }) },
  'all currencies closed, and an uncertain amount': {
    seen: only('.owner', '.pay .note'),
    story: {
      currencies: currencies.map((one) => ({ ...one, open: false })),
      transfers: [transfer(4, 'held', { reason: 'decimals-differ', why: 'x' })],
    },
    acts: (page) => openFold(page, 'arrivals'),
  },
  'a service that fails': { seen: also(payment, '.notice strong'), acts: fails(unavailable) },
  'a session that has ended': {
    seen: only('.obstacle h2', '.obstacle a'),
    ...asking(),
    acts: fails({ status: 401, msg: 'x' }),
  },
  'a service without a configuration': {
    seen: only('.obstacle'),
    acts: fails({ ...unavailable, headers: { 'x-reason': 'not-configured' } }),
  },
}

/** The states that show the operator's colour: a brand changes nothing else. */
const coloured = ['before a payment', 'an order that is paid']

/**
 * Brings a page in this language into one state after the other, each time as a new user, and calls
 * `look`.
 */
async function inEach(
  names: readonly string[],
  language: string,
  look: (page: Page, name: string, nth: number) => Promise<void>,
) {
  const page = await pages.open({ languages: [language] })
  for (const [index, name] of names.entries()) {
    const { story, claims, seen, acts } = states[name] ?? { seen: only() }
    pages.tell({ ...newcomer(), ...story })
    const token = tokenOf({ sub: `${index + 8}`, name: language === 'zh' ? '王安娜' : 'Anna Wei', ...claims })
    await page.evaluate((next) => location.replace(`#token=${next}`), token)
    await page.waitForFunction(() => location.hash === '')
    await acts?.(page)
    await page.waitForFunction(
      (wanted) => wanted.every((one) => document.querySelector(one)?.checkVisibility()),
      {},
      seen(windows[2]),
    )
    await look(page, name, index)
  }
}

describe('each state, in both themes, from the narrowest phone to a wide desktop', () => {
  it.each(languages)(
    'fits, has what is needed without scrolling, and is right for a screen reader and a keyboard: %s',
    async (language, tag) => {
      pages.service.settings = { ...noPageSettings, origins: [shop] }
      const found: string[] = []
      await inEach(Object.keys(states), language, async (page, name, nth) => {
        const wrong = await wrongLooks(page, tag, states[name]?.seen ?? only(), nth)
        found.push(...wrong.map((one) => `${name}: ${one}`))
      })
      expect(found).toEqual([])
    },
  )

  it.each(languages)(
    'has the colour of the operator, and no text in it that cannot be read: %s',
    async (language, tag) => {
      pages.service.settings = { ...noPageSettings, origins: [shop], brand }
      const found: string[] = []
      await inEach(coloured, language, async (page, name, nth) => {
        const wrong = await wrongLooks(page, tag, states[name]?.seen ?? only(), nth)
        found.push(...wrong.map((one) => `${name}: ${one}`))
      })
      expect(found).toEqual([])
    },
  )

  it.each(languages)('has room for the button that opens a wallet: %s', async (language, tag) => {
    pages.service.settings = { ...noPageSettings, origins: [shop], wallet: 'trust' }
    const found: string[] = []
    await inEach(['before a payment', 'an order of a long amount'], language, async (page, name, nth) => {
      const seen: Seen = (window) => [...payment(window), ...(window.width === 320 ? [] : ['.destination a'])]
      const wrong = [...(await wrongLooks(page, tag, seen, nth)), ...(await wrongLooks(page, tag, seen, nth + 1))]
      found.push(...wrong.map((one) => `${name}: ${one}`))
    })
    expect(found).toEqual([])
  })

  it('is right for a screen reader while the page is loading', async () => {
    const after = new Promise<void>(() => {})
    pages.service.routes.set('/tron/generate', () => ({ after }))
    const page = await pages.open({}, `#token=${tokenOf({ sub: '7' })}`)
    await seeIn(page, '.owner', 'User 7')
    expect(await violationsOf(page)).toEqual([])
  })
})
