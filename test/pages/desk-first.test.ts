import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { alarm, faults } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { addPayouts, openIn } from './payout-fixture.ts'
import { poke, press, seeIn, textOfFirst } from './reading.ts'

const at = useDesk()
const { open } = at
const tone = (page: Page) => page.$eval('.status', (status) => status.getAttribute('data-tone'))

describe('the first sentence', () => {
  it.each([
    [
      'en',
      ['All is well; waiting for a person: 3', 'Payouts: 2', 'the oldest for 3 min', 'Deposits to look at: 1', '1 min'],
    ],
    ['zh-CN', ['一切正常，有 3 项待人工处理', '链上提现：2', '最早的已有 3 分钟', '待审核的充值：1', '1 分钟']],
  ])('has what waits for a person from its first second, neutral until it is late: %s', async (language, words) => {
    addPayouts(at.desk)
    Object.assign(at.desk.summary.payouts ?? {}, { open: [openIn('waiting', 2, '20', 200), openIn('signed', 1, '10')] })
    at.desk.summary.transfers.held_for = [{ reason: 'review', cuy: 2, count: 1, oldest_at: ago(70) }]
    const page = await open({ ...desktop, languages: [language] })
    for (const one of words) await seeIn(page, '.status', one)
    expect(await textOfFirst(page, '#state')).toBe(words[0])
    expect(await tone(page)).toBe('wait')
    expect(await textOfFirst(page, '.status')).not.toMatch(/nothing to do|无需处理/)
    await page.click('.waiting button')
    await page.waitForSelector('.queue [data-id="41"]')
    await page.goBack()
    faults[0]?.[1](at.desk) // a fault is named first, and what waits is still shown
    await poke(page)
    await page.waitForSelector('[data-kind="gap-unread"] ~ .waiting')
    expect(await tone(page)).toBe('bad')
    Object.assign(at.desk.summary, { gaps: [], alarms: [] })
    Object.assign(at.desk.summary.payouts ?? {}, { open: [openIn('waiting', 2, '20', 3_700)] })
    await poke(page)
    await page.waitForSelector('[data-kind="payouts-waiting"]')
    expect(await tone(page)).toBe('warn')
    expect(await textOfFirst(page, '.waiting')).not.toContain(words[1])
  })

  const away = { state: 'down', answered_at: ago(400), failed_at: ago(5), failure: 'no answer in time' }
  it.each([
    ['before anything has noticed', () => undefined],
    ['once the network seems to stand', () => at.desk.summary.alarms.push(alarm('finality-stalled'))],
    [
      'once the scan stands',
      () => at.desk.summary.alarms.push(alarm('scan-stalled'), alarm('node-behind', { node: 2 })),
    ],
    [
      'while final blocks are late',
      () => Object.assign(at.desk.summary.scan, { status: 'behind', finalized_at: ago(300) }),
    ],
  ])('says how many nodes answer, how many must agree, and which one is missing: %s', async (_, change) => {
    Object.assign(at.desk.summary.nodes?.[1] ?? {}, away)
    change()
    const page = await open()
    await seeIn(
      page,
      '#state',
      '1 of 2 nodes answer, and 2 must agree: nothing is credited until node 2 (two.example) is back',
    )
    const status = await textOfFirst(page, '.status')
    for (const one of ['Name three nodes', 'node 2 (two.example): down', 'no answer in time'])
      expect(status).toContain(one)
    expect(status).not.toContain('network')
    expect(await tone(page)).toBe('bad')
  })

  it('goes on with two of three nodes, and names the third', async () => {
    const [first] = at.desk.summary.nodes ?? []
    if (first !== undefined)
      at.desk.summary.nodes?.push({ ...first, number: 3, name: 'node 3 (three.example)', ...away })
    const page = await open()
    await seeIn(page, '#state', '1 of 3 nodes give no usable answer')
    expect(await tone(page)).toBe('warn')
  })

  it('advises nothing that is done already, and claims no credits, with one of three nodes left', async () => {
    const { summary } = at.desk
    const [first, second] = summary.nodes ?? []
    if (first === undefined || second === undefined) throw new Error('two nodes')
    summary.nodes?.push({ ...first, number: 3, name: 'node 3 (three.example)', ...away, state: 'no-peers' })
    Object.assign(second, away)
    summary.alarms.push(alarm('node-failing', { node: 2, question: 'logs' }), alarm('node-behind', { node: 3 }))
    const page = await open()
    await seeIn(page, '#state', '1 of 3 nodes answer, and 2 must agree')
    const status = await textOfFirst(page, '.status')
    for (const one of ['node 2 (two.example): down', 'node 3 (three.example): has no peers'])
      expect(status).toContain(one)
    expect(status).not.toContain('Name three nodes')
    expect(await textOfFirst(page, 'main')).not.toContain('Deposits are credited')
    expect(await textOfFirst(page, 'main')).toContain('logs of blocks')
  })

  it('does not say that a node answers that was not asked yet', async () => {
    const [first] = at.desk.summary.nodes ?? []
    if (first === undefined) throw new Error('a node')
    const unknown = { state: 'not-asked', answered_at: null, answer_ms: null, behind: null }
    at.desk.summary.nodes?.push({ ...first, number: 3, name: 'node 3 (three.example)', ...unknown })
    const page = await open()
    await seeIn(page, '.status', '2 of 3 nodes answer.')
    await seeIn(page, '[data-node="3"]', 'not asked yet')
    expect(await tone(page)).toBe('good')
  })

  it('compares a node with no others where there are none', async () => {
    at.desk.summary.nodes?.splice(1)
    Object.assign(at.desk.summary.nodes?.[0] ?? {}, { use: 'demoted', behind: 0 })
    const page = await open()
    await page.waitForSelector('[data-node]')
    const shown = await textOfFirst(page, '[data-node]')
    expect(shown).toContain('answers: slow')
    expect(shown).not.toContain('others')
  })

  it('counts a node that is not asked any more as missing', async () => {
    Object.assign(at.desk.summary.nodes?.[0] ?? {}, { state: 'refuses', failed_at: ago(5), failure: 'no history' })
    const page = await open()
    await seeIn(page, '#state', '1 of 2 nodes answer, and 2 must agree')
  })
})

describe('the parts far below', () => {
  const jumps = (page: Page) =>
    page.$$eval('nav button', (all) => all.filter((one) => one.checkVisibility()).map(({ textContent }) => textContent))
  it('are one press away, as far as they are there', async () => {
    const page = await open()
    await page.waitForSelector('#state')
    expect(await jumps(page)).toEqual(['Owed and held', 'The last 30 days', 'Lists', 'Statements'])
    addPayouts(at.desk)
    await poke(page)
    await page.waitForFunction(() => document.querySelectorAll('nav button:not([hidden])').length === 5)
    for (const name of await jumps(page)) {
      await press(page, name)
      const [focused, top] = await page.evaluate(() => {
        const { activeElement: one } = document
        return [one?.textContent, one?.getBoundingClientRect().top ?? -1] as const
      })
      expect(focused).toBe(name)
      expect(top >= 0 && top < desktop.height - 20).toBe(true)
    }
    await page.waitForSelector('#statement-uid') // the fold is open
  })
})
