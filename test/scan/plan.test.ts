import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import { readBlocksMax } from '../../src/chain/limits.ts'
import { isChildOf, planScan, secondsToFinal } from '../../src/scan/plan.ts'
import { anyBlockHash, anyHeight } from '../support/arbitraries.ts'

const at = (height: number) => height as BlockHeight

describe('the scan plan', () => {
  it.each([
    [10, 10, null],
    [10, 9, null], // another node's finalized head, below the position
    [10, 0, null],
    [10, 11, [11, 11]],
    [10, 27, [11, 27]],
    [10, 28, [11, 27]],
    [0, 1_000_000, [1, 17]],
  ])('from position %i with the finalized head at %i reads %j', (position, finalized, range) => {
    const plan = planScan(at(position), at(finalized))
    expect(plan).toEqual(range === null ? { kind: 'caught-up' } : { kind: 'read', from: range[0], to: range[1] })
  })

  it('never skips a block, never exceeds its limit, and never contains unconfirmed blocks', () => {
    fc.assert(
      fc.property(anyHeight, anyHeight, (position, finalized) => {
        const plan = planScan(position, finalized)
        expect(plan.kind === 'caught-up').toBe(finalized <= position)
        if (plan.kind === 'caught-up') return
        expect(plan.from).toBe(position + 1)
        expect(plan.to).toBeGreaterThanOrEqual(plan.from)
        expect(plan.to).toBeLessThanOrEqual(finalized)
        expect(plan.to - plan.from + 1).toBeLessThanOrEqual(readBlocksMax)
      }),
    )
  })

  it('reads every block once and in order until it is caught up, however the finalized head moves', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.array(fc.nat(600), { maxLength: 30 }), (start, heads) => {
        const read: number[] = []
        let position = at(start)
        for (const head of heads) {
          for (let plan = planScan(position, at(head)); plan.kind === 'read'; plan = planScan(position, at(head))) {
            for (let height: number = plan.from; height <= plan.to; height += 1) read.push(height)
            expect(plan.to).toBeGreaterThan(position) // otherwise the loop would never end
            position = plan.to
          }
        }
        const end = Math.max(start, ...heads)
        expect(read).toEqual(Array.from({ length: end - start }, (_, i) => start + 1 + i))
      }),
    )
  })
})

describe('isChildOf', () => {
  it('is true only where the parent of a block is the previous block, or no block was read before', () => {
    fc.assert(
      fc.property(anyBlockHash, anyBlockHash, (previous, other) => {
        fc.pre(previous !== other)
        expect(isChildOf(previous, { parentHash: previous })).toBe(true)
        expect(isChildOf(previous, { parentHash: other })).toBe(false)
        expect(isChildOf(null, { parentHash: other })).toBe(true)
      }),
    )
  })
})

describe('the time until a block is final', () => {
  it.each([
    ['is 0 for a final block', 100, 100, 118, 0],
    ['is 0 below the finalized head', 1, 100, 118, 0],
    ['is 57 s for the newest block', 118, 100, 118, 57],
    ['is the time of two blocks for the first block above the finalized head', 101, 100, 118, 6],
    ['is at least the time of one block, also while finality is stalled', 101, 100, 900, 3],
    ['is short where the head is close to final, as on a private chain', 102, 100, 102, 9],
  ])('%s', (_, height, finalized, latest, seconds) => {
    expect(secondsToFinal(at(height), at(finalized), at(latest))).toBe(seconds)
  })

  it('is a multiple of the block time, and 0 only for final blocks', () => {
    fc.assert(
      fc.property(anyHeight, anyHeight, anyHeight, (height, finalized, latest) => {
        const seconds = secondsToFinal(height, finalized, latest)
        expect(seconds % 3).toBe(0)
        expect(seconds === 0).toBe(height <= finalized)
      }),
    )
  })
})
