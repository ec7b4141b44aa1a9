import type { Frame, Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { resize, violationsOf } from './browser.ts'
import { startEmbeddingPage } from './embedding-page.ts'
import { desktop, usePages } from './fixture.ts'
import { windows } from './looks.ts'
import { choose, openFold, poke, press, see, seeIn, shownText, textOfFirst, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, regular, transfer } from './story.ts'

const pages = usePages()
const unauthorized = { status: 401, msg: 'a valid bearer token is required' }
const tokens = () => new Set(pages.service.requests.map(({ token }) => token))

/** Makes all routes but `/currencies` answer only requests with this token. */
function requireToken(valid: () => string): void {
  for (const [path, script] of pages.service.routes) {
    if (path === '/currencies') continue
    pages.service.routes.set(path, (url, request) =>
      request.headers.authorization === `Bearer ${valid()}` ? script(url, request) : unauthorized,
    )
  }
}

async function frameOf(page: Page): Promise<Frame> {
  const handle = await page.waitForSelector('iframe')
  const frame = await handle?.contentFrame()
  if (!frame) throw new Error('the page has no frame')
  return frame
}

const tokenFor = (uid: number, mark = '') => tokenOf({ sub: String(uid) }, mark)

describe('a token in the address', () => {
  it('is used, leaves the address bar and the history at once, and is kept for the tab alone', async () => {
    requireToken(() => 'secret.token')
    const page = await pages.openLoaded({}, '#token=secret.token')
    expect(page.url()).toBe(`${pages.service.url}/deposit`)
    const places = () =>
      page.evaluate(() => [
        history.length,
        JSON.stringify(history.state),
        document.cookie,
        JSON.stringify(localStorage),
      ])
    expect(await places()).toEqual([2, 'null', '', '{}'])
    await page.reload()
    await page.waitForSelector('.address')
    expect(await places()).toEqual([2, 'null', '', '{}'])
    expect(tokens()).toEqual(new Set(['secret.token']))
    const other = await page.browserContext().newPage()
    await other.goto(`${pages.service.url}/deposit`)
    await seeIn(other, '.obstacle', 'Your session has ended, or you are not signed in')
  })

  it('of another account replaces everything that is shown', async () => {
    pages.tell(regular())
    const page = await pages.openLoaded({}, `#token=${tokenFor(7)}`)
    await openFold(page, 'question')
    await press(page, 'Check for new payments')
    await seeIn(page, '.question .result', 'Checked just now')
    const other = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'
    pages.answer('/tron/generate', { data: { id: 2, address: other } })
    pages.answer('/tron/deposits', { data: { list: [transfer(90, 'credited')], count: 1 } })
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenFor(8))
    await seeIn(page, '.address', other)
    expect(await textOfFirst(page, '.question .result')).toBe('')
    expect(await textOfFirst(page, '.owner')).toBe('AccountUser 8')
  })

  it('of another account comes while the page is loading: nothing of the first one is shown', async () => {
    const addresses = { [tokenFor(7)]: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', [tokenFor(8)]: payAddress }
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
    const loaded = page.goto(`${pages.service.url}/deposit#token=${tokenFor(7)}`)
    await expect.poll(() => pages.asked('/tron/generate')).toBe(1)
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenFor(8))
    await page.waitForFunction(() => location.hash === '')
    release()
    await loaded
    await page.waitForSelector('.address')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    await page.close() // its requests still wait: no other test may get this page
  })

  it('of the same account changes nothing that is shown', async () => {
    const page = await pages.openLoaded({}, `#token=${tokenFor(7)}`)
    await choose(page, 2)
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenFor(7, 'new'))
    await page.waitForFunction(() => location.hash === '')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    await seeIn(page, '.pay h2', 'Send USDT')
  })
})

