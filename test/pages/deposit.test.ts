import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { desktop, usePages } from './fixture.ts'
import { choose, poke, see, seeIn, textOfFirst } from './reading.ts'
import { currencies, entry, payAddress, regular, transfer } from './story.ts'

const pages = usePages()

describe('the way of a payment', () => {
  it.each([
    ['a phone', {}],
    ['a desktop', desktop],
    ['the narrowest phone', { width: 320, height: 568 }],
  ])('is shown on %s, from the choice to the credit, without reloading and without jumps', async (_what, reader) => {
    const page = await pages.openLoaded(reader)
    expect(await page.$('.address')).toBeNull()
    await choose(page, 2)
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    expect(await page.$$eval('.address b', (ends) => ends.map((end) => end.textContent))).toEqual(['TUEZS', 'GWYdH'])
    await see(page, 'Send only USDT, only on the Tron network')
    await see(page, '1 USDT')
    await see(page, 'Nothing has arrived yet')

    pages.story.transfers = [transfer(4, 'seen', { seconds: 43 })]
    await poke(page)
    await seeIn(page, '[data-state="seen"]', '25 USDT')
    expect(await textOfFirst(page, '[data-state="seen"] .words')).toMatch(/Final in 4[0-3] s, then it is credited/)
    await seeIn(page, '[role="status"].unseen', '25 USDT: On its way')
    pages.story.transfers = [transfer(4, 'seen', { seconds: 3 })]
    await poke(page)
    await page.waitForFunction(() =>
      /Final in [1-3] s|Becoming final/.test(document.querySelector('.words')?.textContent ?? ''),
    )

    pages.story.transfers = [transfer(4, 'credited', { entry: 1 })]
    pages.story.entries = [entry(1, 1, '25', '25', { created_at: '2026-11-22T14:05:05.000Z' })]
    pages.story.balances = [
      [1, '0'],
      [2, '25'],
    ]
    await poke(page)
    await seeIn(page, '[data-state="credited"]', 'It is in your balance.')
    await seeIn(page, '.balances', '25')
    await seeIn(page, '.entries', '+25 USDT')
    await seeIn(page, '.arrivals time', 'Found 11/2')
    await seeIn(page, '.entries time', 'Credited 11/2')
    await seeIn(page, '[role="status"].unseen', '25 USDT: Credited')
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    expect(await pages.shift()).toBeLessThan(0.01)
  })

  it.each([
    ['en', 'a crypto wallet app or an exchange account that holds TRX or USDT', 'TRON (for tokens: TRC-20)'],
    ['zh', '持有 TRX 或 USDT 的加密货币钱包应用或交易所账户', 'TRON（代币选 TRC-20）'],
  ])('begins with where the money comes from, and whose the address is (%s)', async (language, from, network) => {
    const page = await pages.openLoaded({ languages: [language] })
    await seeIn(page, '.step', from)
    await seeIn(page, '.step', network)
    await seeIn(page, '.paying', language === 'en' ? 'is added to your balance here' : '计入您在这里的余额')
  })

  it('shows the warning of the currency that is chosen, and the code of the address', async () => {
    const page = await pages.openLoaded()
    await choose(page, 1)
    await see(page, 'Send only TRX, only on the Tron network')
    await choose(page, 2)
    await see(page, 'Tron network (TRC-20)')
    expect(await page.$eval('.qr', (code) => code.getAttribute('aria-label'))).toBe(
      `QR code of the address ${payAddress}`,
    )
  })

  it('copies the address, and selects it where the browser forbids that', async () => {
    const page = await pages.openLoaded()
    await choose(page, 2)
    const write = (isAllowed: boolean) =>
      page.evaluate((allowed) => {
        navigator.clipboard.writeText = async (text) => {
          if (!allowed) throw new DOMException('no', 'NotAllowedError')
          document.title = text
        }
      }, isAllowed)
    await write(true)
    await page.click('.address + button')
    await see(page, 'Copied')
    expect(await page.title()).toBe(payAddress)
    await seeIn(page, '[role="status"].unseen', 'compare the first and the last characters')
    await write(false)
    await page.click('.address + button')
    await see(page, 'Selected: now copy it')
    expect(await page.evaluate(() => String(getSelection()))).toBe(payAddress)
  })

  it('offers no retired currency, chooses the only one by itself, and says what a test network is', async () => {
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], retired: true }]
    pages.story.network = 'Nile'
    const page = await pages.openLoaded()
    await page.waitForSelector('.address')
    await see(page, 'Nile test network: worthless test money')
    await see(page, 'Never send real money to this address')
    await seeIn(page, '.step', 'that holds TRX. The network to choose there is Nile test network.')
    expect(await page.$$eval('input[type="radio"]', (inputs) => inputs.length)).toBe(1)
  })

  it('shows a currency whose name is its symbol with one of them', async () => {
    pages.story.currencies = [
      { ...currencies[0], name: 'TRX' },
      { ...currencies[1], name: 'usdt' },
    ]
    const page = await pages.openLoaded()
    expect(await page.$$eval('.choice', (all) => all.map((one) => one.textContent))).toEqual([
      'TRXTron’s own coin',
      'USDTA token on Tron (TRC-20)',
    ])
  })

  it('has the address before slower answers, and asks for each thing once', async () => {
    let answer = () => {}
    const after = new Promise<void>((resolve) => {
      answer = resolve
    })
    for (const path of ['/wallet/list', '/wallet/flow/list', '/tron/deposits']) {
      const script = pages.service.routes.get(path)
      pages.service.routes.set(path, (url, request) => ({ ...script?.(url, request), after }))
    }
    const page = await pages.open()
    await choose(page, 2)
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    const first = [
      '/tron/generate',
      '/currencies',
      '/tron/deposits?limit=20',
      '/wallet/list',
      '/wallet/flow/list?limit=20',
    ]
    for (const path of first) expect(pages.asked(path), path).toBe(1)
    expect(pages.service.requests).toHaveLength(first.length)
    answer()
    await page.waitForSelector('.balances li')
  })

  it('says not to send anything where the address cannot be shown', async () => {
    pages.answer('/tron/generate', { status: 503, msg: 'no Tron node', headers: { 'retry-after': '5' } })
    const page = await pages.openLoaded()
    await (await page.$('input[value="2"]'))?.click()
    await see(page, 'Do not send anything yet')
    await see(page, 'The service cannot answer right now')
  })

  it('asks for no payment where no currency is offered', async () => {
    pages.story.currencies = []
    const page = await pages.openLoaded()
    await see(page, 'Deposits are closed at the moment')
    expect(await page.$eval('.step > p', ({ hidden }) => hidden)).toBe(true)
  })
})

