import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAddress } from '../../src/worker/chain/address.ts'
import { tokenBase58, tokenCall } from '../devnet/control.ts'
import { localBackendToken } from '../devnet/local.ts'
import { signToken } from '../http/auth/sign-token-example.ts'
import { runCurl } from '../shop/curl.ts'
import { createDemoShop } from '../shop/demo-shop.ts'
import { listen, type RunningServer } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { type OpenPage, openAs, type Reader, violationsOf } from './browser.ts'
import { buyTea, payNow } from './buy-tea.ts'
import { startEmbeddingPage } from './embedding-page.ts'
import { connectBrowser, desktop } from './fixture.ts'
import { type LocalService, startLocalService } from './local-service.ts'
import { payoutAddress, payoutTo } from './payout-fixture.ts'
import { askAbout, askDesk, choose, openFold, press, see, seeIn, showList, textOfFirst } from './reading.ts'

const foreignPage = 'https://shop.example'
const secrets = {
  callers: 'a secret of the callers, for these tests only',
  backends: 'a secret of the backends, for these tests only',
}
const { server, settle } = createDemoShop({ wallet: () => service.url, secrets })
let shop: RunningServer
/** The txids of the payments in these tests. */
const paid: string[] = []
let service: LocalService
let browser: Browser

beforeAll(async () => {
  shop = await listen(server)
  const origins = `${foreignPage},${shop.url}`
  const keys = { AUTH_JWT_SECRET: secrets.callers, BACKEND_JWT_SECRET: secrets.backends }
  const payouts = { PAYOUTS: JSON.stringify({ address: payoutAddress }) }
  ;[service, browser] = await Promise.all([
    startLocalService({ PAGE_ORIGINS: origins, ...keys, ...payouts }),
    connectBrowser(),
  ])
}, 120_000)
afterAll(async () => {
  await browser.disconnect()
  await service.stop()
  await shop.close()
})

async function withPage(reader: Reader, walk: (page: Page) => Promise<void>): Promise<void> {
  const opened: OpenPage = await openAs(browser, `${service.url}/deposit`, reader)
  try {
    await opened.page.waitForSelector('.address, .status li')
    await walk(opened.page)
    expect(opened.faults).toEqual([])
  } finally {
    await opened.close()
  }
}

/** The symbol, USDT or TRX, in the text of each element. */
const symbolsIn = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => all.map((one) => /USDT|TRX/.exec(one.textContent)?.[0]))

const ways = [
  {
    reader: {},
    cuy: 2,
    currency: 'USDT',
    amount: '25',
    check: 'Check for new payments',
    words: ['Local test chain', 'On its way', 'Credited'],
  },
  {
    reader: { ...desktop, isDark: true, languages: ['zh-CN'] },
    cuy: 1,
    currency: 'TRX',
    amount: '3.5',
    check: '检查新的付款',
    words: ['本地测试链', '确认中', '已入账'],
  },
] as const

it('a person pays on the local chain, and sees it seen, final and credited without reloading: phone and desktop, both languages', async () => {
  const meeting = meet(ways.length)
  await Promise.all(
    ways.map(({ reader, cuy, currency, amount, check, words: [network, seen, credited] }) =>
      withPage(reader, async (page) => {
        const line = (state: string) => `.status li[data-state="${state}"]`
        const shows = (state: string) =>
          page.waitForFunction(
            (selector, wanted) =>
              [...document.querySelectorAll(`${selector} strong`)].some((one) => one.textContent === wanted),
            {},
            line(state),
            `${amount} ${currency}`,
          )
        await see(page, network)
        await choose(page, cuy)
        const to = await textOfFirst(page, '.address')
        const { txid } = await service.devnet.pay({ to, amount, currency })
        paid.push(txid)
        await meeting(() => service.devnet.mine())
        await openFold(page, 'question')
        await press(page, check)
        await shows('seen')
        await seeIn(page, line('seen'), seen)
        await meeting(() => service.devnet.mine(3))
        await shows('credited') // without an action of the reader
        await seeIn(page, line('credited'), credited)
        await openFold(page, 'wallet')
        await seeIn(page, '.balances', amount)
        await seeIn(page, '.entries', `+${amount} ${currency}`)
        expect(await askAbout(page, txid)).toContain(`success: already credited ${amount} ${currency}`)
      }),
    ),
  )
})

