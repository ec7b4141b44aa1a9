import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/worker/chain/address.ts'
import { recordedCall } from '../commands/collect/recorded.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenBase58 } from './control.ts'
import { minedTransaction, result } from './support.ts'
import {
  type Changes,
  type Content,
  createWalletClient,
  operator,
  outside,
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

/**
 * An error text of a node, in which words replace what differs from chain to chain: signatures,
 * addresses and long numbers.
 */
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
    ['token-contract-address-is-no-contract', () => client.send(rich, rich.base58, transfer('NONE', '1'))],
    ['token-fee_limit-above-max', () => client.send(rich, rich.base58, transfer('USDT', '1', '15000000001'))],
    ['delegateresource-to-never-activated', () => energy('delegate', never.base58, '5000000')],
    ['delegateresource-half-a-trx', () => energy('delegate', rich.base58, '500000')],
    ['delegateresource-more-than-frozen', () => energy('delegate', rich.base58, '50001000000')],
    ['undelegateresource-from-one-not-delegated-to', () => energy('undelegate', rich.base58, '5000000')],
  ])('%s', async (name, refused) => {
    const reply = await refused()
    expect([reply.result, reply.code, withoutNames(String(reply.message))]).toEqual([
      false,
      recordedCall('broadcast', name).response.code,
      recordedText(name),
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

  it('of one that is known already, before and after its block and where that is final', async () => {
    const { transaction } = await client.signed(rich, rich.base58, transfer('TRX', '1'))
    expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
    for (const name of ['hex-again-while-pending', 'trx-again-when-mined', 'trx-again-when-solid']) {
      const { code } = recordedCall('broadcast', name).response
      expect(await client.call('broadcasthex', { transaction })).toMatchObject({ code, message: 'Dup transaction.' })
      await devnet.mine(2)
    }
  })

  it('of what is no message is an Error', async () => {
    for (const transaction of ['zz', '0a84', '0'])
      expect(await client.call('broadcasthex', { transaction })).toHaveProperty('Error')
  })
})

/** An account that has received these amounts in a block. */
const accountWith = async (amounts: Partial<Record<'TRX' | 'USDT', string>>) => {
  const account = client.unused()
  for (const [currency, amount] of Object.entries(amounts)) {
    await devnet.pay({ to: account.base58, amount, currency: currency as 'TRX' | 'USDT' })
  }
  await devnet.mine()
  return account
}
/**
 * Sends a transaction and mines a block. Returns its txid, and what `gettransactioninfobyid` says
 * about it.
 */
const sent = async (from: TestAccount, address: string, content: Content) => {
  const reply = await client.send(from, address, content)
  await devnet.mine()
  return { txid: String(reply.txid), info: await client.info(reply) }
}
const accountOf = (address: string) => client.call('getaccount', { address, visible: true })
/** The node's estimate for a transfer of the token to `outside`. */
const estimate = (from: string, units: number, changes = {}) => {
  const to = parseAddress(outside)
  const parameter = (to.ok ? to.value : '').padStart(64, '0') + units.toString(16).padStart(64, '0')
  const call = { owner_address: from, contract_address: tokenBase58, function_selector: 'transfer(address,uint256)' }
  return client.call('triggerconstantcontract', { ...call, parameter, visible: true, ...changes })
}

describe('a broadcast transaction', () => {
  it('keeps its bytes and its signature, and runs', async () => {
    const from = await accountWith({ TRX: '5' })
    const { txid, transaction } = await client.signed(from, from.base58, transfer('TRX', '2000000'))
    const accepted = await client.call('broadcasthex', { transaction })
    const recorded = recordedCall('broadcast', 'hex-trx-accepted').response
    expect(new Set(Object.keys(accepted))).toEqual(new Set(Object.keys(recorded)))
    expect(accepted).toMatchObject({ result: true, code: 'SUCCESS', txid })
    expect(await client.info(accepted)).toEqual({}) // the transaction is in no block yet
    await devnet.mine()
    expect(await client.info(accepted)).toMatchObject({ id: txid, receipt: { net_usage: 267 } })
    const found = await minedTransaction(devnet, txid)
    expect(transaction).toContain(found.raw_data_hex)
    expect(transaction).toContain(String(found.signature[0]))
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ value: '0x1e8480', input: '0x' })
    expect(await accountOf(from.base58)).toMatchObject({ balance: 3_000_000 })
  })

  it('of a token has the log and the call data of the contract', async () => {
    const from = await accountWith({ TRX: '50', USDT: '5' })
    const { txid, info } = await sent(from, from.base58, transfer('USDT', '5000000'))
    const receipt = await result<object>(devnet, 'eth_getTransactionReceipt', txid)
    expect(receipt).toMatchObject({ status: '0x1', logs: [{}] })
    const shown = await result<{ input: string }>(devnet, 'eth_getTransactionByHash', txid)
    expect(shown.input).toMatch(/^0xa9059cbb[0-9a-f]{128}$/)
    const paid = { result: 'SUCCESS', energy_fee: info.fee, net_usage: 345 }
    expect(info).toMatchObject({ fee: expect.any(Number), receipt: paid })
  })
})

