import { describe, expect, test } from 'vitest'
import { failure, jsonAmount, jsonInteger, success, successNote, toResponse } from '../../src/http/envelope.ts'

const bodyOf = (reply: Parameters<typeof toResponse>[0]) => toResponse(reply, {}).text()

describe('the envelope', () => {
  test('has code, msg and data in that order', async () => {
    expect(await bodyOf(success({ amt: 1 }))).toBe('{"code":200,"msg":"success","data":{"amt":1}}')
  })

  test('has no data member in a success that only says what happened', async () => {
    expect(await bodyOf(successNote('nothing new'))).toBe('{"code":200,"msg":"success: nothing new"}')
  })

  test('has no data member on failure, and repeats the status as code', async () => {
    expect(await bodyOf(failure({ status: 422, msg: 'worth nothing' }))).toBe('{"code":422,"msg":"worth nothing"}')
  })

  test('is JSON that nobody stores, under the id of its request', () => {
    const { headers } = toResponse(success({}), { 'x-request-id': 'id-1' })
    expect(Object.fromEntries(headers)).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': 'id-1',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  test.each([
    [25_000_000n, 6, '25'],
    [1n, 6, '0.000001'],
    [-1_500_000n, 6, '-1.5'],
    [0n, 6, '0'],
    [9_007_199_254_740_991n, 6, '9007199254.740991'],
    [2n ** 256n - 1n, 18, '115792089237316195423570985008687907853269984665640564039457.584007913129639935'],
  ])('writes %d units of %d decimals with every digit', async (units, decimals, text) => {
    expect(await bodyOf(success({ amt: jsonAmount(units, decimals) }))).toBe(
      `{"code":200,"msg":"success","data":{"amt":${text}}}`,
    )
  })

  test('writes an integer past 2^53 with every digit', async () => {
    const digits = '9007199254740993'
    expect(await bodyOf(success({ address: jsonInteger(digits) }))).toContain(`"address":${digits}}`)
  })
})