/** A meeting of `size` callers: the last one to call runs its `act`, and then all calls resolve. */
function meet(size: number): (act: () => Promise<unknown>) => Promise<unknown> {
  let waiting: (() => void)[] = []
  return async (act) => {
    if (waiting.length + 1 < size) return new Promise<void>((resolve) => waiting.push(resolve))
    await act()
    const all = waiting
    waiting = []
    for (const resolve of all) resolve()
  }
}

it('a person who sent something worthless, or nothing at all, is given the reason', async () => {
  await withPage({}, async (page) => {
    await choose(page, 1)
    const to = await textOfFirst(page, '.address')
    const { txid } = await service.devnet.pay({ to, amount: '5', currency: 'TRC10' })
    await service.devnet.mine(3)
    expect(await askAbout(page, txid)).toContain('What was sent is not accepted here')
    const recipient = parseAddress(to)
    if (!recipient.ok) throw new Error(to)
    const data = tokenCall('transfer(address,uint256)', recipient.value, 1n)
    const failed = await service.devnet.send({ to: tokenBase58, data, fails: 'OUT_OF_ENERGY' })
    await service.devnet.mine(3)
    expect(await askAbout(page, failed.txid)).toContain('so the money has not left your wallet')
    expect(await askAbout(page, 'ab'.repeat(32))).toContain('does not know this transaction')
  })
})

it('a person has two orders of a shop open at once: what pays one in two parts does not pay the other', async () => {
  const opened = [await openAs(browser, shop.url, desktop), await openAs(browser, shop.url, desktop)] as const
  const [{ page, frame, to, check }, other] = [await buyTea(opened[0].page), await buyTea(opened[1].page)]
  expect(other.to).not.toBe(to)
  const pay = async (amount: string) => {
    await payNow(service, to, amount)
    await check()
  }
  await pay('20')
  await seeIn(frame, '.pay h2', 'Send 5 USDT more')
  await seeIn(page, '#state', 'A part of it is there')
  await pay('5')
  await seeIn(frame, '.summary', 'Paid')
  await seeIn(page, '#state', 'Your payment is there')
  await settle() // as the shop does after an event
  await seeIn(page, '#state', 'Paid. Thank you!')
  expect(await page.$eval('#ways', (one) => one.checkVisibility())).toBe(false) // nobody is asked to pay it again
  await Promise.all([page.waitForNavigation(), frame.$eval('.actions a', (link) => (link as HTMLElement).click())])
  expect(page.url()).toMatch(/\/orders\/104[12]-\d+$/)
  await seeIn(page, '#state', 'Paid. Thank you!')
  expect(await page.$('iframe')).toBeNull()
  await other.check()
  await seeIn(other.frame, '.question .result', 'Checked just now')
  expect(await textOfFirst(other.frame, '.pay h2')).toBe('Send 25 USDT')
  expect(await textOfFirst(other.page, '#state')).toBe('Waiting for your payment')
  for (const one of opened) {
    expect(one.faults).toEqual([])
    await one.close()
  }
})

it('USDT, which most payers send, stands before TRX: for a person, and at the desk', async () => {
  await withPage(desktop, async (page) => {
    expect(await symbolsIn(page, '.choice')).toEqual(['USDT', 'TRX'])
    await openFold(page, 'wallet')
    await page.waitForSelector('.balances li')
    expect(await symbolsIn(page, '.balances li')).toEqual(['USDT', 'TRX'])
  })
  const token = await localBackendToken(secrets.backends, 'ledger:read')
  const { page, close } = await openAs(browser, `${service.url}/desk#token=${token}`, desktop)
  await page.waitForSelector('.currencies h3')
  expect(await symbolsIn(page, '.currencies h3')).toEqual(['USDT', 'TRX'])
  await close()
})

