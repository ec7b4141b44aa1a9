import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHeight, Txid } from '../../src/worker/chain/block.ts'
import type { BlockReading } from '../../src/worker/chain/chain.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import {
  afterBlocks,
  afterReceipts,
  afterWholeBlock,
  notAgreed,
  type RescanPart,
  receiptsMissing,
  receiptsToRead,
  splitAttempts,
  triedLater,
} from '../../src/worker/scan/rescan.ts'

const now = 1_000_000 as UnixMs
const part = (over: Partial<Record<keyof RescanPart, unknown>> = {}) =>
  ({ from: 10, to: 10, attempts: 0, nextTry: 0, why: null, receipts: 0, unread: [], ...over }) as RescanPart
const txids = (...names: readonly string[]) => names as readonly Txid[]

type Kind = 'read' | 'receipts' | 'not-agreed'
/** What a read of blocks returned, one block for each kind, from height 10 on. */
const blocksOf = (kinds: readonly Kind[]) =>
  kinds.map((kind, i): BlockReading => {
    const height = (10 + i) as BlockHeight
    if (kind === 'not-agreed') return { kind, height }
    const callsToRead = kind === 'read' ? null : txids('a')
    return { kind: 'read', header: { height }, callsToRead } as BlockReading // safe: nothing else of it is read
  })

describe('what could not be read', () => {
  it('is tried again after a minute, then after twice as long, up to a day', () => {
    const waits = [0, 1, 2, 10, 11, 40].map((attempts) => triedLater(part({ attempts }), notAgreed, now).nextTry - now)
    expect(waits).toEqual([60_000, 120_000, 240_000, 61_440_000, 86_400_000, 86_400_000])
  })
})

describe('what is left of a rescan after a read of its first blocks', () => {
  it('is nothing where all of it was read', () => {
    expect(afterBlocks(part({ to: 11 }), blocksOf(['read', 'read']), now)).toEqual([])
  })

  it('is a run for blocks that are not agreed on, a part for each block with receipts, and the rest, which is due at once', () => {
    const kinds: readonly Kind[] = ['read', 'not-agreed', 'not-agreed', 'receipts', 'receipts', 'not-agreed']
    expect(afterBlocks(part({ to: 90, attempts: 2 }), blocksOf(kinds), now)).toEqual([
      part({ from: 11, to: 12, attempts: 3, why: notAgreed, nextTry: now + 240_000 }),
      part({ from: 13, to: 13, why: receiptsMissing, nextTry: now }),
      part({ from: 14, to: 14, why: receiptsMissing, nextTry: now }),
      part({ from: 15, to: 15, attempts: 3, why: notAgreed, nextTry: now + 240_000 }),
      part({ from: 16, to: 90, nextTry: now }),
    ])
  })

  it('stays whole for some tries where nothing is agreed on', () => {
    const blocks = blocksOf(['not-agreed', 'not-agreed'])
    expect(afterBlocks(part({ to: 90, attempts: splitAttempts - 1 }), blocks, now)).toMatchObject([
      { from: 10, to: 90, attempts: splitAttempts },
    ])
    expect(afterBlocks(part({ to: 90, attempts: splitAttempts }), blocks, now)).toMatchObject([
      { from: 10, to: 11, attempts: splitAttempts + 1 },
      { from: 12, to: 90, attempts: 0 },
    ])
  })

  it('has each block that was not read in one part, in their order, and no other one', () => {
    const kinds = fc.array(fc.constantFrom<Kind>('read', 'receipts', 'not-agreed'), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(kinds, fc.nat(5), fc.nat(6), (kinds, more, attempts) => {
        const to = 9 + kinds.length + more
        const left = afterBlocks(part({ to, attempts }), blocksOf(kinds), now)
        const covered = left.flatMap((one) => Array.from({ length: one.to - one.from + 1 }, (_, i) => one.from + i))
        const heights = Array.from({ length: to - 9 }, (_, i) => 10 + i)
        expect(covered).toEqual(heights.filter((height) => kinds[height - 10] !== 'read'))
      }),
    )
  })
})

describe('the receipts of a block', () => {
  const calls = txids('a', 'b', 'c', 'd', 'e')

  it('are read in their order, and after all were tried only those that could not be read', () => {
    const first = afterReceipts(part(), 5, txids('a', 'b', 'c'), txids('b'))
    expect([first.receipts, first.unread, receiptsToRead(first, calls)]).toEqual([3, ['b'], ['d', 'e']])
    const all = afterReceipts(first, 5, txids('d', 'e'), txids('e'))
    expect([all.receipts, receiptsToRead(all, calls)]).toEqual([5, ['b', 'e']])
    const again = afterReceipts(all, 5, txids('b'), [])
    expect([again.receipts, receiptsToRead(again, calls)]).toEqual([5, ['e']])
  })

  it('leave nothing where all were read, and else the block with the first that could not be', () => {
    expect(afterWholeBlock(part(), now)).toEqual([])
    const why = 'transaction b and 1 others cannot be read'
    expect(afterWholeBlock(part({ unread: ['b', 'e'] }), now)).toMatchObject([{ why, attempts: 1, unread: ['b', 'e'] }])
  })
})
