import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { resize } from './browser.ts'
import { useDesk } from './desk-fixture.ts'
import { serveDesk } from './desk-service.ts'
import {
  addDifferences,
  addEvents,
  alarm,
  type DeskStory,
  faults,
  onChain,
  owned,
  posted,
  wellDesk,
} from './desk-story.ts'
import { languages, type Seen, windows, wrongLooks } from './looks.ts'
import { addPayouts, paidOut } from './payout-fixture.ts'
import { drawn, showList } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at

interface State {
  readonly change?: (desk: DeskStory) => void
  /** The fragment of the page's URL: the token, and what the page asks for. */
  readonly hash?: string
  /** What must be visible without scrolling. */
  readonly seen: Seen
  /** What must be on the page, visible or not. */
  readonly has: string
  readonly acts?: (page: Page) => Promise<void>
}

const sentence: Seen = () => ['#state', '#state + p']
const lists = 'section:has(> #lists)'

/**
 * Every fault at once, and also a node that is down, one that is late, and an allowance that is
 * nearly used up.
 */
function addTrouble(desk: DeskStory): void {
  for (const [, change] of faults) change(desk)
  Object.assign(desk.summary.nodes?.[0] ?? {}, { used: 99_990, use: 'demoted', behind: 3 })
  const silent = { answered_at: ago(310), failed_at: ago(4), failure: 'no answer within 5000 ms', state: 'down' }
  Object.assign(desk.summary.nodes?.[1] ?? {}, silent)
  desk.summary.alarms.push(
    ...[alarm('node-lies', { node: 2, why: 'wrong-chain' }), alarm('chain-forked'), alarm('gap-unread', { from: 100 })],
    ...[alarm('event-set-aside', { endpoint: 1, event: 31 }), alarm('a-new-kind', { setting: 'x' })],
  )
  desk.summary.database.full_on = '2027-03-04'
  addDifferences(desk)
  addEvents(desk)
}

/**
 * Gives user 7 many deposits, the newest first, and entries. Every fifth deposit is held; the
 * amounts are as long as possible.
 */
function addMany(desk: DeskStory): void {
  desk.deposits = Array.from({ length: 64 }, (_, index) => {
    const held = { reason: 'retired', why: 'its currency is no longer accepted' }
    const members = {
      amt: exact('9007199254.740991'),
      created_at: ago(index * 3_600),
      ...(index % 5 === 0 ? held : {}),
    }
    return owned(64 - index, index % 5 === 0 ? 'held' : 'credited', members)
  })
  desk.entries = Array.from({ length: 30 }, (_, index) =>
    posted(30 - index, index % 2 === 0 ? 1 : 4, '-9007199254.740991', { mark: 'x'.repeat(200), by: 'shop' }),
  )
}

/** Leaves deposits only on the last `count` days of the charts. */
function addDays(desk: DeskStory, count: number): void {
  for (const currency of desk.summary.currencies) {
    currency.days = currency.days.map((day, index) => {
      const isIn = index >= currency.days.length - count
      return { ...day, deposits: isIn ? 1 : 0, sum: exact(isIn ? '0.000003' : '0'), entries: isIn ? day.entries : [] }
    })
  }
}

/** Payouts and a deposit that wait for a person, with a reader who may decide. */
function addWaiting(desk: DeskStory): void {
  addPayouts(desk)
  desk.deposits = [owned(9, 'held', { reason: 'review', why: 'a person looks at it' })]
  desk.summary.transfers.held_for = [{ reason: 'review', cuy: 2, count: 1, oldest_at: ago(70) }]
  desk.summary.reader = { name: 'ann.lee@example.com', scopes: ['ledger:read', 'ledger:approve'] }
}

const openAll = (page: Page) =>
  page.$$eval('details', (all) => {
    for (const one of all) one.open = true
  })

