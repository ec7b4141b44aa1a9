import { createServer } from 'node:http'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { localBackendToken } from '../devnet/local.ts'
import { listen } from '../support/loopback.ts'
import { type Edge, startEdge } from './access-edge.ts'
import { type OpenPage, openAs } from './browser.ts'
import { connectBrowser, desktop } from './fixture.ts'
import { payoutAddress, payoutTo } from './payout-fixture.ts'
import { askDesk, press, see, seeIn } from './reading.ts'
import { startScriptedService } from './scripted-service.ts'

const secret = 'a secret of the backends, for these tests only'
const people = { 'ann@example.com': 'read approve', '*@example.com': 'read', 'bo@other.example': 'read pay' }
let edge: Edge
let browser: Awaited<ReturnType<typeof connectBrowser>>
let opened: OpenPage[] = []

beforeAll(async () => {
  const scripted = await startScriptedService()
  await scripted.close() // only the files that it has built are needed
  const PAYOUTS = { address: payoutAddress }
  ;[edge, browser] = await Promise.all([
    startEdge(scripted.files, { PAYOUTS, people, BACKEND_JWT_SECRET: secret }),
    connectBrowser(),
  ])
}, 180_000)
afterAll(async () => {
  await browser.disconnect()
  await edge.stop()
})
beforeEach(() => async () => {
  const faults = opened.flatMap((one) => one.faults)
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  expect(faults).toEqual([])
})

/** Opens a page with the session of somebody who has signed in with this e-mail address. */
async function openFor(email: string, address = `${edge.url}/desk`): Promise<Page> {
  const one = await openAs(browser, 'about:blank', desktop)
  opened.push(one)
  await one.page.setCookie({
    name: 'CF_Authorization',
    value: await edge.session(email),
    url: edge.url,
    httpOnly: true,
  })
  await one.page.goto(address)
  return one.page
}

/** Sends a request of a backend to the service directly, not through Cloudflare Access. */
async function backend(
  path: string,
  body: object,
): Promise<{ readonly data: { readonly list: readonly { id: number }[] } }> {
  const headers = { authorization: `Bearer ${await localBackendToken(secret)}`, 'content-type': 'application/json' }
  const response = await fetch(edge.service + path, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  return (await response.json()) as Awaited<ReturnType<typeof backend>> // safe: the service's own reply
}

/** Asks for a payout of 10 USDT that a person must approve. Returns its id. */
async function askForPayout(osn: string): Promise<number> {
  await backend('/ledger/entries', { entries: [{ uid: 7, cuy: 2, type: 9, osn: `start ${osn}`, amt: '10' }] })
  const { data } = await backend('/ledger/payouts', { payouts: [{ uid: 7, cuy: 2, amt: '10', to: payoutTo, osn }] })
  return data.list[0]?.id ?? 0
}
const acts = (page: Page) => page.$$eval('.result [data-act]', (all) => all.map((one) => one.getAttribute('data-act')))
/**
 * Sends a request from the page by script, without the desk's help. Returns the status, or
 * `no answer`.
 */
const post = (page: Page, url: string, body: object, init: RequestInit = {}) =>
  page.evaluate(
    async (...[where, sent, more]) => {
      const headers = { 'content-type': 'application/json', 'x-requested-with': 'XMLHttpRequest' }
      const options = { method: 'POST', headers, body: JSON.stringify(sent), credentials: 'include', ...more } as const
      return fetch(where, options).then(
        ({ status, type }) => [status, type],
        () => ['no answer'],
      )
    },
    url,
    body,
    init as object, // safe: the members reach the browser as JSON
  )

it('two people approve and cancel what one of them may not: each sees the own acts, and is known by the e-mail address', async () => {
  const [first, second] = [await askForPayout('first'), await askForPayout('second')]
  const bo = await openFor('bo@other.example')
  await seeIn(bo, 'header', 'bo@other.example')
  await askDesk(bo, `payout ${first}`)
  expect(await acts(bo)).toEqual(['cancel'])
  expect(await post(bo, `${edge.url}/ledger/payouts/approve`, { ids: [first] })).toEqual([403, 'basic'])
  const ann = await openFor('ann@example.com')
  expect(await askDesk(ann, `payout ${first}`)).toContain('Waits for a person')
  expect(await acts(ann)).toEqual(['approve', 'cancel'])
  await ann.click('[data-act="approve"]')
  await (await ann.waitForSelector('.act [type="submit"]'))?.click()
  await seeIn(ann, '.result h3', '10 USDT: Approved')
  await seeIn(ann, '.result', 'By ann@example.com')
  await askDesk(bo, `payout ${second}`)
  await bo.click('[data-act="cancel"]')
  await (await bo.waitForSelector('#why'))?.type('asked for twice')
  await bo.keyboard.press('Enter')
  await seeIn(bo, '.result h3', '10 USDT: Cancelled')
  await seeIn(bo, '.result', 'asked for twice')
})

it('somebody of the domain reads, and is offered nothing', async () => {
  const id = await askForPayout('third')
  const page = await openFor('cid@example.com')
  await seeIn(page, 'header', 'cid@example.com')
  await askDesk(page, `payout ${id}`)
  expect(await acts(page)).toEqual([])
  expect(await post(page, `${edge.url}/ledger/payouts/cancel`, { ids: [id], why: 'x' })).toEqual([403, 'basic'])
})

it('somebody else sees nothing, whoever has signed them in', async () => {
  const page = await openFor('ann@evil.example')
  await seeIn(page, '#state', 'You are signed in, but may not use the desk')
  expect(await page.evaluate(() => document.body.textContent)).not.toContain('USDT')
})

it('a page of another origin can neither read nor act in the name of its visitor', async () => {
  const id = await askForPayout('fourth')
  const { url, close } = await listen(
    createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('x')),
  )
  // cookies belong to a host: the browser sends this one to the other port, too
  const page = await openFor('ann@example.com', url)
  opened = [] // the browser reports the refused requests as errors, which are expected here
  const approve = `${edge.url}/ledger/payouts/approve`
  const simple = { headers: { 'content-type': 'text/plain' }, mode: 'no-cors' } as const
  edge.passed.length = 0
  expect(await post(page, approve, { ids: [id] }, simple)).toEqual(['no answer'])
  await expect.poll(() => edge.passed).toEqual([{ method: 'POST', path: '/ledger/payouts/approve', status: 403 }])
  // the browser asks for permission first, and gets none
  expect(await post(page, approve, { ids: [id] })).toEqual(['no answer'])
  const own = await openFor('ann@example.com')
  expect(await askDesk(own, `payout ${id}`)).toContain('10 USDT: Waits for a person')
  await page.browserContext().close()
  await close()
})

it('says that the session has ended, and shows the way to another one', async () => {
  const page = await openFor('ann@example.com')
  await seeIn(page, 'header', 'ann@example.com')
  await page.deleteCookie({ name: 'CF_Authorization', url: edge.url })
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await seeIn(page, '#state', 'Your session has ended')
  await see(page, 'Load the page again')
  await press(page, '中文') // the file with Chinese is behind Access, too
  await seeIn(page, '[role="status"].unseen', 'No connection to the service')
})
