import { describe, expect, it } from 'vitest'
import { readArrivals } from '../../src/pages/deposit/data.ts'
import { misfitOf, type PaymentRequest, progressOf, readRequest } from '../../src/pages/deposit/request.ts'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { passTime } from './browser.ts'
import { usePages } from './fixture.ts'
import { poke, see, seeIn, shownText, textOfFirst, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { currencies, payAddress, transfer } from './story.ts'

const shop = 'https://shop.example'
const settings = { ...noPageSettings, origins: [shop] }
const usdt = {
  cuy: 2,
  symbol: 'USDT',
  name: '',
  decimals: 6,
  scale: 6,
  minDeposit: null,
  contract: 'T',
  retired: false,
  open: true,
}
const offer = { network: 'Tron', explorer: null, late: null, list: [usdt], count: 1 }
const at = (minute: number) => `2026-11-22T14:${String(minute).padStart(2, '0')}:00.000Z`
const since = Date.parse(at(0)) / 1_000
const asked = { cuy: 2, amt: '25', order: '1041', since, return: `${shop}/orders/1041?paid=1` }
const claims = (deposit: object = asked) => ({ sub: '7', name: 'Anna Wei', deposit })

describe('a payment request', () => {
  it('is read from the claims of the token, its amount digit by digit', () => {
    const whole = { cuy: 2, amount: '25', order: '1041', since: since * 1_000, back: asked.return }
    expect(readRequest(claims(), [shop])).toEqual(whole)
    expect(readRequest(claims({ cuy: 1 }), [])).toEqual({ cuy: 1, amount: null, order: null, since: 0, back: null })
    expect(readRequest(claims({ ...asked, order: 1041 }), [shop])).toEqual(whole)
    expect(readRequest({ sub: '7' }, [shop])).toBeNull()
    expect(readRequest(null, [shop])).toBeNull()
  })

  it.each<[string, unknown, string]>([
    ['no object', 'all', 'deposit'],
    ['null', null, 'deposit'],
    ['no currency', { amt: '25' }, 'deposit.cuy'],
    ['a currency as text', { cuy: '2' }, 'deposit.cuy'],
    ...['0', '-25', '1e3', '+5', '25,0', '', '0x19', ' 25', 25, null, true].map((amt): [string, unknown, string] => [
      `the amount ${JSON.stringify(amt)}`, // numbers, too, are wrong: the page needs the digits as text
      { cuy: 2, amt },
      'deposit.amt',
    ]),
    ...['', 'x'.repeat(101), null, {}, 1.5, ['1041']].map((order): [string, unknown, string] => [
      'an order of another form',
      { cuy: 2, order },
      'deposit.order',
    ]),
    ...[-1, '1795300000', 1_795_300_000_000, null].map((from): [string, unknown, string] => [
      'a beginning that is no time in seconds',
      { cuy: 2, since: from },
      'deposit.since',
    ]),
    ['a member that there is not', { cuy: 2, amount: '25' }, 'deposit.amount'],
  ])('of another form cannot be read, and its wrong member is named: %s', (_what, deposit, member) => {
    expect(readRequest({ sub: '7', deposit }, [shop])).toEqual({ member, back: null })
  })

  it('that cannot be read can have a way back all the same', () => {
    const deposit = { ...asked, since: asked.since * 1_000 }
    expect(readRequest(claims(deposit), [shop])).toEqual({ member: 'deposit.since', back: asked.return })
  })

  it.each([
    ['a currency that the service has not', { cuy: 7 }, 'deposit.cuy'],
    ['more digits than are kept', { cuy: 2, amt: '25.0000001' }, 'deposit.amt'],
    ['more digits than are kept, of which the last one is 0', { cuy: 2, amt: '25.0000000' }, 'deposit.amt'],
    ['all digits that are kept', { cuy: 2, amt: '25.000001' }, null],
    ['no amount', { cuy: 2 }, null],
  ])('is compared with what the service offers: %s', (_what, deposit, member) => {
    const request = readRequest({ deposit }, []) as PaymentRequest // safe: it is valid
    expect(misfitOf(request, offer)).toBe(member)
  })

  it.each([
    'http://shop.example/',
    'https://shop.example.evil.example/',
    'https://other.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//shop.example/',
    '/orders',
    'https://shop.example@evil.example/',
    7,
    null,
    'http://localhost:3001/orders',
    'http://localhost.example:3000/orders',
    'http://10.0.0.1:3000/orders',
  ])('leads back to no other place than an https page of PAGE_ORIGINS, or one of this machine: %s', (back) => {
    const origins = [shop, 'http://localhost:3000', 'http://localhost.example:3000', 'http://10.0.0.1:3000']
    expect(readRequest(claims({ ...asked, return: back }), origins)?.back).toBeNull()
  })

  it.each(['http://localhost:3000/orders', 'http://127.0.0.1:8791/orders/1', 'http://[::1]:8080/'])(
    'leads back to a page of this machine without https: %s',
    (back) => {
      expect(readRequest(claims({ ...asked, return: back }), [new URL(back).origin])?.back).toBe(back)
    },
  )

  it.each<[string, [string, string, number?][], string]>([
    ['nothing', [], 'unpaid, 25 missing'],
    ['a part', [['credited', '20']], 'partly paid, 5 missing, 20 credited'],
    [
      'a part, and another one on its way',
      [
        ['credited', '20'],
        ['seen', '3'],
      ],
      'partly paid, 2 missing, 20 credited, 3 seen',
    ],
    ['all of it on its way', [['seen', '25']], 'on its way, 25 seen'],
    [
      'all of it',
      [
        ['credited', '20'],
        ['credited', '5'],
      ],
      'paid, 25 credited',
    ],
    [
      'more',
      [
        ['credited', '20'],
        ['credited', '5.000001'],
      ],
      'paid, 25.000001 credited, 0.000001 over',
    ],
    [
      'too little by the smallest unit',
      [['credited', '24.999999']],
      'partly paid, 0.000001 missing, 24.999999 credited',
    ],
    ['what was before', [['credited', '25', -1]], 'unpaid, 25 missing'],
    ['what was in the first second', [['credited', '25', 0]], 'paid, 25 credited'],
    [
      'what brought nothing',
      [
        ['held', '25'],
        ['refused', '25'],
        ['dropped', '25'],
      ],
      'unpaid, 25 missing',
    ],
  ])('counts %s', (_what, transfers, expected) => {
    const sent = transfers.map(([state, amt, minute = 5], index) => {
      const created_at = new Date(since * 1_000 + minute * 60_000).toISOString()
      return transfer(index, state, { amt, created_at })
    })
    const arrivals = readArrivals({ list: sent, count: sent.length }).list
    const request: PaymentRequest = { cuy: 2, amount: '25', order: null, since: since * 1_000, back: null }
    const { state, credited, seen, missing, over } = progressOf(request, '25', usdt, arrivals)
    const parts = { missing, credited, seen, over }
    const named = Object.entries(parts).flatMap(([name, amount]) => (amount === '0' ? [] : [`${amount} ${name}`]))
    expect([state, ...named].join(', ')).toBe(expected)
    const elsewhere = arrivals.map((one) => ({ ...one, cuy: 1 }))
    expect(progressOf(request, '25', usdt, elsewhere).state).toBe('unpaid')
  })
})

describe('the page of a payment request', () => {
  const pages = usePages()
  const openAsked = async (deposit: object = asked, reader = {}) => {
    pages.service.settings = settings
    return pages.openFor(claims(deposit), reader)
  }

  it('asks for the amount and the order, watches it, says what is missing, and ends with "paid" and the way back', async () => {
    pages.story.transfers = [transfer(3, 'credited', { created_at: '2026-11-22T13:59:59.999Z', amt: exact('25') })]
    const page = await openAsked()
    await seeIn(page, '.owner', 'Anna Wei')
    await seeIn(page, '.owner', '1041')
    expect(await textOfFirst(page, '.pay h2')).toBe('Send 25 USDT')
    expect(await page.title()).toBe('Pay 25 USDT')
    expect(await page.$eval('.choices', (choices) => (choices as HTMLElement).hidden)).toBe(true)

    const first = transfer(4, 'credited', { amt: exact('20'), created_at: at(4) })
    pages.story.transfers = [
      transfer(5, 'seen', { amt: exact('3'), created_at: at(5), seconds: 40 }),
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
    expect(await textOfFirst(page, '.address')).toBe(payAddress)

    const second = transfer(5, 'credited', { amt: exact('3'), created_at: at(5) })
    pages.story.transfers = [second, first]
    await poke(page)
    await seeIn(page, '.summary', 'Of 25 USDT: 23 USDT credited, 2 USDT missing.') // nothing more is on its way
    pages.story.transfers = [transfer(6, 'seen', { amt: exact('2'), created_at: at(6), seconds: 40 }), second, first]
    await poke(page)
    await seeIn(page, '.summary', '2 USDT is on its way')
    await seeIn(page, '.summary', 'Nothing is missing.')
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
    expect(await page.title()).toBe('On its way: 25 USDT')

    pages.story.transfers = [transfer(6, 'credited', { amt: exact('2.5'), created_at: at(6) }), second, first]
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
    expect(link).toEqual([asked.return, '_top', 'noopener noreferrer', 'Back to shop.example'])
    expect(await page.$$eval('.actions button', (all) => all.length)).toBe(0)
    await page.reload()
    await seeIn(page, '.summary', 'Paid')
    expect(await pages.shift()).toBeLessThan(0.1) // only the shift while the page loaded
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
    const page = await pages.open({}, `#token=${tokenOf(claims())}`)
    await seeIn(page, '.owner', '1041')
    await page.evaluate(() => fetch('/currencies').then(() => fetch('/tron/generate')))
    expect(await page.$('.address')).toBeNull()
    answer()
    await seeIn(page, '.summary', '25 USDT is on its way')
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
  })

  it('counts what has come in more transfers than one answer has', async () => {
    pages.story.transfers = Array.from({ length: 130 }, (_, n) => {
      const created = n < 125 ? at(10) : '2026-11-22T13:00:00.000Z'
      return transfer(130 - n, 'credited', { amt: exact('0.2'), created_at: created })
    })
    const page = await openAsked()
    await seeIn(page, '.summary', 'Paid')
    expect(
      pages.service.requests.filter(({ path }) => path.startsWith('/tron/deposits')).map(({ path }) => path),
    ).toEqual(['/tron/deposits?limit=20', '/tron/deposits?limit=100&before=111', '/tron/deposits?limit=100&before=11'])
  })

  it('names in the console a way back that it leaves out, and no other', async () => {
    pages.service.settings = settings
    const page = await pages.open({}, '', 'about:blank')
    const warnings: string[] = []
    page.on('console', (message) => message.type() === 'warn' && warnings.push(message.text()))
    for (const back of ['https://elsewhere.example/orders/1041', asked.return]) {
      await page.goto(`${pages.service.url}/deposit#token=${tokenOf(claims({ ...asked, return: back }))}`)
      await seeIn(page, '.pay h2', 'Send 25 USDT')
      await page.goto('about:blank')
    }
    expect(warnings).toEqual([
      'deposit.return is left out, because it is no https URL of PAGE_ORIGINS: https://elsewhere.example/orders/1041',
    ])
  })

  it.each([
    ['since in milliseconds', { ...asked, since: since * 1_000 }, 'deposit.since'],
    ['a currency that is not there', { ...asked, cuy: 7 }, 'deposit.cuy'],
    ['amount for amt', { ...asked, amt: undefined, amount: '25' }, 'deposit.amount'],
    ['more digits than are kept', { ...asked, amt: '25.0000001' }, 'deposit.amt'],
    ['an order of another kind', { ...asked, order: { id: 1041 } }, 'deposit.order'],
  ])(
    'asks for nothing, not even an amount, where a request cannot be read, and names the member in the console: %s',
    async (_what, deposit, member) => {
      pages.service.settings = settings
      const page = await pages.open({}, '', 'about:blank')
      const warnings: string[] = []
      page.on('console', (message) => message.type() === 'warn' && warnings.push(message.text()))
      await page.goto(`${pages.service.url}/deposit#token=${tokenOf(claims(deposit))}`)
      await seeIn(page, '.obstacle', 'This payment request cannot be read')
      await seeIn(page, '.obstacle', 'Please do not send anything')
      expect(warnings).toEqual([expect.stringContaining(member)])
      const shown = await page.$$eval('main *', (all) =>
        all
          .filter((one) => one.checkVisibility() && one.matches('.address, .qr, h2, button, input, a'))
          .map((one) => one.textContent),
      )
      expect(shown).toEqual(['This payment request cannot be read', 'Back to shop.example'])
      expect(await shownText(page, 'main')).not.toMatch(/\d|USDT|TRX/)
      await seeIn(page, '[role="status"].unseen', 'This payment request cannot be read')
      expect(await page.title()).toBe('Deposit')
      await poke(page)
      await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf(claims()))
      await seeIn(page, '.pay h2', 'Send 25 USDT')
      expect(warnings).toHaveLength(1)
    },
  )

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

  it('has no amount where none is asked for, and ends with the first credit', async () => {
    const page = await openAsked({ cuy: 2, since, return: asked.return })
    await seeIn(page, '.pay h2', 'Send USDT')
    pages.story.transfers = [transfer(5, 'credited', { created_at: at(5) })]
    await poke(page)
    await seeIn(page, '.status', '25 USDT')
    await seeIn(page, '.actions', 'Back to shop.example')
    expect(await page.$eval('.actions a', ({ className }) => className)).toContain('primary')
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

  it('changes with a token that asks for something else', async () => {
    const page = await openAsked()
    await see(page, 'Send 25 USDT')
    await page.evaluate(
      (token) => location.replace(`#token=${token}`),
      tokenOf(claims({ ...asked, amt: 7.5, order: '1042' })),
    )
    await seeIn(page, '.pay h2', 'Send 7.5 USDT')
    await seeIn(page, '.owner', '1042')
  })

  it('leads back also where the session has ended', async () => {
    pages.answer('/tron/generate', { status: 401, msg: 'a valid bearer token is required' })
    pages.service.settings = settings
    const page = await pages.open({}, `#token=${tokenOf(claims())}`)
    await seeIn(page, '.obstacle', 'Your session has ended')
    expect(await page.$eval('.obstacle a', ({ href }) => href)).toBe(asked.return)
  })
})
