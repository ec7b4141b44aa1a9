import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { passTime } from './browser.ts'
import { desktop, usePages } from './fixture.ts'
import { languages, windows } from './looks.ts'
import { choose, drawn, openFold, poke, press, see, seeIn, textOfFirst, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { currencies, newcomer, order, payAddress, regular, transfer, txidOf } from './story.ts'

const pages = usePages()

/** The transfers in the status, each as `state amount`. */
const statusOf = (page: Awaited<ReturnType<typeof pages.open>>) =>
  page.$$eval('.status li[data-state]', (all) =>
    all.map((one) => `${one.getAttribute('data-state')} ${one.querySelector('strong')?.textContent}`),
  )

/**
 * The height in pixels of the largest empty strip across the screen. A box around content counts as
 * content.
 */
const largestHole = (page: Page) =>
  page.$eval('.screen', (screen) => {
    const all = [...screen.querySelectorAll('h2, p, dl, a, button, li')].filter((one) => one.checkVisibility())
    const spans = all.map((one) => one.getBoundingClientRect()).sort((a, b) => a.top - b.top)
    let [end, hole] = [screen.getBoundingClientRect().top, 0]
    for (const { top, bottom } of spans) {
      hole = Math.max(hole, top - end)
      end = Math.max(end, bottom)
    }
    return Math.max(hole, screen.getBoundingClientRect().bottom - end)
  })
/** By how many pixels the content of the status's box is off the vertical middle. */
const offMiddle = (page: Page) =>
  page.$eval('.status li[data-state]', (box) => {
    const { top, bottom } = box.getBoundingClientRect()
    const [first, last] = [box.firstElementChild, box.lastElementChild].map((one) => one?.getBoundingClientRect())
    return Math.abs((first?.top ?? 0) - top - (bottom - (last?.bottom ?? 0)))
  })

describe('the way of a payment', () => {
  it('is shown: the screen becomes the status, and the title follows', async () => {
    const page = await pages.openFor({ sub: '7' })
    await choose(page, 2)
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    expect(await page.$$eval('.address b', (ends) => ends.map((end) => end.textContent))).toEqual(['TUEZS', 'GWYdH'])
    expect(await page.title()).toBe('Deposit')

    pages.story.transfers = [transfer(4, 'seen', { seconds: 43 })]
    await poke(page)
    await seeIn(page, '.status', '25 USDT')
    expect(await textOfFirst(page, '.status .words')).toMatch(/Final in 4[0-3] s, then it is credited/)
    expect(await page.$eval('.paying', (paying) => (paying as HTMLElement).hidden)).toBe(true)
    expect(await page.title()).toBe('On its way: 25 USDT')
    await seeIn(page, '[role="status"].unseen', 'On its way: 25 USDT')
    pages.story.transfers = [transfer(4, 'seen', { seconds: 3 })]
    await poke(page)
    await page.waitForFunction(() =>
      /Final in [1-3] s|Becoming final/.test(document.querySelector('.words')?.textContent ?? ''),
    )

    pages.story.transfers = [transfer(4, 'credited', { entry: 1 })]
    await poke(page)
    await seeIn(page, '[data-state="credited"]', 'It is in your balance.')
    expect(await page.title()).toBe('Credited: 25 USDT')
    await seeIn(page, '[role="status"].unseen', 'Credited: 25 USDT')

    await press(page, 'Make another deposit')
    await page.waitForSelector('.address', { visible: true })
    expect(await page.title()).toBe('Deposit')
    await seeIn(page, '[data-fold="arrivals"]', 'Earlier deposits (1)')
  })

  it.each(languages)('takes the place of the address without jumps, in every window: %s', async (language) => {
    const page = await pages.openFor({ sub: '7' }, { languages: [language] })
    for (const window of windows) {
      pages.story.transfers = []
      await page.setViewport(window)
      await page.reload()
      await page.waitForSelector('.address', { visible: true })
      for (const state of ['seen', 'credited']) {
        pages.story.transfers = [transfer(4, state, state === 'seen' ? { seconds: 43 } : { entry: 1 })]
        await poke(page)
        await page.waitForSelector(`.status [data-state="${state}"]`)
      }
      await drawn(page)
      expect(await pages.shift()).toBeLessThan(0.1)
    }
  })

  it.each(languages)('leaves no hole after "Paid", and makes no jump either: %s', async (language) => {
    pages.service.settings = { ...noPageSettings, origins: ['https://shop.example'] }
    pages.story.orders = [order({ return: 'https://shop.example/' })]
    const page = await pages.openFor({ sub: '7', order: '1041' }, { languages: [language] })
    for (const window of windows) {
      pages.story.transfers = []
      await page.setViewport(window)
      await page.reload()
      await page.waitForSelector('.address', { visible: true })
      for (const state of ['seen', 'credited']) {
        pages.story.transfers = [transfer(4, state, state === 'seen' ? { seconds: 43 } : { entry: 1 })]
        await poke(page)
        await page.waitForSelector(`.status [data-state="${state}"]`)
      }
      await drawn(page)
      expect(await pages.shift()).toBeLessThan(0.1)
      expect([window.width, (await largestHole(page)) < 40, (await offMiddle(page)) < 2]).toEqual([
        window.width,
        true,
        true,
      ])
    }
  })

  it.each(languages)('leaves no hole after "Paid" where it was paid in parts: %s', async (language) => {
    pages.service.settings = { ...noPageSettings, origins: ['https://shop.example'] }
    pages.story.orders = [order({ return: 'https://shop.example/' })]
    const page = await pages.openFor({ sub: '7', order: '1041' }, { languages: [language] })
    const first = transfer(4, 'credited', { amt: exact('20') })
    for (const window of windows) {
      pages.story.transfers = []
      await page.setViewport(window)
      await page.reload()
      await page.waitForSelector('.address', { visible: true })
      for (const [index, transfers] of [[first], [transfer(5, 'credited', { amt: exact('5') }), first]].entries()) {
        pages.story.transfers = transfers
        await poke(page)
        await page.waitForSelector(`.status li[data-state]:nth-child(${index + 1})`)
      }
      await page.waitForSelector('.summary h2')
      await drawn(page)
      expect([window.width, (await largestHole(page)) < 40]).toEqual([window.width, true])
    }
  })

  it('goes on after a reload, and in a tab that was put aside while the payment was credited', async () => {
    pages.story.transfers = [transfer(3, 'credited')]
    const page = await pages.openFor({ sub: '7' })
    await page.waitForSelector('[data-fold="arrivals"]', { visible: true })
    expect(await statusOf(page)).toEqual([])
    pages.story.transfers = [transfer(4, 'credited', { amt: exact('12.5') }), transfer(3, 'credited')]
    await page.reload()
    await seeIn(page, '.status', '12.5 USDT')
    expect(await statusOf(page)).toEqual(['credited 12.5 USDT'])
    await press(page, 'Make another deposit')
    await page.reload()
    await page.waitForSelector('.address', { visible: true })
    await seeIn(page, '[data-fold="arrivals"]', '(2)')
  })

  it('has several payments at once as a list, the newest first, also one that was on its way before', async () => {
    pages.story.transfers = [transfer(5, 'credited'), transfer(4, 'seen', { seconds: 9, amt: exact('7') })]
    const page = await pages.openFor({ sub: '7' })
    await seeIn(page, '.status', '7 USDT')
    expect(await statusOf(page)).toEqual(['seen 7 USDT'])
    pages.story.transfers = [
      transfer(6, 'seen', { seconds: 50, cuy: 1, amt: exact('3.5') }),
      transfer(5, 'credited'),
      transfer(4, 'credited', { amt: exact('7') }),
    ]
    await poke(page)
    await seeIn(page, '.status', '3.5 TRX')
    expect(await statusOf(page)).toEqual(['seen 3.5 TRX', 'credited 7 USDT'])
    expect(await page.title()).toBe('On its way: 3.5 TRX')
    await seeIn(page, '[data-fold="arrivals"]', '(1)')
  })

  it.each([
    ['Tron', 'https://tronscan.org/#', 'tronscan.org'],
    ['Nile', 'https://nile.tronscan.org/#', 'nile.tronscan.org'],
    ['local', null, null],
  ])('links to the explorer of the network %s, in a new tab', async (network, explorer, host) => {
    Object.assign(pages.story, { network, explorer, transfers: [transfer(4, 'seen', { seconds: 9 })] })
    const page = await pages.openFor({ sub: '7' })
    await seeIn(page, '.status', '25 USDT')
    const links = await page.$$eval('.status a', (all) => all.map((a) => [a.href, a.target, a.rel, a.textContent]))
    const kind = ['_blank', 'noopener noreferrer']
    const expected = [
      [`${explorer}/transaction/${txidOf(4)}`, ...kind, `View the transaction on ${host} ↗`],
      [`${explorer}/address/${payAddress}`, ...kind, `View the address on ${host} ↗`],
    ]
    expect(links).toEqual(explorer === null ? [] : expected)
  })

  it('has the address before slower answers, and asks for each thing once', async () => {
    let answer = () => {}
    const after = new Promise<void>((resolve) => {
      answer = resolve
    })
    const script = pages.service.routes.get('/tron/deposits')
    pages.service.routes.set('/tron/deposits', (url, request) => ({ ...script?.(url, request), after }))
    const page = await pages.open()
    await page.waitForSelector('.address')
    expect(await textOfFirst(page, '.address')).toBe(payAddress)
    const first = ['/currencies', '/tron/generate', '/tron/deposits?limit=20']
    expect(pages.service.requests.map(({ path }) => path)).toEqual(first)
    answer()
  })
})

describe('what is to be sent', () => {
  it('is chosen already: what was used last, else the first currency that is open', async () => {
    const page = await pages.openFor({ sub: '7' })
    await seeIn(page, '.pay', 'Send TRX')
    await seeIn(page, '.pay', 'Any amount')
    await choose(page, 2)
    await seeIn(page, '.pay', 'Send USDT')
    await seeIn(page, '.pay', 'At least 1 USDT')
    await seeIn(page, '.badge', 'TRON (TRC-20)')
    await seeIn(page, '.warning', 'Only USDT, only on this network.')
    await page.reload()
    await seeIn(page, '.pay', 'Send USDT')
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], open: false }]
    await page.reload()
    await seeIn(page, '.pay', 'Send TRX')
    expect(await page.$eval('input[value="2"]', (input) => input.disabled)).toBe(true)
  })

  it('is no currency that is retired, and needs no choice where there is one', async () => {
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], retired: true, open: false }]
    pages.story.network = 'Nile'
    const page = await pages.openLoaded()
    await seeIn(page, '.badge', 'Nile test network')
    await seeIn(page, '.warning', 'Only worthless test TRX.')
    expect(await page.$eval('.choices', (choices) => (choices as HTMLElement).hidden)).toBe(true)
  })

  it('is named once for a screen reader, with its name where that says more', async () => {
    pages.story.currencies = [{ ...currencies[0], name: 'trx' }, { ...currencies[1] }]
    const page = await pages.openLoaded()
    const session = await page.createCDPSession()
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const radios = nodes.filter(({ role }) => role?.value === 'radio').map(({ name }) => name?.value)
    expect(radios).toEqual(['TRX', 'USDT (Tether USD)'])
  })

  it('is nothing while a currency or all are closed, and opens by itself', async () => {
    const page = await pages.openLoaded()
    await choose(page, 2)
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], open: false }]
    await passTime(page, 27_000)
    await seeIn(page, '.pay', 'USDT is closed at the moment')
    expect(await page.$('.address')).toBeNull() // another currency is open, but the reader must choose it
    pages.story.currencies = currencies.map((one) => ({ ...one, open: false }))
    await passTime(page, 27_000)
    await seeIn(page, '.pay', 'Deposits are closed at the moment')
    pages.story.currencies = currencies
    await passTime(page, 27_000)
    await page.waitForSelector('.address')
  })

  it('is not shown where the address cannot be: one message says not to send anything, and the page goes on by itself', async () => {
    pages.answer('/tron/generate', { status: 503, msg: 'no Tron node', headers: { 'retry-after': '5' } })
    const page = await pages.open()
    await seeIn(page, '.obstacle', 'Do not send anything yet')
    await seeIn(page, '.obstacle', 'The service cannot answer right now')
    expect(
      await page.$$eval('main button, main input', (all) => all.filter((one) => one.checkVisibility()).length),
    ).toBe(0)
    pages.tell(newcomer())
    await passTime(page, 6_000)
    await page.waitForSelector('.address', { visible: true })
  })

  it('can be copied: the button says so for a moment, and selects the address where the browser forbids it', async () => {
    const page = await pages.openLoaded()
    const write = (isAllowed: boolean) =>
      page.evaluate((allowed) => {
        navigator.clipboard.writeText = async (text) => {
          if (!allowed) throw new DOMException('no', 'NotAllowedError')
          document.body.dataset.copied = text
        }
      }, isAllowed)
    await write(true)
    await page.click('.destination button')
    await seeIn(page, '.destination', 'Copied')
    expect(await page.$eval('body', ({ dataset }) => dataset.copied)).toBe(payAddress)
    await seeIn(page, '[role="status"].unseen', 'compare the first and the last characters')
    await passTime(page, 2_500)
    await seeIn(page, '.destination', 'Copy the address')
    await write(false)
    await press(page, 'Copy the address')
    await seeIn(page, '.destination', 'Selected: now copy it')
    expect(await page.evaluate(() => String(getSelection()))).toBe(payAddress)
  })
})

