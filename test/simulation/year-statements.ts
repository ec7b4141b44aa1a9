import { parseUnits } from '../../src/worker/common/amount.ts'
import { bearer } from '../support/tokens.ts'
import { checkAnswer } from './callers/client.ts'
import { backendTokenAt } from './callers/tokens.ts'
import { trackOperation } from './event-loop.ts'
import { currencies } from './scenario.ts'
import { finish, type SimulatedRun } from './simulated-run.ts'

const dayMs = 86_400_000
const rowsMax = 1_000

interface ShownStatement {
  readonly balances: ReadonlyMap<number, { readonly opening: bigint; readonly closing: bigint }>
  readonly ids: readonly number[]
  readonly count: number
  /** The sum of the entries, by currency. */
  readonly sums: ReadonlyMap<number, bigint>
}

/**
 * Compares all statements since `begin`: each entry is in exactly one day and one month, a period
 * opens with what the one before it has closed with, and closes with that and its entries.
 */
export async function checkStatements(run: SimulatedRun, begin: number): Promise<void> {
  const { env, stored } = run
  const stop = env.scheduler.now()
  const days: string[] = []
  for (let at = Math.floor(begin / dayMs) * dayMs; at <= stop; at += dayMs) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  const months = [...new Set(days.map((day) => day.slice(0, 7)))]
  const everybody = { query: '', entries: stored.entries() }
  const users = [...new Set(everybody.entries.map(({ uid }) => uid))].slice(0, usersMax)
  const scopes = [
    everybody,
    ...users.map((uid) => ({
      query: `&uid=${uid}`,
      entries: everybody.entries.filter((one) => one.uid === uid),
    })),
  ]
  for (const { query, entries } of scopes) {
    const byDay = await readAll(run, 'day', days, query)
    const byMonth = await readAll(run, 'month', months, query)
    const ids = entries.map(({ id }) => id).join()
    for (const [what, all] of [
      ['days', byDay],
      ['months', byMonth],
    ] as const) {
      const found = all.flatMap((one) => one.ids).join()
      if (found !== ids) env.violate(`the ${what} of statements${query} have other entries than the ledger`)
      const fault = faultOf(all)
      if (fault !== null) env.violate(`the ${what} of statements${query}: ${fault}`)
    }
    for (const [i, month] of months.entries()) {
      const own = byDay.filter((_, at) => days[at]?.startsWith(month))
      const shown = byMonth[i]
      if (own.flatMap((one) => one.ids).join() !== shown?.ids.join())
        env.violate(`the days of ${month}${query} have other entries than the month`)
      for (const { cuy } of currencies) {
        const [opening, closing] = [own[0]?.balances.get(cuy)?.opening, own.at(-1)?.balances.get(cuy)?.closing]
        const { opening: first, closing: last } = shown?.balances.get(cuy) ?? {}
        if (opening !== first || closing !== last) env.violate(`the days of ${month}${query} do not add up to it`)
      }
    }
    env.count('statements compared')
  }
}

const usersMax = 5

function faultOf(all: readonly ShownStatement[]): string | null {
  for (const [i, { balances, sums, ids, count }] of all.entries()) {
    if (ids.length !== count) return `${count} entries, and ${ids.length} are shown`
    for (const [cuy, { opening, closing }] of balances) {
      const before = all[i - 1]?.balances.get(cuy)?.closing ?? 0n
      if (opening !== before) return `period ${i} opens with ${opening}, and the one before it closes with ${before}`
      if (closing !== opening + (sums.get(cuy) ?? 0n)) return `period ${i} does not close with its entries`
    }
  }
  return null
}

async function readAll(
  run: SimulatedRun,
  name: 'day' | 'month',
  periods: readonly string[],
  query: string,
): Promise<readonly ShownStatement[]> {
  const all: ShownStatement[] = []
  for (const period of periods) all.push(await readStatement(run, `${name}=${period}${query}`))
  return all
}

interface Page {
  readonly list: readonly { readonly id: string; readonly cuy: string; readonly amt: string }[]
  readonly count: string
  readonly balances: readonly { readonly cuy: string; readonly opening: string; readonly closing: string }[]
}

/** Reads all pages of a statement. */
async function readStatement(run: SimulatedRun, query: string): Promise<ShownStatement> {
  const list: Page['list'][number][] = []
  for (;;) {
    const after = list.at(-1)?.id
    const page = await readPage(run, `${query}&limit=${rowsMax}${after === undefined ? '' : `&after=${after}`}`)
    list.push(...page.list)
    if (page.list.length === rowsMax) continue
    const sums = new Map<number, bigint>()
    for (const { cuy, amt } of list) sums.set(Number(cuy), (sums.get(Number(cuy)) ?? 0n) + unitsOf(cuy, amt))
    return {
      balances: new Map(
        page.balances.map(({ cuy, opening, closing }) => {
          return [Number(cuy), { opening: unitsOf(cuy, opening), closing: unitsOf(cuy, closing) }]
        }),
      ),
      ids: list.map(({ id }) => Number(id)),
      count: Number(page.count),
      sums,
    }
  }
}

function unitsOf(cuy: string, text: string): bigint {
  const scale = currencies.find((one) => one.cuy === Number(cuy))?.scale ?? 0
  const isNegative = text.startsWith('-')
  const units = parseUnits(isNegative ? text.slice(1) : text, scale)
  if (!units.ok) throw new Error(`${text} is no amount: ${units.error}`)
  return isNegative ? -units.value : units.value
}

async function readPage(run: SimulatedRun, query: string): Promise<Page> {
  const { env } = run
  let page: Page = { list: [], count: '0', balances: [] }
  const reading = run.ledger('statement', async (fetch, invocation) => {
    const headers = bearer(backendTokenAt(env, 'signer'))
    const response = await fetch(new Request(`https://wallet.test/ledger/statement?${query}`, { headers }))
    const text = await trackOperation(response.text())
    const { status, data } = checkAnswer(env, invocation, response, text)
    if (status !== 200) env.violate(`the statement ${query} was answered with ${status}`)
    page = data as unknown as Page // safe: compared with the ledger
  })
  await finish(env, reading)
  return page
}