describe('a session that has ended', () => {
  it.each([
    ['en', 'Your session has ended', 'Go back to the site or app', 'What you have sent as described here is safe'],
    ['zh', '登录已过期', '请回到向您提供本页面的网站或应用', '按本页说明转出的资金是安全的'],
  ])(
    'is a message above what was there, for the person who pays, without a button that cannot help (%s)',
    async (language, ...says) => {
      pages.story.transfers = [transfer(4, 'seen', { seconds: 9 })]
      const page = await pages.openLoaded({ languages: [language] })
      requireToken(() => 'none')
      await poke(page)
      await page.waitForSelector('.obstacle', { visible: true })
      const lines = await page.$$eval('.obstacle > *', (all) => all.map((one) => one.textContent))
      for (const [index, words] of says.entries()) expect(lines[index]).toContain(words)
      expect(lines.filter((line) => line.includes('DEV_UID'))).toEqual([await textOfFirst(page, '.obstacle .muted')])
      const left = await page.$$eval(
        'main *',
        (all) =>
          all
            .filter((one) => one.checkVisibility() && one.matches('button, input, a, summary'))
            .map((one) => (one as HTMLAnchorElement).host), // safe: a button or an input would be undefined here
      )
      expect(left).toEqual(['tronscan.org', 'tronscan.org'])
      expect(await page.$eval('.status .state', (one) => one.checkVisibility())).toBe(true)
      await seeIn(page, '[role="status"].unseen', says[0] ?? '')
    },
  )

  it.each([
    ['en', 'Account', '1041', 'Of 25 USDT: 20 USDT credited, 5 USDT missing.'],
    ['zh', '账户', '1041', '共 25 USDT，已入账 20 USDT，还差 5 USDT。'],
  ])(
    'leaves order, address and payments readable below the message, and asks for nothing (%s)',
    async (language, ...says) => {
      pages.story.transfers = [transfer(4, 'credited', { amt: exact('20') })]
      const page = await pages.openFor({ sub: '7', name: 'Anna', order: '1041' }, { languages: [language] })
      await page.waitForSelector('.address', { visible: true })
      pages.answer('/tron/deposits', unauthorized)
      await poke(page)
      await page.waitForSelector('.obstacle', { visible: true })
      const shown = await shownText(page, '.screen')
      for (const words of [...says, payAddress.slice(5, -5)]) expect(shown).toContain(words)
      const asking = await page.$$eval('.send, .qr, .choices, .waiting, .below, button', (all) =>
        all.filter((one) => one.closest('main') !== null && one.checkVisibility()).map(({ className }) => className),
      )
      expect(asking).toEqual([])
      const tops = await page.$$eval('.obstacle, .screen', (all) => all.map((one) => one.getBoundingClientRect().top))
      expect(tops).toEqual([...tops].sort((a, b) => a - b))
      expect(await violationsOf(page)).toEqual([])
    },
  )

  it('is over with the next token, and where nothing is configured there is one message as well', async () => {
    requireToken(() => 'right')
    const page = await pages.open()
    await seeIn(page, '.obstacle', 'set DEV_UID in .dev.vars')
    expect(tokens()).toEqual(new Set([null]))
    await page.evaluate(() => location.replace('#token=right'))
    await page.waitForSelector('.address', { visible: true })
    pages.answer('/tron/deposits', { status: 503, msg: 'x', headers: { 'x-reason': 'not-configured' } })
    await poke(page)
    await seeIn(page, '.obstacle', 'Deposits are not set up here yet')
    expect(await page.$$eval('main button', (all) => all.filter((one) => one.checkVisibility()))).toEqual([])
  })
})

