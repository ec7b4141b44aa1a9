import { describe, expect, it } from 'vitest'
import { type ListRow, noFilter, type ReadRows, unwalked, walkOn, walkToEnd } from '../../src/pages/desk/walk.ts'

const hourMs = 3_600_000
/** The time of the first row: a midnight in the time zone of this machine. */
const begin = new Date(2026, 10, 22).getTime()

/**
 * A list with `count` rows, one for each hour from `begin` on. Each read adds the size of its page
 * to `pages`.
 */
function hourly(count: number): { read: ReadRows; pages: number[] } {
  const pages: number[] = []
  const row = (id: number): ListRow => {
    const at = new Date(begin + (id - 1) * hourMs).toISOString()
    return { id, at, state: 'credited', cuy: 1, amount: `${id}.5`, cells: () => [[], []], values: () => [id] }
  }
  const read: ReadRows = async (before, limit) => {
    const top = Math.min(count, (before ?? count + 1) - 1)
    pages.push(limit)
    const rows = Array.from({ length: Math.max(0, Math.min(limit, top)) }, (_, index) => row(top - index))
    return { ok: true, msg: '', data: { rows, count } }
  }
  return { read, pages }
}

const idsIn = async (filter: object, count = 72) => {
  const { read } = hourly(count)
  const found = await walkOn(read, { ...noFilter, ...filter }, unwalked, { wanted: 1_000, pagesMax: 100 })
  return 'kind' in found ? [] : found.rows.map(({ id }) => id)
}

describe('a list is filtered by time', () => {
  const [day, next] = ['2026-11-22', '2026-11-23']

  it.each([
    ['from an hour of a day', { from: next, fromHour: '22' }, [72, 47].map((id) => id)],
    ['up to the start of an hour', { to: day, toHour: '03' }, [3, 1]],
    ['for one hour', { from: day, fromHour: '14', to: day, toHour: '15' }, [15, 15]],
    ['over midnight', { from: day, fromHour: '23', to: next, toHour: '01' }, [25, 24]],
    ['for whole days', { from: day, to: day }, [24, 1]],
    ['without a day an hour is none', { fromHour: '14' }, [72, 1]],
  ])('%s', async (_, filter, [newest = 0, oldest = 0]) => {
    const ids = await idsIn(filter)
    expect([ids[0], ids.at(-1), ids.length]).toEqual([newest, oldest, newest - oldest + 1])
  })
})

describe('a file', () => {
  it('has every row once, and each page is handed over once and not kept: its cost grows with its rows alone', async () => {
    for (const count of [1_000, 20_000]) {
      const { read, pages } = hourly(count)
      const taken: number[] = []
      const sizes = new Set<number>()
      const refusal = await walkToEnd(read, noFilter, (rows) => {
        taken.push(...rows.map(({ id }) => id))
        sizes.add(rows.length)
        return true
      })
      expect(refusal).toBeNull()
      expect(taken).toEqual(Array.from({ length: count }, (_, index) => count - index))
      expect([...sizes].filter((size) => size > 0)).toEqual([100])
      expect(pages).toHaveLength(count / 100 + 1)
    }
  })

  it('ends where nobody wants it any more', async () => {
    const { read, pages } = hourly(1_000)
    await walkToEnd(read, noFilter, () => false)
    expect(pages).toEqual([100])
  })
})
