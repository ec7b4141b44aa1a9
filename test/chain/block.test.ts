import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BlockHash, heightInHash, parseTxid } from '../../src/worker/chain/block.ts'
import { anyHeight, anyTxid } from '../support/arbitraries.ts'

const txid = '74034bfb0000000000000000000000000000000000000000000000000000910e'

describe('a txid from a caller', () => {
  it('is the same with 0x, without it, and in capitals', () => {
    for (const text of [txid, `0x${txid}`, `0X${txid.toUpperCase()}`]) {
      expect(parseTxid(text)).toEqual({ ok: true, value: txid })
    }
  })

  it.each([
    ['an empty text', ''],
    ['0x alone', '0x'],
    ['63 digits', txid.slice(1)],
    ['65 digits', `${txid}0`],
    ['0x twice', `0x0x${txid.slice(4)}`],
    ['a letter after f', `${txid.slice(1)}g`],
    ['a full-width digit', `${txid.slice(1)}０`],
    ['a line break', `${txid}\n`],
    ['the osn of a token entry', `${txid}:0`],
    ['a megabyte', 'a'.repeat(1_000_000)],
  ])('is not %s', (_, text) => {
    expect(parseTxid(text)).toEqual({ ok: false, error: 'not-64-hex-digits' })
  })

  it('is returned unchanged in its usual spelling', () => {
    fc.assert(
      fc.property(anyTxid, (any) => {
        expect(parseTxid(any)).toEqual({ ok: true, value: any })
      }),
    )
  })
})

describe('a block hash', () => {
  it('begins with the height', () => {
    const nile = '0000000003fe1ca05cf728c92ee79f5f2758c3e4e4ea88501826726880e8b81c' as BlockHash // safe: 64 hex digits
    expect(heightInHash(nile)).toBe(0x3fe1ca0)
    fc.assert(
      fc.property(anyHeight, (height) => {
        expect(heightInHash(`${height.toString(16).padStart(16, '0')}${'ab'.repeat(24)}` as BlockHash)).toBe(height)
      }),
    )
  })

  it.each([`0020000000000000${'0'.repeat(48)}`, 'f'.repeat(64)])('has no height from 2^53 on: %s', (hash) => {
    expect(heightInHash(hash as BlockHash)).toBeNaN()
  })
})
