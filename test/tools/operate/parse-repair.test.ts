import { describe, expect, it } from 'vitest'
import { reasonMax } from '../../../src/d1/scan-tables.ts'
import { parseRepair } from '../../../src/tools/operate/repair-sql.ts'

describe('the options of a repair', () => {
  it.each([
    ['a range', { from: '85', to: '95' }, { kind: 'rescan', from: 85, to: 95 }],
    ['one block', { from: '85', to: '85' }, { kind: 'rescan', from: 85, to: 85 }],
    ['a finalized height', { finalized: '90' }, { kind: 'correction', height: 90 }],
  ])('are %s, with a reason', (_, options, repair) => {
    const reason = 'a payment is missing'
    expect(parseRepair({ ...options, reason })).toEqual({ ok: true, value: { ...repair, reason } })
  })

  it.each([
    ['no reason', { from: '1', to: '2' }, '--reason is required'],
    ['an empty reason', { from: '1', to: '2', reason: ' ' }, '--reason is required'],
    ['a reason that is too long', { from: '1', to: '2', reason: 'x'.repeat(reasonMax + 1) }, '--reason: at most'],
    ['a reason with a line break', { from: '1', to: '2', reason: 'a\nb' }, '--reason: at most'],
    ['no range', { reason: 'x' }, '--from and --to are required'],
    ['no end', { from: '1', reason: 'x' }, '--from and --to are required'],
    ['a text', { from: 'one', to: '2', reason: 'x' }, '--from: a block number'],
    ['a fraction', { from: '1', to: '2.5', reason: 'x' }, '--to: a block number'],
    ['a negative number', { finalized: '-1', reason: 'x' }, '--finalized: a block number'],
    ['a range that ends before it starts', { from: '3', to: '2', reason: 'x' }, '--from must not be above --to'],
    ['both kinds', { from: '1', to: '2', finalized: '3', reason: 'x' }, 'either --finalized, or --from and --to'],
  ])('are refused with %s', (_, options, why) => {
    const repair = parseRepair(options)
    expect(repair.ok ? '' : repair.error).toContain(why)
  })
})