describe('a transfer', () => {
  const states: readonly [state: string, members: object, en: string, zh: string][] = [
    ['seen', { seconds: 0 }, 'Becoming final now', '正在最终确认'],
    ['seen', {}, 'whose answers are late just now', '网络响应延迟'],
    ['dropped', {}, 'the money is still where you sent it from', '资金仍在转出的钱包或交易所中'],
    ['held', { reason: 'decimals-unknown', why: 'x' }, 'Your money is safe', '您的资金安全'],
    ['held', { reason: 'decimals-differ', why: 'x' }, 'A person has to look at it first', '需要人工处理'],
    ['held', { reason: 'too-large', why: 'x' }, 'has arrived and is safe', '妥善保管'],
    [
      'held',
      { reason: 'retired', why: 'x' },
      'not accepted at the moment. Please contact the support of the site',
      '请联系向您提供本页面的网站',
    ],
    ['held', { reason: 'wallet-full', why: 'x' }, 'credited by itself when there is room', '有空间后会自动入账'],
    ['held', { reason: 'toString', why: 'a new reason' }, 'a new reason', 'a new reason'],
    [
      'refused',
      { reason: 'below-minimum', why: 'x' },
      'below the minimum, so it is not added to your balance',
      '低于最低金额，因此没有计入余额',
    ],
    ['refused', { reason: 'dust', why: 'x' }, 'smaller than the smallest amount', '小于可记账的最小金额'],
  ]

  it('is explained in words for every state and reason, in both languages', async () => {
    const page = await pages.openLoaded({ ...desktop, languages: ['zh-CN'] })
    pages.story.transfers = states.map(([state, members], index) => transfer(99 - index, state, members))
    await poke(page)
    await page.waitForSelector('.arrivals li')
    await page.$$eval('button', (all) => all.find((one) => one.textContent === '显示更早的记录')?.click())
    await page.waitForFunction((all) => document.querySelectorAll('.arrivals li').length === all, {}, states.length)
    const words = () => page.$$eval('.arrivals .words', (all) => all.map((one) => one.textContent))
    for (const [index, [, , , zh]] of states.entries()) expect((await words())[index]).toContain(zh)
    await page.click('header button')
    for (const [index, [, , en]] of states.entries()) expect((await words())[index]).toContain(en)
  })

  it('that is older is read when the reader wants it', async () => {
    pages.story.transfers = Array.from({ length: 30 }, (_, n) => transfer(30 - n, 'credited'))
    const page = await pages.openLoaded()
    await page.waitForFunction(() => document.querySelectorAll('.arrivals li').length === 3)
    for (const shown of [13, 23, 30]) {
      await page.$$eval('button', (all) => all.find((one) => one.textContent === 'Show older')?.click())
      await page.waitForFunction((all) => document.querySelectorAll('.arrivals li').length === all, {}, shown)
    }
    expect(pages.service.requests.filter(({ path }) => path.includes('before=')).map(({ path }) => path)).toEqual([
      '/tron/deposits?limit=20&before=11',
    ])
  })
})

