import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { addEvents, happened, owned, posted } from './desk-story.ts'
import { askDesk, downloadedBy, filterBy, poke, press, seeIn, showList, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const lists = 'section:has(> #lists)'
const rowsIn = (page: Page, where: string) => page.$$eval(`${where} tbody tr`, (all) => all.length)
const daySeconds = 86_400

/**
 * Gives user 7 `count` deposits, an hour apart; the newest comes first. Every fifth one is held.
 */
function addMany(count: number): void {
  at.desk.deposits = Array.from({ length: count }, (_, index) => {
    const state = index % 5 === 0 ? 'held' : 'credited'
    const id = 1 + count - index
    const members = { amt: exact(`${id}.25`), created_at: ago(index * 3_600), txid: txidOf(id % 256) }
    return owned(id, state, { ...members, ...(state === 'held' ? held : {}) })
  })
}
const held = { reason: 'retired', why: '=cmd|calc!A0' }

describe('the lists', () => {
  it('say that there is more where the service has not counted all, in a list as in a story', async () => {
    at.desk.deposits = Array.from({ length: 64 }, (_, index) => owned(64 - index, 'credited', {}))
    const list = at.desk.deposits
    pages.service.routes.set('/ledger/deposits', ({ searchParams }) => {
      const before = Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY)
      const page = list.filter(({ id }) => id < before).slice(0, Number(searchParams.get('limit')))
      return { data: { list: page, count: 1_000 } } // 1,000 means that many or more
    })
    const page = await open()
    await showList(page, 'deposits')
    await seeIn(page, lists, '20 are shown; there is more.')
    expect(await askDesk(page, '7')).toContain('Deposits: 1,000+')
    const words = await textOfFirst(page, '.result')
    expect(words).not.toContain('of 1,000')
  })

  it('go on without an end, and their file has all that the filter leaves', async () => {
    addMany(64)
    const page = await open()
    await seeIn(page, lists, '20 of 64 are shown.')
    for (const shown of ['40 of 64', '60 of 64', 'All 64 are shown']) {
      await press(page, 'Show more')
      await seeIn(page, lists, shown)
    }
    expect((await downloadedBy(page, `${lists} [aria-label^="Download"]`)).split('\r\n')).toHaveLength(1 + 64 + 1)
    await filterBy(page, 'state', 'held')
    await seeIn(page, lists, 'All 13 are shown.')
    const file = await downloadedBy(page, `${lists} [aria-label^="Download"]`)
    expect(file.split('\r\n')).toHaveLength(1 + 13 + 1)
    expect(file).toContain(`"'=cmd|calc!A0"`)
    await page.click(`${lists} td button`)
    await seeIn(page, '.result', 'Its currency is not accepted any more')
  })

  it('give a file of more than ten thousand rows', async () => {
    addMany(10_050)
    const page = await open()
    // the list says "more", because a count of 1,000 means that many or more
    await seeIn(page, lists, '20 are shown; there is more.')
    const file = await downloadedBy(page, `${lists} [aria-label^="Download"]`)
    expect(file.split('\r\n')).toHaveLength(1 + 10_050 + 1)
  })

  it('are filtered by currency, time and amount, and say how far they have looked', async () => {
    addMany(210)
    const other = { cuy: 1, amt: exact('3.5'), created_at: ago(10 * daySeconds + 5) }
    at.desk.deposits.splice(205, 1, owned(at.desk.deposits[205]?.id ?? 0, 'credited', other))
    const page = await open()
    await showList(page, 'deposits')
    await filterBy(page, 'least', '3.4')
    await filterBy(page, 'most', '4')
    await seeIn(page, lists, 'The only one is shown.')
    expect(await textOfFirst(page, `${lists} td`)).toContain('3.5 TRX')
    await filterBy(page, 'most', 'four')
    await seeIn(page, `${lists} .fault`, 'An amount is digits')
    await press(page, 'Clear the filter')
    await filterBy(page, 'cuy', '1')
    await seeIn(page, lists, 'The only one is shown.')
    await filterBy(page, 'cuy', '')
    const day = (days: number) => new Date(Date.now() - days * daySeconds * 1_000).toLocaleDateString('sv')
    await filterBy(page, 'to', day(3))
    await filterBy(page, 'from', day(3))
    await seeIn(page, lists, 'are shown')
    const times = await page.$$eval(`${lists} td.number`, (all) => all.map((one) => one.textContent))
    expect(times).toHaveLength(24)
    expect(new Set(times.map((time) => /^[\d/]+/.exec(time)?.[0])).size).toBe(1)
  })

  it('say how many were found where the search can go on', async () => {
    addMany(2_100)
    const page = await open()
    await showList(page, 'deposits')
    await filterBy(page, 'least', '2095')
    await seeIn(page, lists, 'Found so far: 7. Looked at everything since ')
  })

  it('are filtered by the hour, which a day needs', async () => {
    addMany(72)
    const page = await open()
    await showList(page, 'deposits')
    // the hour from 23:00 on would end on the next day
    const isLast = new Date(Date.now() - 30 * 3_600_000).getHours() === 23
    const hour = new Date(Date.now() - (isLast ? 31 : 30) * 3_600_000)
    const [day, from, to] = [hour.toLocaleDateString('sv'), hour.getHours(), hour.getHours() + 1]
    await filterBy(page, 'from', day)
    await filterBy(page, 'from-hour', String(from).padStart(2, '0'))
    await filterBy(page, 'to', day)
    await filterBy(page, 'to-hour', String(to).padStart(2, '0'))
    await seeIn(page, lists, 'The only one is shown.')
    await press(page, 'Clear the filter')
    await seeIn(page, lists, '20 of 72 are shown.')
  })

  it('of entries and events have every type in words, each row with its story', async () => {
    addEvents(at.desk)
    at.desk.events.push(happened(37, 'deposit.new-kind', {}), happened(38, 'a.new-type', {}))
    at.desk.summary.newest_event = 38
    at.desk.entries.unshift(posted(7, 5, '1.5', { osn: 'refund-1' }))
    const page = await open()
    await showList(page, 'events')
    await seeIn(page, lists, 'All 8 are shown.')
    expect(await page.$$eval(`${lists} td button`, (all) => all.map((one) => one.textContent))).toEqual([
      ...['a.new-type', 'Deposit: new-kind', 'Deposit: No longer in the chain', 'Deposit: Refused · USDT'],
      ...[
        'Deposit: Held · USDT',
        'Payment · −2.5 USDT',
        'Deposit: Credited · 25 USDT',
        'Deposit: On its way · 25 USDT',
      ],
    ])
    await seeIn(page, lists, 'Its currency is not accepted any more.')
    const stories = [
      'User 7',
      'User 7',
      'not known here',
      'not known here',
      'not known here',
      'entry.posted',
      '25 USDT',
    ]
    for (const [index, says] of stories.entries()) {
      await page.$$eval(`${lists} td button`, (all, row) => all[row]?.click(), index)
      await seeIn(page, '.result', says)
    }
    expect(await downloadedBy(page, `${lists} [aria-label^="Download"]`)).toContain('"entry.posted"')
    await filterBy(page, 'state', 'entry.posted')
    await seeIn(page, lists, 'The only one is shown.')
    await showList(page, 'entries')
    await filterBy(page, 'state', '5')
    await seeIn(page, lists, '+1.5 USDT Refund')
    expect(await rowsIn(page, lists)).toBe(1)
  })

  it('of events have what an issuer did in words, each row with the story of its address', async () => {
    const of = (id: number, act: string, more: object) =>
      happened(id, `address.${act}`, { address: payAddress, cuy: 2, txid: txidOf(5), ...more })
    at.desk.events.push(of(1, 'frozen', {}), of(2, 'destroyed', { amt: exact('25') }), of(3, 'released', {}))
    at.desk.summary.newest_event = 3
    const page = await open()
    await showList(page, 'events')
    await seeIn(page, lists, 'All 3 are shown.')
    expect(await page.$$eval(`${lists} td button`, (all) => all.map((one) => one.textContent))).toEqual([
      'Released by the issuer · USDT',
      'Destroyed by the issuer · 25 USDT',
      'Frozen by the issuer · USDT',
    ])
    await page.click(`${lists} td button`)
    await seeIn(page, '.result', payAddress)
    await filterBy(page, 'state', 'address.destroyed')
    await seeIn(page, lists, 'The only one is shown.')
  })

  it('are read once the summary has come, if one was chosen before', async () => {
    addEvents(at.desk)
    const summary = Promise.withResolvers<void>()
    pages.answer('/ledger/summary', { data: at.desk.summary, after: summary.promise })
    const page = await open()
    await page.waitForSelector('[data-list="events"]')
    await page.$eval('[data-list="events"]', (one) => (one as HTMLElement).click()) // safe: a button
    summary.resolve()
    await seeIn(page, lists, 'All 6 are shown.')
  })

  it('are read again when something has happened, and keep the focus on a row that moves', async () => {
    addEvents(at.desk)
    const page = await open()
    await showList(page, 'events')
    await seeIn(page, lists, 'All 6 are shown.')
    await page.focus(`${lists} tr:nth-child(4) button`)
    const before = pages.asked('/ledger/events')
    await poke(page)
    await expect.poll(() => pages.asked('/ledger/summary')).toBeGreaterThan(1)
    expect(pages.asked('/ledger/events')).toBe(before)
    at.desk.events.push(happened(37, 'deposit.dropped', { txid: txidOf(5), position: 0 }, 1))
    at.desk.summary.newest_event = 37
    await poke(page)
    await seeIn(page, lists, 'All 7 are shown.')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Payment · −2.5 USDT')
  })
})