describe('language and theme', () => {
  it('are those of the address, else of the browser; a switch is remembered until the address asks for another one', async () => {
    const page = await pages.openLoaded({ languages: ['fr', 'zh-TW'] })
    const shown = () => page.$eval('html', ({ lang }) => lang)
    const go = async (query: string) => {
      await page.goto(`${pages.service.url}/deposit${query}`)
      await page.waitForSelector('.address')
      return shown()
    }
    expect(await shown()).toBe('zh-CN')
    await press(page, 'English')
    await seeIn(page, 'h1', 'Deposit')
    await page.reload()
    await page.waitForSelector('.address')
    expect(await shown()).toBe('en')
    expect(await go('?lang=zh')).toBe('zh-CN')
    await press(page, 'English')
    await seeIn(page, 'h1', 'Deposit')
    expect(await go('?lang=zh')).toBe('en')
    expect(await go('?lang=zh-CN')).toBe('zh-CN')
    expect(await go('?lang=fr')).toBe('zh-CN')
  })

  it('are light or dark by the system, also while that changes, or by the address', async () => {
    const page = await pages.openLoaded({ isDark: true })
    const paper = () => page.$eval('body', (body) => getComputedStyle(body).backgroundColor)
    const [light, dark] = ['rgb(244, 245, 243)', 'rgb(16, 20, 19)']
    expect(await paper()).toBe(dark)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    await expect.poll(paper).toBe(light)
    await page.goto(`${pages.service.url}/deposit?theme=dark`)
    await page.waitForSelector('.address')
    expect([await paper(), await page.$eval('html', (html) => getComputedStyle(html).colorScheme)]).toEqual([
      dark,
      'dark',
    ])
  })

  it('have the name, the logo and the colour of the brand', async () => {
    const logo = 'data:image/svg+xml;utf8,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E'
    const brand = { name: 'Tea & <Co>', color: '#635bff', logo }
    pages.service.settings = { ...noPageSettings, brand }
    const page = await pages.openLoaded()
    expect(await textOfFirst(page, '.brand')).toBe('Tea & <Co>')
    expect(await page.$eval('.logo', (image) => (image as HTMLImageElement).src)).toBe(logo)
    expect(await page.$eval('.primary', (button) => getComputedStyle(button).backgroundColor)).toBe('rgb(99, 91, 255)')
    expect(await page.title()).toBe('Deposit · Tea & <Co>')
  })
})

describe('a framing page', () => {
  it('hands over a token, and another one where that has expired', async () => {
    let valid = tokenFor(7)
    requireToken(() => valid)
    const shop = await startEmbeddingPage(pages.service.url, () => valid)
    pages.service.frameAncestors = shop.url
    const page = await pages.open(desktop, '', shop.url)
    const frame = await frameOf(page)
    await frame.waitForSelector('.address')
    valid = tokenFor(7, 'renewed')
    pages.story.transfers = [transfer(3, 'seen', { seconds: 9 })]
    await poke(frame)
    await seeIn(frame, '.status', '25 USDT')
    expect(tokens()).toEqual(new Set([tokenFor(7), valid]))
    // A user who signs in at the framing site replaces the one whom the tab remembers.
    valid = tokenFor(8)
    await page.reload()
    await seeIn(await frameOf(page), '.owner', 'User 8')
    expect(pages.service.requests.at(-1)?.token).toBe(tokenFor(8))
    await shop.close()
  })

  it('gets the height of the content in every window and language, also when that changes: there is no second scroll bar', async () => {
    const shop = await startEmbeddingPage(pages.service.url, () => tokenFor(7))
    pages.service.frameAncestors = shop.url
    const page = await pages.open({}, '', shop.url)
    const frame = await frameOf(page)
    await frame.waitForSelector('.address')
    for (const [width, other] of windows.flatMap(
      (one) =>
        [
          [one.width, '充值'],
          [one.width, 'Deposit'],
        ] as const,
    )) {
      await resize(page, { width, height: 500 })
      // the button that changes the language
      await frame.$eval('header button', (button) => (button as HTMLElement).click())
      await seeIn(frame, 'h1', other)
      const fits = () =>
        frame.waitForFunction(() => {
          const { scrollHeight, scrollWidth } = document.documentElement
          const content = document.body.getBoundingClientRect().height
          return scrollHeight <= innerHeight && scrollWidth <= innerWidth && innerHeight - content < 2
        })
      await fits()
      await openFold(frame, 'how')
      await fits()
      await openFold(frame, 'how')
      await fits()
    }
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
    await frame.waitForSelector('.address')
    // Messages from another window of the framing site's origin, and from the page itself, must be
    // ignored.
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
    // Malformed tokens are ignored. The valid one after them shows that all messages have arrived.
    valid = 'last'
    await page.evaluate(() => {
      for (const token of [null, 5, '', 'a\nb', 'last']) window.frames[0]?.postMessage({ type: 'token', token }, '*')
    })
    await expect.poll(() => tokens().has('last')).toBe(true)
    expect(tokens()).toEqual(new Set(['right', 'last']))
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
