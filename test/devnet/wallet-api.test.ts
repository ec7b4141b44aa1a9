import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/chain/address.ts'
import { recordedCall } from '../tools/collect/recorded.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenBase58 } from './control.ts'
import { result, transactionById } from './support.ts'
import { createWalletClient, operator, outside, prepareAccounts, textOf, transfer } from './wallet-client.ts'

let devnet: Devnet
let client: ReturnType<typeof createWalletClient>

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  client = createWalletClient(devnet)
  await prepareAccounts(devnet)
})
afterAll(() => devnet.stop())

describe('a broadcast transaction', () => {
  it('keeps its bytes and its signature, and runs', async () => {
    const from = client.unused()
    await devnet.pay({ to: from.base58, amount: '5', currency: 'TRX' })
    await devnet.mine()
    const { txid, transaction } = await client.signed(from, from.base58, transfer('TRX', '2000000'))
    const accepted = await client.call('broadcasthex', { transaction })
    expect(new Set(Object.keys(accepted))).toEqual(
      new Set(Object.keys(recordedCall('broadcast', 'hex-trx-accepted').response)),
    )
    expect(accepted).toMatchObject({ result: true, code: 'SUCCESS', txid })
    expect(await client.info(accepted)).toEqual({}) // pending
    await devnet.mine()
    expect(await client.info(accepted)).toMatchObject({ id: txid, receipt: { net_usage: 267 } })
    const found = await transactionById(devnet, txid)
    expect(transaction).toContain(String(found.raw_data_hex))
    expect(transaction).toContain(String((found.signature as string[])[0]))
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ value: '0x1e8480', input: '0x' })
    expect(await client.call('getaccount', { address: from.base58, visible: true })).toMatchObject({
      balance: 3_000_000,
    })
  })

  it('of a token has the log and the call data of the contract', async () => {
    const from = client.unused()
    await devnet.pay({ to: from.base58, amount: '50', currency: 'TRX' })
    await devnet.pay({ to: from.base58, amount: '5', currency: 'USDT' })
    await devnet.mine()
    const reply = await client.send(from, from.base58, transfer('USDT', '5000000'))
    await devnet.mine()
    const receipt = await result<{ status: string; logs: unknown[] }>(
      devnet,
      'eth_getTransactionReceipt',
      String(reply.txid),
    )
    expect(receipt).toMatchObject({ status: '0x1', logs: [{}] })
    const shown = await result<{ input: string }>(devnet, 'eth_getTransactionByHash', String(reply.txid))
    expect(shown.input).toMatch(/^0xa9059cbb[0-9a-f]{128}$/)
    const mined = await client.info(reply)
    expect(mined).toMatchObject({
      fee: expect.any(Number),
      receipt: { result: 'SUCCESS', energy_fee: mined.fee, net_usage: 345 },
    })
  })
})

describe('an address that only received tokens', () => {
  it('does not exist; activated, it sends on lent energy and free bytes for nothing', async () => {
    const from = client.unused()
    await devnet.pay({ to: from.base58, amount: '9', currency: 'USDT' })
    await devnet.mine()
    const recorded = recordedCall('accounts', 'getaccount-not-activated-holding-trc20')
    expect(await client.call('getaccount', { address: from.base58, visible: true })).toEqual(recorded.response)
    expect(await client.resourcesOf(from.base58)).toEqual({})

    const created = await client.send(operator, from.base58, { kind: 'activate' })
    await devnet.mine()
    expect(await client.info(created)).toMatchObject({ fee: 1_100_000 })
    expect(await client.resourcesOf(from.base58)).toMatchObject({ freeNetLimit: 600 })

    const before = await client.call('getcandelegatedmaxsize', {
      owner_address: operator.base58,
      type: 1,
      visible: true,
    })
    await client.send(operator, from.base58, { kind: 'delegate', sun: '20000000000' })
    await devnet.mine()
    expect(await client.resourcesOf(from.base58)).toMatchObject({ EnergyLimit: 199_960 })
    const lent = await client.call('getcandelegatedmaxsize', { owner_address: operator.base58, type: 1, visible: true })
    expect(Number(before.max_size) - Number(lent.max_size)).toBe(20_000_000_000)
    const pair = { fromAddress: operator.base58, toAddress: from.base58, visible: true }
    expect(await client.call('getdelegatedresourcev2', pair)).toMatchObject({
      delegatedResource: [{ from: operator.base58, to: from.base58, frozen_balance_for_energy: 20_000_000_000 }],
    })
    expect(
      await client.call('getdelegatedresourceaccountindexv2', { value: operator.base58, visible: true }),
    ).toMatchObject({
      toAccounts: [from.base58],
    })

    const to = parseAddress(outside)
    const parameter = (to.ok ? to.value : '').padStart(64, '0') + (9_000_000).toString(16).padStart(64, '0')
    const contract = { owner_address: from.base58, contract_address: tokenBase58, visible: true }
    const estimate = await client.call('triggerconstantcontract', {
      ...contract,
      function_selector: 'transfer(address,uint256)',
      parameter,
    })
    const sent = await client.send(from, from.base58, transfer('USDT', '9000000'))
    await devnet.mine()
    const mined = await client.info(sent)
    expect(mined).not.toHaveProperty('fee')
    const { receipt } = mined as { receipt: Record<string, unknown> }
    expect(receipt).toMatchObject({ net_usage: 345, result: 'SUCCESS' })
    expect(receipt.energy_usage).toBe(receipt.energy_usage_total)
    expect(estimate).toMatchObject({ energy_used: receipt.energy_usage, result: { result: true } }) // exactly the real usage
    const used = await client.resourcesOf(from.base58)
    expect(used).toMatchObject({ freeNetUsed: 345, EnergyUsed: expect.any(Number) })

    await client.send(operator, from.base58, { kind: 'undelegate', sun: '20000000000' })
    await devnet.mine()
    expect(await client.resourcesOf(from.base58)).not.toHaveProperty('EnergyUsed')
    expect(await client.resourcesOf(operator.base58)).toMatchObject({ EnergyUsed: expect.any(Number) })
    expect(await client.call('getdelegatedresourcev2', pair)).toEqual({})
  })

  it('that runs out of energy fails in its block, and what it used is gone', async () => {
    const from = client.unused()
    await devnet.pay({ to: from.base58, amount: '1', currency: 'USDT' })
    await devnet.pay({ to: from.base58, amount: '0.1', currency: 'TRX' })
    await devnet.mine()
    const sent = await client.send(from, from.base58, transfer('USDT', '1000000'))
    expect(sent).toMatchObject({ result: true })
    await devnet.mine()
    const recorded = recordedCall('transactions', 'token-too-little-energy-no-trx-info').response
    const failed = await client.info(sent)
    expect(failed).toMatchObject({
      result: recorded.result,
      fee: 100_000,
      receipt: { result: 'OUT_OF_ENERGY', net_usage: 345 },
    })
    expect(textOf(failed.resMessage)).toContain('Not enough energy')
    expect(await result(devnet, 'eth_getTransactionReceipt', String(sent.txid))).toMatchObject({
      status: '0x0',
      logs: [],
    })
    expect(await result(devnet, 'eth_getBalance', from.address, 'latest')).toBe('0x0')
  })
})

