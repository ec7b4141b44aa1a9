import { describe, expect, test } from 'vitest'
import { failure, refusal, success, successNote } from '../../src/worker/http/envelope.ts'
import { jsonAmount, jsonInteger } from '../../src/worker/schemas/written.ts'

describe('the envelope', () => {
  test('has code, msg and data in that order', async () => {
    expect(await success({ amt: 1 }).text()).toBe('{"code":200,"msg":"success","data":{"amt":1}}')
    expect(await success({ amt: 1 }, 'done').text()).toBe('{"code":200,"msg":"success: done","data":{"amt":1}}')
  })

  test('has no data member in a success with a note alone', async () => {
    expect(await successNote('nothing new').text()).toBe('{"code":200,"msg":"success: nothing new"}')
  })

  test('has no data member on failure, and repeats the status as code', async () => {
    const response = failure({ status: 422, reason: 'dust', msg: 'refused', headers: { 'retry-after': '5' } })
    const { headers } = response
    expect([response.status, headers.get('retry-after'), headers.get('x-reason')]).toEqual([422, '5', 'dust'])
    expect(await response.text()).toBe('{"code":422,"msg":"refused"}')
    expect(await refusal({ kind: 'undecided', reason: 'too-large', why: 'not yet' }).text()).toBe(
      '{"code":409,"msg":"not yet"}',
    )
  })

  test('has data on the failure of the health check', async () => {
    expect(await failure({ status: 503, reason: 'scan-stalled', msg: 'stopped' }, { behind: 1 }).text()).toBe(
      '{"code":503,"msg":"stopped","data":{"behind":1}}',
    )
  })

  test.each([
    [25_000_000n, 6, '25'],
    [1n, 6, '0.000001'],
    [-1_500_000n, 6, '-1.5'],
    [0n, 6, '0'],
    [9_007_199_254_740_991n, 6, '9007199254.740991'],
    [2n ** 256n - 1n, 18, '115792089237316195423570985008687907853269984665640564039457.584007913129639935'],
  ])('writes %d units of %d decimals with every digit', async (units, decimals, text) => {
    expect(await success({ amt: jsonAmount(units, decimals) }).text()).toBe(
      `{"code":200,"msg":"success","data":{"amt":${text}}}`,
    )
  })

  test('writes an integer past 2^53 with every digit', async () => {
    const digits = '9007199254740993'
    expect(await success({ address: jsonInteger(digits) }).text()).toContain(`"address":${digits}}`)
  })
})