describe('the wallet', () => {
  it('shows exact amounts in the format of the reader, and gives all entries of a filter as a file', async () => {
    pages.tell(regular())
    pages.story.entries = [
      ...Array.from({ length: 150 }, (_, n) => entry(300 - n, 1, '0.1', '1', { cuy: 1 })),
      ...pages.story.entries,
    ]
    const page = await pages.openLoaded({ ...desktop, languages: ['de-DE', 'en'] })
    await seeIn(page, '.balances', '9.007.199.279,740991')
    await page.select('#filter', '2')
    await seeIn(page, '.entries', '+9.007.199.254,740991 USDT')
    const shown = await page.$$eval('.ledger td:first-child', (all) => all.map((one) => one.textContent))
    expect(shown.slice(0, 2)).toEqual([
      expect.stringMatching(/^DepositCredited 2\d\.11\.2026, \d\d:\d\d$/),
      expect.stringMatching(/^Payment2\d\.11\.2026, \d\d:\d\dtwo cups$/),
    ])
    expect(await page.$eval('.chart svg', (chart) => chart.getAttribute('aria-label'))).toBe(
      'Line chart of the balance in USDT, from 25 to 9.007.199.279,740991',
    )
    expect(await page.$$eval('.chart tbody td:last-child', (cells) => cells.map((cell) => cell.textContent))).toEqual([
      ...['25', '27,5', '25', '9.007.199.279,740991'],
    ])
    await page.select('#filter', '')
    await page.waitForFunction(() => document.querySelectorAll('.entries > table tbody tr').length === 20)
    const file = await downloaded(page)
    expect(file.split('\r\n')).toHaveLength(1 + 155 + 1)
    expect(file).toContain('"9007199254.740991","9007199279.740991"')
    expect(file).toContain(`"'=cmd|calc!A0","'@refund"`)
    expect(pages.asked('/wallet/flow/list?limit=100')).toBe(2)
  })

  it.each([
    ['account', (page: Page, next: string) => page.evaluate((token) => location.replace(`#token=${token}`), next)],
    ['filter', (page: Page) => page.select('#filter', '2')],
  ])('gives a file of one %s, also where another one comes meanwhile', async (what, change) => {
    const [first = '', second = ''] = ['7', '8'].map((sub) => `h.${btoa(JSON.stringify({ sub }))}.`)
    let release = () => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    pages.service.routes.set('/wallet/flow/list', ({ searchParams }, { headers }) => {
      const mark = `${headers.authorization === `Bearer ${first}` ? 7 : 8} ${searchParams.get('cuy') ?? 'all'}`
      const limit = Number(searchParams.get('limit'))
      const top = Number(searchParams.get('before') ?? 151) - 1
      const list = Array.from({ length: Math.min(top, limit) }, (_, n) => entry(top - n, 5, '1', '1', { mark }))
      return { data: { list, count: 150 }, ...(limit === 100 ? { after } : {}) }
    })
    const page = await pages.openLoaded({}, `#token=${first}`)
    await seeIn(page, '.entries', '7 all')
    await page.$$eval('button', (all) => all.find((one) => one.textContent === 'Download as CSV')?.click())
    await expect.poll(() => pages.asked('/wallet/flow/list?limit=100')).toBe(1)
    await change(page, second)
    await seeIn(page, '.entries', what === 'account' ? '8 all' : '7 2')
    const file = downloaded(page)
    await page.evaluate(() => null) // the button is pressed
    release()
    const marks = (await file).match(/"[78] \w+"/g) ?? []
    expect([marks.length, ...new Set(marks)]).toEqual([150, what === 'account' ? '"8 all"' : '"7 all"'])
  })

  it('reads older entries by the id of the last one', async () => {
    pages.story.entries = Array.from({ length: 45 }, (_, n) => entry(45 - n, 1, '1', '1'))
    const page = await pages.openLoaded()
    for (const shown of [40, 45]) {
      await page.$$eval('.wide button', (all) => all.find((one) => one.textContent === 'Show older')?.click())
      await page.waitForFunction(
        (all) => document.querySelectorAll('.entries > table tbody tr').length === all,
        {},
        shown,
      )
    }
    expect(pages.asked('/wallet/flow/list?limit=20&before=')).toBe(2)
  })
})

/** Presses the button for the file, and returns what the browser would store. */
async function downloaded(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const create = URL.createObjectURL
        URL.createObjectURL = (blob: Blob) => {
          void blob.text().then(resolve)
          return create(blob)
        }
        for (const one of document.querySelectorAll('button')) if (one.textContent === 'Download as CSV') one.click()
      }),
  )
}
