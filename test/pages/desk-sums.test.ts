import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { sumOf } from '../../src/pages/kit/decimal.ts'
import { ago } from './ago.ts'
import { resize } from './browser.ts'
import { useDesk } from './desk-fixture.ts'
import { alarm } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { languages, windows } from './looks.ts'
import { poke, seeIn, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'

const at = useDesk()
const { open } = at

/**
 * The tables of a currency: the name and the amount in each line, and the amount in the last line,
 * which is the sum.
 */
async function tablesOf(page: Page, cuy: number) {
  const found = await page.$$eval(`[data-cuy="${cuy}"] table`, (tables) =>
    tables.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))),
  )
  return found.map((rows) => {
    const lines = rows.map(
      ([name = '', amount = '']) => [name, amount.replaceAll(/[,+]/g, '').replace('−', '-')] as const,
    )
    return { lines: lines.slice(0, -1), total: lines.at(-1)?.[1] ?? '' }
  })
}

describe('owed and held', () => {
  it('add up to the unit, and so does every step between the two, also of what this page has no word for', async () => {
    Object.assign(at.desk.summary.currencies[1] ?? {}, {
      owed: exact('9007199254.740993'),
      held: exact('9007199100.000001'),
      unexplained: exact('-0.000002'),
      differing: 1,
      owed_by: [
        { type: 1, sum: exact('9007199300.000001') },
        { type: 2, sum: exact('-40') },
        { type: 4, sum: exact('-10.259008') },
        { type: 5, sum: exact('4') },
        { type: 9, sum: exact('1') },
      ],
      held_by: [
        { what: 'credited', sum: exact('9007199300.0000019') },
        { what: 'refused', sum: exact('0.5') },
        { what: 'collected', sum: exact('-190') },
        { what: 'fees', sum: exact('-10.1') },
        { what: 'a-new-move', sum: exact('-0.4') },
      ],
    })
    const page = await open(desktop)
    await seeIn(page, '[data-cuy="2"]', 'What wallets owe')
    const tables = await tablesOf(page, 2)
    expect(tables.map(({ total }) => total)).toEqual(['9007199254.740993', '9007199100.000001', '-154.740992'])
    for (const { lines, total } of tables) expect(sumOf(lines.map(([, amount]) => amount))).toBe(total)
    expect(tables[2]?.lines.map(([name]) => name)).toEqual([
      ...['Withdrawals', 'Payments', 'Refunds', 'Adjustments'].map((one) => `${one}: posted, nothing moved`),
      ...['Below the smallest unit of the ledger', 'Received, refused', 'Collected', 'Fees', 'a-new-move'],
      ...['Reported as unexplained', 'Not in the readings yet, or not confirmed'],
    ])
    expect(await textOfFirst(page, '[data-cuy="2"] .fault')).toContain('−0.000002')
    Object.assign(at.desk.summary.currencies[1] ?? {}, { held: null, held_at: null })
    await poke(page)
    await seeIn(page, '[data-cuy="2"]', 'Not read yet')
    expect(await tablesOf(page, 2)).toHaveLength(1)
  })
})

describe('the nodes', () => {
  it('are each shown with last answer, delay, error and allowance, and one that is silent is the first sentence', async () => {
    Object.assign(at.desk.summary.nodes?.[0] ?? {}, { used: 99_990, use: 'demoted', behind: 3 })
    const silent = { answered_at: ago(310), failed_at: ago(4), failure: 'no answer within 5000 ms', state: 'down' }
    Object.assign(at.desk.summary.nodes?.[1] ?? {}, silent)
    const page = await open()
    await seeIn(page, '#state', '1 of 2 nodes answer, and 2 must agree')
    await seeIn(page, '.status', 'node 2 (two.example): down')
    await seeIn(page, '.status', 'no answer within 5000 ms')
    for (const words of [
      '140 ms',
      'Behind the others by 3 blocks',
      'Allowance left today: 10 of 100,000 (0 %)',
      'slow',
    ]) {
      await seeIn(page, '[data-node="1"]', words)
    }
    for (const words of [/Last answer: 5.min ago/, /Last error: \d+.s ago/, /no answer within 5000 ms/]) {
      expect(await textOfFirst(page, '[data-node="2"]')).toMatch(words)
    }
    expect(await page.$$eval('.nodes .fault', (all) => all.length)).toBe(2)
    Object.assign(at.desk.summary.scan, { status: 'stopped', behind: 400, msg: 'the scan has not advanced for 1200 s' })
    at.desk.summary.alarms = [alarm('scan-stalled')]
    at.desk.summary.quorum = 1
    await poke(page)
    // enough nodes answer now, so a silent node is not the reason why the scan stands still
    await seeIn(page, '#state', 'The scan stands still')
    await seeIn(page, '.status', 'node 2 (two.example): down · last answer')
    expect(await page.$$eval('[data-kind]', (all) => all.length)).toBe(1) // no line of its own about the silent node
    at.desk.summary.nodes = null
    await poke(page)
    await seeIn(page, '.nodes', 'has not said it in time')
  })
})

const chartsOf = (page: Page) =>
  page.$$eval('.chart', (all) =>
    all.map((chart) => ({
      scale: [...chart.querySelectorAll('.scale span')].map((one) => one.textContent),
      lines: chart.querySelector('.grid')?.getAttribute('d')?.match(/M/g)?.length,
      labels: [...chart.querySelectorAll('.marks text')].map((one) => {
        const { left, right } = one.getBoundingClientRect()
        return [left, right] as const
      }),
      ends: [chart.getBoundingClientRect().left, chart.getBoundingClientRect().right] as const,
    })),
  )

describe('the charts', () => {
  it.each(languages)(
    'have round numbers at every line from zero on, and days below, in every window: %s',
    async (tag) => {
      const page = await open({ languages: [tag] })
      await page.waitForSelector('.chart')
      for (const window of windows) {
        await resize(page, window)
        const charts = await chartsOf(page)
        expect(charts.map(({ scale }) => scale)).toEqual([
          ['0', '5', '10'],
          ['0', '50', '100'],
          ['0', '2', '4', '6'],
        ])
        for (const { scale, lines, labels, ends } of charts) {
          expect(lines).toBe(scale.length)
          expect(labels).toHaveLength(5)
          const all = [ends[0], ...labels.flat(), ends[1]]
          expect(all).toEqual([...all].sort((a, b) => a - b)) // no label covers another or leaves the chart
        }
      }
    },
  )

  it('can be read with one bar, and with none', async () => {
    const days = (last: number) => (one: (typeof at.desk.summary.currencies)[0]['days'][0], index: number) => {
      const isLast = index === 29 && last > 0
      return { ...one, deposits: isLast ? last : 0, sum: exact(isLast ? '0.000003' : '0'), entries: [] }
    }
    const [first] = at.desk.summary.currencies
    if (first === undefined) throw new Error('no currency')
    const { days: month } = first
    first.days = month.map(days(1))
    at.desk.summary.currencies = [first]
    const page = await open({}, '#token=good')
    const scales = () =>
      page.$$eval('.chart .scale', (all) => all.map((one) => [...one.children].map((each) => each.textContent)))
    await page.waitForSelector('.chart')
    expect(await scales()).toEqual([
      ['0', '1'],
      ['0', '0.000001', '0.000002', '0.000003'],
    ])
    first.days = month.map(days(0))
    await poke(page)
    await seeIn(page, '.chart', 'Nothing in these 30 days')
    expect(await scales()).toEqual([['0'], ['0']])
  })
})
