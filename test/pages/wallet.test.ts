import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { desktop, usePages } from './fixture.ts'
import { openFold, poke, press, seeIn, tokenOf } from './reading.ts'
import { currencies, entry, payout, regular, transfer, txidOf, withdrawing } from './story.ts'

const pages = usePages()

/** Opens the deposit page with its balance and history unfolded. */
async function openWallet(reader = {}, hash = ''): Promise<Page> {
  const page = await pages.openLoaded(reader, hash)
  await openFold(page, 'wallet')
  await page.waitForSelector('.balances li')
  return page
}

describe('the wallet', () => {
  it('is read when it is opened, and again when something is credited', async () => {
    pages.story.transfers = [transfer(4, 'seen', { seconds: 9 })]
    const page = await pages.openLoaded()
    await poke(page)
    expect(pages.asked('/wallet/')).toBe(0)
    await openFold(page, 'wallet')
    await seeIn(page, '.entries', 'No entries yet')
    pages.story.transfers = [transfer(4, 'credited', { entry: 1 })]
    pages.story.entries = [entry(1, 1, '25', '25')]
    pages.story.balances = [[2, '25']]
    await poke(page)
    await seeIn(page, '.entries', '+25 USDT')
    await seeIn(page, '.balances', '25')
    await seeIn(page, '.entries time', 'Credited 11/')
  })

  it('shows exact amounts in the format of the reader, and gives all entries of a filter as a file', async () => {
    pages.tell(regular())
    pages.story.entries = [
      ...Array.from({ length: 150 }, (_, n) => entry(300 - n, 1, '0.1', '1', { cuy: 1 })),
      ...pages.story.entries,
    ]
    const page = await openWallet({ ...desktop, languages: ['de-DE', 'en'] })
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
    const [first = '', second = ''] = ['7', '8'].map((sub) => tokenOf({ sub }))
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
    const page = await openWallet({}, `#token=${first}`)
    await seeIn(page, '.entries', '7 all')
    await press(page, 'Download as CSV')
    await expect.poll(() => pages.asked('/wallet/flow/list?limit=100')).toBe(1)
    await change(page, second)
    await seeIn(page, '.entries', what === 'account' ? '8 all' : '7 2')
    const file = downloaded(page)
    await page.evaluate(() => null) // waits until the button was pressed
    release()
    const marks = (await file).match(/"[78] \w+"/g) ?? []
    expect([marks.length, ...new Set(marks)]).toEqual([150, what === 'account' ? '"8 all"' : '"7 all"'])
  })

  it('shows where each withdrawal is, with its transaction in the explorer', async () => {
    pages.tell(withdrawing())
    const page = await openWallet()
    await seeIn(page, '.entries', 'Cancelled: the amount is in your balance again')
    const rows = await page.$$eval('.ledger tbody tr td:first-child', (cells) =>
      cells.map((cell) => [
        cell.querySelector('time ~ .muted')?.textContent ?? null,
        cell.querySelector('a')?.href ?? null,
      ]),
    )
    const link = (n: number) => `https://tronscan.org/#/transaction/${txidOf(n)}`
    expect(rows).toEqual([
      ...[
        [null, null],
        ['Waits for approval', null],
        ['Will be sent soon', null],
      ],
      ...[
        ['On its way', link(2)],
        ['Paid', link(3)],
        ['Late: a person must decide about it', link(4)],
      ],
      ...[
        ['Cancelled: the amount is in your balance again', null],
        [null, null],
      ],
    ])
  })

  it('asks for payouts only if the history has a withdrawal, and for no more pages than it shows', async () => {
    pages.tell(regular())
    pages.story.payouts = Array.from({ length: 450 }, (_, n) => payout(450 - n, 'paid', `order-${450 - n}`))
    const page = await openWallet()
    await seeIn(page, '.entries', 'two cups')
    expect(pages.asked('/tron/payouts')).toBe(0)
    const at = '2026-11-22T09:30:00.000Z'
    for (const one of pages.story.payouts.slice(0, 150)) Object.assign(one, { created_at: at })
    pages.story.entries = [entry(30, 2, '-5', '20', { osn: 'order-301', created_at: at })]
    await page.select('#filter', '2')
    await seeIn(page, '.entries', 'Paid')
    expect(pages.asked('/tron/payouts')).toBe(2)
    expect(pages.asked('/tron/payouts?limit=100&cuy=2')).toBe(2)
  })

  it('asks no more for payouts if the answers do not go on', async () => {
    const same = Array.from({ length: 100 }, (_, n) => payout(200 - n, 'paid', `order-${n}`))
    pages.service.routes.set('/tron/payouts', () => ({ data: { list: same, count: 1_000 } }))
    pages.story.entries = [entry(30, 2, '-5', '20', { osn: 'order-0', created_at: '2026-10-01T09:30:00.000Z' })]
    const page = await openWallet()
    await seeIn(page, '.entries', 'Paid')
    await expect.poll(() => pages.asked('/tron/payouts')).toBe(2)
    await poke(page)
    expect(pages.asked('/tron/payouts')).toBe(2)
  })

  it('has the balances in the order in which currencies are offered', async () => {
    pages.tell({ ...regular(), currencies: [...currencies].reverse() })
    const page = await openWallet()
    const shown = await page.$$eval('.balances li span', (all) => all.map((one) => one.textContent))
    expect(shown).toEqual(['USDT', 'TRX'])
  })

  it('reads older entries by the id of the last one', async () => {
    pages.story.entries = Array.from({ length: 45 }, (_, n) => entry(45 - n, 1, '1', '1'))
    const page = await openWallet()
    await seeIn(page, '.history', '20 of 45')
    for (const shown of [40, 45]) {
      await page.$$eval('.history button', (all) => all.find((one) => one.textContent === 'Show older')?.click())
      await page.waitForFunction(
        (all) => document.querySelectorAll('.entries > table tbody tr').length === all,
        {},
        shown,
      )
    }
    expect(pages.asked('/wallet/flow/list?limit=20&before=')).toBe(2)
    await seeIn(page, '.history', '45 of 45')
  })
})

/** Presses the button for the file; returns the file's text. */
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
