import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { violationsOf } from './browser.ts'
import { useDesk } from './desk-fixture.ts'
import { owned } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { noneOpen, openIn, paidOut, payoutTo } from './payout-fixture.ts'
import { foreignTexts, press, seeIn, shownText, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const payouts = '#token=good&queue=payouts'

/** Adds payouts 1 to `count` that wait, the newest first, and a reader who may approve them. */
function addWaiting(count: number): void {
  at.desk.summary.payouts = noneOpen()
  at.desk.summary.payouts.open = [openIn('waiting', count, String(10 * count)), openIn('approved', 2, '40')]
  at.desk.payouts = Array.from({ length: count }, (_, index) => {
    const id = count - index
    return paidOut(id, 'waiting', { created_at: ago(60 * (index + 2)), waits_for: 'above-limit' })
  })
  at.desk.summary.reader = { name: 'ann@example.com', scopes: ['ledger:read', 'ledger:approve'] }
}

/** Adds deposits 1 to `count` that are held for review, and a reader who may decide about them. */
function addReviews(count: number): void {
  at.desk.deposits = Array.from({ length: count }, (_, index) => {
    return owned(count - index, 'held', { reason: 'review', why: 'a person looks at it' })
  })
  at.desk.summary.transfers.held_for = [{ reason: 'review', cuy: 2, count, oldest_at: ago(70) }]
  at.desk.summary.reader = { name: 'ann@example.com', scopes: ['ledger:read', 'ledger:approve'] }
}

const ids = (page: Page) => page.$$eval('.queue tbody tr', (all) => all.map((one) => Number(one.dataset.id)))
const chosen = (page: Page) =>
  page.$$eval('.queue tbody input', (all) => all.filter((one) => one.checked).map(({ value }) => Number(value)))
const focusedRow = (page: Page) => page.evaluate(() => Number(document.activeElement?.closest('tr')?.dataset.id ?? 0))
/** Waits until the queue has this many rows, and the focus is in it. */
async function opened(page: Page, rows: number): Promise<void> {
  await expect.poll(async () => (await ids(page)).length).toBe(rows)
  if (rows > 0) await expect.poll(() => focusedRow(page)).toBeGreaterThan(0)
}
/** The page of payouts that wait, with so many. */
async function openWaiting(count: number): Promise<Page> {
  addWaiting(count)
  const page = await open(desktop, payouts)
  await opened(page, count)
  return page
}
const sent = () =>
  pages.service.requests.flatMap(({ path, sent: body }) => (body === undefined ? [] : [[path, JSON.parse(body)]]))
/** Clicks what is there now, in one step: rows can be drawn again at any time. */
const click = async (page: Page, selector: string) =>
  page.$eval(selector, (one) => {
    const element = one as HTMLElement // safe: the pages have no other elements
    element.focus()
    element.click()
  })
const mark = async (page: Page, id: number) => click(page, `.queue tr[data-id="${id}"] input`)

/** Presses keys one after the other; returns how many. */
async function type(page: Page, keys: readonly ('Tab' | 'Space' | 'Enter' | 'ArrowDown')[]): Promise<number> {
  for (const key of keys) await page.keyboard.press(key)
  return keys.length
}

describe('what waits for a person', () => {
  it('is a page with an address of its own: oldest first, with all that a decision needs', async () => {
    addWaiting(3)
    const moved = [{ to: payoutTo, cuy: 2, amt: exact('9.99') }]
    Object.assign(at.desk.payouts[1] ?? {}, { moved, fee: exact('0'), waits_for: 'no-limits' })
    Object.assign(at.desk.payouts[0] ?? {}, { by: 'Ann@example.com', waits_for: 'day' })
    const page = await open(desktop, payouts)
    await opened(page, 3)
    expect(await ids(page)).toEqual([1, 2, 3])
    const heads = await page.$$eval('.queue th', (all) => all.map((one) => one.textContent))
    expect(heads).toEqual(['What', 'Recipient', 'Fee', 'Asked for by', 'Since', 'Why it waits', 'What has left'])
    const rows = await page.$$eval('.queue tbody tr', (all) =>
      all.map((row) => [...row.cells].slice(1).map((one) => one.textContent)),
    )
    expect(rows[0]).toEqual([
      expect.stringContaining('10 USDT'),
      payoutTo,
      '0.5 USDT',
      'shop',
      expect.stringMatching(/\d\smin/),
      'It is more than the limit of one payout.',
      '–',
    ])
    expect(rows[1]?.slice(2)).toEqual([
      '–',
      'shop',
      expect.any(String),
      expect.stringContaining('Its currency has no limits in PAYOUTS'),
      `Has left the payout address: 9.99 USDT, to ${payoutTo}`,
    ])
    expect(rows[2]?.join(' ')).toContain('You have asked for it: another name must approve it.')
    expect(rows[2]?.join(' ')).toContain('The limits of a day were used up')
    expect(await page.evaluate(() => location.hash)).toBe('#queue=payouts')
    expect(await shownText(page, 'main')).not.toContain('Look it up') // a page of its own
  })

  it('is reached from the first sentence, and left for the overview', async () => {
    addWaiting(2)
    const page = await open()
    await page.waitForSelector('.waiting button')
    await press(page, 'Payouts: 2')
    await opened(page, 2)
    expect(await page.evaluate(() => location.hash)).toBe('#queue=payouts')
    await press(page, 'Overview')
    await page.waitForSelector('#question', { visible: true })
    expect(await page.evaluate(() => location.hash)).toBe('')
    await page.goBack()
    await opened(page, 2)
  })

  it('shows the sum of what is chosen beside what the address holds and what is approved already', async () => {
    const page = await openWaiting(30)
    await seeIn(page, '.queue dl', 'Chosen: 0 of at most 20–The address holds250.25 USDTApproved already40 USDT')
    await mark(page, 3)
    await mark(page, 5)
    await seeIn(page, '.queue dl', 'Chosen: 2 of at most 2020 USDT')
    await press(page, 'Choose none')
    await press(page, 'Choose the oldest 20')
    await seeIn(page, '.queue dl', 'Chosen: 20 of at most 20200 USDT')
    expect(await textOfFirst(page, '.queue dl')).not.toContain('missing')
    at.desk.summary.payouts?.open.push(openIn('signed', 1, '30.5'))
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await seeIn(page, '.queue dl', '20.25 USDT is missing for all of it')
    await click(page, '.queue [data-act="approve"]')
    await seeIn(page, '.act', '20.25 USDT is missing for all of it') // the sums can be out of sight
    await page.keyboard.press('Escape')
    await seeIn(page, '.queue dl', 'Approved already70.5 USDT')
  })

  it('takes no twenty-first, until one is dropped', async () => {
    const page = await openWaiting(22)
    await press(page, 'Choose the oldest 20')
    expect((await chosen(page)).length).toBe(20)
    const isOff = () => page.$eval('.queue tr[data-id="21"] input', (box) => box.matches(':disabled'))
    expect(await isOff()).toBe(true)
    await mark(page, 4)
    expect(await isOff()).toBe(false)
    await mark(page, 21)
    expect((await chosen(page)).filter((id) => [4, 21].includes(id))).toEqual([21])
  })

  it('is approved by one press; what has failed meanwhile stays chosen with its reason', async () => {
    const page = await openWaiting(21)
    await press(page, 'Choose the oldest 20')
    await click(page, '.queue [data-act="approve"]')
    const form = await textOfFirst(page, '.act')
    for (const words of ['Approve: 20, together 200 USDT', payoutTo, 'User 7', 'nobody can take 200 USDT back']) {
      expect(form).toContain(words)
    }
    at.desk.payouts = at.desk.payouts.map((one) => (one.id === 7 ? { ...one, state: 'cancelled' } : one))
    await click(page, '.act [type="submit"]')
    await expect.poll(() => ids(page)).toEqual([7, 21])
    expect(await chosen(page)).toEqual([7])
    expect(await focusedRow(page)).toBe(7)
    await seeIn(page, '.queue tr[data-id="7"]', 'payout 7: it is cancelled')
    await seeIn(page, '.queue [role="status"]', 'Done: 19, not done: 1')
    expect(at.desk.payouts.filter(({ state }) => state === 'approved')).toHaveLength(19)
    expect(sent()[0]).toEqual(['/ledger/payouts/approve', { ids: Array.from({ length: 20 }, (_, index) => index + 1) }])
    expect(sent().length).toBeLessThan(12) // halves, not one by one
    await mark(page, 7) // dropped: it waits no more
    await expect.poll(() => ids(page)).toEqual([21])
  })

  it('keeps all that is chosen, and the form, where nobody knows what was done', async () => {
    const page = await openWaiting(3)
    await press(page, 'Choose the oldest 3')
    await click(page, '.queue [data-act="approve"]')
    await page.setOfflineMode(true)
    await click(page, '.act [type="submit"]')
    await seeIn(page, '.act [role="alert"]', 'Press it again: it is done once.')
    await page.setOfflineMode(false)
    await click(page, '.act [type="submit"]')
    await expect.poll(() => ids(page)).toEqual([])
    await seeIn(page, '.queue', 'Nothing here')
  })

  it('cancels many with one reason', async () => {
    const page = await openWaiting(3)
    await press(page, 'Choose the oldest 3')
    await click(page, '.queue [data-act="cancel"]')
    expect(await textOfFirst(page, '.act')).toContain('31.5 USDT goes back to where it was taken from')
    await page.type('#why', 'the shop has closed')
    await page.keyboard.press('Enter')
    await expect.poll(() => ids(page)).toEqual([])
    expect(sent()).toEqual([['/ledger/payouts/cancel', { ids: [1, 2, 3], why: 'the shop has closed' }]])
  })

  it('says of those for which money has left that it is known, and of no others', async () => {
    addWaiting(3)
    const moved = [{ to: payoutTo, cuy: 2, amt: exact('10') }]
    Object.assign(at.desk.payouts[1] ?? {}, { moved })
    const page = await open(desktop, payouts)
    await opened(page, 3)
    await press(page, 'Choose the oldest 3')
    await click(page, '.queue [data-act="approve"]')
    await click(page, '.act [type="submit"]')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('known')
    await click(page, '#known')
    await click(page, '.act [type="submit"]')
    await expect.poll(() => ids(page)).toEqual([])
    expect(sent().map(([, body]) => body)).toEqual([{ ids: [1, 3] }, { ids: [2], moved: true }])
  })

  it('follows within seconds what somebody else does, and the focus stays in it', async () => {
    const page = await openWaiting(4)
    await type(page, ['ArrowDown', 'Space'])
    expect(await chosen(page)).toEqual([2])
    at.desk.payouts = at.desk.payouts.map((one) => (one.id === 2 ? { ...one, state: 'approved' } : one))
    await expect.poll(() => ids(page), { timeout: 8_000 }).toEqual([1, 3, 4])
    expect(await chosen(page)).toEqual([])
    expect(await focusedRow(page)).toBe(3)
    at.desk.payouts.unshift(paidOut(5, 'waiting'))
    await expect.poll(() => ids(page), { timeout: 8_000 }).toEqual([1, 3, 4, 5])
  })

  it('leads to a story, from there to the next one, and back to the same row', async () => {
    const page = await openWaiting(4)
    await click(page, '.queue tr[data-id="2"] button')
    await seeIn(page, '.result', 'Payout 2')
    await page.goBack()
    await expect.poll(() => focusedRow(page)).toBe(2)
    await click(page, '.queue tr[data-id="2"] button')
    await page.waitForSelector('[data-queue="next"]', { visible: true })
    await click(page, '.result [data-act="approve"]')
    await (await page.waitForSelector('.act [type="submit"]'))?.click()
    await seeIn(page, '.result h3', '10 USDT: Approved')
    await click(page, '[data-queue="next"]')
    await seeIn(page, '.result', 'Payout 3')
    await click(page, '[data-queue="back"]')
    await expect.poll(() => ids(page)).toEqual([1, 3, 4])
    expect(await focusedRow(page)).toBe(3)
    await click(page, '.queue tr[data-id="4"] button')
    await page.waitForSelector('[data-queue="next"]', { visible: true })
    await click(page, '[data-queue="next"]') // there is none: the queue
    await expect.poll(() => focusedRow(page)).toBe(1)
  })

  it('has its currency and its page in the address, which opens the same', async () => {
    addWaiting(60)
    Object.assign(at.desk.payouts[59] ?? {}, { cuy: 1 })
    const page = await open(desktop, payouts)
    await opened(page, 50)
    await press(page, 'Further ones')
    await expect.poll(() => ids(page)).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60])
    expect(await page.evaluate(() => location.hash)).toBe('#queue=payouts&after=50')
    await page.select('#queue-cuy', '1')
    await expect.poll(() => ids(page)).toEqual([1])
    expect(await page.evaluate(() => location.hash)).toBe('#queue=payouts&cuy=1')
    await page.reload()
    await opened(page, 1)
    expect(await page.$eval('#queue-cuy', (one) => (one as HTMLSelectElement).value)).toBe('1') // safe: a select
    await page.goBack()
    await expect.poll(async () => (await ids(page))[0]).toBe(51)
  })

  it('offers no choice to a reader who may do nothing', async () => {
    addWaiting(2)
    at.desk.summary.reader = { name: 'office', scopes: ['ledger:read'] }
    const page = await open(desktop, payouts)
    await opened(page, 2)
    expect(await page.$$('.queue tbody input')).toEqual([])
    expect(await shownText(page, '.queue')).not.toMatch(/Choose|Approve\b/)
  })
})