it('a person has the month as a statement that adds up, and an operator the day of all', async () => {
  await withPage(desktop, async (page) => {
    await openFold(page, 'wallet')
    await page.waitForSelector('#month')
    await press(page, 'Show')
    await seeIn(page, '.statement', 'Closing balance')
    const rows = await page.$$eval('.statement tbody tr', (all) => all.map(({ textContent }) => textContent))
    const openings = rows.filter((row) => row.startsWith('Opening')).map((row) => /USDT|TRX/.exec(row)?.[0])
    expect(openings).toEqual(['USDT', 'TRX']) // in the order in which they are offered
    expect(rows.filter((row) => row.startsWith('Closing') && row.endsWith('25 USDT'))).toHaveLength(1)
    expect(rows.filter((row) => row.includes('USDTBalance'))).toHaveLength(4)
  })
  const token = await localBackendToken(secrets.backends, 'ledger:read')
  const { page, faults, close } = await openAs(browser, `${service.url}/desk#token=${token}`, desktop)
  await page.waitForSelector('.statement summary', { visible: true })
  await page.$eval('.statement summary', (one) => (one as HTMLElement).click()) // safe: a summary element
  await page.waitForSelector('#statement-day')
  await page.$eval('#statement-day', (day) => Object.assign(day, { value: new Date().toISOString().slice(0, 10) }))
  await press(page, 'Show')
  await seeIn(page, '.statement dl', 'After: 25 USDT')
  expect(faults).toEqual([])
  await close()
})

it('a program in another repository, which elsewhere.test.ts compiles, lists what was paid', async () => {
  const { newestDeposits } = (await import(`${root}test/elsewhere/deposits-example.ts`)) as {
    newestDeposits(baseUrl: string, token: string): Promise<string[]>
  } // safe: the file exports it
  const lines = await newestDeposits(service.url, await signToken(1, secrets.callers))
  expect(lines.map((line) => / \+(\d+) /.exec(line)?.[1])).toEqual(['5', '20', '25'])
  const [, txid] = /^\d{4}-.*Z \+25 \(([0-9a-f]{64}):0\)$/.exec(lines[2] ?? '') ?? []
  expect(paid).toContain(txid)
  await expect(newestDeposits(service.url, 'no token')).rejects.toThrow('a valid bearer token is required')
})

it('the desk has the story of what was paid, and says which endpoint fails', async () => {
  const token = await localBackendToken(secrets.backends, 'ledger:read')
  const { page, faults, close } = await openAs(browser, `${service.url}/desk#token=${token}`, desktop)
  await seeIn(page, '.status', 'Webhook endpoint 1 fails')
  await seeIn(page, '.delays', 'Oldest held depositNone')
  for (const txid of paid) {
    const story = await askDesk(page, txid)
    for (const words of ['Credited', 'User 1: address 1', 'Entry', 'deposit.credited', 'Endpoint 1']) {
      expect(story).toContain(words)
    }
  }
  expect(await askDesk(page, '1')).toContain('25 USDT')
  await seeIn(page, '[data-node="1"]', 'Last answer')
  for (const list of ['deposits', 'entries', 'events']) {
    await showList(page, list)
    await page.waitForSelector('section:has(> #lists) td')
  }
  expect(await askDesk(page, 'ab'.repeat(32))).toContain('not known here')
  expect(faults).toEqual([])
  await close()
})

