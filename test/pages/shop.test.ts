import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { createDemoShop } from '../shop/demo-shop.ts'
import { listen, type RunningServer } from '../support/loopback.ts'
import { violationsOf } from './browser.ts'
import { desktop, usePages } from './fixture.ts'
import { order } from './story.ts'

const pages = usePages()
const secrets = { callers: 'a secret of callers, for these tests', backends: 'a secret of backends, for these tests' }
const { server, settle } = createDemoShop({ wallet: () => pages.service.url, secrets })
let shop: RunningServer
beforeAll(async () => {
  shop = await listen(server)
})
afterAll(() => shop.close())

/** Makes the service take orders, and answer that it has taken the payment of one or of none. */
const serveOrders = (taken: string | null = null) =>
  pages.service.routes.set('/ledger/orders', ({ searchParams }, _request, sent) => {
    // safe: sent by the shop
    const asked = sent === '' || sent === undefined ? [] : (JSON.parse(sent) as { orders: object[] }).orders
    pages.story.orders.push(...asked.map((one) => order({ ...one, at_least: '25' })))
    return { data: { list: [{ taken: searchParams.get('order') === taken }] } }
  })

/** The landmarks that a screen reader finds, and the violations that axe finds. */
async function heard(page: Page) {
  const landmarks = await page.$$eval('body > header, body > main, main [role="status"], main iframe[title]', (all) =>
    all.map(({ localName }) => localName),
  )
  return [landmarks, await violationsOf(page)]
}

describe('the pretend shop of npm start', () => {
  it.each([{}, { ...desktop, isDark: true }])(
    'has landmarks on each page, and axe finds nothing: %o',
    async (reader) => {
      pages.service.settings = { ...noPageSettings, origins: [shop.url] }
      pages.service.frameAncestors = shop.url
      serveOrders()
      const page = await pages.open(reader, '', shop.url)
      expect(await heard(page)).toEqual([['header', 'main'], []])

      await Promise.all([page.waitForNavigation(), page.click('button')])
      const frame = await (await page.waitForSelector('iframe'))?.contentFrame()
      await frame?.waitForSelector('.address')
      expect(await heard(page)).toEqual([['header', 'main', 'strong', 'iframe'], []])

      serveOrders(page.url().split('/').at(-1))
      await settle() // the shop takes the payment
      await page.reload()
      expect(await heard(page)).toEqual([['header', 'main', 'strong'], []])
    },
  )

  it('has an order paid when the service has taken its payment, and no other order with it', async () => {
    serveOrders()
    const asked = await Promise.all(
      ['', ''].map(async () => (await fetch(`${shop.url}/orders`, { method: 'POST' })).url),
    )
    const statesAfter = async (taken: string | null) => {
      serveOrders(taken)
      await settle()
      return Promise.all(asked.map(async (url) => (await fetch(`${url}/state`)).text()))
    }
    expect(await statesAfter(null)).toEqual(['open', 'open'])
    expect(await statesAfter(asked[0]?.split('/').at(-1) ?? '')).toEqual(['paid', 'open'])
  })
})
