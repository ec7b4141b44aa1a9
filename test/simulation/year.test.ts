import { expect, it } from 'vitest'
import { runYear } from './year.ts'
import { compareTicks } from './year-table.ts'

it('a short year with each event of a long one keeps every promise, and ticks cost no more at its end', async () => {
  const rates = { deposits: 8, posts: 4, payouts: 3, orders: 2, requests: 12 }
  const report = await runYear({ days: 10, rates, eventsKeepDays: 3 })
  const { outcome, acts, stages, first, last } = report
  expect(outcome.violation).toBeNull()
  expect(outcome.counts.get('statements compared')).toBe(6)
  expect(outcome.counts.get('operator: restored database')).toBe(2)
  const kinds = new Set(acts.map(({ what }) => what.split(':')[0]))
  expect(kinds).toEqual(new Set(['node-failing', 'endpoint-failing', 'reconciliation-surplus', 'token-fee-set']))
  // what is removed by its age, whatever comes
  const rows = (name: string) => stages.map(({ rows }) => rows.get(name) ?? 0)
  expect(Math.max(...rows('webhook'))).toBeLessThanOrEqual(4)
  if (first === null || last === null) throw new Error('no ticks were measured')
  const compared = await compareTicks(first, last)
  expect(compared.last.written).toBe(compared.first.written)
  expect(compared.last.read).toBeLessThanOrEqual(compared.first.read * 1.1)
}, 600_000)