it('the desk of npm start is signed in by itself: a person approves a payout of the shop, which cancels it', async () => {
  const token = await localBackendToken(secrets.backends, 'ledger:read ledger:pay')
  const send = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return [response.status, await response.json()]
  }
  const asked = { uid: 1, cuy: 2, amt: '10.5', fee: '1', to: payoutTo, osn: 'payout-1' }
  expect(await send('/ledger/payouts', { payouts: [asked] })).toMatchObject([200, {}])
  const { page, faults, close } = await openAs(browser, `${shop.url}/desk`, desktop)
  await seeIn(page, 'header', 'office')
  expect(page.url()).toBe(`${service.url}/desk`) // the token is not left in the URL
  await seeIn(page, 'section:has(> #payouts)', 'Waits for a person: 1')
  await showList(page, 'payouts')
  await seeIn(page, 'section:has(> #lists) td', '10.5 USDT')
  for (const question of ['payout 1', '1 payout-1']) {
    expect(await askDesk(page, question)).toContain('Taken from the balance at once: 10.5 USDT, and a fee of 1 USDT')
  }
  await page.click('.result [data-act="approve"]')
  await (await page.waitForSelector('.act [type="submit"]'))?.click()
  await seeIn(page, '.result h3', '10.5 USDT: Approved')
  await seeIn(page, '.result', 'By office')
  expect(await askDesk(page, payoutTo)).toContain('No user has this address, but payouts go to it')
  expect(await send('/ledger/payouts/cancel', { ids: [1], why: 'for this test' })).toMatchObject([200, {}])
  const story = await askDesk(page, '1 payout-1')
  for (const words of ['10.5 USDT: Cancelled', '11.5 USDT is back', 'for this test', 'Entries: 3']) {
    expect(story).toContain(words)
  }
  await showList(page, 'events')
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await seeIn(page, 'section:has(> #lists)', 'Payout: Cancelled · 10.5 USDT')
  expect(faults).toEqual([])
  await close()
})

it('the documentation has three calls, then the routes, and at the end what each reason means', async () => {
  const { page, faults, close } = await openAs(browser, `${service.url}/docs`, desktop)
  const calls = await page.waitForSelector('.info .renderedMarkdown pre')
  const commands = ((await calls?.evaluate((one) => one.textContent)) ?? '').trim().split(/\n(?=curl )/)
  const [TOKEN, BACKEND] = [await signToken(1, secrets.callers), await localBackendToken(secrets.backends)]
  const money = JSON.stringify({ entries: [{ uid: 1, cuy: 2, type: 9, osn: 'for the documentation', amt: '5' }] })
  commands.unshift(
    `curl ${service.url}/ledger/entries -H "authorization: Bearer $BACKEND" -H 'content-type: application/json' -d '${money}'`,
  )
  const answers = []
  for (const command of commands) answers.push((await runCurl(command, { TOKEN, BACKEND })).status)
  expect(answers).toEqual([200, 200, 200, 200])
  await page.waitForSelector('#reasons dt')
  const tops = await page.evaluate(() =>
    ['.info .renderedMarkdown pre', '.opblock', '#reasons'].map(
      (one) => document.querySelector(one)?.getBoundingClientRect().top ?? 0,
    ),
  )
  expect(tops).toEqual(tops.toSorted((a, b) => a - b))
  expect(tops[1]).toBeLessThan(desktop.height)
  const list = await page.waitForSelector('.info a[href="#reasons"]')
  await list?.click()
  await page.waitForFunction(
    () => Math.abs(document.querySelector('#reasons')?.getBoundingClientRect().top ?? 999) < 80,
  )
  await seeIn(page, '#reasons', 'The amount is less than the smallest amount in a wallet.')
  const tabs = (await browser.pages()).filter((one) => one.url().startsWith(`${service.url}/docs`))
  expect(tabs).toHaveLength(1)
  expect(faults).toEqual([])
  await close()
})

