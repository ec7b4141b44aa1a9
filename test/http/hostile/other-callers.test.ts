import { describe, expect, test } from 'vitest'
import { type Address, formatBase58 } from '../../../src/chain/address.ts'
import { addressOf } from '../../support/transaction-spec.ts'
import { wholeOf } from '../service.ts'
import { noEntries, underAttack } from './hostile-harness.ts'

const harness = underAttack()

describe('the data of another caller', () => {
  test('is returned to that caller', async () => {
    const { text } = await wholeOf(await harness().get(`/wallet/flow/list?wid=2&osn=${harness().theirs.txid}`, {}, 8))
    expect(text).toContain(`"osn":"${harness().theirs.txid}:0","type":1,"cuy":2,"amt":31,`)
  })

  const balanceAt = (address: Address) => `/tron/balance?address=${formatBase58(address)}`

  test.each([
    ['an address', () => balanceAt(harness().theirs.address), () => balanceAt(addressOf(77)), 404],
    [
      'a transaction',
      () => `/tron/recharge?txid=${harness().theirs.txid}`,
      () => `/tron/recharge?txid=${harness().foreignTxid}`,
      422,
    ],
  ])('is the same as that of no caller: %s', async (_what, theirs, foreign, status) => {
    const response = await wholeOf(await harness().get(theirs()))
    expect(response.status).toBe(status)
    expect(await wholeOf(await harness().get(foreign()))).toEqual(response)
  })

  test.each([
    ['their wallet', () => 'wid=2'],
    ['a wallet of no caller', () => 'wid=999'],
    ['the osn of their entry', () => `osn=${harness().theirs.txid}:0`],
    ['their transaction', () => `osn=${harness().theirs.txid}`],
    ['their wallet, type and currency', () => 'wid=2&type=1&cuy=2'],
  ])('is not in a list of entries: %s', async (_what, query) => {
    expect(await wholeOf(await harness().get(`/wallet/flow/list?${query()}`))).toEqual({ status: 200, text: noEntries })
  })
})
