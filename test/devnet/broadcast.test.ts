import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordedCall } from '../tools/collect/recorded.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenBase58 } from './control.ts'
import {
  type Changes,
  createWalletClient,
  operator,
  prepareAccounts,
  type Reply,
  type TestAccount,
  textOf,
  transfer,
} from './wallet-client.ts'

let devnet: Devnet
let client: ReturnType<typeof createWalletClient>

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  client = createWalletClient(devnet)
  await prepareAccounts(devnet)
})
afterAll(() => devnet.stop())

/** A tag, a length, and the signature. */
const signatureFieldBytes = 67

/** A text with the names and numbers in it replaced. */
const withoutNames = (text: string) =>
  text
    .replace(/[0-9a-f]{130}/g, 'SIGNATURE')
    .replace(/\bT\w{33}\b/g, 'NAME')
    .replace(/41[0-9a-f]{40}/g, 'HEX')
    .replace(/\d{6,}/g, 'NUMBER')
const recordedText = (name: string) => {
  const { message } = recordedCall('broadcast', name).response
  return withoutNames(/^[0-9a-f]+$/.test(String(message)) ? textOf(message) : String(message))
}

describe('a refusal has the code and the text of a real node', () => {
  let [rich, never, poor] = [operator, operator, operator]
  beforeAll(async () => {
    ;[rich, never, poor] = [client.unused(), client.unused(), client.unused()]
    await devnet.pay({ to: rich.base58, amount: '100', currency: 'TRX' })
    await devnet.pay({ to: poor.base58, amount: '0.1', currency: 'TRX' })
    await devnet.pay({ to: never.base58, amount: '5', currency: 'USDT' })
    await devnet.mine()
  })
  const head = async () => (await client.signed(rich, rich.base58, transfer('TRX', '1'))).headMs
  const trxOf = (from: TestAccount, units: string, changes?: Changes) =>
    client.send(from, from.base58, transfer('TRX', units), changes)
  const energy = (kind: 'delegate' | 'undelegate', address: string, sun: string) =>
    client.send(operator, address, { kind, sun })

  it.each<[string, () => Promise<Reply>]>([
    ['hex-signature-of-another-key', () => trxOf(rich, '1', { signer: operator })],
    [
      'signature-missing',
      async () => {
        const { transaction } = await client.signed(rich, rich.base58, transfer('TRX', '1'))
        return client.call('broadcasthex', { transaction: transaction.slice(0, -2 * signatureFieldBytes) })
      },
    ],
    ['signature-64-bytes', () => trxOf(rich, '1', { signature: new Uint8Array(64) })],
    ['signature-garbage-65', () => trxOf(rich, '1', { signature: new Uint8Array(65).fill(44) })],
    ['tapos-wrong-hash', () => trxOf(rich, '1', { hash: '0'.repeat(64) })],
    ['expired-by-a-minute', async () => trxOf(rich, '1', { expiration: (await head()) - 60_000 })],
    ['expiration-head-plus-1ms', async () => trxOf(rich, '1', { expiration: (await head()) + 1 })],
    [
      'expiration-exact-24h-and-1ms-ahead-of-head',
      async () => trxOf(rich, '1', { expiration: (await head()) + 86_400_001 }),
    ],
    ['trx-from-never-activated', () => trxOf(never, '1')],
    ['token-from-never-activated', () => client.send(never, never.base58, transfer('USDT', '1'))],
    ['trx-more-than-the-balance', () => trxOf(rich, '100000001')],
    ['trx-to-itself', () => client.send(rich, rich.base58, { kind: 'gas', sun: '1' })],
    ['trx-amount-0', () => trxOf(rich, '0')],
    ['token-contract-address-is-no-contract', () => client.send(rich, rich.base58, transfer('NONE', '1'))],
    ['trx-to-a-contract', () => client.send(rich, tokenBase58, { kind: 'gas', sun: '1' })],
    ['token-fee_limit-above-max', () => client.send(rich, rich.base58, transfer('USDT', '1', '15000000001'))],
    ['delegateresource-to-never-activated', () => energy('delegate', never.base58, '5000000')],
    ['delegateresource-half-a-trx', () => energy('delegate', rich.base58, '500000')],
    ['delegateresource-more-than-frozen', () => energy('delegate', rich.base58, '50001000000')],
    ['undelegateresource-from-one-not-delegated-to', () => energy('undelegate', rich.base58, '5000000')],
    ['hex-empty', () => client.call('broadcasthex', { transaction: '' })],
  ])('%s', async (name, refused) => {
    const reply = await refused()
    expect([reply.result, reply.code, withoutNames(String(reply.message))]).toEqual([
      false,
      recordedCall('broadcast', name).response.code,
      // The first byte that the library refuses is not shown.
      recordedText(name).replace(/(Header byte out of range).*/, '$1'),
    ])
  })

  it('bandwidth-gone-and-no-trx', async () => {
    expect(await trxOf(poor, '1')).toMatchObject({ result: true })
    expect(await trxOf(poor, '1')).toMatchObject({ result: true })
    expect(await trxOf(poor, '1')).toMatchObject({
      code: 'BANDWITH_ERROR',
      message: recordedText('bandwidth-gone-and-no-trx'),
    })
  })

  it.each(['hex-again-while-pending', 'trx-again-when-mined', 'trx-again-when-solid'])('%s', async (name) => {
    const { transaction } = await client.signed(rich, rich.base58, transfer('TRX', '1'))
    expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
    if (name !== 'hex-again-while-pending') await devnet.mine(name === 'trx-again-when-solid' ? 4 : 1)
    const { response } = recordedCall('broadcast', name)
    expect(await client.call('broadcasthex', { transaction })).toMatchObject({
      code: response.code,
      message: 'Dup transaction.',
    })
  })

  it('of more than 512,000 bytes', async () => {
    const { transaction, txid } = await client.signed(rich, rich.base58, transfer('TRX', '1'))
    const padding = `1afcff1f${'00'.repeat(524_284)}` // a field of the message that is not signed
    expect(await client.call('broadcasthex', { transaction: `${transaction}${padding}` })).toMatchObject({
      result: false,
      code: 'TOO_BIG_TRANSACTION_ERROR',
      message: expect.stringMatching(
        new RegExp(`^Too big transaction with result, TxId ${txid}, the size is \\d+ bytes`),
      ),
    })
  })

  it('of bytes that were changed after signing', async () => {
    const { transaction } = await client.signed(rich, rich.base58, transfer('TRX', '1111111'))
    const changed = transaction.replace('18c7e843', '18c8e843') // the amount
    expect(changed).not.toBe(transaction)
    expect(await client.call('broadcasthex', { transaction: changed })).toMatchObject({
      result: false,
      code: 'SIGERROR',
    })
  })

  it('of what is no message is an Error', async () => {
    for (const transaction of ['zz', '0a84', '0'])
      expect(await client.call('broadcasthex', { transaction })).toHaveProperty('Error')
  })
})
