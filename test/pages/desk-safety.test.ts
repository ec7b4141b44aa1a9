import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { addEvents, alarm, faults, happened, onChain, owned } from './desk-story.ts'
import { hostile, variants } from './hostile.ts'
import { addPayouts, noneOpen, openIn, paidOut } from './payout-fixture.ts'
import { askDesk, poke, see, seeIn, showList } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at

describe('hostile texts', () => {
  it('in marks, names, references and reasons are shown as texts', async () => {
    for (const [, change] of faults) change(at.desk)
    at.desk.summary.alarms = [alarm('new', { setting: hostile })]
    at.desk.summary.gaps = [{ from: 1, to: 1, since: hostile, attempts: 1, why: hostile, seen: 1 }]
    at.desk.summary.endpoints = [
      { number: 1, behind_seconds: 9, failing_since: hostile, last_failure: hostile, begins_at: hostile },
    ]
    Object.assign(at.desk.summary.currencies[0] ?? {}, { symbol: hostile })
    at.desk.summary.differences = [{ cuy: 1, address: hostile, amt: exact('1'), since: hostile }]
    at.desk.summary.newest_event = 2
    at.desk.events = [
      happened(1, hostile, { txid: hostile }),
      happened(2, 'deposit.held', { txid: hostile, cuy: 1, reason: hostile, why: hostile }),
    ]
    at.desk.summary.payouts = {
      address: hostile,
      stopped: { why: hostile, since: hostile, txids: [hostile] },
      open: [openIn(hostile, 1, '10')],
      holds: [{ symbol: hostile, amt: exact('1'), read_at: hostile }],
    }
    const moved = [{ to: hostile, contract: hostile, units: '1' }]
    const by = { by: hostile, approved_by: hostile, reason: hostile, why: hostile, expires_at: hostile, moved }
    at.desk.payouts = [paidOut(1, 'stuck', { ...by, to: hostile, osn: hostile, mark: hostile })]
    at.desk.chain = onChain(hostile, hostile)
    at.desk.summary.scan.msg = hostile
    at.desk.entries = at.desk.entries.map((one) => ({ ...one, mark: hostile, by: hostile, osn: hostile, cuy: 1 }))
    at.desk.deposits = [
      owned(8, 'held', { reason: hostile, why: hostile, address: hostile, created_at: hostile, cuy: 1 }),
    ]
    const page = await open()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    await page.waitForSelector('.status h2')
    await seeIn(page, 'section:has(#differences)', '<img src=x')
    for (const list of ['deposits', 'payouts', 'entries', 'events']) {
      await showList(page, list)
      await seeIn(page, 'section:has(> #lists) td', '<img src=x')
    }
    for (const question of [
      txidOf(8),
      txidOf(99),
      '7',
      `7 ${hostile}`,
      hostile,
      'gap 1',
      'endpoint 1',
      'payout 1',
      payAddress,
    ]) {
      await askDesk(page, question)
      await see(page, '<img src=x')
    }
    pages.answer('/ledger/deposits', { status: 400, msg: hostile })
    expect(await askDesk(page, txidOf(7))).toContain('<img src=x')
    pages.answer('/ledger/summary', { status: 500, msg: hostile })
    await poke(page)
    await seeIn(page, '.status', '<img src=x')
    pages.answer('/ledger/deposits', { data: { list: [], count: 0 } })
    pages.answer('/ledger/transaction', { status: 503, msg: hostile })
    expect(await askDesk(page, txidOf(7))).toContain('<img src=x')
    expect(await page.$$eval('img, script, iframe, object', (all) => all.length)).toBe(1) // only the page's own script
    expect(dialogs).toEqual([])
  })
})

describe('the desk', () => {
  it('survives any member of the summary, and any of a deposit, of another kind', async () => {
    for (const [, change] of faults) change(at.desk)
    addPayouts(at.desk)
    Object.assign(at.desk.summary.payouts ?? noneOpen(), { stopped: { why: 'restored', since: ago(60), txids: [] } })
    const page = await open()
    await page.waitForSelector('.findings')
    for (const path of ['/ledger/summary', '/ledger/deposits']) {
      const script = pages.service.routes.get(path)
      const sample =
        path === '/ledger/summary' ? { data: at.desk.summary } : { data: { list: at.desk.deposits, count: 1 } }
      for (const data of variants(sample.data)) {
        pages.answer(path, { data })
        const before = pages.asked('/ledger/summary')
        await poke(page)
        await expect.poll(() => pages.asked('/ledger/summary'), { interval: 2 }).toBeGreaterThan(before)
      }
      if (script !== undefined) pages.service.routes.set(path, script)
    }
    addEvents(at.desk)
    await showList(page, 'events')
    const [, credited, , held] = at.desk.events
    for (const event of [...variants(credited), ...variants(held)]) {
      pages.answer('/ledger/events', { data: { list: [event], count: 1 } })
      at.desk.summary.newest_event += 1
      const before = pages.asked('/ledger/events')
      await poke(page)
      await expect.poll(() => pages.asked('/ledger/events'), { interval: 2 }).toBeGreaterThan(before)
    }
    for (const found of variants(onChain('worthless', 'it failed', 7))) {
      pages.answer('/ledger/transaction', { data: found })
      expect(await askDesk(page, txidOf(99))).toMatch(/credited|could not be read|decided/)
    }
    for (const payout of variants(at.desk.payouts[0])) {
      pages.answer('/ledger/payouts', { data: { list: [payout], count: 1 } })
      expect(await askDesk(page, 'payout 48')).toMatch(/10 USDT|could not be read|no such payout|<img/)
    }
    pages.answer('/ledger/events', { data: { list: [], count: 0 } })
    await poke(page)
    await seeIn(page, '.status', 'Blocks 100 to 105 could not be read')
  })

  it('needs no more than a keyboard: a row leads to its story and back', async () => {
    faults[1]?.[1](at.desk)
    const page = await open()
    await seeIn(page, '#state', 'Held deposits')
    const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id)
    const order: unknown[] = []
    const jumps = ['Owed and held', 'The last 30 days', 'Lists', 'Statements']
    for (let press = 0; press < 9; press += 1) {
      await page.keyboard.press('Tab')
      order.push(await focused())
    }
    expect(order).toEqual(['中文', 'Sign out', 'Story', ...jumps, 'question', 'Look it up'])
    await page.keyboard.down('Shift')
    for (let press = 0; press < 6; press += 1) await page.keyboard.press('Tab')
    await page.keyboard.up('Shift')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('Lists')
    await page.waitForSelector('section:has(> #lists) td button')
    for (let press = 0; press < 40 && !(await focused())?.startsWith('25 USDT'); press += 1) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await seeIn(page, '.result', '25 USDT: Held')
    expect(await focused()).toContain('What happened?')
  })

  it('is no more than 60 kB in all, gzipped, in any language', () => {
    const files = [...pages.service.files].filter(([path]) => path.startsWith('/desk'))
    const sizes = files.map(([path, { gzipped }]) => ({ path, size: gzipped.length }))
    const sum = (some: typeof sizes) => some.reduce((all, { size }) => all + size, 0)
    const languages = sizes.filter(({ path }) => path.includes('/languages/'))
    const others = sizes.filter((one) => !languages.includes(one))
    expect([others.length, languages.length]).toEqual([3, 2])
    for (const language of languages) expect(sum([...others, language])).toBeLessThan(60_000)
  })
})