describe('deposits to look at', () => {
  it('have the same: oldest first, many by one press, with one reason', async () => {
    addReviews(3)
    at.desk.deposits.unshift(owned(9, 'held', { reason: 'retired', why: 'x' }))
    const page = await open(desktop, '#token=good&queue=deposits')
    await opened(page, 3)
    expect(await ids(page)).toEqual([1, 2, 3])
    const heads = await page.$$eval('.queue th', (all) => all.map((one) => one.textContent))
    expect(heads).toEqual(['What', 'Recipient', 'Transaction', 'Since', 'Why it waits'])
    await press(page, 'Choose the oldest 3')
    await mark(page, 2)
    await seeIn(page, '.queue dl', 'Chosen: 2 of at most 2050 USDT')
    await click(page, '.queue [data-act="credit"]')
    expect(await textOfFirst(page, '.act')).toContain('50 USDT is added to the balance')
    await page.type('#why', 'the invoices fit')
    await page.keyboard.press('Enter')
    await expect.poll(() => ids(page)).toEqual([2])
    const decisions = [1, 3].map((id) => {
      return { txid: txidOf(id), position: 0, decision: 'credit', why: 'the invoices fit' }
    })
    expect(sent()).toEqual([['/ledger/deposits/decide', { deposits: decisions }]])
    await click(page, '.queue tr[data-id="2"] button')
    await seeIn(page, '.result', '25 USDT: Held')
    await click(page, '[data-queue="back"]')
    await expect.poll(() => focusedRow(page)).toBe(2)
  })
})