const states: Readonly<Record<string, State>> = {
  'all well, and the numbers of its charts': { seen: sentence, has: '.chart .marks text', acts: openAll },
  'trouble, the story of a held deposit, and the list of events': {
    seen: sentence,
    has: '.result blockquote',
    change: addTrouble,
    hash: `#token=good&tx=${txidOf(9)}`,
    acts: (page) => showList(page, 'events'),
  },
  'one bar in each chart, and the story of a transaction that is not stored': {
    seen: sentence,
    has: '.result blockquote',
    hash: `#token=good&tx=${txidOf(99)}`,
    change: (desk) => {
      addDays(desk, 1)
      desk.chain = onChain('worthless', 'a sentence', 7, { reason: 'internal-transfer' })
    },
  },
  'nothing in 30 days, and the story of an address': {
    seen: sentence,
    has: '.result .rows td',
    hash: `#token=good&address=${payAddress}`,
    change: (desk) => {
      addDays(desk, 0)
      addMany(desk)
    },
  },
  'a user with 64 deposits, and the list of entries': {
    seen: sentence,
    has: '.result .rows td',
    change: addMany,
    hash: '#token=good&uid=7',
    acts: (page) => showList(page, 'entries'),
  },
  'payouts in each of their states, the story of one that is stuck, and their list': {
    seen: sentence,
    has: '.result blockquote',
    change: addPayouts,
    hash: '#token=good&payout=48',
    acts: (page) => showList(page, 'payouts'),
  },
  'payouts and deposits that wait for a person, and what cancelling one would do': {
    seen: () => ['#state', '.waiting'],
    has: '.act .fault',
    change: addWaiting,
    hash: '#token=good&payout=41',
    acts: async (page) => {
      await page.click('[data-act="cancel"]')
      await page.waitForSelector('.act')
      await page.click('.act [type="submit"]')
    },
  },
  'too few nodes, and what approving a payout would do for which money has left': {
    seen: sentence,
    has: '.act #known',
    change: (desk) => {
      addWaiting(desk)
      Object.assign(desk.summary.nodes?.[1] ?? {}, { answered_at: ago(310), failed_at: ago(4), failure: 'no answer' })
    },
    hash: '#token=good&payout=48',
    acts: async (page) => {
      await page.click('[data-act="approve"]')
      pages.answer('/ledger/payouts/approve', { status: 403, msg: 'payout 48: another name must approve it' })
      await page.waitForSelector('#known')
      await page.click('#known')
      await page.click('.act [type="submit"]')
      await page.waitForSelector('.act q')
    },
  },
  'what crediting a deposit would do': {
    seen: () => ['#state'],
    has: '.act #why',
    change: addWaiting,
    hash: `#token=good&tx=${txidOf(9)}`,
    acts: async (page) => {
      await page.click('[data-act="credit"]')
      await page.waitForSelector('#why')
    },
  },
  'payouts that wait, all of them chosen, and what approving them would do': {
    seen: () => ['#state'],
    has: '.queue .act [type="submit"]',
    change: (desk) => {
      addWaiting(desk)
      const moved = [{ to: payAddress, cuy: 2, amt: exact('9007199254.740991') }]
      const large = { amt: exact('9007199254.740991'), fee: exact('0.000001'), moved, by: 'x'.repeat(64) }
      desk.payouts = [3, 2, 1].map((id) => paidOut(id, 'waiting', id === 2 ? large : { waits_for: 'day' }))
    },
    hash: '#token=good&queue=payouts',
    acts: async (page) => {
      await (await page.waitForSelector('[data-queue="oldest"]'))?.click()
      await page.click('.queue [data-act="approve"]')
    },
  },
  'deposits to look at': {
    seen: () => ['#state'],
    has: '.queue tbody td',
    change: addWaiting,
    hash: '#token=good&queue=deposits',
  },
  'nothing at all yet': {
    seen: sentence,
    has: `${lists} .list:not(.skeleton)`,
    change: (desk) => {
      Object.assign(desk, { deposits: [], entries: [] })
      Object.assign(desk.summary, { currencies: [], nodes: null, endpoints: [], addresses: 0 })
    },
  },
  'nobody signed in': { seen: () => ['#state', '#token', 'form .primary'], has: '#token', hash: '' },
  'a token that is not taken': { seen: () => ['#state', '#token', 'form .primary'], has: '#token', hash: '#token=bad' },
}

/** Opens the desk in a page that showed another state, after removing that state's token. */
async function openAnew(page: Page, hash: string): Promise<void> {
  await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank') // if only the fragment differs, the browser does not load the page
  await page.goto(`${pages.service.url}/desk${hash}`)
}

/** Delays the answers one after the other by some frames. The summary comes first or last. */
function answerOneByOne(isSummaryFirst: boolean): void {
  const { routes } = pages.service
  const paths = [...routes.keys()].filter((path) => path !== '/currencies')
  for (const [index, path] of (isSummaryFirst ? paths : paths.reverse()).entries()) {
    const script = routes.get(path)
    const wait = () => new Promise((resolve) => setTimeout(resolve, index * frameMs))
    if (script !== undefined) routes.set(path, (url, request) => ({ ...script(url, request), after: wait() }))
  }
}
const frameMs = 20
/**
 * All windows but the highest, in which the lists below a long story are visible, and move, before
 * the story has come.
 */
const lowWindows = windows.filter(({ height }) => height < 1_000)

describe('each state of the desk, in both themes, from the narrowest phone to a wide desktop', () => {
  it.each(languages)(
    'fits, says first what is the matter, and is right for a screen reader and a keyboard: %s',
    async (language, tag) => {
      const found: string[] = []
      const page = await open({ languages: [language] }, '')
      for (const [nth, [name, { change, hash = '#token=good', seen, has, acts }]] of Object.entries(states).entries()) {
        at.desk = wellDesk()
        change?.(at.desk)
        serveDesk(pages.service, at.desk)
        await openAnew(page, hash)
        for (const selector of seen(windows[2])) await page.waitForSelector(selector)
        if (hash.includes('&') && !hash.includes('queue=')) await page.waitForSelector('.result h3')
        await acts?.(page)
        await page.waitForSelector(has)
        found.push(...(await wrongLooks(page, tag, seen, nth)).map((one) => `${name}: ${one}`))
      }
      expect(found).toEqual([])
    },
  )

  it.each([
    ['all is well, and the summary comes first', 'en', [addMany], true],
    ['all is well, and the summary comes last, in Chinese', 'zh', [addMany], false],
    ['there is trouble, and the summary comes last', 'en', [addMany, addTrouble], false],
    ['there is trouble, and the summary comes first, in Chinese', 'zh', [addMany, addTrouble], true],
  ])('hardly moves while it loads, also with the story of a user: %s', async (_what, language, changes, isFirst) => {
    for (const change of changes) change(at.desk)
    answerOneByOne(isFirst)
    const page = await open({ languages: [language] }, '#token=good&uid=7')
    const shifts: number[] = []
    for (const window of lowWindows) {
      await resize(page, window)
      await page.reload()
      for (const selector of ['#state', '.result .rows td', `${lists} td`]) await page.waitForSelector(selector)
      await drawn(page)
      shifts.push(await pages.shift())
    }
    expect(shifts.filter((one) => !(one < 0.1))).toEqual([])
  })
})