describe('a story', () => {
  it('has an address of its own, which a colleague opens after signing in, and back leads back', async () => {
    addMany(64)
    const page = await open()
    await seeIn(page, '#state', 'All is well')
    expect(await askDesk(page, '7')).toContain('User 7')
    expect(await page.evaluate(() => location.hash)).toBe('#uid=7')
    await askDesk(page, payAddress)
    const address = await page.evaluate(() => location.href)
    expect(address).toMatch(new RegExp(`/desk#address=${payAddress}$`))
    await page.goBack()
    await seeIn(page, '.result h3', 'User 7')
    await askDesk(page, '7 order-1001')
    expect(await page.evaluate(() => location.hash)).toBe('#uid=7&osn=order-1001')
    const colleague = await open({}, `#tx=${txidOf(65)}`)
    await seeIn(colleague, '#state', 'Sign in to see')
    await colleague.type('#token', 'good')
    await colleague.keyboard.press('Enter')
    await seeIn(colleague, '.result', '65.25 USDT: Held')
  })

  it('of a user has the addresses and all deposits, page by page, and so has that of an address', async () => {
    addMany(64)
    const page = await open({}, '#token=good&uid=7')
    await seeIn(page, '.result', 'Addresses: 1')
    await seeIn(page, '.result', payAddress)
    await seeIn(page, '.result', 'Deposits: 64')
    await seeIn(page, '.result', '22.5 USDT') // although the deposits may come before the currencies' names
    await seeIn(page, lists, '20 of 64')
    expect(await pages.shift()).toBeLessThan(0.1)
    const rows = '.result .rows'
    for (const shown of ['40 of 64', '60 of 64', 'All 64 are shown']) {
      await page.$eval(`${rows} button:not([aria-label]):not([hidden])`, (button) => button.textContent)
      await page.$$eval(`${rows} button`, (all) => all.find((one) => one.textContent === 'Show more')?.click())
      await seeIn(page, rows, shown)
    }
    await poke(page)
    await expect.poll(() => pages.asked('/ledger/summary')).toBeGreaterThan(1)
    expect(await textOfFirst(page, rows)).toContain('All 64 are shown')
    expect((await downloadedBy(page, `${rows} [aria-label^="Download"]`)).split('\r\n')).toHaveLength(1 + 64 + 1)
  })
})
