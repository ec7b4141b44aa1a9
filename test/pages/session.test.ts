import type { Frame, Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { startEmbeddingPage } from './embedding-page.ts'
import { desktop, usePages } from './fixture.ts'
import { choose, poke, see, seeIn, textOfFirst } from './reading.ts'
import { payAddress, regular, transfer } from './story.ts'

const pages = usePages()
const unauthorized = { status: 401, msg: 'a valid bearer token is required' }
const tokens = () => new Set(pages.service.requests.map(({ token }) => token))

/** Answers only requests with this token. */
function requireToken(valid: () => string): void {
  for (const [path, script] of pages.service.routes) {
    if (path === '/currencies') continue
    pages.service.routes.set(path, (url, request) =>
      request.headers.authorization === `Bearer ${valid()}` ? script(url, request) : unauthorized,
    )
  }
}

/** A token that says whose it is, as a JWT does. */
const tokenOf = (uid: number, mark = '') => `h.${btoa(JSON.stringify({ sub: String(uid) }))}.${mark}`

async function frameOf(page: Page): Promise<Frame> {
  const handle = await page.waitForSelector('iframe')
  const frame = await handle?.contentFrame()
  if (!frame) throw new Error('the page has no frame')
  return frame
}

describe('a token in the address', () => {
  it('is used, and leaves the address bar and the history at once', async () => {
    requireToken(() => 'secret.token')
    const page = await pages.openLoaded({}, '#token=secret.token')
    expect(page.url()).toBe(`${pages.service.url}/deposit`)
    expect(await page.evaluate(() => [history.length, JSON.stringify(history.state), document.cookie])).toEqual([
      2,
      'null',
      '',
    ])
    expect(tokens()).toEqual(new Set(['secret.token']))
  })

  it('of another account replaces everything that is shown', async () => {
    pages.tell(regular())
    const page = await pages.openLoaded({}, `#token=${tokenOf(7)}`)
    await choose(page, 2)
    await page.$$eval('button', (all) => all.find((one) => one.textContent === 'Check now')?.click())
    await seeIn(page, '.arriving .result', 'success: nothing new')
    const other = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'
    pages.answer('/tron/generate', { data: { id: 2, address: other } })
    pages.answer('/tron/deposits', { data: { list: [transfer(90, 'credited')], count: 1 } })
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf(8))
    await choose(page, 2)
    await seeIn(page, '.address', other)
    await page.waitForFunction(() => document.querySelectorAll('.arrivals li').length === 1)
    expect(await textOfFirst(page, '.arriving .result')).toBe('')
  })

  it('of another account comes while the page is loading: nothing of the first one is shown', async () => {
    const addresses = { [tokenOf(7)]: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', [tokenOf(8)]: payAddress }
    pages.service.routes.set('/tron/generate', (_url, { headers }) => ({
      data: { id: 1, address: addresses[headers.authorization?.replace('Bearer ', '') ?? ''] },
    }))
    const page = await pages.open({}, '', 'about:blank')
    let release = () => {}
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.url().endsWith('/page.js')) release = () => void request.continue()
      else void request.continue()
    })
    const loaded = page.goto(`${pages.service.url}/deposit#token=${tokenOf(7)}`)
    await expect.poll(() => pages.asked('/tron/generate')).toBe(1)
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf(8))
    await page.waitForFunction(() => location.hash === '')
    release()
    await loaded
    await choose(page, 2)
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
  })

  it('of the same account changes nothing that is shown', async () => {
    const page = await pages.openLoaded({}, `#token=${tokenOf(7)}`)
    await choose(page, 2)
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf(7, 'new'))
    await page.waitForFunction(() => location.hash === '')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
  })
})

