import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { passTime } from './browser.ts'
import { usePages } from './fixture.ts'
import { openFold, poke, see, seeIn, shownText, textOfFirst, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { currencies, order, payAddress, type ToldOrder, transfer } from './story.ts'

const shop = 'https://shop.example'
const back = `${shop}/orders/1041?paid=1`
const settings = { ...noPageSettings, origins: [shop] }
const ownAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'
const at = (minute: number) => `2026-11-22T14:${String(minute).padStart(2, '0')}:00.000Z`
const claims = { sub: '7', name: 'Anna Wei', order: '1041' }
/** An instant this many seconds from now. */
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** The texts of what is shown of all that asks for something or leads somewhere. */
const askingOf = (page: Page) =>
  page.$$eval('.obstacle *, .screen *', (all) =>
    all
      .filter(
        (one) => one.checkVisibility() && one.matches('.address, .qr, .send, h2, button:not(.meta *), .button, input'),
      )
      .map((one) => one.textContent),
  )

describe('the page of an order', () => {
  const pages = usePages()
  const openAsked = async (members: Partial<ToldOrder> = {}, reader = {}) => {
    pages.service.settings = settings
    pages.story.orders = [order({ return: back, ...members })]
    return pages.openFor(claims, reader)
  }

  it('asks for the amount and the order, watches it, says what is missing, and ends with "paid" and the way back', async () => {
    pages.story.transfers = [
      transfer(3, 'credited', { created_at: at(3), address: payAddress }),
      transfer(2, 'credited', { created_at: '2026-11-22T13:59:59.999Z', address: ownAddress }),
    ]
    const page = await openAsked({ address: ownAddress })
    const own = (id: number, state: string, members: object) => transfer(id, state, { address: ownAddress, ...members })
    await seeIn(page, '.owner', 'Anna Wei')
    await seeIn(page, '.owner', '1041')
    expect(await textOfFirst(page, '.pay h2')).toBe('Send 25 USDT')
    expect(await page.title()).toBe('Pay 25 USDT')
    expect(await page.$eval('.choices', (choices) => (choices as HTMLElement).hidden)).toBe(true)

    const first = own(4, 'credited', { amt: exact('20'), created_at: at(4) })
    pages.story.transfers = [
      own(5, 'seen', { amt: exact('3'), created_at: at(5), seconds: 40 }),
      first,
      ...pages.story.transfers,
    ]
    await poke(page)
    await seeIn(page, '.pay h2', 'Send 2 USDT more')
    expect(await textOfFirst(page, '.summary')).toBe('Of 25 USDT: 20 USDT credited, 3 USDT on its way, 2 USDT missing.')
    expect(await page.title()).toBe('2 USDT is missing')
    expect(await page.$$eval('.status li strong', (all) => all.map((one) => one.textContent))).toEqual([
      '3 USDT',
      '20 USDT',
    ])
    expect(await textOfFirst(page, '.address')).toBe(ownAddress)

    const second = own(5, 'credited', { amt: exact('3'), created_at: at(5) })
    pages.story.transfers = [second, first]
    await poke(page)
    await seeIn(page, '.summary', 'Of 25 USDT: 23 USDT credited, 2 USDT missing.') // nothing more is on its way
    pages.story.transfers = [own(6, 'seen', { amt: exact('2'), created_at: at(6), seconds: 40 }), second, first]
    await poke(page)
    await seeIn(page, '.summary', '2 USDT is on its way')
    await seeIn(page, '.summary', 'Nothing is missing.')
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
    expect(await page.title()).toBe('On its way: 25 USDT')

    pages.story.transfers = [own(6, 'credited', { amt: exact('2.5'), created_at: at(6) }), second, first]
    await poke(page)
    await seeIn(page, '.summary', '25 USDT has arrived and is credited.')
    await seeIn(page, '.summary', '0.5 USDT more than asked has arrived.')
    expect(await page.title()).toBe('Paid: 25 USDT')
    const link = await page.$eval('.actions a', ({ href, target, rel, textContent }) => [
      href,
      target,
      rel,
      textContent,
    ])
    expect(link).toEqual([back, '_top', 'noopener noreferrer', 'Back to shop.example'])
    expect(await page.$$eval('.actions button', (all) => all.length)).toBe(0)
    await page.reload()
    await seeIn(page, '.summary', 'Paid')
    expect(await pages.shift()).toBeLessThan(0.1) // only the shift while the page loaded
    expect(pages.asked('/tron/generate')).toBe(0)
  })

  it.each([
    ['a part is seen', ['seen 3'], 'Of 25 USDT: 3 USDT on its way, 22 USDT missing.'],
    ['a part is credited', ['credited 20'], 'Of 25 USDT: 20 USDT credited, 5 USDT missing.'],
    ['less than is kept is seen', ['seen 0.0000004', 'credited 20'], 'Of 25 USDT: 20 USDT credited, 5 USDT missing.'],
    ['all is seen', ['seen 5', 'credited 20'], '5 USDT is on its way'],
    ['all is credited', ['credited 5', 'credited 20'], 'Paid'],
  ])('never says "0 USDT on its way", nor 0 of anything else: %s', async (_what, states, summary) => {
    const page = await openAsked()
    pages.story.transfers = states.map((text, index) => {
      const [state = '', amount = ''] = text.split(' ')
      const members = { amt: exact(amount), created_at: at(9 - index), ...(state === 'seen' ? { seconds: 40 } : {}) }
      return transfer(9 - index, state, members)
    })
    await poke(page)
    await page.waitForSelector(`.status li[data-state]:nth-child(${states.length})`)
    expect(await textOfFirst(page, '.summary')).toContain(summary)
    expect(`${await page.title()} ${await shownText(page, 'body')}`).not.toMatch(/(?<![\d.,])0\s+(USDT|TRX)/)
  })

  it('never asks for what was sent already: not before it knows that', async () => {
    let answer = () => {}
    const after = new Promise<void>((resolve) => {
      answer = resolve
    })
    pages.story.transfers = [transfer(4, 'seen', { created_at: at(4), seconds: 40 })]
    const script = pages.service.routes.get('/tron/deposits')
    pages.service.routes.set('/tron/deposits', (url, request) => ({ ...script?.(url, request), after }))
    pages.service.settings = settings
    const page = await pages.open({}, `#token=${tokenOf(claims)}`)
    await seeIn(page, '.owner', '1041')
    await page.evaluate(() => fetch('/currencies').then(() => fetch('/tron/orders?order=1041')))
    expect(await page.$('.address')).toBeNull()
    answer()
    await seeIn(page, '.summary', '25 USDT is on its way')
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
  })

  it.each([
    ['en', 'Paid', 'Send 25 USDT', 'Pay 25 USDT'],
    ['zh', '支付成功', '请支付 25 USDT', '支付 25 USDT'],
  ])(
    'is not paid by what pays another order of the same user, open at the same time (%s)',
    async (language, paid, asks, title) => {
      pages.service.settings = settings
      const other = order({ order: '1042', address: ownAddress, return: back })
      pages.story.orders = [order({ return: back }), other]
      const reader = { languages: [language] }
      const first = await pages.openFor(claims, reader)
      const second = await pages.openFor({ ...claims, order: '1042' }, reader)
      expect(await textOfFirst(second, '.address')).toBe(ownAddress)
      pages.story.transfers = [transfer(4, 'credited')]
      for (const page of [first, second]) await poke(page)
      await seeIn(first, '.summary', paid)
      await second.waitForSelector('[data-fold="arrivals"]', { visible: true })
      expect(await textOfFirst(second, '.pay h2')).toBe(asks)
      expect(await second.title()).toBe(title)
    },
  )

  it('reads the order again with each transfer to it, and asks for nothing that has come meanwhile', async () => {
    const page = await openAsked()
    await see(page, 'Send 25 USDT')
    expect(pages.service.requests.map(({ path }) => path)).toEqual([
      ...['/currencies', '/tron/orders?order=1041', '/tron/deposits?limit=20'],
    ])
    const script = pages.service.routes.get('/tron/orders')
    pages.answer('/tron/orders', { status: 503, msg: 'later' })
    pages.story.transfers = [transfer(4, 'seen', { created_at: at(4), seconds: 40 })]
    await poke(page)
    await seeIn(page, '.notice', 'The service cannot answer right now')
    expect(await page.$$eval('.status li[data-state]', (all) => all.length)).toBe(0)
    if (script) pages.service.routes.set('/tron/orders', script)
    await poke(page)
    await seeIn(page, '.summary', '25 USDT is on its way')
    const before = pages.asked('/tron/orders')
    await poke(page)
    await page.evaluate(() => new Promise((done) => setTimeout(done, 50)))
    expect(pages.asked('/tron/orders')).toBe(before)
    pages.story.orders = [order({ state: 'cancelled' })]
    await passTime(page, 121_000)
    await seeIn(page, '.summary', 'This order is cancelled')
  })

  it('names in the console a way back that it leaves out, once, and no other', async () => {
    pages.service.settings = settings
    const page = await pages.open({}, '', 'about:blank')
    const warnings: string[] = []
    page.on('console', (message) => message.type() === 'warn' && warnings.push(message.text()))
    for (const url of ['https://elsewhere.example/orders/1041', back]) {
      pages.story.orders = [order({ return: url })]
      pages.story.transfers = []
      await page.goto(`${pages.service.url}/deposit#token=${tokenOf(claims)}`)
      await seeIn(page, '.pay h2', 'Send 25 USDT')
      pages.story.transfers = [transfer(4, 'credited')]
      await poke(page)
      await seeIn(page, '.summary', 'Paid')
      expect(await page.$$eval('.actions a', (all) => all.length)).toBe(url === back ? 1 : 0)
      await page.goto('about:blank')
    }
    expect(warnings).toEqual([
      "The order's `return` is left out, because it is no https URL of PAGE_ORIGINS: https://elsewhere.example/orders/1041",
    ])
  })

  it.each([
    ['the claim of before', { sub: '7', deposit: { cuy: 2, amt: '25', order: '1041' } }, 'POST /ledger/orders'],
    ['an order of another kind', { sub: '7', order: { id: 1041 } }, 'the claim `order`'],
  ])(
    'asks for nothing, not even an amount, where the claim cannot be read, and the console says what is wrong: %s',
    async (_what, wrong, fault) => {
      const page = await pages.open({}, '', 'about:blank')
      const warnings: string[] = []
      page.on('console', (message) => message.type() === 'warn' && warnings.push(message.text()))
      await page.goto(`${pages.service.url}/deposit#token=${tokenOf(wrong)}`)
      await seeIn(page, '.obstacle', 'This order cannot be read')
      await seeIn(page, '.obstacle', 'Please do not send anything')
      expect(warnings).toEqual([expect.stringContaining(fault)])
      expect(pages.service.requests).toEqual([])
      expect(await askingOf(page)).toEqual(['This order cannot be read'])
      expect(await shownText(page, 'main')).not.toMatch(/\d|USDT|TRX/)
      await seeIn(page, '[role="status"].unseen', 'This order cannot be read')
      expect(await page.title()).toBe('Deposit')
      await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf(claims))
      await seeIn(page, '.pay h2', 'Send 25 USDT')
      expect(warnings).toHaveLength(1)
    },
  )

  it.each([
    ['en', 'This order is not known here', 'Please do not send anything', 'Send 25 USDT'],
    ['zh', '此处没有这个订单', '请不要转账。', '请支付 25 USDT'],
  ])(
    'that the user does not have asks for nothing, and is shown as soon as it is there (%s)',
    async (language, unknown, nothing, asks) => {
      pages.story.orders = []
      const page = await pages.open({ languages: [language] }, `#token=${tokenOf(claims)}`)
      for (const words of [unknown, nothing]) await seeIn(page, '.obstacle', words)
      expect(await askingOf(page)).toEqual([unknown])
      expect(pages.asked('/tron/generate')).toBe(0)
      pages.story.orders = [order()]
      await poke(page)
      await seeIn(page, '.pay h2', asks)
    },
  )

  it.each([
    ['cancelled', 'en', '25', 'This order is cancelled', 'Please do not send anything now.', 'It is in your balance.'],
    ['cancelled', 'zh', '25', '订单已取消', '请不要再转账。', '已计入您的余额。'],
    ['expired', 'en', '20', 'This order has expired', 'Please do not send anything now.', 'It counts for this order.'],
    ['expired', 'zh', '20', '订单已过期', '请不要再转账。', '已计入本订单。'],
  ])(
    'that is %s says so and to send nothing, with what has come and the way back (%s)',
    async (state, language, amount, words, nothing, why) => {
      pages.story.transfers = [transfer(4, 'credited', { amt: exact(amount) })]
      const page = await openAsked({ state }, { languages: [language] })
      for (const says of [words, nothing]) await seeIn(page, '.summary', says)
      const way = language === 'zh' ? '返回 shop.example' : 'Back to shop.example'
      expect(await askingOf(page)).toEqual([words, way])
      expect(await page.title()).toBe(words)
      await seeIn(page, '.status .words', why)
      const sums = {
        en: 'Of 25 USDT: 20 USDT credited, 5 USDT missing.',
        zh: '共 25 USDT，已入账 20 USDT，还差 5 USDT。',
      }[language]
      expect((await textOfFirst(page, '.summary')).includes(sums ?? '')).toBe(state === 'expired')
    },
  )

  it.each([
    [
      'en',
      /^Address: pay by \d\d\/\d\d\/\d{4}, \d\d:\d\d [AP]M$/,
      ['pay within 9:5', 'pay within 0:0'],
      ['This order has expired', 'Please do not send anything now.', 'Back to shop.example'],
    ],
    [
      'zh',
      /^充值地址：请在 \d{4}\/\d\d\/\d\d \d\d:\d\d 前付款$/,
      ['请在 9:5', '请在 0:0'],
      ['订单已过期', '请不要再转账。', '返回 shop.example'],
    ],
  ] as const)(
    'says until when it holds, counts the last ten minutes down, and then asks for nothing, by itself (%s)',
    async (language, until, [begins, ends], [expired, nothing, way]) => {
      const counts = (words: string) =>
        page.waitForFunction((text) => document.querySelector('.destination h3')?.textContent.includes(text), {}, words)
      const page = await openAsked({ until: inSeconds(602) }, { languages: [language] })
      expect(await textOfFirst(page, '.destination h3')).toMatch(until)
      await counts(begins)
      await page.waitForSelector('.address', { visible: true })
      pages.story.orders = [order({ return: back, until: inSeconds(6) })]
      await page.reload()
      await counts(ends)
      await page.waitForSelector('.address', { visible: true })
      await seeIn(page, '.summary', expired)
      expect(await askingOf(page)).toEqual([expired, way])
      await seeIn(page, '[role="status"].unseen', nothing)
    },
  )

  it.each([
    ['en', 'Send 25 USDT', ['24 USDT is on its way', 'Nothing is missing.'], 'That is enough.', ['Paid', 'Back to']],
    ['zh', '请支付 25 USDT', ['24 USDT 正在确认中', '无需再转账'], '无需补足。', ['支付成功', '返回']],
  ])(
    'that is short by no more than its tolerance is paid, and asks for nothing more (%s)',
    async (language, asks, coming, enough, [paid, way]) => {
      const page = await openAsked({ at_least: '24' }, { languages: [language] })
      expect(await textOfFirst(page, '.pay h2')).toBe(asks)
      pages.story.transfers = [transfer(4, 'seen', { amt: exact('24'), seconds: 40 })]
      await poke(page)
      for (const words of coming) await seeIn(page, '.summary', words)
      pages.story.transfers = [transfer(4, 'credited', { amt: exact('24') })]
      await poke(page)
      await seeIn(page, '.summary', enough)
      expect(await askingOf(page)).toEqual([paid, `${way} shop.example`])
    },
  )

  it('of which all is held asks for nothing more, and says what it waits for', async () => {
    pages.story.transfers = [transfer(4, 'held', { reason: 'review', why: 'x' })]
    const page = await openAsked()
    await seeIn(page, '.summary', 'Arrived, not credited yet')
    await seeIn(page, '.summary', 'Nothing is missing: please wait.')
    await seeIn(page, '.status .words', 'being looked at')
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
  })

  it('says at the top what arrived in another currency: it is in the balance, and does not count', async () => {
    const page = await openAsked()
    pages.story.transfers = [transfer(5, 'seen', { cuy: 1, created_at: at(5), seconds: 40 })]
    await poke(page)
    await seeIn(page, '.summary', 'On its way: 25 TRX. It does not count for this order, which asks for USDT.')
    pages.story.transfers = [transfer(5, 'credited', { cuy: 1, created_at: at(5) })]
    await poke(page)
    await seeIn(page, '.summary', '25 TRX is in your balance. It does not count for this order, which asks for USDT.')
    expect(await textOfFirst(page, '.pay h2')).toBe('Send 25 USDT')
    expect(await page.title()).toBe('Pay 25 USDT')
    const order = await page.$$eval('.summary, .pay h2', (all) => all.map((one) => one.className))
    expect(order).toEqual(['summary', ''])
    expect(await textOfFirst(page, '.status .words')).toContain('It does not count for this order')
    pages.story.transfers = [transfer(6, 'credited', { amt: exact('25'), created_at: at(6) }), ...pages.story.transfers]
    await poke(page)
    await seeIn(page, '.summary', 'Paid')
    await seeIn(page, '.summary', '25 TRX is in your balance')
    const counted = await page.$$eval('.status li[data-state]', (all) =>
      all.map((one) => one.textContent?.includes('does not count')),
    )
    expect(counted).toEqual([false, true])
  })

  it('says nothing of using its address again', async () => {
    const page = await openAsked()
    await openFold(page, 'how')
    await seeIn(page, '.how', 'some seconds after your wallet has sent it')
    expect(await shownText(page, '.how')).not.toContain('again')
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf({ sub: '7' }))
    await seeIn(page, '.how', 'The address stays yours: you can use it again.')
  })

  it('says in Chinese, too, what has come, what is missing, and what does not count', async () => {
    const page = await openAsked({}, { languages: ['zh'] })
    pages.story.transfers = [
      transfer(6, 'seen', { amt: exact('5'), created_at: at(6), seconds: 40 }),
      transfer(5, 'credited', { cuy: 1, created_at: at(5) }),
      transfer(4, 'credited', { amt: exact('15'), created_at: at(4) }),
    ]
    await poke(page)
    await seeIn(page, '.summary', '共 25 USDT，已入账 15 USDT，确认中 5 USDT，还差 5 USDT。')
    await seeIn(page, '.summary', '25 TRX 已计入您的余额。本订单只收 USDT，因此这笔转账不计入本订单。')
    expect([await textOfFirst(page, '.pay h2'), await page.title()]).toEqual(['请再支付 5 USDT', '还差 5 USDT'])
  })

  it('is shown without an address while its currency is closed, and offers no other one', async () => {
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], open: false }]
    const page = await openAsked()
    await seeIn(page, '.pay', 'USDT is closed at the moment')
    expect(await page.$eval('.choices', (choices) => (choices as HTMLElement).hidden)).toBe(true)
    pages.story.currencies = currencies
    await passTime(page, 27_000)
    await seeIn(page, '.pay h2', 'Send 25 USDT')
  })

  it('changes with a token of another order, or of none', async () => {
    const page = await openAsked()
    await see(page, 'Send 25 USDT')
    pages.story.orders.push(order({ order: '1042', amt: '7.5', address: ownAddress }))
    const turn = (next: object) =>
      page.evaluate((token) => location.replace(`#token=${token}`), tokenOf({ sub: '7', ...next }))
    await turn({ order: 1042 })
    await seeIn(page, '.pay h2', 'Send 7.5 USDT')
    await seeIn(page, '.owner', '1042')
    expect(await textOfFirst(page, '.address')).toBe(ownAddress)
    await turn({})
    await seeIn(page, '.pay h2', 'Send TRX')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
  })

  it('leads back also where the session has ended', async () => {
    const page = await openAsked()
    pages.answer('/tron/deposits', { status: 401, msg: 'a valid bearer token is required' })
    await poke(page)
    await seeIn(page, '.obstacle', 'Your session has ended')
    expect(await page.$eval('.obstacle a', ({ href }) => href)).toBe(back)
  })
})