describe('with a keyboard alone', () => {
  it('the first payout is approved by at most 12 keys after the page has loaded', async () => {
    addWaiting(30)
    const page = await open()
    await page.waitForSelector('.waiting button')
    let keys = await type(page, ['Tab', 'Tab', 'Tab', 'Enter'])
    await opened(page, 30)
    keys += await type(page, ['Space', 'Enter', 'Tab', 'Enter'])
    await expect.poll(async () => (await ids(page)).length).toBe(29)
    expect(at.desk.payouts.filter(({ state }) => state === 'approved').map(({ id }) => id)).toEqual([1])
    expect(keys).toBeLessThanOrEqual(12)
    keys = await type(page, ['Space', 'Enter', 'Tab', 'Enter']) // the focus is at the next one
    await expect.poll(async () => (await ids(page)).length).toBe(28)
    expect(keys).toBe(4)
  })
})

describe('the queue', () => {
  it.each([
    ['en', false, desktop.width],
    ['zh-CN', true, 320],
  ])(
    'is free of violations and of foreign words, and fits: %s, dark: %s, %i pixels',
    async (language, isDark, width) => {
      addWaiting(3)
      addReviews(2)
      Object.assign(at.desk.payouts[1] ?? {}, { moved: [{ to: payoutTo, cuy: 2, amt: exact('9.99') }] })
      const tag = language === 'en' ? 'en' : 'zh'
      for (const list of ['payouts', 'deposits']) {
        const page = await open({ ...desktop, width, languages: [language], isDark }, `#token=good&queue=${list}`)
        await opened(page, list === 'payouts' ? 3 : 2)
        await click(page, '[data-queue="oldest"]')
        await click(page, `.queue [data-act="${list === 'payouts' ? 'cancel' : 'refuse'}"]`)
        await click(page, '.act [type="submit"]')
        expect(await violationsOf(page)).toEqual([])
        expect(await foreignTexts(page, tag)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
      }
    },
  )
})

describe('a list', () => {
  it('and its filter are in the address, which opens the same', async () => {
    addWaiting(3)
    const page = await open()
    await page.waitForSelector('[data-list="payouts"]')
    await page.$eval('[data-list="payouts"]', (one) => (one as HTMLElement).click()) // safe: a button
    await page.waitForSelector('#filter-state')
    await page.select('#filter-state', 'waiting')
    await page.select('#filter-cuy', '2')
    const hash = '#list=payouts&state=waiting&cuy=2'
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(hash)
    await page.goto('about:blank')
    await page.goto(`${pages.service.url}/desk${hash}`)
    await seeIn(page, 'section:has(> #lists)', 'All 3 are shown.')
    const fields = await page.$$eval(
      '#filter-state, #filter-cuy',
      (all) => all.map((one) => (one as HTMLSelectElement).value), // safe: selects
    )
    expect(fields).toEqual(['waiting', '2'])
    await click(page, 'section:has(> #lists) td button')
    await seeIn(page, '.result h3', '10 USDT')
    await page.goBack()
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(hash)
    await seeIn(page, 'section:has(> #lists)', 'All 3 are shown.')
  })
})
