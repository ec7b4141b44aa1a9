import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { startEmbeddingPage } from './embedding-page.ts'
import { desktop, usePages } from './fixture.ts'
import { poke, seeIn, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { order, transfer } from './story.ts'

const pages = usePages()
const claims = { sub: '7', order: '1041' }
const paid = (id: number, state: string, amount: string, members = {}) =>
  transfer(id, state, { amt: exact(amount), ...members })

/**
 * Opens a shop that embeds the deposit page with a token of these claims. `window.told` collects
 * the states that the page tells the shop.
 */
async function openShop(of: object, isOfOrigins = true) {
  const shop = await startEmbeddingPage(pages.service.url, () => tokenOf(of))
  pages.service.frameAncestors = shop.url
  pages.service.settings = { ...noPageSettings, origins: isOfOrigins ? [shop.url] : ['https://other.example'] }
  const page = await pages.open(desktop, '', 'about:blank')
  await page.evaluateOnNewDocument(() => {
    const told: unknown[] = []
    Object.assign(window, { told })
    // the snippet that the guide shows for framing pages dispatches this event
    addEventListener('deposit', (event) => told.push((event as CustomEvent).detail))
    addEventListener(
      'message',
      ({ data }) => data?.type === 'state' && document.documentElement.setAttribute('data-got', data.state),
    )
  })
  await page.goto(shop.url)
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame()
  if (!frame) throw new Error('the page has no frame')
  return { shop, page, frame }
}

const told = (page: Page) =>
  page.evaluate(() => (window as unknown as { told: { order: string; state: string }[] }).told)
const statesOf = async (page: Page) => (await told(page)).map(({ state }) => state)

describe('the framing page of an order', () => {
  it('is told each state once: waiting, seen, partly paid, paid', async () => {
    const { shop, page, frame } = await openShop(claims)
    await expect.poll(() => told(page)).toEqual([{ type: 'state', order: '1041', state: 'waiting' }])
    const steps: [transfers: { id: number }[], states: string[]][] = [
      // 20 of 25 USDT are seen, and nothing is credited yet
      [[paid(5, 'seen', '20', { seconds: 40 })], ['waiting', 'seen']],
      [[paid(5, 'credited', '20')], ['waiting', 'seen', 'partly-paid']],
      [
        [paid(6, 'credited', '3'), paid(5, 'credited', '20')],
        ['waiting', 'seen', 'partly-paid'],
      ],
      [
        [paid(7, 'seen', '2', { seconds: 9 }), paid(5, 'credited', '23')],
        ['waiting', 'seen', 'partly-paid', 'seen'],
      ],
      [
        [paid(7, 'credited', '2'), paid(5, 'credited', '23')],
        ['waiting', 'seen', 'partly-paid', 'seen', 'paid'],
      ],
    ]
    for (const [transfers, states] of steps) {
      pages.story.transfers = transfers
      await poke(frame)
      await frame.waitForFunction(
        (all) => document.querySelectorAll('.status li[data-state]').length === all,
        {},
        transfers.length,
      )
      await expect.poll(() => statesOf(page)).toEqual(states)
    }
    await shop.close()
  })

  it('is not told of a deposit in another currency, and is told when the order ends and when it is paid all the same', async () => {
    pages.story.orders = [order({ until: new Date(Date.now() + 6_000).toISOString() })]
    const { shop, page, frame } = await openShop(claims)
    await expect.poll(() => statesOf(page)).toEqual(['waiting'])
    pages.story.transfers = [paid(5, 'credited', '1', { cuy: 1 })]
    await poke(frame)
    await seeIn(frame, '.summary', 'does not count')
    expect(await statesOf(page)).toEqual(['waiting'])
    await seeIn(frame, '.summary', 'This order has expired')
    await expect.poll(() => statesOf(page)).toEqual(['waiting', 'expired'])
    pages.story.transfers = [paid(6, 'credited', '25'), ...pages.story.transfers]
    await poke(frame)
    await expect.poll(() => statesOf(page)).toEqual(['waiting', 'expired', 'paid'])
    await shop.close()
  })

  it('is told nothing where it is not of PAGE_ORIGINS, and nothing without an order or of one that is not there or cannot be read', async () => {
    for (const [of, isOfOrigins, wanted] of [
      [claims, false, '.address'],
      [{ sub: '7' }, true, '.address'],
      [{ sub: '7', order: 'A-1' }, true, '.obstacle h2'],
      [{ sub: '7', deposit: { cuy: 2 } }, true, '.obstacle h2'],
    ] as const) {
      const { shop, page, frame } = await openShop(of, isOfOrigins)
      await frame.waitForSelector(wanted)
      await poke(frame)
      await frame.evaluate(() => new Promise((done) => setTimeout(done, 50)))
      expect(await told(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.dataset.got)).toBeUndefined()
      await shop.close()
      await page.close()
    }
  })
})
