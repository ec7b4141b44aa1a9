import type { Frame, Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { passTime } from './browser.ts'
import { usePages } from './fixture.ts'
import { poke, seeIn, textOfFirst, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { currencies, order, transfer } from './story.ts'

const pages = usePages()
const shop = 'https://shop.example'
const paid = (id: number, state: string, amount: string, members = {}) =>
  transfer(id, state, { amt: exact(amount), ...members })

const openAsked = () => {
  pages.service.settings = { ...noPageSettings, origins: [shop] }
  pages.story.orders = [order({ return: `${shop}/` }), order({ order: '1042', amt: '7' })]
  return pages.openFor({ sub: '7', order: '1041' })
}
const live = (page: Page) => textOfFirst(page, '[role="status"].unseen')
/** The class and the text of the focused element. */
const focused = (page: Page | Frame) =>
  page.evaluate(() => [document.activeElement?.className, document.activeElement?.textContent] as const)

describe('a screen reader', () => {
  it('hears what is missing of an order, and that it is paid', async () => {
    const page = await openAsked()
    pages.story.transfers = [paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '[role="status"].unseen', 'Credited: 20 USDT')
    expect(await live(page)).toBe(
      'Credited: 20 USDT. It counts for this order. Of 25 USDT: 20 USDT credited, 5 USDT missing.',
    )
    pages.story.transfers = [paid(6, 'seen', '5', { seconds: 40 }), paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '[role="status"].unseen', '5 USDT is on its way. Nothing is missing.')
    pages.story.transfers = [paid(6, 'credited', '5'), paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '[role="status"].unseen', 'Paid. 25 USDT has arrived and is credited.')
  })

  it('hears that a deposit does not count for the order', async () => {
    const page = await openAsked()
    pages.story.transfers = [paid(5, 'credited', '25', { cuy: 1 })]
    await poke(page)
    await seeIn(page, '[role="status"].unseen', 'It does not count for this order, which asks for USDT.')
  })
})

describe('the focus', () => {
  it('is on the news where what had it gives way to the status, and stays on a button that is there again', async () => {
    const page = await openAsked()
    await page.focus('.destination button')
    pages.story.transfers = [paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '.pay h2', 'Send 5 USDT more')
    expect((await focused(page))[1]).toBe('Copy the address')
    pages.story.transfers = [paid(6, 'seen', '5', { seconds: 40 }), paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '.summary', '5 USDT is on its way')
    expect(await focused(page)).toEqual(['summary', expect.stringContaining('5 USDT is on its way')])
    pages.story.transfers = [paid(6, 'credited', '5'), paid(5, 'credited', '20')]
    await poke(page)
    await seeIn(page, '.summary', 'Paid')
    expect((await focused(page))[0]).toBe('summary')
  })

  it('is on the status where nothing was asked for, and on the message where the session ends', async () => {
    const page = await pages.openFor({ sub: '7' })
    await page.focus('.destination button')
    pages.story.transfers = [paid(5, 'seen', '25', { seconds: 40 })]
    await poke(page)
    await seeIn(page, '.status', '25 USDT')
    expect((await focused(page))[0]).toBe('status')
    pages.answer('/tron/deposits', { status: 401, msg: 'x' })
    await poke(page)
    await seeIn(page, '.obstacle', 'Your session has ended')
    expect((await focused(page))[0]).toContain('obstacle')
  })

  it('is never lost where the currency is closed, or another order is asked for', async () => {
    const page = await openAsked()
    await page.focus('.send button')
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf({ sub: '7', order: '1042' }))
    await seeIn(page, '.pay h2', 'Send 7 USDT')
    expect((await focused(page))[0]).not.toBe('')
    pages.story.currencies = [currencies[0] ?? {}, { ...currencies[1], open: false }]
    await page.focus('.send button')
    await passTime(page, 27_000)
    await seeIn(page, '.pay', 'USDT is closed')
    expect((await focused(page))[0]).not.toBe('')
  })

  it('stays at the beginning of the page where the reader has not moved it', async () => {
    const page = await openAsked()
    pages.story.transfers = [paid(5, 'credited', '25')]
    await poke(page)
    await seeIn(page, '.summary', 'Paid')
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true)
  })
})
