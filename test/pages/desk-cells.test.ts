import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { faults } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { addPayouts, openIn } from './payout-fixture.ts'
import { askDesk, poke, seeIn, textOfFirst } from './reading.ts'
import { payAddress } from './story.ts'

const at = useDesk()
const { open } = at

const cells = [
  { cell: 1, from: 1, to: 999_999 },
  { cell: 2, from: 1_000_000, to: 1_999_999 },
  { cell: 3, from: 2_000_000, to: Number.MAX_SAFE_INTEGER },
]

/**
 * Makes the service one of three databases. `changes` alters the summaries by cell. Like the real
 * service it refuses requests that name no cell.
 */
function useCells(changes: Readonly<Record<number, object>> = {}): void {
  const summary = at.pages.service.routes.get('/ledger/summary')
  at.pages.service.routes.set('/ledger/summary', (url, request, sent) => {
    const cell = url.searchParams.get('cell')
    if (cell === null) return { status: 400, msg: 'cell: the number of a cell: 1 for users 1 to 999999' }
    const answer = summary?.(url, request, sent) ?? {}
    return { ...answer, data: { ...at.desk.summary, cells, ...changes[Number(cell)] } }
  })
}

/** The query strings of all requests to this path so far. */
const queriesOf = (path: string) =>
  at.pages.service.requests.flatMap((one) => {
    const { pathname, search } = new URL(one.path, 'http://desk.example')
    return pathname === path ? [search] : []
  })

describe('the desk of a deployment with several databases', () => {
  it('says of all of them in its first sentence that all is well', async () => {
    useCells()
    const page = await open({ ...desktop })
    await seeIn(page, '#state', 'All is well in all 3 databases')
    const options = await page.$$eval('#cell option', (all) => all.map(({ textContent }) => textContent))
    expect(options).toEqual(['1: users 1 to 999999', '2: users 1000000 to 1999999', '3: users from 2000000'])
  })

  it('names the one that needs a person first, and shows it on request', async () => {
    addPayouts(at.desk)
    const waiting = { ...at.desk.summary.payouts, open: [openIn('waiting', 2, '20', 200)] }
    Object.assign(at.desk.summary.payouts ?? {}, { open: [] })
    useCells({ 2: { payouts: waiting } })
    const page = await open({ ...desktop })
    await seeIn(page, '#state', 'Database 2: All is well; waiting for a person: 2')
    await page.click('.status button')
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('#cell')?.value === '2')
    await seeIn(page, '.waiting', 'Payouts: 2')
    await seeIn(page, '#state', 'Database 2: All is well; waiting for a person: 2')
  })

  it('shows what is wrong in the shown one, with its remedy, below what is worse in another one', async () => {
    const [, breakIt] = faults[0] ?? []
    const whole = structuredClone(at.desk.summary)
    breakIt?.(at.desk)
    const broken = { gaps: at.desk.summary.gaps, alarms: at.desk.summary.alarms }
    Object.assign(at.desk.summary, whole)
    useCells({
      3: broken,
      1: { transfers: { ...whole.transfers, held_for: [{ reason: 'review', cuy: 2, count: 1, oldest_at: ago(70) }] } },
    })
    const page = await open({ ...desktop })
    await page.waitForFunction(() => document.querySelector('#state')?.textContent?.startsWith('Database 3: '))
    await seeIn(page, '.status h3', 'Database 1: All is well; waiting for a person: 1')
    expect(await page.$eval('.status', (status) => status.getAttribute('data-tone'))).toBe('bad')
  })

  it('asks about a user without naming a database, and about everything else in the shown one', async () => {
    useCells()
    const page = await open({ ...desktop })
    await seeIn(page, '#state', 'All is well in all 3 databases')
    await page.select('#cell', '3')
    await poke(page)
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('#cell')?.value === '3')
    await askDesk(page, '1000007')
    expect(queriesOf('/ledger/wallets')).toEqual(['?uid=1000007'])
    await askDesk(page, `osn order-9`)
    expect(queriesOf('/ledger/entries').find((one) => one.includes('osn='))).toContain('cell=3')
  })

  it('finds a transaction and an address in the database that knows them, and shows that one', async () => {
    useCells()
    const { routes } = at.pages.service
    for (const path of ['/ledger/deposits', '/ledger/transaction', '/ledger/address']) {
      const script = routes.get(path)
      routes.set(path, (url, request, sent) => {
        if (url.searchParams.get('cell') === '2' || script === undefined) return script?.(url, request, sent) ?? {}
        if (path === '/ledger/address') return { status: 404, msg: 'no such address' }
        const nobody = { txid: url.searchParams.get('txid'), uid: null, answer: 'worthless', why: 'nothing' }
        return { data: path === '/ledger/transaction' ? nobody : { list: [], count: 0 } }
      })
    }
    const page = await open({ ...desktop })
    await seeIn(page, '#state', 'All is well in all 3 databases')
    for (const asked of [at.desk.deposits[0]?.txid ?? '', payAddress]) {
      await page.select('#cell', '1')
      await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('#cell')?.value === '1')
      await askDesk(page, asked)
      await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('#cell')?.value === '2')
      await seeIn(page, '.result', 'ser 7')
    }
  })

  it('acts in the database of the user, whichever is shown', async () => {
    addPayouts(at.desk)
    at.desk.payouts = at.desk.payouts.map((one) => ({ ...one, uid: 1_000_007 }))
    at.desk.summary.reader = { name: 'office', scopes: ['ledger:read', 'ledger:approve'] }
    useCells()
    const page = await open({ ...desktop })
    await page.waitForSelector('#state')
    expect(await textOfFirst(page, '#cell option:checked')).toContain('users 1 to')
    await askDesk(page, 'payout 41')
    await page.click('[data-act="approve"]')
    await page.waitForSelector('.act')
    await page.click('.act button[type="submit"]')
    await page.waitForFunction(() => document.querySelector('.act') === null)
    expect(queriesOf('/ledger/payouts/approve')).toEqual(['?cell=2'])
  })
})

it('asks a deployment with one database as before', async () => {
  const page = await open({ ...desktop }, '#token=alone')
  await seeIn(page, '#state', 'All is well')
  expect(await page.$('#cell')).toBeNull()
  // Requests of the page of the test before can still arrive. They have another token.
  const own = at.pages.service.requests.filter(({ token }) => token === 'alone')
  expect(own.map(({ path }) => path)).toContain('/ledger/summary')
  expect(own.filter(({ path }) => path.includes('cell='))).toEqual([])
})
