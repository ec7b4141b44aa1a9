import { describe, expect, it } from 'vitest'
import { useDesk } from './desk-fixture.ts'
import { happened, ordered } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { askDesk, downloadedBy, filterBy, see, seeIn, showList, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, type Story, type ToldOrder, transfer } from './story.ts'

const at = useDesk()
const { open } = at

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()
const paid = (amount: string, state = 'credited', id = 4) => transfer(id, state, { amt: exact(amount) })
const day = 86_400

/** What an order is, its transfers, and words of its story: in English, and in Chinese. */
type Found = readonly [what: string, Partial<ToldOrder>, Story['transfers'], en: string[], zh: string[]]

const states: readonly Found[] = [
  [
    'of which nothing has come',
    { until: inSeconds(3_000), at_least: '24' },
    [],
    ['25 USDT: Waits for the payment', 'by shop', 'Paid from 24 USDT on', 'Nothing was seen', '24 USDT is missing'],
    ['25 USDT：待付款', '到账 24 USDT 即视为已付款', '没有发现任何转账', '还差 24 USDT'],
  ],
  [
    'that is paid in part',
    { until: inSeconds(3_000) },
    [paid('3', 'seen', 5), paid('20')],
    ['25 USDT: Paid in part', '20 USDT credited, 3 USDT seen', '2 USDT is missing', 'Please send it to'],
    ['25 USDT：部分付款', '已入账 20 USDT', '还差 2 USDT'],
  ],
  [
    'of which all is on its way',
    {},
    [paid('25', 'seen')],
    ['Waits for the payment', 'Nothing is missing', 'Please send nothing more'],
    ['待付款', '不缺款'],
  ],
  [
    'that is paid',
    {},
    [paid('26')],
    ['25 USDT: Paid', '26 USDT, ', '1 USDT more than asked', 'this order is paid'],
    ['25 USDT：已付款', '多付 1 USDT'],
  ],
  [
    'that has expired',
    { state: 'expired', until: inSeconds(-100) },
    [paid('20')],
    ['25 USDT: Expired', '5 USDT is missing', 'It has expired', 'still counts', 'is in your balance'],
    ['25 USDT：已过期', '还差 5 USDT', '到账仍计入'],
  ],
  [
    'whose hold has ended',
    { state: 'expired', until: inSeconds(-day - 100) },
    [],
    ['What comes now counts for no order', 'ask the shop for a new order'],
    ['现在到账的资金不计入任何订单'],
  ],
  [
    'that is cancelled',
    { state: 'cancelled' },
    [paid('25')],
    ['25 USDT: Cancelled', 'The backend has cancelled it', 'is in your balance'],
    ['25 USDT：已取消', '后端已取消此订单'],
  ],
]

describe('an order at the desk', () => {
  it.each(states)(
    '%s: has a story with what is missing, in both languages',
    async (_what, members, transfers, ...says) => {
      at.desk.orders = [ordered(3, { order: 'tea-1042', ...members }, transfers)]
      for (const [index, language] of ['en', 'zh'].entries()) {
        const page = await open({ ...desktop, languages: [language] })
        const story = await askDesk(page, 'tea-1042')
        for (const words of says[index] ?? []) expect(story).toContain(words)
        await page.close()
      }
    },
  )

  it('says how long it holds', async () => {
    at.desk.orders = [
      ordered(3, { until: inSeconds(3_000) }),
      ordered(4, { order: '2', state: 'expired', until: inSeconds(-400) }),
    ]
    const page = await open()
    // The page goes by the service's clock, which tells whole seconds: one less is right.
    expect(await askDesk(page, 'osn 1041')).toMatch(/It holds for (50|49) min, until/)
    expect(await askDesk(page, '7 2')).toMatch(/What comes within 23 h, until .*, still counts/)
  })

  it('is found by its reference, with its user or without, by its address and by its user, in every state', async () => {
    const references = ['open', 'partly', 'paid', 'expired', 'cancelled']
    at.desk.orders = [
      ordered(5, { order: 'order open' }),
      ordered(4, { order: 'order partly' }, [paid('20')]),
      ordered(3, { order: 'order paid' }, [paid('25')]),
      ordered(2, { order: 'order expired', state: 'expired' }),
      ordered(1, { order: 'order cancelled', state: 'cancelled' }),
    ]
    const page = await open()
    const names = ['Waits for the payment', 'Paid in part', 'Paid', 'Expired', 'Cancelled']
    for (const [index, reference] of references.entries()) {
      for (const question of [`order ${reference}`, `7 order ${reference}`]) {
        expect(await askDesk(page, question)).toContain(`25 USDT: ${names[index]}`)
      }
    }
    expect(new URL(page.url()).hash).toBe('#uid=7&osn=order%20cancelled')
    expect(await askDesk(page, '8 order paid')).toContain(
      'No order, no entry and no payout has the reference “8 order paid”',
    )
    for (const question of [payAddress, '7']) {
      const story = await askDesk(page, question)
      expect(story).toContain('Orders: 5')
      for (const words of [...names, ...references.map((one) => `order ${one}`)]) expect(story).toContain(words)
    }
    await page.$$eval('.result tr', (all) =>
      all
        .find((one) => one.textContent.includes('order partly'))
        ?.querySelector('button')
        ?.click(),
    )
    await seeIn(page, '.result h3', '25 USDT: Paid in part')
  })

  it('leads to its deposits, its address and its user', async () => {
    at.desk.orders = [ordered(3, {}, [transfer(8, 'credited')])]
    const page = await open()
    for (const [label, title] of [
      ['25 USDT', 'Credited'],
      [payAddress, 'User 7: address 3'],
      ['User 7', 'User 7'],
    ] as const) {
      await askDesk(page, 'osn 1041')
      await page.$$eval(
        '.result .steps button',
        (all, text) => all.find((one) => one.textContent === text)?.click(),
        label,
      )
      await page.waitForFunction((text) => document.querySelector('.result')?.textContent.includes(text), {}, title)
    }
  })

  it('is in the list of orders, by state, in the file with all its members, and in the list of events', async () => {
    at.desk.orders = [
      ordered(5, { order: 'tea' }),
      ordered(4, { order: 'cake' }, [paid('20')]),
      ordered(3, { order: 'milk' }, [paid('25')]),
    ]
    at.desk.events = [
      happened(31, 'order.partly', at.desk.orders[1] ?? {}),
      happened(32, 'order.paid', at.desk.orders[2] ?? {}),
    ]
    at.desk.summary.newest_event = 32
    const page = await open()
    await showList(page, 'orders')
    for (const words of ['tea', 'cake', 'milk']) await seeIn(page, 'section:has(> #lists)', words)
    const csv = await downloadedBy(page, 'section:has(> #lists) [aria-label^="Download"]')
    expect(csv).toContain('cake')
    await filterBy(page, 'state', 'partly')
    await seeIn(page, 'section:has(> #lists) tbody', 'cake')
    expect(await textOfFirst(page, 'section:has(> #lists) tbody')).not.toContain('milk')
    await showList(page, 'events')
    await see(page, 'Order: Paid in part · 25 USDT')
    await page.$$eval('section:has(> #lists) td button', (all) =>
      all.find((one) => one.textContent.startsWith('Order: Paid ·'))?.click(),
    )
    await seeIn(page, '.result h3', '25 USDT: Paid')
  })
})