describe('without a token', () => {
  it('a page on this machine asks without one, and says what is missing where that is refused', async () => {
    requireToken(() => 'none')
    const page = await pages.open()
    await see(page, 'set DEV_UID in .dev.vars')
    await (await page.$('input[value="2"]'))?.click()
    await seeIn(page, '.payment .note', 'Do not send anything yet')
    await seeIn(page, '.payment .note', 'open this page from there again')
    expect(tokens()).toEqual(new Set([null]))
    const before = pages.asked('/tron/deposits')
    await page.$eval('.trouble button', (button) => button.click())
    await expect.poll(() => pages.asked('/tron/deposits')).toBe(before + 1)
  })
})

describe('a session that has ended', () => {
  it.each([
    [
      'en',
      'Your session has ended',
      'Go back to the site or app that gave you this page',
      'What you have sent as described here is safe',
    ],
    ['zh', '登录已过期', '请回到向您提供本页面的网站或应用', '按本页说明转出的资金是安全的'],
  ])(
    'is explained to the person who pays; advice for developers is a small line below (%s)',
    async (language, ...says) => {
      const page = await pages.openLoaded({ languages: [language] })
      requireToken(() => 'none')
      await poke(page)
      await page.waitForSelector('.trouble:not([hidden])')
      const lines = await page.$$eval('.trouble strong, .trouble p', (all) => all.map((one) => one.textContent))
      for (const [index, words] of says.entries()) expect(lines[index]).toContain(words)
      expect(lines.filter((line) => line.includes('DEV_UID'))).toEqual([await textOfFirst(page, '.trouble .muted')])
      await page.$$eval('.arriving button', (all) => all.at(-1)?.click()) // "check now"
      await seeIn(page, '.arriving .result', says[1] ?? '')
      expect(await textOfFirst(page, '.arriving .result')).not.toContain('DEV_UID')
    },
  )
})

describe('a framing page', () => {
  it('hands over a token, and another one where that has expired', async () => {
    let valid = tokenOf(7)
    requireToken(() => valid)
    const shop = await startEmbeddingPage(pages.service.url, () => valid)
    pages.service.frameAncestors = shop.url
    const frame = await frameOf(await pages.open(desktop, '', shop.url))
    await frame.waitForSelector('.balances li')
    await choose(frame, 2)
    valid = tokenOf(7, 'renewed')
    pages.story.transfers = [transfer(3, 'seen', { seconds: 9 })]
    await poke(frame)
    await seeIn(frame, '.arrivals', '25 USDT')
    expect(await frame.$('.trouble:not([hidden])')).toBeNull()
    expect(tokens()).toEqual(new Set([null, tokenOf(7), valid]))
    await shop.close()
  })

  it('of another origin cannot show the page', async () => {
    const shop = await startEmbeddingPage(pages.service.url, () => 'token')
    pages.service.frameAncestors = 'https://shop.example'
    const page = await pages.openRefused(shop.url)
    await page.waitForSelector('iframe')
    await expect.poll(() => page.frames().some((one) => one.url().startsWith('chrome-error:'))).toBe(true)
    expect(pages.service.requests).toEqual([])
    await shop.close()
  })

  it('is the only one whose messages are read', async () => {
    let valid = 'right'
    requireToken(() => valid)
    const shop = await startEmbeddingPage(pages.service.url, () => valid)
    pages.service.frameAncestors = shop.url
    const page = await pages.open(desktop, '', shop.url)
    const frame = await frameOf(page)
    await frame.waitForSelector('.balances li')
    // Another window of the framing page's origin, and the page itself.
    await page.evaluate(async () => {
      const sibling = document.createElement('iframe')
      sibling.src = '/sibling'
      document.body.append(sibling)
      await new Promise((resolve) => sibling.addEventListener('load', resolve))
      const script = sibling.contentDocument?.createElement('script')
      if (script) {
        script.textContent = "parent.frames[0].postMessage({ type: 'token', token: 'wrong' }, '*')"
        sibling.contentDocument?.body.append(script)
      }
    })
    await frame.evaluate(() => window.postMessage({ type: 'token', token: 'wrong' }, '*'))
    // What is malformed is not read either. The good message after them shows that all have arrived.
    valid = 'last'
    await page.evaluate(() => {
      for (const token of [null, 5, '', 'a\nb', 'last']) window.frames[0]?.postMessage({ type: 'token', token }, '*')
    })
    await expect.poll(() => tokens().has('last')).toBe(true)
    expect(tokens()).toEqual(new Set([null, 'right', 'last']))
    await shop.close()
  })

  it('is the only one that is asked: a page that is opened from elsewhere ignores messages', async () => {
    requireToken(() => 'right')
    const page = await pages.open()
    await see(page, 'set DEV_UID')
    await page.evaluate(() => window.postMessage({ type: 'token', token: 'right' }, '*'))
    const before = pages.asked('/tron/deposits')
    await poke(page)
    await expect.poll(() => pages.asked('/tron/deposits')).toBeGreaterThan(before)
    expect(tokens()).toEqual(new Set([null]))
  })
})

