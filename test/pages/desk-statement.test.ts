import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { resize, violationsOf } from './browser.ts'
import { useDesk } from './desk-fixture.ts'
import { addDifferences, posted } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { hostile, variants } from './hostile.ts'
import { languages, windows } from './looks.ts'
import { misfits } from './misfits.ts'
import { askDesk, foreignTexts, press, seeIn } from './reading.ts'
import { exact, type Script } from './scripted-service.ts'
import { payAddress, stated, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at

/**
 * A script that answers with a page of a statement with `count` entries: of user 7, or of all users
 * if the query names no user.
 */
const statement =
  (count: number, isRunning = false): Script =>
  ({ searchParams }) => {
    const period = searchParams.get('day') ?? searchParams.get('month') ?? ''
    const from = `${period.padEnd(10, '-01')}T00:00:00.000Z`
    const to = '2026-12-01T00:00:00.000Z'
    const after = Number(searchParams.get('after') ?? 0)
    const all = Array.from({ length: count }, (_, n) =>
      posted(n + 1, 5, '1', {
        created_at: `${from.slice(0, 11)}10:00:00.000Z`,
        balance: exact(String(n + 101)),
        mark: 'gift',
        by: 'shop',
      }),
    )
    const list = all
      .filter(({ id }) => id > after)
      .slice(0, Number(searchParams.get('limit')))
      .map(stated)
    const balances = [
      { cuy: 1, opening: exact('3.5'), closing: exact('3.5') },
      { cuy: 2, opening: exact('27021597768.222973'), closing: exact(`${27021597768 + count}.222973`) },
    ]
    return { data: { from, to, until: isRunning ? '2026-11-27T09:05:00.000Z' : to, balances, list, count } }
  }

async function openStatements(reader?: object): Promise<Page> {
  const page = await open(reader as never)
  await page.waitForSelector('.statement summary', { visible: true })
  await page.$eval('.statement summary', (one) => (one as HTMLElement).click())
  await page.waitForSelector('#statement-uid')
  return page
}
const set = (page: Page, id: string, value: string) =>
  page.$eval(
    `#${id}`,
    (field, text) => {
      ;(field as HTMLInputElement).value = text // safe: an input, or a select with the same property
      field.dispatchEvent(new Event('change', { bubbles: true }))
    },
    value,
  )

/** The content of the file that the button CSV of the statement downloads. */
async function downloaded(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const blob = new Promise<Blob>((resolve) => {
      const create = URL.createObjectURL
      URL.createObjectURL = (made: Blob) => {
        resolve(made)
        return create(made)
      }
    })
    const buttons = [...document.querySelectorAll<HTMLElement>('.statement .row button')]
    buttons.find(({ textContent }) => textContent === 'CSV')?.click()
    return (await blob).text()
  })
}