describe('the dynamic price of energy', () => {
  it('grows for constant calls and real ones alike', async () => {
    const from = client.unused()
    await devnet.pay({ to: from.base58, amount: '1', currency: 'USDT' })
    await devnet.pay({ to: from.base58, amount: '50', currency: 'TRX' })
    await devnet.mine()
    const contract = { owner_address: from.base58, contract_address: tokenBase58, visible: true }
    const parameter = '0'.repeat(24) + 'aa'.repeat(20) + '1'.padStart(64, '0')
    const estimate = () =>
      client.call('triggerconstantcontract', { ...contract, function_selector: 'transfer(address,uint256)', parameter })
    const before = await estimate()
    const setPrice = (factor: number) =>
      fetch(`${devnet.apiUrl}/devnet/energy-price`, { method: 'POST', body: JSON.stringify({ factor }) })
    await setPrice(2)
    const after = await estimate()
    await setPrice(1)
    expect(after.energy_used).toBe(2 * Number(before.energy_used))
    expect(after.energy_penalty).toBe(before.energy_used)
  })

  it.each([
    ['triggerconstantcontract-contract-unknown', { contract_address: outside }],
    ['triggerconstantcontract-bad-parameter', { parameter: 'zz' }],
    ['triggerconstantcontract-from-without-tokens', {}],
  ])('%s is answered as by a real node', async (name, changes) => {
    const parameter = '0'.repeat(24) + 'aa'.repeat(20) + '1'.padStart(64, '0')
    const contract = {
      owner_address: operator.base58,
      contract_address: tokenBase58,
      visible: true,
      parameter,
      ...changes,
    }
    const reply = await client.call('triggerconstantcontract', {
      ...contract,
      function_selector: 'transfer(address,uint256)',
    })
    const { response } = recordedCall('energy', name)
    expect(new Set(Object.keys(reply))).toEqual(new Set(Object.keys(response)))
    expect(new Set(Object.keys(reply.result as object))).toEqual(new Set(Object.keys(response.result as object)))
    expect(reply.constant_result).toEqual(response.constant_result) // the Error(string) of a revert, too
  })
})

it('a fork removes what the removed blocks had, and the same bytes can be sent again', async () => {
  const from = client.unused()
  await devnet.pay({ to: from.base58, amount: '5', currency: 'TRX' })
  await devnet.mine(2)
  const { transaction, txid } = await client.signed(from, from.base58, transfer('TRX', '1000000'))
  expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
  await devnet.mine()
  expect(await client.call('gettransactioninfobyid', { value: txid })).toMatchObject({ id: txid })
  await devnet.rollBack(1)
  expect(await client.call('gettransactioninfobyid', { value: txid })).toEqual({})
  expect(await client.call('getaccount', { address: from.base58, visible: true })).toMatchObject({ balance: 5_000_000 })
  expect(await client.call('broadcasthex', { transaction })).toMatchObject({ result: true })
  await devnet.mine()
  expect(await client.call('gettransactioninfobyid', { value: txid })).toMatchObject({ id: txid })
})
