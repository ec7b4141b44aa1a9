import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { localBackendToken } from '../devnet/local.ts'
import { type OpenPage, openAs } from './browser.ts'
import { connectBrowser, desktop } from './fixture.ts'
import { type LocalService, startLocalService } from './local-service.ts'
import { payoutAddress, payoutTo } from './payout-fixture.ts'
import { seeIn } from './reading.ts'

// Thirty payouts wait in the real service, and are approved at the desk with a keyboard alone.

const secret = 'a secret of the backends, for these tests only'
let service: LocalService
let browser: Browser

beforeAll(async () => {
  const payouts = { PAYOUTS: JSON.stringify({ address: payoutAddress }) }
  ;[service, browser] = await Promise.all([
    startLocalService({ BACKEND_JWT_SECRET: secret, ...payouts }),
    connectBrowser(),
  ])
}, 120_000)
afterAll(async () => {
  await browser.disconnect()
  await service.stop()
})

/** Sends a request as the backend `shop`. Returns the data of the answer. */
async function asShop(path: string, body?: object) {
  const token = await localBackendToken(secret, 'ledger:read ledger:post ledger:pay')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const options = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(service.url + path, options)
  expect([path, response.status]).toEqual([path, 200])
  // safe: the service's own answer
  return ((await response.json()) as { data: { list: { id: number; state: string }[] } }).data.list
}

const ids = (page: Page) => page.$$eval('.queue tbody tr', (all) => all.map((one) => Number(one.dataset.id)))

/** Presses keys one after the other; returns how many. */
async function type(page: Page, keys: readonly ('Tab' | 'Space' | 'Enter')[]): Promise<number> {
  for (const key of keys) await page.keyboard.press(key)
  return keys.length
}

async function openDesk(): Promise<OpenPage> {
  const token = await localBackendToken(secret, 'ledger:read ledger:approve', 'office')
  const opened = await openAs(browser, `${service.url}/desk#token=${token}`, desktop)
  await opened.page.waitForSelector('.waiting button')
  return opened
}

it('thirty payouts are approved with a few keys, oldest first, but one that its backend cancels meanwhile', async () => {
  await asShop('/ledger/entries', { entries: [{ uid: 1, cuy: 2, type: 9, osn: 'money', amt: '1000' }] })
  for (const from of [1, 16]) {
    const payouts = Array.from({ length: 15 }, (_, index) => {
      return { uid: 1, cuy: 2, amt: '10', fee: '0.5', to: payoutTo, osn: `payout-${from + index}` }
    })
    await asShop('/ledger/payouts', { payouts })
  }
  const { page, faults, close } = await openDesk()
  let keys = await type(page, ['Tab', 'Tab', 'Tab', 'Enter']) // language, sign out, what waits
  await expect.poll(() => ids(page)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches('[data-id="1"] input'))).toBe(true)
  await page.keyboard.down('Shift')
  keys += await type(page, ['Tab']) // the actions are disabled, so this is the button for the oldest twenty
  await page.keyboard.up('Shift')
  keys += await type(page, ['Enter', 'Tab', 'Enter'])
  await page.waitForSelector('.act')
  await asShop('/ledger/payouts/cancel', { ids: [7], why: 'the user has changed their mind' })
  keys += await type(page, ['Tab', 'Enter'])
  await expect.poll(() => ids(page)).toEqual([7, ...Array.from({ length: 10 }, (_, index) => index + 21)])
  await seeIn(page, '.queue tr[data-id="7"]', 'it is cancelled')
  keys += await type(page, ['Space']) // drops it: the focus is at it
  await expect.poll(async () => (await ids(page)).length).toBe(10)
  await page.keyboard.down('Shift')
  keys += await type(page, ['Tab'])
  await page.keyboard.up('Shift')
  keys += await type(page, ['Enter', 'Tab', 'Enter'])
  await page.waitForSelector('.act')
  keys += await type(page, ['Tab', 'Enter'])
  await seeIn(page, '.queue', 'Nothing here')
  expect(keys).toBeLessThanOrEqual(20)
  const states = (await asShop('/ledger/payouts?limit=100')).map(({ state }) => state)
  expect(states.filter((one) => one === 'approved')).toHaveLength(29)
  expect(states.filter((one) => one === 'cancelled')).toHaveLength(1)
  expect(faults).toEqual([])
  await close()
})
