import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { resize, violationsOf } from './browser.ts'
import { desktop, usePages } from './fixture.ts'
import { hostile, variants } from './hostile.ts'
import { windows } from './looks.ts'
import { misfits } from './misfits.ts'
import { foreignTexts, openFold, poke, press, seeIn, tokenOf } from './reading.ts'
import { exact, type ScriptedService } from './scripted-service.ts'
import { entry, payAddress, stated, txidOf } from './story.ts'

const pages = usePages()

interface Kept {
  readonly id: number
  readonly created_at: string
}

/** Makes the service answer with a month whose USDT entries are `all`, oldest first. */
function serveStatement(service: ScriptedService, all: readonly Kept[], opening = '10', closing = '12.5'): void {
  service.routes.set('/wallet/statement', ({ searchParams }) => {
    const month = searchParams.get('month') ?? ''
    const [limit, after] = [Number(searchParams.get('limit')), Number(searchParams.get('after') ?? 0)]
    const own = all.filter(({ created_at }) => created_at.startsWith(month))
    const from = `${month}-01T00:00:00.000Z`
    const to = new Date(Date.parse(from))
    to.setUTCMonth(to.getUTCMonth() + 1)
    const balances = [
      { cuy: 1, opening: 0, closing: 0 },
      { cuy: 2, opening: exact(opening), closing: exact(closing) },
    ]
    const list = own
      .filter(({ id }) => id > after)
      .slice(0, limit)
      .map(stated)
    const until = to.getTime() > Date.now() ? '2026-11-25T10:00:00.000Z' : to.toISOString()
    return { data: { from, to: to.toISOString(), until, balances, list, count: own.length } }
  })
}

const november = [
  entry(3, 1, '5', '15', { created_at: '2026-11-01T00:00:00.000Z', mark: 'deposit' }),
  entry(4, 4, '-2.5', '12.5', { created_at: '2026-11-22T23:59:59.999Z', mark: 'two cups', osn: 'order-1' }),
]

async function openStatement(reader = {}, claims: object = { sub: '7', name: 'Anna Wei' }): Promise<Page> {
  const page = await pages.openLoaded(reader, `#token=${tokenOf(claims)}`)
  await openFold(page, 'wallet')
  await page.waitForSelector('#month')
  return page
}
const lines = (page: Page) =>
  page.$$eval('.statement tbody tr', (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))

