import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { createDemoShop } from '../shop/demo-shop.ts'
import { listen, type RunningServer } from '../support/loopback.ts'
import { violationsOf } from './browser.ts'
import { desktop, usePages } from './fixture.ts'

const pages = usePages()
const secrets = { callers: 'a secret of callers, for these tests', backends: 'a secret of backends, for these tests' }
const { server, settle } = createDemoShop({ wallet: () => pages.service.url, secrets })
let shop: RunningServer
beforeAll(async () => {
  shop = await listen(server)
})
afterAll(() => shop.close())

/**
 * A credited deposit of the buyer: its amount in USDT, and how many seconds ago it was credited.
 */
type Arrived = readonly [amt: number, age: number]

/** Makes the service answer with these deposits. */
const arrive = (...deposits: readonly Arrived[]) =>
  pages.answer('/ledger/deposits', {
    data: {
      list: deposits.map(([amt, age]) => ({
        amt,
        created_at: new Date(Date.now() + 1_000 - age * 1_000).toISOString(),
      })),
    },
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
      const page = await pages.open(reader, '', shop.url)
      expect(await heard(page)).toEqual([['header', 'main'], []])

      await Promise.all([page.waitForNavigation(), page.click('button')])
      const frame = await (await page.waitForSelector('iframe'))?.contentFrame()
      await frame?.waitForSelector('.address')
      expect(await heard(page)).toEqual([['header', 'main', 'strong', 'iframe'], []])

      arrive([25, 0])
      pages.answer('/ledger/entries', {})
      await settle() // the shop takes the payment
      await page.reload()
      expect(await heard(page)).toEqual([['header', 'main', 'strong'], []])
    },
  )

  it('takes a payment when the order is paid, not from what the buyer had before', async () => {
    pages.answer('/ledger/entries', {})
    const { url } = await fetch(`${shop.url}/orders`, { method: 'POST' })
    const stateAfter = async (...deposits: readonly Arrived[]) => {
      arrive(...deposits)
      await settle()
      return await (await fetch(`${url}/state`)).text()
    }
    expect(await stateAfter([100, 3_600])).toBe('open')
    expect(await stateAfter([100, 3_600], [10.1, 0])).toBe('open')
    expect(await stateAfter([100, 3_600], [10.1, 0], [14.9, 0])).toBe('paid')
  })
})
