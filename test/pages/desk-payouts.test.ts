import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { alarm, posted } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { addPayouts, noneOpen, openIn, paidOut, payoutAddress, payoutTo } from './payout-fixture.ts'
import { askDesk, downloadedBy, filterBy, poke, seeIn, showList, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const lists = 'section:has(> #lists)'
const section = 'section:has(> #payouts)'

/** Presses the first button in the element `where` whose text contains `text`. */
const pressIn = (page: Page, where: string, text: string) =>
  page.$$eval(`${where} button`, (all, wanted) => all.find((one) => one.textContent.includes(wanted))?.click(), text)

describe('without PAYOUTS', () => {
  it('nothing is said of payouts, and their routes are not asked, also where a link opens the page', async () => {
    at.desk.summary.payouts = null
    at.desk.entries.unshift(posted(7, 2, '-5', { osn: 'by-hand' }))
    const page = await open(desktop, `#token=good&tx=${txidOf(8)}`)
    await seeIn(page, '.result', '25 USDT: Credited')
    for (const question of ['7', payAddress, payoutTo, '7 by-hand', txidOf(99)]) await askDesk(page, question)
    await showList(page, 'events')
    expect(await askDesk(page, 'payout 41')).toContain('There is no such payout')
    await askDesk(page, '7')
    const shown = await page.$$eval('main *', (all) =>
      all.filter((one) => one.checkVisibility() && one.children.length === 0).map((one) => one.textContent),
    )
    expect(shown.filter((text) => /payout/i.test(text ?? ''))).toEqual([])
    expect(pages.asked('/ledger/payouts')).toBe(0)
  })
})

describe('the first screen', () => {
  it('has a section with the payout address, what is open by currency, and what the address holds', async () => {
    at.desk.summary.payouts = noneOpen()
    const page = await open()
    await seeIn(page, '#state', 'All is well')
    await seeIn(page, section, 'Nothing is open')
    expect(await textOfFirst(page, section)).toMatch(/What is approved is offered.*The address holds.*250\.25/)
    addPayouts(at.desk)
    at.desk.summary.payouts.open.push(openIn('waiting', 2, '9007199254.740993', 7_300, 1))
    at.desk.summary.payouts.holds.unshift({ symbol: 'TRX', amt: exact('3.5'), read_at: ago(60) })
    await poke(page)
    await seeIn(page, section, 'Waits for a person: 2')
    const trx = await page.$$eval(`${section} table`, (all) => all.at(-1)?.textContent)
    expect(trx).toMatch(/^TRXWaits for a person: 2the oldest for 2 h9,007,199,254\.740993The address holds.*3\.5$/)
    expect(await pages.shift()).toBeLessThan(0.1)
    await pressIn(page, section, 'Waits for a person: 2')
    await seeIn(page, '.queue', 'Nothing here')
    expect(pages.asked('/ledger/payouts?state=waiting&cuy=1&')).toBeGreaterThan(0)
    await page.goBack()
    await pressIn(page, section, payoutAddress)
    await seeIn(page, '.result h3', 'The address that payouts are paid from')
  })

  it.each([
    ['en', 'Payouts are stopped: no payout names', 'Payouts are stopped: an older copy', 'Leave the signer running'],
    ['zh-CN', '提现已停止：提现地址有一笔最终交易', '提现已停止：数据库被恢复', '请让签名程序继续运行'],
  ])('says that payouts are stopped, why, and what to do, once (%s)', async (language, unknown, restored, advice) => {
    addPayouts(at.desk)
    Object.assign(at.desk.summary.payouts ?? {}, {
      stopped: { why: 'unknown-transaction', since: ago(700), txids: [txidOf(77), txidOf(78)] },
    })
    at.desk.summary.alarms = [alarm('payout-unknown', { txid: txidOf(77) }), alarm('payouts-unsigned')]
    const page = await open({ ...desktop, languages: [language] })
    await seeIn(page, '#state', unknown)
    expect(await page.$('.findings')).toBeNull()
    expect(await textOfFirst(page, '.status')).toContain(txidOf(78))
    expect(await textOfFirst(page, '.status')).toContain('npm run operate -- payouts resume')
    await page.click('.status button')
    await seeIn(page, '.result', 'npm run operate -- payouts resume')
    expect(await textOfFirst(page, '.result h3')).toBe(await textOfFirst(page, '#state'))
    Object.assign(at.desk.summary.payouts ?? {}, { stopped: { why: 'restored', since: ago(700), txids: [] } })
    at.desk.summary.alarms = [alarm('payout-unknown')]
    await poke(page)
    await seeIn(page, '#state', restored)
    await seeIn(page, '.status', advice)
    expect(await page.$(`${section} .fault`)).not.toBeNull()
  })

  it('has a finding for what is stuck, waits for long, is not signed, or is too little, each with a way to it', async () => {
    addPayouts(at.desk)
    Object.assign(at.desk.summary.payouts ?? {}, {
      open: [openIn('waiting', 3, '30', 7_300), openIn('approved', 1, '300.5', 700), openIn('signed', 2, '20')],
    })
    at.desk.summary.alarms = [
      alarm('payouts-unsigned'),
      alarm('payout-wallet-low', { cuy: 2 }),
      alarm('payout-stuck', { payout: 45 }),
    ]
    const page = await open()
    await seeIn(page, '#state', 'The transaction of a payout is final and has failed')
    expect(await page.$$eval('[data-kind]', (all) => all.map((one) => one.getAttribute('data-kind')))).toEqual([
      ...['payout-stuck', 'payout-wallet-low', 'payouts-unsigned', 'payouts-waiting'],
    ])
    const status = await textOfFirst(page, '.status')
    for (const words of [
      ...[
        'Payout 45',
        'Missing: 70.25 USDT (holds 250.25, approved and signed 320.5)',
        payoutAddress,
        'Payouts: 1, together 300.5 USDT',
      ],
      ...[
        'Payouts wait for a person: 3, the oldest for 2 h',
        'Payouts: 3, together 30 USDT',
        'npm run operate -- payouts approve',
      ],
    ]) {
      expect(status).toContain(words)
    }
    expect(status).toContain('The payout address holds less than what is approved and signed')
    // the page says all that the alarm's log line has, so it does not refer to the line
    expect(status).not.toContain('log line')
    const stories = [
      ['.result', '10 USDT: Stuck'],
      ['.result', 'The address that payouts are paid from'],
      [lists, 'The only one is shown.'],
      ['.queue td button', '10 USDT'],
    ] as const
    for (const [index, [where, says]] of stories.entries()) {
      await page.$$eval('.status button', (all, number) => all[number]?.click(), index)
      await seeIn(page, where, says)
    }
  })

  it('says in the sums that withdrawals are not paid from the addresses of users', async () => {
    at.desk.summary.payouts = noneOpen()
    const [first] = at.desk.summary.currencies
    Object.assign(first ?? {}, { owed_by: [...(first?.owed_by ?? []), { type: 2, sum: exact('-5') }] })
    const page = await open()
    await seeIn(page, '[data-cuy="1"]', 'Withdrawals: not paid from these addresses')
    expect(await textOfFirst(page, '[data-cuy="1"]')).toContain('Payments: posted, nothing moved')
  })
})

describe('the list of payouts', () => {
  it.each([
    ['en', 'Has left the payout address: 10 USDT', 'Look at that transaction with an explorer'],
    ['zh-CN', '已从提现地址转出：10 USDT', '请用区块浏览器查看那笔交易'],
  ])('shows what may have paid a waiting one, and so does its story: %s', async (language, left, advice) => {
    at.desk.summary.payouts = noneOpen()
    const moved = [{ to: payoutTo, cuy: 2, amt: exact('10') }]
    at.desk.payouts = [
      paidOut(42, 'approved', { approved_by: 'office', moved, why: 'another transaction' }),
      paidOut(41, 'waiting', { moved, why: 'another transaction' }),
      paidOut(40, 'waiting'),
    ]
    const page = await open({ ...desktop, languages: [language] })
    await showList(page, 'payouts')
    await seeIn(page, lists, left)
    const rows = await page.$$eval(`${lists} tbody tr`, (all) => all.map((one) => one.textContent))
    expect(rows.map((text) => text?.includes(left))).toEqual([true, true, false])
    for (const id of [42, 41]) {
      const story = await askDesk(page, `payout ${id}`)
      expect([story.includes(left), story.includes(advice)]).toEqual([true, true])
    }
    expect(await askDesk(page, 'payout 40')).not.toContain(left)
  })

  it('is filtered by the service, goes on without an end, and comes as a file; a row leads to its story', async () => {
    at.desk.summary.payouts = noneOpen()
    at.desk.payouts = Array.from({ length: 64 }, (_, index) => {
      const id = 64 - index
      const reason = { reason: 'failed', why: '=cmd|calc!A0', txid: txidOf(id) }
      return paidOut(id, id % 5 === 0 ? 'stuck' : 'paid', id % 5 === 0 ? reason : {})
    })
    const page = await open()
    await showList(page, 'payouts')
    for (const shown of ['20 of 64', '40 of 64', '60 of 64', 'All 64 are shown']) {
      await seeIn(page, lists, shown)
      await pressIn(page, lists, 'Show more')
    }
    await filterBy(page, 'state', 'stuck')
    await filterBy(page, 'cuy', '2')
    await seeIn(page, lists, 'All 12 are shown.')
    expect(pages.asked('/ledger/payouts?state=stuck&cuy=2&limit=100')).toBe(1)
    const file = (await downloadedBy(page, `${lists} [aria-label^="Download"]`)).split('\r\n')
    expect(file).toHaveLength(1 + 12 + 1)
    expect(file[0]).toContain(
      '"id","created_at","state","uid","amount","fee","currency","to","osn","mark","txid","by","approved_by","attempts","reason","why"',
    )
    const [, row = ''] = file
    expect(row.startsWith('"60",')).toBe(true)
    expect(row).toContain(
      `"stuck","7","10","0.5","USDT","${payoutTo}","payout-60","to my wallet","${txidOf(60)}","shop",,"0","failed","'=cmd`,
    )
    await page.click(`${lists} td button`)
    await seeIn(page, '.result h3', '10 USDT: Stuck')
    expect(await page.evaluate(() => location.hash)).toBe('#payout=60')
  })
})