describe('the statement of a month', () => {
  it('is loaded when the wallet is opened, and no sooner', async () => {
    const page = await pages.openLoaded()
    const scripts = () =>
      page.evaluate(
        () => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/wallet.js')).length,
      )
    expect(await scripts()).toBe(0)
    await openFold(page, 'wallet')
    await page.waitForSelector('#month')
    expect(await scripts()).toBe(1)
  })

  it('has the balance before, each entry, and the balance after: exact, and with times of UTC as months have them', async () => {
    serveStatement(pages.service, november)
    const page = await openStatement({ ...desktop, languages: ['de-DE', 'en'] })
    await page.select('#month', '2026-11')
    await press(page, 'Show')
    await seeIn(page, '.statement', 'Closing balance')
    expect(await lines(page)).toEqual([
      ['Opening balance2026-11-01 00:00', '10 USDT'],
      [`Deposit2026-11-01 00:00${txidOf(3)}`, '+5 USDTBalance 15 USDT'],
      ['Payment2026-11-22 23:59order-1 · two cups', '−2,5 USDTBalance 12,5 USDT'],
      ['Closing balance2026-11-25 10:00', '12,5 USDT'],
    ])
    await seeIn(page, '.statement', 'Anna Wei')
    await seeIn(page, '.statement', 'The month is running: until 2026-11-25 10:00 UTC.')
    await page.select('#month', '2026-10')
    await press(page, 'Show')
    await page.waitForFunction(() => document.querySelectorAll('.statement tbody tr').length === 2)
    expect(await page.$eval('.statement', ({ textContent }) => textContent)).not.toContain('running')
  })

  it('names a fee as a fee, and has recipient and transaction of a withdrawal, also in the file', async () => {
    const at = { created_at: '2026-11-22T10:00:00.000Z', mark: '', osn: 'to my wallet', to: payAddress }
    serveStatement(pages.service, [
      entry(5, 2, '-5', '7.5', { ...at, what: 'payout', txid: txidOf(9) }),
      entry(6, 4, '-0.5', '7', { ...at, what: 'fee' }),
    ])
    for (const [language, payout, fee] of [
      ['en', 'Withdrawal', 'Withdrawal fee'],
      ['zh-CN', '提现', '手续费'],
    ] as const) {
      const page = await openStatement({ ...desktop, languages: [language] })
      await page.select('#month', '2026-11')
      await page.$eval('.statement button', (one) => (one as HTMLElement).click()) // safe: a button
      await page.waitForSelector('.statement table')
      const shown = (await lines(page)).map(([what]) => what)
      expect(shown.slice(1, 3)).toEqual([
        `${payout}2026-11-22 10:00to my wallet${payAddress}${txidOf(9)}`,
        `${fee}2026-11-22 10:00to my wallet${payAddress}`,
      ])
      const file = (await downloaded(page)).split('\r\n')
      expect(file[2]).toContain(`"${payout}"`)
      expect(file[2]).toContain(`"${payAddress}","${txidOf(9)}"`)
      expect(file[3]).toContain(`"${fee}"`)
    }
  })

  it('of any size is read page by page, and given as a file with all of it', async () => {
    const many = Array.from({ length: 2_300 }, (_, n) =>
      entry(n + 1, 5, '1', String(n + 11), { created_at: '2026-11-02T00:00:00.000Z' }),
    )
    serveStatement(pages.service, many, '10', '2310')
    const page = await openStatement(desktop)
    await press(page, 'Show')
    await page.waitForFunction(() => document.querySelectorAll('.statement tbody tr').length === 2_302)
    expect(pages.asked('/wallet/statement?month=2026-11&limit=1000')).toBe(3)
    const file = await downloaded(page)
    const rows = file.trim().split('\r\n')
    expect(rows).toHaveLength(1 + 2_302)
    expect([rows[1], rows[2], rows.at(-1)]).toEqual([
      '"2026-11-01T00:00:00.000Z","Opening balance","USDT",,"10",,,,',
      expect.stringContaining('"2026-11-02T00:00:00.000Z","Refund","USDT","1","11"'),
      '"2026-11-25T10:00:00.000Z","Closing balance","USDT",,"2310",,,,',
    ])
  })

  it('prints alone, with whose it is, when and where from', async () => {
    serveStatement(pages.service, november)
    const page = await openStatement()
    await press(page, 'Show')
    await seeIn(page, '.statement', 'Closing balance')
    await page.evaluate(() => {
      window.print = () => {
        dispatchEvent(new Event('beforeprint'))
        document.body.dataset.asked = 'yes'
      }
    })
    await press(page, 'Print')
    expect(await page.$eval('body', ({ dataset }) => dataset.asked)).toBe('yes')
    await page.emulateMediaType('print')
    const seen = await page.$$eval(
      'h2, h3, .printed, .entries strong, td, button, select, .address, .balances, .summary, .owner',
      (all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent),
    )
    expect(seen.slice(0, 2)).toEqual([
      expect.stringMatching(/^Statement · 127\.0\.0\.1:\d+ · Printed /),
      'Statement of Anna Wei, 2026-11 (UTC)',
    ])
    expect(seen.slice(2)).toEqual((await lines(page)).flat())
    await page.emulateMediaType('screen')
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    expect(await page.$eval('.address', (one) => one.checkVisibility())).toBe(true)
    await page.emulateMediaType('print')
    // once printing has ended, the next print is a receipt again
    expect(await page.$eval('.statement', (one) => one.checkVisibility())).toBe(false)
  })

  it.each([
    ['en', 'en'],
    ['zh', 'zh-CN'],
  ])('fits every window, and is right for a screen reader: %s', async (language, tag) => {
    serveStatement(pages.service, [
      ...november,
      entry(5, 9, '9007199254.740991', '9007199267.240991', {
        created_at: '2026-11-23T00:00:00.000Z',
        mark: 'x'.repeat(200),
      }),
    ])
    const page = await openStatement(
      { languages: [language] },
      { sub: '7', name: language === 'zh' ? '王安娜' : 'Anna Wei' },
    )
    await page.$eval('.statement button', (one) => (one as HTMLElement).click())
    await page.waitForSelector('.statement table')
    for (const window of windows) {
      await resize(page, window)
      expect([window.width, ...(await misfits(page))]).toEqual([window.width])
    }
    expect(await violationsOf(page)).toEqual([])
    expect(await foreignTexts(page, tag)).toEqual([])
  })

  it('has hostile texts of any member of its answer as texts, or none', async () => {
    serveStatement(pages.service, november)
    const page = await openStatement(desktop)
    const script = pages.service.routes.get('/wallet/statement')
    // safe: this script does not read the request
    const sample = script?.(new URL(`${pages.service.url}/?month=2026-11&limit=9`), {} as never)
    let rounds = 0
    for (const data of variants(sample?.data)) {
      pages.service.routes.set('/wallet/statement', () => ({ data, msg: hostile }))
      const before = pages.asked('/wallet/statement')
      await press(page, 'Show')
      await expect.poll(() => pages.asked('/wallet/statement'), { interval: 5 }).toBeGreaterThan(before)
      await page.waitForFunction(() => document.querySelector('.statement [role="status"]')?.textContent === '')
      expect(await page.$$eval('img, iframe, object', ({ length }) => length)).toBe(0)
      rounds += 1
    }
    expect(rounds).toBeGreaterThan(20)
  })

  it('and files say that there is no connection where their script cannot be had, and come when it is back', async () => {
    const page = await pages.open({}, '', 'about:blank')
    const refused = ['/wallet.js']
    await page.setRequestInterception(true)
    page.on(
      'request',
      (request) => void (refused.some((one) => request.url().includes(one)) ? request.abort() : request.continue()),
    )
    await page.goto(`${pages.service.url}/deposit`)
    await openFold(page, 'wallet')
    await seeIn(page, '[data-fold="wallet"]', 'No connection to the service')
    refused.pop()
    await poke(page)
    await page.waitForSelector('#month')
    await page.close() // its requests still wait: no other test may get this page
  })

  it('that cannot be read says so, and can be asked for again', async () => {
    pages.answer('/wallet/statement', { status: 503, msg: 'later', headers: { 'retry-after': '5' } })
    const page = await openStatement()
    await press(page, 'Show')
    await seeIn(page, '.statement', 'The service cannot answer right now')
    serveStatement(pages.service, november)
    await press(page, 'Show')
    await seeIn(page, '.statement', 'Closing balance')
    expect(await page.$eval('.statement', ({ textContent }) => textContent)).not.toContain('cannot answer')
  })
})

/** Presses the button for the statement's file; returns the file's text. */
async function downloaded(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const create = URL.createObjectURL
        URL.createObjectURL = (blob: Blob) => {
          void blob.text().then((text) => resolve(text.replace('\ufeff', '')))
          return create(blob)
        }
        for (const one of document.querySelectorAll<HTMLElement>('.statement button'))
          if (/CSV/.test(one.textContent)) one.click()
      }),
  )
}
