import { HDKey } from '@scure/bip32'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PlanOptions, readSettings } from '../../../src/commands/collect/plan-command.ts'
import { formatBase58, parseAddress } from '../../../src/worker/chain/address.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import { testXpub } from '../../support/variables.ts'
import { payoutAddress } from '../payout/harness.ts'
import {
  bindingsFor,
  type CollectChain,
  destination,
  gasAddress,
  keysOf,
  startCollectChain,
  testMnemonic,
  unwrap,
} from './harness.ts'

let chain: CollectChain

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '1', 'USDT'])
})
afterAll(() => chain.stop())

const configWith = (changes: Record<string, unknown>) =>
  unwrap(parseConfig({ ...bindingsFor(chain.devnet), ...changes }))
const read = (options: PlanOptions, changes = {}, key = testXpub) =>
  readSettings(configWith(changes), key, { to: destination, ...options })

describe('the options of a plan', () => {
  it.each<[PlanOptions, string]>([
    [{ to: undefined }, '--to: a Tron address'],
    [{ to: `${destination.slice(0, -1)}7` }, '--to: a Tron address'],
    [{ gas: 'free' }, '--gas: delegate or transfer'],
    [{ 'gas-from': destination }, 'the service would credit the gas to users'],
    [{ 'gas-from': 'T1' }, '--gas-from: a Tron address'],
    [{ currency: 'USDT,USDC' }, 'USDC is not a symbol'],
    [{ min: '5x' }, '--min: a decimal'],
    [{ min: '0.0000001' }, '--min: a decimal'],
    [{ min: 'BTC=1' }, 'BTC is not a currency'],
    [{ 'trx-price': 'TRX=1' }, 'TRX is not a currency of this plan'],
    [{ 'trx-price': '0' }, '--trx-price: what one TRX costs in the token, above 0'],
    [{ account: '1' }, 'TRON_XPUB is the key of account 0'],
    [{ account: 'x' }, '--account: a whole number'],
  ])('%j is refused', (options, sentence) => {
    expect(() => read(options)).toThrow(sentence)
  })

  it('without OPERATOR_ADDRESSES a plan is refused: the service would credit the gas', () => {
    const why = 'OPERATOR_ADDRESSES has no address for gas: the service would credit the gas to users'
    expect(() => read({}, { OPERATOR_ADDRESSES: '' })).toThrow(why)
  })

  it('with several operators the gas address must be named', () => {
    const changes = { OPERATOR_ADDRESSES: [gasAddress, destination] }
    expect(() => read({}, changes)).toThrow('--gas-from')
    expect(formatBase58(read({ 'gas-from': gasAddress }, changes).gasAddress)).toBe(gasAddress)
  })

  it('the payout address is none of them: a transaction from it that is no payout stops payouts', () => {
    const changes = { PAYOUTS: { address: payoutAddress }, OPERATOR_ADDRESSES: [gasAddress] }
    expect(formatBase58(read({}, changes).gasAddress)).toBe(gasAddress)
    expect(formatBase58(read({}, { ...changes, OPERATOR_ADDRESSES: [gasAddress, payoutAddress] }).gasAddress)).toBe(
      gasAddress,
    )
    const why = `--gas-from: ${payoutAddress} is the address of PAYOUTS, which pays nothing but payouts`
    expect(() => read({ 'gas-from': payoutAddress }, changes)).toThrow(why)
    expect(() => read({}, { ...changes, OPERATOR_ADDRESSES: [payoutAddress] })).toThrow(
      'OPERATOR_ADDRESSES has no address for gas',
    )
    // the payout address is refused only as the gas address
    expect(read({ to: payoutAddress }, changes).to).toBe(unwrap(parseAddress(payoutAddress)))
  })

  it('an amount holds for all currencies, or for one', () => {
    const min = (text: string) => Object.fromEntries(read({ min: text }).min)
    expect(min('20')).toEqual({ TRX: 20_000_000n, USDT: 20_000_000n })
    expect(min('USDT=20,TRX=0.5')).toEqual({ USDT: 20_000_000n, TRX: 500_000n })
    expect(Object.fromEntries(read({ 'trx-price': '0.3' }).trxPrice)).toEqual({ USDT: 300_000n })
  })

  it('the account number is that of the key', () => {
    const key = keysOf(testMnemonic).extendedPublicKey(5)
    expect(read({}, { TRON_XPUB: key }, key).account).toBe(5)
    // such a key does not contain the account's number
    const chainKey = HDKey.fromExtendedKey(key).deriveChild(0).publicExtendedKey
    expect(read({ account: '5' }, { TRON_XPUB: chainKey }, chainKey).account).toBe(5)
  })
})

describe('a destination is refused', () => {
  it.each<[string, () => string, string]>([
    ['that does not exist on the chain', () => 'TRhVWK5XEDkQBDevcdCWW7RW51aRncty4W', 'does not exist on the chain yet'],
    ['that is a deposit address', () => chain.depositAt(0), 'one of the deposit addresses itself'],
  ])('%s', async (_, to, sentence) => {
    await expect(chain.plan({ to: to() })).rejects.toThrow(sentence)
  })
})
