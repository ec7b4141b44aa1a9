import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { resize } from './browser.ts'
import { usePages } from './fixture.ts'
import { languages, windows } from './looks.ts'
import { drawn, poke, tokenOf } from './reading.ts'
import { exact } from './scripted-service.ts'
import { newcomer, order, type Story, transfer } from './story.ts'

const pages = usePages()

const asked = order({ return: 'https://shop.example/orders/1041' })
const claims = { order: '1041' }
/** An order that ends some seconds after the page has read it. */
const short = {
  ...asked,
  order: '1042',
  get until() {
    return new Date(Date.now() + 4_000).toISOString()
  },
}
const tolerant = { ...asked, order: '1043', at_least: '24' }
const first = (): Story => ({ ...newcomer(), orders: [asked, short, tolerant] })
const at = '2026-11-25T14:04:00.000Z'
const paid = (amount: string, state = 'credited', id = 4, more: object = {}) =>
  transfer(id, state, { amt: exact(amount), created_at: at, ...(state === 'seen' ? { seconds: 40 } : {}), ...more })
const held = transfer(4, 'held', { reason: 'review', why: 'x', created_at: at })
const refused = transfer(4, 'refused', { reason: 'below-minimum', why: 'x', amt: exact('0.25'), created_at: at })

/** What appears on the page one after the other, and the selector of what says so. */
const steps: readonly (readonly [name: string, claims: object, ...(readonly [Partial<Story>, string])[]])[] = [
  [
    'a payment',
    {},
    [{ transfers: [paid('25', 'seen')] }, '.status [data-state="seen"]'],
    [{ transfers: [paid('25')] }, '.status [data-state="credited"]'],
  ],
  ['a payment that is held', {}, [{ transfers: [held] }, '.status [data-state="held"]']],
  ['a payment that is refused', {}, [{ transfers: [refused] }, '.status [data-state="refused"]']],
  [
    'several payments',
    {},
    [{ transfers: [paid('7', 'seen', 5), paid('3', 'seen', 4)] }, '.status .arrivals > li:nth-child(2)'],
  ],
  [
    'an order that is paid',
    claims,
    [{ transfers: [paid('25', 'seen')] }, '.summary h2'],
    [{ transfers: [paid('25')] }, '.summary [data-state="credited"]'],
  ],
  [
    'an order that is paid in parts',
    claims,
    [{ transfers: [paid('20', 'seen')] }, '.summary p'],
    [{ transfers: [paid('20')] }, '.status [data-state="credited"]'],
    [{ transfers: [paid('2', 'seen', 5), paid('20')] }, '.status .arrivals > li:nth-child(2)'],
    [{ transfers: [paid('5', 'seen', 6), paid('20')] }, '.summary h2'],
  ],
  [
    'another currency',
    claims,
    [{ transfers: [paid('1', 'seen', 4, { cuy: 1 })] }, '.summary .note'],
    [{ transfers: [paid('1', 'credited', 4, { cuy: 1 })] }, '.status [data-state="credited"]'],
  ],
  ['part of an order that is refused', claims, [{ transfers: [refused] }, '.status [data-state="refused"]']],
  ['part of an order that is held', claims, [{ transfers: [held] }, '.status [data-state="held"]']],
  ['an order that ends', { order: '1042' }, [{}, '.summary h2']],
  [
    'an order that ends when it is paid in part',
    { order: '1042' },
    [{ transfers: [paid('20')] }, '.summary p'],
    [{ transfers: [paid('20')] }, '.summary h2'],
  ],
  [
    'an order that is paid after it has ended',
    { order: '1042' },
    [{}, '.summary h2'],
    [{ transfers: [paid('25')] }, '.summary [data-state="credited"]'],
  ],
  [
    'an order that is short by its tolerance',
    { order: '1043' },
    [{ transfers: [paid('24', 'seen')] }, '.summary h2'],
    [{ transfers: [paid('24')] }, '.summary [data-state="credited"]'],
  ],
  ['finality that is late', {}, [{ late: 7_000 }, '.notice strong']],
]
/** The windows of each language, in which the page was seen to move most. */
const windowsOf = { en: [windows[1], windows[2]], 'zh-CN': [windows[2], windows[3]] }

/**
 * How far the button that copies the address is below the top of the window, in pixels; null where
 * it is not shown.
 */
const placeOfCopy = (page: Page) =>
  page.evaluate(() => {
    const button = document.querySelector('.destination button')
    return button?.checkVisibility() ? button.getBoundingClientRect().top : null
  })

/** The two halves of the steps, because all of them take longer than a test may. */
const halves = [
  ['without an order', steps.filter(([, claims]) => !('order' in claims))],
  ['of an order', steps.filter(([, claims]) => 'order' in claims)],
] as const

describe('what appears', () => {
  it.each(languages.flatMap(([language, tag]) => halves.map((half) => [language, ...half, tag] as const)))(
    'moves the page by less than 0.05 and the Copy button by no more than 8 pixels, in every state, and when it is loaded again: %s, %s',
    async (language, _what, half, tag) => {
      pages.service.settings = { ...noPageSettings, origins: ['https://shop.example'] }
      const found: string[] = []
      const page = await pages.open({ languages: [language] })
      const look = async () => {
        await drawn(page)
        return { shift: await pages.shift(), copyAt: await placeOfCopy(page) }
      }
      for (const [nth, window] of windowsOf[tag].entries()) {
        await resize(page, window)
        for (const [index, [name, claims, ...stories]] of half.entries()) {
          pages.tell(first())
          // Another user each time: what one user has seen in a visit is kept for the tab.
          const token = tokenOf({ sub: `${nth * 100 + index + 8}`, name: 'Anna Wei', ...claims })
          await page.goto(`${pages.service.url}/deposit?visit=${nth}.${index}#token=${token}`)
          await page.waitForSelector('.address', { visible: true })
          let before = { ...(await look()), shift: 0 }
          const note = async (what: string) => {
            const now = await look()
            const moved = now.shift - before.shift
            const copyMoved = now.copyAt === null || before.copyAt === null ? 0 : Math.abs(now.copyAt - before.copyAt)
            if (moved >= 0.05 || copyMoved > 8)
              found.push(`${window.width}: ${name}, ${what}: ${moved.toFixed(3)}, Copy ${Math.round(copyMoved)}`)
            before = now
          }
          await note('at first')
          for (const [step, [story, selector]] of stories.entries()) {
            pages.tell({ ...first(), ...story })
            await poke(page)
            await page.waitForSelector(selector, { visible: true })
            await note(`step ${step + 1}`)
          }
          if (nth > 0) continue
          await page.reload()
          await page.waitForSelector(stories.at(-1)?.[1] ?? '', { visible: true })
          before = { shift: 0, copyAt: null }
          await note('loaded again')
        }
      }
      expect(found).toEqual([])
    },
  )
})
