import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { passTime } from './browser.ts'
import { usePages } from './fixture.ts'
import { choose, openFold, poke, press, see, seeIn, textOfFirst } from './reading.ts'
import { newcomer, payAddress, transfer } from './story.ts'

const pages = usePages()

describe('the service', () => {
  /** How many requests the page sends in the next minute. */
  const inOneMinute = async (page: Page) => {
    const before = pages.service.requests.length
    await passTime(page, 60_000)
    return pages.service.requests.length - before
  }

  it('is asked at most 15 times in any minute while nothing is on its way, and less when nobody acts', async () => {
    const page = await pages.openLoaded()
    await openFold(page, 'wallet')
    await page.waitForSelector('.balances li')
    for (let minute = 0; minute < 3; minute += 1) expect(await inOneMinute(page)).toBeLessThanOrEqual(15)
    const first = await inOneMinute(page)
    await passTime(page, 15 * 60_000)
    const later = await inOneMinute(page)
    expect([first > 9, later > 4, later < first]).toEqual([true, true, true])
  })

  it('is asked every two seconds when a payment is about to be final', async () => {
    pages.story.transfers = [transfer(4, 'seen', { seconds: 3 })]
    expect(await inOneMinute(await pages.openLoaded())).toBeGreaterThan(25)
  })

  it.each([
    ['en', 'The network’s answers are about 3 min late.', 'What you have sent is safe'],
    ['zh', '网络响应延迟约 3 分钟。', '您转出的资金是安全的'],
  ])(
    'says that it is late: within 30 s the page does so, with how late, and that the money is safe (%s)',
    async (lang, late, safe) => {
      const page = await pages.openLoaded({ languages: [lang] })
      pages.story.late = 200
      await passTime(page, 29_000)
      await seeIn(page, '.notice', late)
      await seeIn(page, '.notice', safe)
      await seeIn(page, '[role="status"].unseen', late)
      expect(await textOfFirst(page, '.address')).toBe(payAddress)
      expect(await pages.shift()).toBeLessThan(0.1)
      pages.story.late = null
      await passTime(page, 29_000)
      expect(await page.$eval('.notice', (notice) => (notice as HTMLElement).hidden)).toBe(true)
    },
  )

  it.each([
    ['seconds', 40, '40 s'],
    ['minutes', 3_000, '50 min'],
    ['hours', 80_000, '22 h'],
  ])('is late by %s', async (_what, late, words) => {
    pages.story.late = late
    await seeIn(await pages.openLoaded(), '.notice', `about ${words} late`)
  })

  it('answers nothing at all: the page says so within 30 s, however it fails', async () => {
    const page = await pages.openLoaded()
    await page.evaluate(() => {
      window.fetch = (_url, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
      AbortSignal.timeout = (ms) => {
        const controller = new AbortController()
        setTimeout(() => controller.abort(new DOMException('late', 'TimeoutError')), ms)
        return controller.signal
      }
    })
    await passTime(page, 29_000)
    await seeIn(page, '.notice', 'The service takes too long to answer')
    await seeIn(page, '.notice', 'What you have sent as described here is safe')
  })

  it('is left alone for as long as it wants, whatever the reader does', async () => {
    const page = await pages.openLoaded()
    pages.answer('/tron/deposits', { status: 429, msg: 'too many', headers: { 'retry-after': '60' } })
    await poke(page)
    await seeIn(page, '.notice', 'The page is busy: too many requests for now')
    await seeIn(page, '.notice', 'Tries again by itself in')
    const before = pages.service.requests.length
    await choose(page, 2)
    for (let time = 0; time < 3; time += 1) await poke(page)
    await page.click('.destination button')
    await passTime(page, 50_000)
    expect(pages.service.requests.length).toBe(before)
  })

  it('is not asked by a page that is hidden, and again when it is shown', async () => {
    const page = await pages.openLoaded()
    const hide = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await hide(true)
    const before = pages.service.requests.length
    await poke(page)
    await page.evaluate(() => fetch('/marker'))
    expect(pages.service.requests.length).toBe(before + 1)
    pages.story.transfers = [transfer(3, 'seen', { seconds: 9 })]
    await hide(false)
    await poke(page)
    await seeIn(page, '.status', '25 USDT')
  })

  it('can be away: the page says so, keeps what it has, and goes on by itself', async () => {
    const page = await pages.openLoaded()
    await page.setOfflineMode(true)
    await poke(page)
    await seeIn(page, '.notice', 'No connection to the service')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    expect(await page.$$eval('.notice button', (all) => all.length)).toBe(0)
    pages.story.transfers = [transfer(3, 'seen', { seconds: 9 })]
    await page.setOfflineMode(false)
    await poke(page) // as if the browser had reported that it is online
    await seeIn(page, '.status', '25 USDT')
    await page.waitForSelector('.notice', { hidden: true })
  })

  it('can answer with anything: the page says that it could not be read', async () => {
    const page = await pages.openLoaded()
    for (const body of ['', '<html>', 'null', '[]', '{"code":200}', '{"msg":"success","data":{"list":{}}}']) {
      pages.answer('/tron/deposits', { body })
      await poke(page)
      await seeIn(page, '.notice', 'could not be read')
      pages.answer('/tron/deposits', { data: { list: [], count: 0 } })
      await poke(page)
      await page.waitForSelector('.notice', { hidden: true })
    }
  })

  it('can be away from the beginning: nothing is to be sent until the address is there', async () => {
    for (const path of ['/currencies', '/tron/generate']) {
      pages.tell(newcomer())
      pages.answer(path, { status: 503, msg: 'x' })
      const page = await pages.open()
      await seeIn(page, '.obstacle', 'Do not send anything yet')
      expect(await page.$('.address')).toBeNull()
    }
  })

  it('checks now when the reader wants it', async () => {
    const page = await pages.openLoaded()
    await openFold(page, 'question')
    await press(page, 'Check for new payments')
    await seeIn(page, '.question .result', 'Checked just now.')
    pages.answer('/tron/recharge', { status: 429, msg: 'your share', headers: { 'retry-after': '60' } })
    await press(page, 'Check for new payments')
    await seeIn(page, '.question .result', 'The page is busy: too many requests for now')
    await see(page, 'What you have sent as described here is safe')
  })
})
