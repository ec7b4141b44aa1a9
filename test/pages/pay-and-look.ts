/**
 * Pays at the address that a page in a browser shows, and measures how soon the page says that the
 * payment is on its way: over the whole service as `npm start` runs it, with the scan's interval
 * and the finality of a deployment. Each payment is of another user. Also counts the requests of a
 * page that waits. Prints JSON, for `npm run bench -- payer`. The argument is the number of
 * payments.
 */
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'puppeteer-core'
import { signToken } from '../http/auth/sign-token-example.ts'
import { openAs, startBrowser, stopBrowser } from './browser.ts'
import { type LocalService, startLocalService } from './local-service.ts'

const secret = 'a secret of the callers, for this measurement only'
/** After a start, the chain needs so long until its blocks have the present time. */
const settleMs = 25_000
/** A payer sends after a time in this range, so that payments fall at all times between blocks. */
const [readMsMin, readMsMax] = [4_000, 10_000]

const variables = { AUTH_JWT_SECRET: secret, SCAN_EVERY_SECONDS: '20' }
const pace = { isTimed: true, finalityBlocks: 19, behindSeconds: 90 }
const [service, browser] = await Promise.all([startLocalService(variables, pace), startBrowser()])
await service.devnet.keepInTime()
await setTimeout(settleMs)
const requests = await requestsOfMinute(service, browser)
const seenMs: number[] = []
for (let uid = 1; uid <= Number(process.argv[2]); uid += 1) {
  seenMs.push(await payAndLook(service, browser, uid))
  process.stderr.write(`${((seenMs.at(-1) ?? 0) / 1_000).toFixed(1)} `)
}
process.stdout.write(JSON.stringify({ seenMs, requests }))
await stopBrowser(browser)
await service.stop()
process.exit(0) // timers of the chain may be left

async function openFor({ url }: LocalService, started: Browser, uid: number) {
  const token = await signToken(uid, secret)
  const opened = await openAs(started, `${url}/deposit#token=${token}`)
  await opened.page.waitForSelector('.address')
  return opened
}

async function payAndLook(running: LocalService, started: Browser, uid: number): Promise<number> {
  const { page, close } = await openFor(running, started, uid)
  const to = await page.$eval('.address', ({ textContent }) => textContent.trim())
  await setTimeout(readMsMin + Math.random() * (readMsMax - readMsMin))
  const start = performance.now()
  const paid = running.devnet.pay({ to, amount: '25', currency: 'USDT' })
  await untilOnItsWay(page)
  const ms = performance.now() - start
  await paid
  await close()
  return ms
}

async function untilOnItsWay(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.status')?.textContent.includes('On its way'), {
    polling: 'mutation',
  })
}

/** Counts the requests to the service of a page that has shown its address for some seconds. */
async function requestsOfMinute(running: LocalService, started: Browser): Promise<number> {
  const { page, close } = await openFor(running, started, 1_000)
  await setTimeout(readMsMax)
  let count = 0
  page.on('request', (request) => {
    if (request.url().startsWith(running.url)) count += 1
  })
  await setTimeout(60_000)
  await close()
  return count
}
