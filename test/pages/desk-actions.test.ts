import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { violationsOf } from './browser.ts'
import { useDesk } from './desk-fixture.ts'
import { owned } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { addPayouts, paidOut, payoutAddress, payoutTo } from './payout-fixture.ts'
import { askDesk, filterBy, foreignTexts, press, seeIn, showList, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const review = { reason: 'review', why: 'a person looks at it' }

/** Opens the desk for a reader with these scopes, and `ledger:read`. */
async function openAs(...scopes: readonly string[]): Promise<Page> {
  at.desk.summary.reader = { name: 'office', scopes: ['ledger:read', ...scopes] }
  const page = await open()
  await page.waitForSelector('#state')
  return page
}
const offered = (page: Page) =>
  page.$$eval('.result [data-act]', (all) => all.map((one) => one.getAttribute('data-act')))
const offeredFor = async (page: Page, question: string) => {
  await askDesk(page, question)
  return offered(page)
}

/** Presses the button of an act. Returns the text of the form that asks for confirmation. */
async function begin(page: Page, act: string): Promise<string> {
  await page.click(`[data-act="${act}"]`)
  await page.waitForSelector('.act')
  return textOfFirst(page, '.act')
}
const confirm = (page: Page) => page.click('.act button[type="submit"]')
const requestsSent = () =>
  pages.service.requests.flatMap(({ path, sent }) => (sent === undefined ? [] : [[path, JSON.parse(sent)]]))

describe('the desk offers what its reader may do, and nothing more', () => {
  it.each([
    ['ledger:read alone', [], [[], [], [], []]],
    ['ledger:pay', ['ledger:pay'], [['cancel'], [], [], []]],
    [
      'ledger:approve',
      ['ledger:approve'],
      [['approve', 'cancel'], ['approve', 'cancel'], ['credit', 'refuse'], ['credit']],
    ],
  ] as const)('with %s', async (_, scopes, expected) => {
    addPayouts(at.desk)
    at.desk.deposits = [owned(9, 'held', review), owned(7, 'refused', review)]
    const page = await openAs(...scopes)
    const found = []
    // A payout that waits, one for which money has left, a deposit in review, and a refused
    // deposit.
    for (const question of ['payout 41', 'payout 48', txidOf(9), txidOf(7)])
      found.push(await offeredFor(page, question))
    expect(found).toEqual(expected)
    for (const [question, acts] of [
      ['payout 43', []],
      ['payout 44', []],
      ['payout 46', []],
      ['payout 42', scopes.length === 0 ? [] : ['cancel']],
    ] as const) {
      expect([question, await offeredFor(page, question)]).toEqual([question, acts])
    }
  })

  it('says that another name must approve what its reader has asked for', async () => {
    addPayouts(at.desk)
    at.desk.payouts.unshift(paidOut(49, 'waiting', { by: 'office' }))
    const page = await openAs('ledger:approve')
    expect(await askDesk(page, 'payout 49')).toContain('You have asked for it: another name must approve it.')
    expect(await offered(page)).toEqual(['cancel'])
    at.desk.payouts.unshift(paidOut(50, 'waiting', { by: 'Office' }))
    expect(await askDesk(page, 'payout 50')).toContain('You have asked for it: another name must approve it.')
    expect(await offered(page)).toEqual(['cancel'])
  })

  it('offers nothing where a deposit is held or refused for another reason', async () => {
    at.desk.deposits = [
      owned(9, 'held', { reason: 'retired', why: 'x' }),
      owned(7, 'refused', { reason: 'dust', why: 'x' }),
    ]
    const page = await openAs('ledger:approve')
    for (const txid of [txidOf(9), txidOf(7)]) expect(await offeredFor(page, txid)).toEqual([])
  })
})

describe('an act', () => {
  it('approves a payout, after it has shown whom, how much and what follows', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 41')
    const shown = await begin(page, 'approve')
    for (const words of [
      'Approve: 10 USDT',
      payoutTo,
      'User 7',
      'payout-41',
      'Asked for byshop',
      'nobody can take 10 USDT back',
    ]) {
      expect(shown).toContain(words)
    }
    expect(requestsSent()).toEqual([])
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('act')
    await confirm(page)
    await seeIn(page, '.result h3', '10 USDT: Approved')
    await seeIn(page, '.result', 'By office')
    expect(requestsSent()).toEqual([['/ledger/payouts/approve', { ids: [41] }]])
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('box')
  })

  it('shows all that it would do, and the button that does it, without scrolling', async () => {
    addPayouts(at.desk)
    at.desk.summary.reader = { name: 'office', scopes: ['ledger:read', 'ledger:approve'] }
    const page = await open({ width: 1280, height: 640 })
    await page.waitForSelector('#state')
    await askDesk(page, 'payout 41')
    await begin(page, 'approve')
    const places = await page.$$eval('#act, .act button[type="submit"]', (all) =>
      all.map((one) => one.getBoundingClientRect().top >= 0 && one.getBoundingClientRect().bottom <= innerHeight),
    )
    expect(places).toEqual([true, true])
  })

  it('cancels a payout with a reason, which it asks for, and the money is back', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:pay')
    await askDesk(page, 'payout 41')
    expect(await begin(page, 'cancel')).toContain('10.5 USDT goes back to where it was taken from')
    await confirm(page)
    await page.waitForSelector('#why[aria-invalid="true"]')
    await seeIn(page, '.act .fault', 'Say why')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('why')
    await page.type('#why', '  asked for twice ')
    await page.keyboard.press('Enter')
    await seeIn(page, '.result h3', '10 USDT: Cancelled')
    expect(requestsSent()).toEqual([['/ledger/payouts/cancel', { ids: [41], why: 'asked for twice' }]])
  })

  it('approves a stuck one again with its attempts, once the reader knows what has left', async () => {
    addPayouts(at.desk)
    const moved = [{ to: payoutTo, cuy: 2, amt: exact('9.99') }]
    at.desk.payouts.unshift(
      paidOut(49, 'stuck', { reason: 'other', why: 'x', attempts: 1, txid: txidOf(49), height: 7, moved }),
    )
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 49')
    expect(await begin(page, 'approve')).toContain(`Has left the payout address: 9.99 USDT, to ${payoutTo}`)
    await confirm(page)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('known')
    expect(requestsSent()).toEqual([])
    await page.click('#known')
    await confirm(page)
    await seeIn(page, '.result h3', '10 USDT: Approved')
    expect(requestsSent()).toEqual([['/ledger/payouts/approve', { ids: [49], attempts: 1, moved: true }]])
  })

  it.each([
    ['credit', 'held', 'Held', '25 USDT: Credited', '25 USDT is added to the balance'],
    ['refuse', 'held', 'Held', '25 USDT: Refused', 'It can still be credited later'],
    ['credit', 'refused', 'Refused', '25 USDT: Credited', '25 USDT is added to the balance'],
  ])('decides a deposit: %s, which was %s', async (act, state, before, after, says) => {
    at.desk.deposits = [owned(9, state, { ...review, position: 3 })]
    const page = await openAs('ledger:approve')
    expect(await askDesk(page, txidOf(9))).toContain(`25 USDT: ${before}`)
    expect(await begin(page, act)).toContain(says)
    await page.type('#why', 'the invoice fits')
    await confirm(page)
    await seeIn(page, '.result h3', after)
    await seeIn(page, '.result', 'Decided by office: the invoice fits')
    const deposits = [{ txid: txidOf(9), position: 3, decision: act, why: 'the invoice fits' }]
    expect(requestsSent()).toEqual([['/ledger/deposits/decide', { deposits }]])
  })

  it('changes its row at once in a list that shows more than a page', async () => {
    addPayouts(at.desk)
    at.desk.payouts.unshift(...Array.from({ length: 130 }, (_, n) => paidOut(200 - n, 'waiting')))
    const page = await openAs('ledger:approve')
    await showList(page, 'payouts')
    const states = () =>
      page.$$eval('section:has(> #lists) .list tbody tr', (rows) => rows.map(({ textContent }) => textContent ?? ''))
    for (let more = 40; more <= 120; more += 20) {
      await press(page, 'Show more')
      await expect.poll(async () => (await states()).length).toBe(more)
    }
    await askDesk(page, 'payout 85')
    await begin(page, 'approve')
    await confirm(page)
    await expect.poll(async () => (await states()).filter((row) => row.includes('Approved')).length).toBe(1)
    expect((await states()).findIndex((row) => row.includes('Approved'))).toBe(200 - 85)
    expect(await states()).toHaveLength(120)
    await filterBy(page, 'state', 'waiting') // of which more than 20 are shown at once
    expect((await states()).filter((row) => row.includes('payout-120'))).toHaveLength(1)
    await askDesk(page, 'payout 120')
    await page.waitForSelector('[data-act="approve"]')
    await begin(page, 'approve')
    await confirm(page)
    await expect.poll(async () => (await states()).filter((row) => row.includes('payout-120'))).toEqual([])
    expect(await states()).toHaveLength(100)
  })

  it('says why the service refuses, and asks whether it is known that money may have left', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 41')
    await begin(page, 'approve')
    const script = pages.service.routes.get('/ledger/payouts/approve')
    const answers = [
      [
        { status: 403, msg: 'another name must approve it' },
        ['The service has refused', 'another name must approve it'],
      ],
      [
        { status: 409, reason: 'not-in-this-state', msg: 'it is cancelled' },
        ['The service has refused', 'it is cancelled'],
      ],
      [{ status: 401, msg: 'a valid bearer token' }, ['The token is wrong or has expired', 'Paste a new one']],
      [{ status: 503, msg: 'x' }, ['The service cannot answer right now']],
      [
        { status: 409, reason: 'money-moved', msg: 'another transaction has moved 10 USDT' },
        ['Money may have left', '10 USDT'],
      ],
    ] as const
    for (const [answer, says] of answers) {
      pages.answer('/ledger/payouts/approve', answer)
      await confirm(page)
      for (const words of says) await seeIn(page, '.act [role="alert"]', words)
    }
    if (script !== undefined) pages.service.routes.set('/ledger/payouts/approve', script)
    await page.click('#known')
    await confirm(page)
    await seeIn(page, '.result h3', '10 USDT: Approved')
    expect(requestsSent().at(-1)).toEqual(['/ledger/payouts/approve', { ids: [41], moved: true }])
  })

  it('can be repeated where nobody knows whether it was done', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 41')
    await begin(page, 'approve')
    await page.setOfflineMode(true)
    await confirm(page)
    await seeIn(page, '.act [role="alert"]', 'Press it again: it is done once.')
    await page.setOfflineMode(false)
    await confirm(page)
    await seeIn(page, '.result h3', '10 USDT: Approved')
  })

  it('is left by Escape or a button, which the focus returns to; nothing is done', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 41')
    for (const leave of [() => page.keyboard.press('Escape'), () => press(page, 'Back')]) {
      await begin(page, 'cancel')
      await leave()
      expect(await page.$('.act')).toBeNull()
      expect(await page.evaluate(() => document.activeElement?.getAttribute('data-act'))).toBe('cancel')
    }
    expect(requestsSent()).toEqual([])
  })

  it('stays as it is while the desk reads what is new', async () => {
    addPayouts(at.desk)
    const page = await openAs('ledger:approve')
    await askDesk(page, 'payout 41')
    await begin(page, 'cancel')
    await page.type('#why', 'half a sen')
    at.desk.summary.newest_event += 1
    const before = pages.asked('/ledger/summary')
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await expect.poll(() => pages.asked('/ledger/summary')).toBeGreaterThan(before)
    await page.type('#why', 'tence')
    // safe: an input
    expect(await page.$eval('#why', (input) => (input as HTMLInputElement).value)).toBe('half a sentence')
  })

  it.each([
    ['en', false],
    ['zh-CN', true],
  ])('is free of violations and of foreign words: %s, dark: %s', async (language, isDark) => {
    addPayouts(at.desk)
    at.desk.deposits = [owned(9, 'held', review)]
    at.desk.summary.reader = { name: 'ann@example.com', scopes: ['ledger:read', 'ledger:approve'] }
    const page = await open({ ...desktop, languages: [language], isDark })
    await page.waitForSelector('#state')
    for (const [question, act] of [
      ['payout 48', 'approve'],
      ['payout 41', 'cancel'],
      [txidOf(9), 'credit'],
    ] as const) {
      await askDesk(page, question)
      const shown = await begin(page, act)
      if (act === 'approve') expect(shown).toContain(payoutAddress)
      await confirm(page)
      expect(await violationsOf(page)).toEqual([])
      expect(await foreignTexts(page, language === 'en' ? 'en' : 'zh')).toEqual([])
    }
  })
})