describe('the service', () => {
  it('is left alone for as long as it wants, whatever the reader does', async () => {
    const page = await pages.openLoaded()
    pages.answer('/tron/deposits', { status: 429, msg: 'too many', headers: { 'retry-after': '60' } })
    await poke(page)
    await see(page, 'The page is busy: too many requests for now')
    await see(page, 'Tries again by itself in')
    const before = pages.service.requests.length
    await choose(page, 2)
    for (let press = 0; press < 3; press += 1) await poke(page)
    await page.click('.address + button')
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
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
    await seeIn(page, '.arrivals', '25 USDT')
  })

  it('can be away: the page says so, keeps what it has, and goes on by itself', async () => {
    const page = await pages.openLoaded()
    await choose(page, 2)
    await page.setOfflineMode(true)
    await poke(page)
    await see(page, 'No connection to the service')
    await see(page, 'What you have sent as described here is safe')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    pages.story.transfers = [transfer(3, 'seen', { seconds: 9 })]
    await page.setOfflineMode(false)
    await poke(page) // the browser reports that it is online
    await seeIn(page, '.arrivals', '25 USDT')
    await page.waitForSelector('.trouble', { hidden: true })
  })

  it('can be too slow: the page says so and asks again', async () => {
    const page = await pages.openLoaded()
    await page.evaluate(() => {
      const { timeout } = AbortSignal
      AbortSignal.timeout = () => {
        AbortSignal.timeout = timeout
        return AbortSignal.abort(new DOMException('late', 'TimeoutError'))
      }
    })
    await poke(page)
    await see(page, 'takes too long to answer')
    await page.$eval('.trouble button', (button) => button.click())
    await page.waitForSelector('.trouble', { hidden: true })
  })

  it('can answer with anything: the page says that it could not be read', async () => {
    const page = await pages.openLoaded()
    for (const body of ['', '<html>', 'null', '[]', '{"code":200}', '{"msg":"success","data":{"list":{}}}']) {
      pages.answer('/tron/deposits', { body })
      await poke(page)
      await see(page, 'could not be read')
      pages.answer('/tron/deposits', { data: { list: [], count: 0 } })
      await poke(page)
      await page.waitForSelector('.trouble', { hidden: true })
    }
  })

  it('checks now when the reader wants it, and its sentence is shown below that of the page', async () => {
    const page = await pages.openLoaded()
    pages.answer('/tron/recharge', { msg: 'success: credited 25 USDT' })
    await page.$$eval('button', (all) => all.find((one) => one.textContent === 'Check now')?.click())
    await seeIn(page, '.arriving .result', 'Checked just now.')
    await seeIn(page, '.arriving .result', 'success: credited 25 USDT')
    pages.answer('/tron/recharge', { status: 429, msg: 'your share', headers: { 'retry-after': '60' } })
    await page.$$eval('button', (all) => all.find((one) => one.textContent === 'Check now')?.click())
    await seeIn(
      page,
      '.arriving .result',
      'The page is busy: too many requests for now. What you have sent as described here is safe',
    )
  })
})