it('the documentation has tokens of this machine in one click, and can be read by all in both themes', async () => {
  const place = '#/Ledger/listLedgerEvents'
  const { page, faults, close } = await openAs(browser, 'about:blank', desktop)
  const withoutDocument = (request: HTTPRequest) =>
    void (request.url().endsWith('/openapi.json') ? request.abort() : request.continue())
  await page.setRequestInterception(true)
  page.on('request', withoutDocument) // the page must not draw the document yet: it is drawn below, with tokens
  await page.goto(`${service.url}/docs${place}`)
  const link = await page.waitForSelector('#tokens a')
  const { port, pathname, search } = new URL((await link?.evaluate((one) => (one as HTMLAnchorElement).href)) ?? '')
  page.off('request', withoutDocument)
  await page.setRequestInterception(false)
  expect(Number(port)).toBe(Number(new URL(service.url).port) + 4) // the port at which `npm start` runs the shop
  await page.goto(`${shop.url}${pathname}${search}`)
  await seeIn(page, '#tokens', 'Requests have tokens of this machine')
  expect(await page.evaluate(() => location.hash)).toBe(place)
  await page.waitForSelector('.authorization__btn[aria-label$=" locked"]')
  const execute = await page.waitForSelector('.opblock.is-open .execute')
  await execute?.evaluate((one) => (one as HTMLElement).click()) // safe: a button
  await seeIn(page, '.live-responses-table .response', '200')
  await seeIn(page, '.live-responses-table', '"count"')
  expect(await violationsOf(page)).toEqual([])
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(await paper()).toBe('rgb(255, 255, 255)')
  const features = { 'prefers-color-scheme': 'dark', 'prefers-reduced-motion': 'reduce' } // no transition
  await page.emulateMediaFeatures(Object.entries(features).map(([name, value]) => ({ name, value })))
  await page.waitForSelector('html.dark-mode')
  expect(await paper()).toBe('rgb(28, 32, 34)')
  expect(await violationsOf(page, ['color-contrast'])).toEqual([]) // only colours depend on the theme
  expect(faults).toEqual([])
  await close()
})

it('only pages of PAGE_ORIGINS can frame the page, and nothing is loaded from elsewhere', async () => {
  const response = await fetch(`${service.url}/deposit`)
  const policy = response.headers.get('content-security-policy')
  expect(response.status).toBe(200)
  expect(policy).toContain(`frame-ancestors ${foreignPage} ${shop.url}`)
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toContain('unsafe-inline')
  expect(response.headers.get('x-frame-options')).toBeNull()
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  const other = await startEmbeddingPage(service.url, () => 'token')
  const { page, close } = await openAs(browser, other.url)
  await page.waitForSelector('iframe')
  await expect.poll(() => page.frames().some((one) => one.url().startsWith('chrome-error:'))).toBe(true)
  await close()
  await other.close()
  const desk = await fetch(`${service.url}/desk`)
  expect(desk.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(desk.headers.get('x-frame-options')).toBe('DENY')
})

it('a client that a generator made of /openapi.json, which elsewhere.test.ts compiles, posts and reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'made-client-'))
  try {
    writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${service.url}/openapi.json`)).text())
    cpSync(`${root}test/elsewhere/payment-example.ts`, join(folder, 'payment-example.ts'))
    const generator = `${root}test/elsewhere/node_modules/@hey-api/openapi-ts/bin/run.js`
    const options = ['-i', 'openapi.json', '-o', 'client', '--no-log-file']
    await promisify(execFile)(process.execPath, [generator, ...options], { cwd: folder })
    const bundled = { bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' } as const
    await build({ ...bundled, entryPoints: [join(folder, 'payment-example.ts')], outfile: join(folder, 'client.mjs') })
    const { payForOrder } = (await import(join(folder, 'client.mjs'))) as {
      payForOrder(access: object, uid: number): Promise<string[]>
    } // safe: the file exports it
    const uid = 3_000_000_000 // more than 32 bits
    const userToken = await signToken(uid, secrets.callers)
    const backendToken = await localBackendToken(secrets.backends)
    expect(await payForOrder({ baseUrl: service.url, userToken, backendToken }, uid)).toEqual([
      'order-1: -0.000001, then 4.999999',
      expect.stringMatching(/^success/),
      'entry.posted: gift-1',
      'entry.posted: order-1',
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
