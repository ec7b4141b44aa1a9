import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { type Reader, violationsOf } from './browser.ts'
import { usePages } from './fixture.ts'
import { askAbout, openFold, poke, seeIn, strange, strangeTexts, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { currencies, newcomer, regular, type Story, transfer, txidOf } from './story.ts'

const pages = usePages()

interface State {
  readonly story?: Partial<Story>
  readonly deposit?: object
  /** What is to be seen. */
  readonly shows: string
  /** What happens when the page is there. */
  readonly acts?: (page: Page) => Promise<void>
}

const shop = 'https://shop.example'
const brand = { name: 'Tea & Co', color: '#635bff', logo: null }
const asked = { cuy: 2, amt: '25', order: '1041', since: 1_795_300_000, return: `${shop}/orders/1041` }
const paid = (amount: string, state = 'credited') =>
  transfer(4, state, {
    amt: exact(amount),
    created_at: '2026-11-25T14:04:00.000Z',
    ...(state === 'seen' ? { seconds: 40 } : {}),
  })
const unavailable = { status: 503, msg: 'later' }

/** Opens all parts below the screen, and asks about a transaction. */
async function openAll(page: Page): Promise<void> {
  for (const name of ['arrivals', 'how', 'question', 'wallet']) await openFold(page, name)
  await page.waitForSelector('.chart details')
  await page.$$eval('.chart details', (all) => {
    for (const one of all) one.open = true
  })
  pages.answer('/tron/recharge', { status: 422, msg: 'x', headers: { 'x-reason': 'transaction-failed' } })
  await askAbout(page, txidOf(1))
}

const states: Readonly<Record<string, State>> = {
  'before a payment': { shows: '.address' },
  'on a test network': { shows: '.badge.test', story: { network: 'Nile' } },
  'a payment request': { shows: '.address', deposit: asked },
  'on its way': { shows: '.status li', story: { transfers: [paid('25', 'seen')] } },
  'a request on its way': { shows: '.summary h2', deposit: asked, story: { transfers: [paid('25', 'seen')] } },
  'a request paid in part': {
    shows: '.summary p',
    deposit: asked,
    story: { transfers: [paid('20')] },
  },
  'a request that is paid': {
    shows: '.summary h2',
    deposit: asked,
    story: { transfers: [paid('26')] },
  },
  'everything else that can become of a payment': { shows: '.chart', story: regular(), acts: openAll },
  late: { shows: '.notice strong', story: { late: 200 } },
  'late, and on its way': { shows: '.notice strong', story: { late: 200, transfers: [transfer(4, 'seen')] } },
  'a currency that is closed': {
    shows: '.closed',
    story: { currencies: [currencies[0] ?? {}, { ...currencies[1], open: false }] },
  },
  'a request in it': {
    shows: '.pay .note',
    deposit: asked,
    story: { currencies: [currencies[0] ?? {}, { ...currencies[1], open: false }] },
  },
  'all currencies closed, and an uncertain amount': {
    shows: '.pay .note',
    story: {
      currencies: currencies.map((one) => ({ ...one, open: false })),
      transfers: [transfer(4, 'held', { reason: 'decimals-differ', why: 'x' })],
    },
    acts: (page) => openFold(page, 'arrivals'),
  },
  'a service that fails': {
    shows: '.notice strong',
    acts: async (page) => {
      pages.answer('/tron/deposits', unavailable)
      await poke(page)
    },
  },
  'a session that has ended': {
    shows: '.obstacle h2',
    deposit: asked,
    acts: async (page) => {
      pages.answer('/tron/deposits', { status: 401, msg: 'x' })
      await poke(page)
    },
  },
  'a service without a configuration': {
    shows: '.obstacle h2',
    acts: async (page) => {
      pages.answer('/tron/deposits', { ...unavailable, headers: { 'x-reason': 'not-configured' } })
      await poke(page)
    },
  },
}

/** Those in which a colour of the operator is seen: that is all that a brand changes. */
const coloured = ['before a payment', 'a payment request', 'a request that is paid', 'a session that has ended']

describe('accessibility and language', () => {
  it.each([
    ['Chinese and dark on the narrowest phone', { width: 320, height: 568, isDark: true, languages: ['zh-CN'] }, null],
    ['English and light on a desktop', { width: 1366, height: 650 }, null],
    ['Chinese and light with a brand', { languages: ['zh-CN'] }, brand],
    ['English and dark with a brand', { isDark: true }, brand],
  ])('are right in every state: %s', async (_what, reader: Reader, look) => {
    pages.service.settings = { origins: [shop], brand: look, devUid: null }
    const page = await pages.open(reader)
    const found: string[] = []
    let uid = 7
    for (const [name, { story, deposit, shows, acts }] of Object.entries(states)) {
      if (look !== null && !coloured.includes(name)) continue
      pages.tell({ ...newcomer(), ...story })
      uid += 1
      const token = tokenOf({ sub: `${uid}`, name: 'Anna Wei', ...(deposit && { deposit }) })
      await page.evaluate((next) => location.replace(`#token=${next}`), token)
      await page.waitForFunction(() => location.hash === '')
      await acts?.(page)
      await page.waitForSelector(shows, { visible: true })
      const wrong = [...(await violationsOf(page)), ...(reader.languages ? await strangeTexts(page) : [])]
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      found.push(...[...wrong, ...(isWide ? ['too wide'] : [])].map((one) => `${name}: ${one}`))
    }
    expect(found).toEqual([])
  })

  it('are looked for by what finds them', () => {
    const wrong = [
      '已到账 ，暂未入账',
      '已到账。 请等待',
      '正在 确认',
      '发现于 the block of it',
      '已入账.',
      '交易（ 已入账）',
    ]
    expect(wrong.filter((text) => !strange.test(text))).toEqual([])
  })

  it('are right while the page is loading', async () => {
    const after = new Promise<void>(() => {})
    pages.service.routes.set('/tron/generate', () => ({ after }))
    const page = await pages.open({}, `#token=${tokenOf({ sub: '7' })}`)
    await seeIn(page, '.owner', 'User 7')
    expect(await violationsOf(page)).toEqual([])
  })
})