describe('an address that only received tokens', () => {
  it('does not exist; activated, it sends on lent energy and free bytes for nothing', async () => {
    const from = await accountWith({ USDT: '9' })
    const recorded = recordedCall('accounts', 'getaccount-not-activated-holding-trc20')
    expect(await accountOf(from.base58)).toEqual(recorded.response)
    expect(await client.resourcesOf(from.base58)).toEqual({})
    const activated = await sent(operator, from.base58, { kind: 'activate' })
    expect(activated.info).toMatchObject({ fee: 1_100_000 })
    expect(await client.resourcesOf(from.base58)).toMatchObject({ freeNetLimit: 600 })

    const owner = { owner_address: operator.base58, type: 1, visible: true }
    const lendable = async () => Number((await client.call('getcandelegatedmaxsize', owner)).max_size)
    const before = await lendable()
    await sent(operator, from.base58, { kind: 'delegate', sun: '20000000000' })
    expect(await client.resourcesOf(from.base58)).toMatchObject({ EnergyLimit: 199_960 })
    expect(before - (await lendable())).toBe(20_000_000_000)
    const pair = { fromAddress: operator.base58, toAddress: from.base58, visible: true }
    const lent = { from: operator.base58, to: from.base58, frozen_balance_for_energy: 20_000_000_000 }
    expect(await client.call('getdelegatedresourcev2', pair)).toEqual({ delegatedResource: [lent] })
    const receivers = await client.call('getdelegatedresourceaccountindexv2', { value: operator.base58, visible: true })
    expect(receivers).toMatchObject({ toAccounts: [from.base58] })

    const estimated = await estimate(from.base58, 9_000_000)
    const { info } = await sent(from, from.base58, transfer('USDT', '9000000'))
    expect(info).not.toHaveProperty('fee')
    const { receipt } = info as { receipt: Record<string, unknown> }
    expect(receipt).toMatchObject({ net_usage: 345, result: 'SUCCESS' })
    expect(receipt.energy_usage).toBe(receipt.energy_usage_total)
    // exactly the real usage
    expect(estimated).toMatchObject({ energy_used: receipt.energy_usage, result: { result: true } })
    const used = await client.resourcesOf(from.base58)
    expect(used).toMatchObject({ freeNetUsed: 345, EnergyUsed: expect.any(Number) })

    await sent(operator, from.base58, { kind: 'undelegate', sun: '20000000000' })
    expect(await client.resourcesOf(from.base58)).not.toHaveProperty('EnergyUsed')
    expect(await client.resourcesOf(operator.base58)).toMatchObject({ EnergyUsed: expect.any(Number) })
    expect(await client.call('getdelegatedresourcev2', pair)).toEqual({})
  })

  it('that runs out of energy fails in its block, and what it used is gone', async () => {
    const from = await accountWith({ USDT: '1', TRX: '0.1' })
    const { txid, info } = await sent(from, from.base58, transfer('USDT', '1000000'))
    const recorded = recordedCall('transactions', 'token-too-little-energy-no-trx-info').response
    const receipt = { result: 'OUT_OF_ENERGY', net_usage: 345 }
    expect(info).toMatchObject({ result: recorded.result, fee: 100_000, receipt })
    expect(textOf(info.resMessage)).toContain('Not enough energy')
    const shown = await result(devnet, 'eth_getTransactionReceipt', txid)
    expect(shown).toMatchObject({ status: '0x0', logs: [] })
    expect(await result(devnet, 'eth_getBalance', from.address, 'latest')).toBe('0x0')
  })
})

describe('an estimate', () => {
  it('grows with the dynamic price of energy', async () => {
    const from = await accountWith({ USDT: '1' })
    const setPrice = (factor: number) =>
      fetch(`${devnet.apiUrl}/devnet/energy-price`, { method: 'POST', body: JSON.stringify({ factor }) })
    const before = await estimate(from.base58, 1)
    await setPrice(2)
    const after = await estimate(from.base58, 1)
    await setPrice(1)
    expect(after.energy_used).toBe(2 * Number(before.energy_used))
  })

  it.each([
    ['contract-unknown', { contract_address: outside }],
    ['bad-parameter', { parameter: 'zz' }],
    ['from-without-tokens', {}],
  ])('is as by a real node for %s', async (name, changes) => {
    const reply = await estimate(operator.base58, 1, changes)
    const { response } = recordedCall('energy', `triggerconstantcontract-${name}`)
    expect(new Set(Object.keys(reply))).toEqual(new Set(Object.keys(response)))
    expect(new Set(Object.keys(reply.result as object))).toEqual(new Set(Object.keys(response.result as object)))
    expect(reply.constant_result).toEqual(response.constant_result) // the Error(string) of a revert, too
  })
})

it('a fork removes what the removed blocks had, and the same bytes can be sent again', async () => {
  const from = await accountWith({ TRX: '5' })
  await devnet.mine()
  const { transaction, txid } = await client.signed(from, from.base58, transfer('TRX', '1000000'))
  const infoOf = () => client.call('gettransactioninfobyid', { value: txid })
  expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
  await devnet.mine()
  expect(await infoOf()).toMatchObject({ id: txid })
  await devnet.rollBack(1)
  expect(await infoOf()).toEqual({})
  expect(await accountOf(from.base58)).toMatchObject({ balance: 5_000_000 })
  expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
  await devnet.mine()
  expect(await infoOf()).toMatchObject({ id: txid })
})