describe('statements at the desk', () => {
  it('are those of a day of all users, with sums that add up to the unit', async () => {
    pages.service.routes.set('/ledger/statement', statement(2))
    const page = await openStatements()
    const fields = () =>
      page.$$eval('.statement .filter :is(input, select)', (all) =>
        all.filter((one) => one.checkVisibility()).map(({ id }) => id),
      )
    expect(await fields()).toEqual(['statement-uid', 'statement-period', 'statement-day'])
    await set(page, 'statement-period', 'month')
    expect(await fields()).toEqual(['statement-uid', 'statement-period', 'statement-month'])
    await set(page, 'statement-period', 'day')
    await set(page, 'statement-day', '2026-11-26')
    await press(page, 'Show')
    await seeIn(page, '.statement h3', 'All users, 2026-11-26 (UTC)')
    const sums = await page.$$eval('.statement dl > div', (all) =>
      all.map((one) => [...one.querySelectorAll('dt, span, strong')].map(({ textContent }) => textContent)),
    )
    expect(sums).toEqual([
      ['TRX', 'Before: 3.5 TRX', 'Change: 0 TRX', 'After: 3.5 TRX'],
      [
        'USDT',
        'Before: 27,021,597,768.222973 USDT',
        'Refunds (2): +2 USDT',
        'Change: +2 USDT',
        'After: 27,021,597,770.222973 USDT',
      ],
    ])
    const rows = await page.$$eval('.statement table:not(.bridge table) tbody tr', (all) =>
      all.map((one) => one.textContent),
    )
    expect(rows).toEqual([
      expect.stringMatching(/^\+1 USDT RefundUser 7.*giftshop2026-11-26 10:00$/),
      expect.stringMatching(/^\+1 USDT RefundUser 7.*giftshop2026-11-26 10:00$/),
    ])
    expect(pages.service.requests.map(({ path }) => path)).toContain('/ledger/statement?day=2026-11-26&limit=1000')
    const order = await page.$$eval('.statement :is(button, table)', (all) =>
      all
        .filter((one) => one.closest('td, .bridge') === null)
        .map((one) => (one.localName === 'table' ? '' : one.textContent)),
    )
    // the list of entries comes last, because it can have thousands of rows
    expect(order).toEqual(['Show', 'Print', 'CSV', ''])
  })

  it('are those of a month of a user, page by page, and say until when; the file has all of it', async () => {
    pages.service.routes.set('/ledger/statement', statement(1_200, true))
    const page = await openStatements()
    await set(page, 'statement-uid', '#7')
    await set(page, 'statement-period', 'month')
    await set(page, 'statement-month', '2026-11')
    await press(page, 'Show')
    await seeIn(page, '.statement', 'The period is running: until 2026-11-27 09:05 UTC.')
    await seeIn(page, '.statement h3', 'User 7, 2026-11 (UTC)')
    expect(await page.$$eval('.statement table:not(.bridge table) tbody tr', ({ length }) => length)).toBe(1_200)
    const top = await page.$eval('.statement h3', (one) => one.getBoundingClientRect().top)
    // the statement begins inside the window, although it is the last part of the page
    expect(top > 0 && top < 300).toBe(true)
    expect(
      await page.$eval('.statement table:not(.bridge table) tbody tr:last-child', ({ textContent }) => textContent),
    ).toContain('Balance 1,300 USDT')
    const asked = pages.service.requests.map(({ path }) => path).filter((path) => path.includes('/statement'))
    const query = '/ledger/statement?month=2026-11&uid=7&limit=1000'
    expect(asked).toEqual([query, `${query}&after=1000`])
    const file = await downloaded(page)
    const lines = file.trim().split('\r\n')
    expect([lines.length, lines[2], lines.at(-1)]).toEqual([
      1 + 2 + 1_200 + 2,
      '"opening",,,,,,"2","USDT","27021597768.222973",,,,,"2026-11-01T00:00:00.000Z",',
      '"closing",,,,,,"2","USDT","27021598968.222973",,,,,"2026-11-27T09:05:00.000Z",',
    ])
  })

  it.each([
    ['en', ['Payout', 'Fee of a payout', 'Payout given back', 'Order paid']],
    ['zh-CN', ['提现付款', '提现手续费', '提现退回', '订单付款']],
  ])('say what each entry was, with recipient and transaction of a payout (%s)', async (language, words) => {
    const at = { created_at: '2026-11-26T10:00:00.000Z', balance: exact('1'), to: payAddress }
    const list = ['payout', 'fee', 'payout-refund', 'order'].map((what, n) =>
      posted(n + 1, 2, '-1', { ...at, what, ...(n === 0 ? { txid: txidOf(9) } : {}) }),
    )
    const month = { from: '2026-11-26T00:00:00.000Z', to: '2026-11-27T00:00:00.000Z' }
    const data = { ...month, until: month.to, balances: [], list, count: list.length }
    pages.service.routes.set('/ledger/statement', () => ({ data }))
    const page = await openStatements({ ...desktop, languages: [language] })
    await page.$eval('.statement .filter button', (one) => (one as HTMLElement).click()) // safe: a button
    await page.waitForSelector('.statement table:not(.bridge table) tbody tr')
    const rows = await page.$$eval('.statement table:not(.bridge table) tbody tr', (all) =>
      all.map((one) => one.textContent),
    )
    for (const [n, word] of words.entries()) expect(rows[n]).toContain(`${word}`)
    expect(rows[0]).toContain(`${payAddress}${txidOf(9)}`)
  })

  it('have, for all users, what is owed and held and what lies between: on the page, on paper and in the file', async () => {
    addDifferences(at.desk)
    pages.service.routes.set('/ledger/statement', statement(1))
    const page = await openStatements()
    await press(page, 'Show')
    await seeIn(page, '.statement h4', 'Owed, held, and what lies between: as of now')
    await page.emulateMediaType('print')
    await page.evaluate(() => {
      document.body.dataset.paper = ''
    })
    const captions = await page.$$eval('.statement .bridge caption', (all) =>
      all.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent),
    )
    expect(captions.length % 3).toBe(0)
    expect(captions.length).toBeGreaterThan(0)
    await page.emulateMediaType('screen')
    const lines = (await downloaded(page)).trim().split('\r\n')
    const kinds = new Set(
      lines.slice(lines.findLastIndex((line) => line.startsWith('"closing"')) + 1).map((one) => one.split(',')[0]),
    )
    expect(kinds).toEqual(new Set(['"owed"', '"held"', '"moved"', '"destroyed"', '"unexplained"', '"difference"']))
    expect(lines.filter((line) => line.includes('"difference"'))).toHaveLength(at.desk.summary.differences.length)
    expect(lines.every((line) => line.split(',').length === lines[0]?.split(',').length)).toBe(true)
    // that of one user has nothing of it
    await set(page, 'statement-uid', '7')
    await press(page, 'Show')
    await seeIn(page, '.statement h3', 'User 7, ')
    expect(await page.$('.statement .bridge')).toBe(null)
    expect(await downloaded(page)).not.toContain('"owed"')
  })

  it('are one press away from the story of a user', async () => {
    pages.service.routes.set('/ledger/statement', statement(2))
    const page = await open()
    await page.waitForSelector('#state')
    await askDesk(page, '7')
    await page.$$eval('.result button', (all) => all.find((one) => one.textContent === 'Statements')?.click())
    await seeIn(page, '.statement h3', 'User 7, ')
    const chosen = await page.$$eval('#statement-uid, #statement-period', (all) =>
      all.map((field) => (field as HTMLInputElement).value),
    )
    expect(chosen).toEqual(['7', 'month'])
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Statements')
  })

  it('refuse what is no user, and say what the service says', async () => {
    const page = await openStatements()
    await set(page, 'statement-uid', 'Anna')
    await press(page, 'Show')
    await seeIn(page, '.statement [role="alert"]', 'A user is a whole number')
    expect(pages.asked('/ledger/statement')).toBe(0)
    pages.answer('/ledger/statement', { status: 403, msg: 'the scope ledger:read is missing' })
    await set(page, 'statement-uid', '7')
    await press(page, 'Show')
    await seeIn(page, '.statement', 'The service has refused the request')
    await seeIn(page, '.statement', 'ledger:read is missing')
  })

  it('are printed alone', async () => {
    pages.service.routes.set('/ledger/statement', statement(1))
    const page = await openStatements()
    await press(page, 'Show')
    await page.waitForSelector('.statement h3')
    await page.evaluate(() => {
      window.print = () => {}
    })
    await press(page, 'Print')
    await page.emulateMediaType('print')
    const seen = await page.$$eval('h1, h2, h3, button, input, select, #state, .statement dt', (all) =>
      all.filter((one) => one.checkVisibility() && !one.closest('td')).map(({ textContent }) => textContent),
    )
    expect(seen).toEqual([expect.stringContaining('All users'), 'TRX', 'USDT', 'TRX', 'USDT'])
    expect(await page.$eval('.statement', ({ textContent }) => textContent)).toContain(new URL(pages.service.url).host)
  })

  it.each(languages)('fit every window, and are right for a screen reader: %s', async (language, tag) => {
    pages.service.routes.set('/ledger/statement', statement(3, true))
    const page = await openStatements({ width: 1366, height: 650, languages: [language] })
    await page.$eval('.statement .filter button', (one) => (one as HTMLElement).click())
    await page.waitForSelector('.statement dl')
    for (const window of windows) {
      await resize(page, window)
      expect([window.width, ...(await misfits(page))]).toEqual([window.width])
    }
    expect(await violationsOf(page)).toEqual([])
    expect(await foreignTexts(page, tag)).toEqual([])
  })

  it('have hostile texts of any member of the answer as texts, or none', async () => {
    const page = await openStatements()
    // safe: this script does not read the request
    const sample = statement(1)(new URL('http://x/?day=2026-11-26&limit=9'), {} as never)
    for (const data of variants(sample.data)) {
      pages.service.routes.set('/ledger/statement', () => ({ data, msg: hostile }))
      const before = pages.asked('/ledger/statement')
      await press(page, 'Show')
      await expect.poll(() => pages.asked('/ledger/statement'), { interval: 5 }).toBeGreaterThan(before)
      await page.waitForFunction(() => document.querySelector('.statement [role="status"]')?.textContent === '')
      expect(await page.$$eval('img, iframe, object', ({ length }) => length)).toBe(0)
    }
  })
})