describe('whose account it is', () => {
  it.each([
    [{ sub: '7', name: '王 安娜' }, '王 安娜'],
    [{ sub: '7', name: ' \u202e ' }, 'User 7'],
    [{ sub: '9007199254740990' }, 'User 9007199254740990'],
  ])('is always said: %o', async (claims, owner) => {
    const page = await pages.openFor(claims)
    await seeIn(page, '.owner', owner)
  })

  it('is that of DEV_UID on this machine, without a token', async () => {
    pages.service.settings = { ...pages.service.settings, devUid: 1 as never } // safe: the id of a user
    await seeIn(await pages.openLoaded(), '.owner', 'User 1')
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
    ['held', { reason: 'review', why: 'x' }, 'being looked at before it is credited', '都会经过审核'],
    ['held', { reason: 'retired', why: 'x' }, 'Please contact the support of the site', '请联系向您提供本页面的网站'],
    ['held', { reason: 'wallet-full', why: 'x' }, 'credited by itself when there is room', '有空间后会自动入账'],
    ['held', { reason: 'toString', why: 'a new reason' }, 'a new reason', 'a new reason'],
    ['refused', { reason: 'below-minimum', why: 'x' }, 'it is below the minimum', '低于最低金额，因此没有计入余额'],
    ['refused', { reason: 'dust', why: 'x' }, 'smaller than the smallest amount', '小于可记账的最小金额'],
    ['refused', { reason: 'review', why: 'x' }, 'was looked at, and is not credited', '经审核后没有入账'],
  ]

  it('is explained in words for every state and reason, in both languages', async () => {
    pages.story.transfers = states.map(([state, members], index) => transfer(99 - index, state, members))
    const page = await pages.openFor({ sub: '7' }, { ...desktop, languages: ['zh-CN'] })
    await openFold(page, 'arrivals')
    const words = () => page.$$eval('.words', (all) => all.map((one) => one.textContent))
    const showAll = async (label: string) => {
      for (const shown of [13, states.length]) {
        if ((await words()).length < states.length) await press(page, label)
        await page.waitForFunction(
          (all) => document.querySelectorAll('.words').length >= all,
          {},
          Math.min(shown, states.length),
        )
      }
    }
    await showAll('显示更早的记录')
    for (const [index, [, , , zh]] of states.entries()) expect((await words())[index]).toContain(zh)
    await page.click('header button')
    await seeIn(page, 'h1', 'Deposit')
    for (const [index, [, , en]] of states.entries()) expect((await words())[index]).toContain(en)
  })

  it('has no amount while that is not certain: its currency is closed, or its decimals are unknown or differ', async () => {
    pages.story.currencies = [
      { ...currencies[0], open: false },
      { ...currencies[1], open: false },
    ]
    pages.story.transfers = [
      transfer(9, 'seen', { amt: exact('0.07') }),
      transfer(8, 'seen', { cuy: 1, amt: exact('8') }),
      transfer(7, 'held', { reason: 'decimals-differ', why: 'x', amt: exact('0.07') }),
      transfer(6, 'refused', { reason: 'below-minimum', why: 'x', amt: exact('0.5') }),
      transfer(5, 'credited', { amt: exact('5') }),
    ]
    const page = await pages.openFor({ sub: '7' })
    await openFold(page, 'arrivals')
    await see(page, '5 USDT')
    const amounts = await page.$$eval('.arrivals strong', (all) => all.map((one) => one.textContent))
    const uncertain = 'USDT, amount not certain yet'
    expect(amounts).toEqual([uncertain, '8 TRX', uncertain, '0.5 USDT', '5 USDT'])
    expect(await page.title()).toBe(`On its way: ${uncertain}`)
    expect(await page.$eval('body', ({ textContent }) => textContent)).not.toContain('0.07')
  })

  it('that is older is read when the reader wants it', async () => {
    pages.story.transfers = Array.from({ length: 30 }, (_, n) => transfer(30 - n, 'credited'))
    const page = await pages.openLoaded()
    await openFold(page, 'arrivals')
    const count = () => page.$$eval('[data-fold="arrivals"] li[data-state]', (all) => all.length)
    await expect.poll(count).toBe(3)
    for (const shown of [13, 23, 30]) {
      await press(page, 'Show older')
      await expect.poll(count).toBe(shown)
    }
    expect(pages.service.requests.filter(({ path }) => path.includes('before=')).map(({ path }) => path)).toEqual([
      '/tron/deposits?limit=20&before=11',
    ])
  })

  it('of another account is never shown', async () => {
    pages.tell(regular())
    const page = await pages.openFor({ sub: '7' })
    await seeIn(page, '.status', '120.5 USDT')
    pages.story.transfers = [transfer(90, 'seen', { seconds: 9, amt: exact('1') })]
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf({ sub: '8', name: 'Bo' }))
    await seeIn(page, '.owner', 'Bo')
    await seeIn(page, '.status', '1 USDT')
    expect(await statusOf(page)).toEqual(['seen 1 USDT'])
  })
})
