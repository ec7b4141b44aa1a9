import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { difference } from '../../src/pages/kit/decimal.ts'
import { ticksBetween } from '../../src/pages/kit/ticks.ts'
import { desktop, usePages } from './fixture.ts'
import { openFold } from './reading.ts'
import { entry } from './story.ts'

const dayMs = 24 * 60 * 60_000
const now = Date.parse('2026-11-22T12:00:00.000Z')

describe('the marks of a time axis', () => {
  const spans = Array.from({ length: 400 }, (_, n) => 10 * 60_000 * 1.04 ** n) // from ten minutes to 120 years

  it('are between two and five for any span, in their order, inside of it', () => {
    for (const span of spans) {
      const { at } = ticksBetween(now - span, now)
      expect(at.length, `${span / dayMs} days`).toBeGreaterThanOrEqual(2)
      expect(at.length, `${span / dayMs} days`).toBeLessThanOrEqual(5)
      expect(at).toEqual([...new Set(at)].sort((a, b) => a - b))
      expect(at.every((one) => one >= now - span && one <= now)).toBe(true)
    }
  })

  it('are full minutes, days or months where the reader is', () => {
    const partsOf = { minute: ['getSeconds'], day: ['getHours', 'getMinutes'], month: ['getDate', 'getHours'] } as const
    const steps = new Set<string>()
    for (const span of spans) {
      const { step, at } = ticksBetween(now - span, now)
      steps.add(step)
      for (const one of at) {
        const parts = partsOf[step].map((part) => new Date(one)[part]())
        expect(parts, `${span / dayMs} days`).toEqual(step === 'month' ? [1, 0] : parts.map(() => 0))
      }
    }
    expect([...steps]).toEqual(['minute', 'day', 'month'])
  })

  it.each([
    ['an hour', dayMs / 24, 'minute', 15 * 60_000],
    ['two days', 2 * dayMs, 'minute', dayMs / 2],
    ['a week', 7 * dayMs, 'day', 2 * dayMs],
    ['a month', 30 * dayMs, 'day', 10 * dayMs],
  ])('of %s have steps that a person counts in', (_what, span, step, length) => {
    const summer = new Date(2026, 6, 22, 12).getTime() // without a change to or from summer time
    const marks = ticksBetween(summer - span, summer)
    expect(marks.step).toBe(step)
    expect(marks.at.slice(1).map((one, index) => one - (marks.at[index] ?? 0))).toEqual(
      marks.at.slice(1).map(() => length),
    )
  })
})

it.each([
  ['25', '25', '0'],
  ['0.3', '0.1', '0.2'],
  ['9007199279.740991', '9007199254.740991', '25'],
  ['1', '2.5', '-1.5'],
])('%s less %s is %s', (from, taken, left) => expect(difference(from, taken)).toBe(left))

describe('the chart of the balance', () => {
  const pages = usePages()
  const daysAgo = (days: number) => ({ created_at: new Date(now - days * dayMs).toISOString() })

  /** Opens the wallet. The service's time, by which the chart ends, is `now`. */
  async function open(entries: { id: number; cuy: number }[]): Promise<Page> {
    pages.story.entries = entries
    for (const [path, script] of pages.service.routes) {
      const headers = { date: new Date(now).toUTCString() }
      pages.service.routes.set(path, (url, request) => ({ ...script(url, request), headers }))
    }
    const page = await pages.openLoaded(desktop)
    await openFold(page, 'wallet')
    await page.waitForSelector('.balances li')
    return page
  }

  /**
   * The steps of the line from left (0) to right (600), each with the height of the line after it.
   */
  const stepsOf = (page: Page) =>
    page.$eval('.chart .line', (line) =>
      [...(line.getAttribute('d') ?? '').matchAll(/H([\d.]+)V([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]),
    )
  const marksOf = (page: Page) => page.$$eval('.chart .marks text', (all) => all.map(({ textContent }) => textContent))

  it('has a time axis: what is six times as long is six times as wide, and the last value holds until now', async () => {
    const page = await open([
      entry(13, 1, '10', '40', daysAgo(1)),
      entry(12, 1, '5', '30', daysAgo(7)),
      entry(11, 1, '25', '25', daysAgo(8)),
    ])
    const [first = [], second = [], third = []] = await stepsOf(page)
    const day = (600 - (first[0] ?? 0)) / 8
    expect((second[0] ?? 0) - (first[0] ?? 0)).toBeCloseTo(day, 0)
    expect((third[0] ?? 0) - (second[0] ?? 0)).toBeCloseTo(6 * day, 0)
    expect([first[1], second[1], third[1]]).toEqual([60, 40, 0]) // 25, 30 and 40 USDT; 0 is the top and 160 the bottom
    expect(await marksOf(page)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Nov 1\d$/), expect.stringMatching(/^Nov (19|2\d)$/)]),
    )
  })

  it('begins with the balance before the first entry that is read, so that one entry is a step', async () => {
    const page = await open([entry(11, 1, '25', '100', daysAgo(3))])
    const [[x = 0, y] = []] = await stepsOf(page)
    expect(x).toBeGreaterThan(0)
    expect(x).toBeLessThan(30)
    expect(y).toBe(0)
    expect(await page.$eval('.chart .line', (line) => line.getAttribute('d')?.startsWith('M0 40H'))).toBe(true)
    expect((await marksOf(page)).length).toBeGreaterThan(0)
  })

  it('has hours with their day where all of it is new, and is not there without an entry', async () => {
    const page = await open([entry(11, 1, '25', '25', daysAgo(0.2))])
    expect(await marksOf(page)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\d\d:00.(AM|PM)$/), expect.stringMatching(/^Nov 2\d$/)]),
    )
    const empty = await open([])
    expect(await empty.$('.chart')).toBeNull()
  })

  it('draws many entries, and none whose time cannot be read', async () => {
    const many = Array.from({ length: 20 }, (_, n) => entry(60 - n, 1, '1', String(60 - n), daysAgo(n * 40)))
    const page = await open([...many.slice(0, 19), entry(40, 1, '1', '40', { created_at: 'soon' })])
    const places = (await stepsOf(page)).map(([x]) => x)
    expect(places).toHaveLength(19)
    expect(places).toEqual([...places].sort((a = 0, b = 0) => a - b))
    expect(await marksOf(page)).toEqual(expect.arrayContaining([expect.stringMatching(/^[A-Z][a-z]{2} 202[56]$/)]))
  })
})
