import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flowTypes, parseUid, toFlowType } from '../../src/domain/flow.ts'
import { anyUid, nearNumbers } from '../support/arbitraries.ts'

describe('a uid', () => {
  it('is read as it is written', () => {
    fc.assert(
      fc.property(anyUid, (uid) => {
        expect(parseUid(String(uid))).toBe(uid)
      }),
    )
    expect(parseUid('9007199254740991')).toBe(9007199254740991)
  })

  it.each([...nearNumbers, '0', '01', '1.0', '9007199254740992', '9007199254740993', '9'.repeat(400), '1\n'])(
    'is not %j',
    (text) => {
      expect(parseUid(text)).toBeNull()
    },
  )
})

describe('a flow type', () => {
  it('is one of the numbers of the contract', () => {
    const numbers = Array.from({ length: 12 }, (_, number) => number)
    expect(numbers.filter((number) => toFlowType(number) !== null)).toEqual([1, 2, 3, 4, 5, 9])
    expect(toFlowType(flowTypes.recharge)).toBe(1)
    expect(toFlowType(1.5)).toBeNull()
    expect(toFlowType(Number.NaN)).toBeNull()
  })
})
