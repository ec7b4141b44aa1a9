import { describe, expect, it } from 'vitest'
import {
  broadcast,
  estimateTransfer,
  explainNodeRefusal,
  readAccount,
  readDelegatable,
  readDelegated,
  readPrices,
  readReceivers,
  readResources,
} from '../../../src/commands/collect/node-api.ts'
import { readInfo } from '../../../src/commands/node-replies.ts'
import { type AgreedNodes, openNodes } from '../../../src/commands/nodes.ts'
import { parseAddress } from '../../../src/worker/chain/address.ts'
import { parseConfig } from '../../../src/worker/config/config.ts'
import { createCommandTime } from '../../support/command-time.ts'
import { bindingsFor, unwrap } from './harness.ts'
import { type RecordedApiCall, recordedCall, recordedCalls } from './recorded.ts'

const config = unwrap(parseConfig(bindingsFor({ rpcUrl: 'https://n.example/jsonrpc', apiUrl: 'https://n.example' })))
const someone = unwrap(parseAddress('TVy8BpqtLbd4oGHjyrAiAzY8vpUdUCcB1D'))

/** Nodes that answer each request with this recorded reply; `asked` lists the requests. */
const replay = ({ response }: Pick<RecordedApiCall, 'response'>) => replayText(JSON.stringify(response))

/** Nodes that answer each request with this text. */
function replayText(text: string) {
  const asked: { path: string; body: unknown }[] = []
  const { clock, around, run } = createCommandTime()
  const fetch = around(async (url, init) => {
    asked.push({ path: new URL(String(url)).pathname, body: JSON.parse(String(init?.body)) })
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  })
  const nodes = openNodes(config, { clock, fetch, signal: new AbortController().signal })
  const agree: AgreedNodes['agree'] = (...question) => run(nodes.agree(...question))
  const postAll: AgreedNodes['postAll'] = (...question) => run(nodes.postAll(...question))
  return { nodes: { ...nodes, agree, postAll }, asked }
}

const addressOf = ({ request }: RecordedApiCall) => unwrap(parseAddress(String(request.address)))

describe('an account', () => {
  it.each([
    ['getaccount-never-activated', null],
    ['getaccount-not-activated-holding-trc20', null],
    ['getaccount-activated-and-emptied', { sun: 0n, hasOwnKey: true, isContract: false }],
    ['getaccount-delegator', { sun: 7_999_998_704_000n, hasOwnKey: true, isContract: false }],
    ['getaccount-owner-permission-given-away', { sun: 100_000_000n, hasOwnKey: false, isContract: false }],
    ['getaccount-contract', { sun: 0n, hasOwnKey: true, isContract: true }],
  ])('%s', async (name, account) => {
    const call = recordedCall('accounts', name)
    const { nodes, asked } = replay(call)
    expect(await readAccount(nodes, addressOf(call))).toEqual(account)
    expect(asked).toEqual([{ path: call.path, body: call.request }])
  })

  it('of another address is not believed', async () => {
    const { nodes } = replay(recordedCall('accounts', 'getaccount-delegator'))
    await expect(readAccount(nodes, someone)).rejects.toThrow('no node answered getaccount')
  })
})

describe('numbers above 2^53 − 1 are read to the unit:', () => {
  const [large, txid] = [9_007_199_254_740_993n, 'ab'.repeat(32)] // the nearest double is one less

  it('the TRX of an account, beside a number that nothing reads', async () => {
    const { nodes } = replayText(
      `{"address":"TVy8BpqtLbd4oGHjyrAiAzY8vpUdUCcB1D","balance": ${large},"allowance":${large}0}`,
    )
    expect(await readAccount(nodes, someone)).toEqual({ sun: large, hasOwnKey: true, isContract: false })
  })

  it('what can be delegated, and what is delegated', async () => {
    expect(await readDelegatable(replayText(`{"max_size":${large}}`).nodes, someone)).toBe(large)
    const item = `{"frozen_balance_for_energy":${large}}`
    expect(await readDelegated(replayText(`{"delegatedResource":[${item},${item}]}`).nodes, someone, someone)).toBe(
      2n * large,
    )
  })

  it('the fee of a transaction', async () => {
    const { nodes } = replayText(`{"id":"${txid}","blockNumber":7,"fee":${large}}`)
    expect(await readInfo(nodes, txid)).toMatchObject({ height: 7, fee: large })
  })

  it('a price of the chain, among others', async () => {
    const { chainParameter } = recordedCall('chain', 'chainparameters-mainnet-like').response
    const list = JSON.stringify({ chainParameter: [{ key: 'x', value: 1 }, ...(chainParameter as object[])] })
    const { nodes } = replayText(list.replace('"value":1}', `"value":${large}}`))
    expect(await readPrices(nodes)).toMatchObject({ sunPerEnergy: 100n })
  })

  it('but no fraction and no negative amount is an amount', async () => {
    for (const text of ['1.5', '-1', `-${large}`, '1e30']) {
      const { nodes } = replayText(`{"max_size":${text}}`)
      await expect(readDelegatable(nodes, someone)).rejects.toThrow('an unknown reply')
    }
  })
})

describe('the resources of an account', () => {
  it.each([
    ['getaccountresource-never-activated', { energy: 0, stakedBytes: 0, freeBytes: 0 }],
    ['getaccountresource-activated-no-stake', { energy: 0, stakedBytes: 0, freeBytes: 600 }],
    ['getaccountresource-with-delegated-energy', { energy: 199_920, stakedBytes: 0, freeBytes: 600 }],
    ['getaccountresource-after-spending-delegated-energy', { energy: 186_892, stakedBytes: 0, freeBytes: 255 }],
    ['getaccountresource-staker-both', { energy: 9, stakedBytes: 4_357_685, freeBytes: 349 }],
  ])('%s', async (name, left) => {
    const call = recordedCall('accounts', name)
    const { nodes, asked } = replay(call)
    expect(await readResources(nodes, addressOf(call))).toMatchObject(left)
    expect(asked).toEqual([{ path: call.path, body: call.request }])
  })
})

describe('the energy of a transfer', () => {
  it.each([
    ['triggerconstantcontract-to-holder', { kind: 'energy', energy: 13_029 }],
    ['triggerconstantcontract-to-fresh', { kind: 'energy', energy: 28_029 }],
    ['triggerconstantcontract-with-penalty-to-holder', { kind: 'energy', energy: 14_559 }],
    ['triggerconstantcontract-from-never-activated-holding-tokens', { kind: 'energy', energy: 13_029 }],
    ['triggerconstantcontract-from-without-tokens', { kind: 'refused', why: 'not enough balance' }],
    ['triggerconstantcontract-contract-unknown', { kind: 'refused', why: 'Smart contract is not exist.' }],
  ])('%s', async (name, estimate) => {
    const call = recordedCall('energy', name)
    const { nodes, asked } = replay(call)
    const parameter = String(call.request.parameter)
    expect(await estimateTransfer(nodes, { from: someone, contract: someone, parameter })).toEqual(estimate)
    expect(new Set(Object.keys(asked[0]?.body ?? {}))).toEqual(new Set(Object.keys(call.request)))
  })
})

describe('a broadcast', () => {
  it('that is accepted', async () => {
    const call = recordedCall('broadcast', 'hex-trx-accepted')
    const { nodes, asked } = replay(call)
    expect(await broadcast(nodes, String(call.request.transaction))).toEqual({ code: 'SUCCESS', message: '' })
    expect(asked).toEqual([{ path: call.path, body: call.request }])
  })

  const refusals = recordedCalls('broadcast').filter(({ response }) => 'code' in response && response.result !== true)

  it.each(refusals.map((call) => [call.name, call] as const))('%s has its code and is explained', async (_, call) => {
    const answer = await broadcast(replay(call).nodes, '00')
    expect(answer.code).toBe(call.response.code)
    expect(explainNodeRefusal(answer)).toMatch(/^[\x20-\x7e]{12,260}$/)
  })

  it('that cannot be parsed is an answer of no node', async () => {
    const { nodes } = replay(recordedCall('broadcast', 'hex-not-hex'))
    await expect(broadcast(nodes, 'zz')).rejects.toThrow('no node answered broadcasthex')
  })
})

describe('a transaction', () => {
  it.each([
    ['gettransactioninfobyid-pending', null],
    ['gettransactioninfobyid-in-block-not-solid', { height: 64, isSuccess: true, fee: 0n, energy: 0 }],
    ['1-createaccount-info', { height: 287, isSuccess: true, fee: 1_000_000n, energy: 0 }],
    ['3-token-transfer-info', { height: 287, isSuccess: true, fee: 0n, energy: 29_120 }],
    ['token-part-delegated-energy-part-trx-info', { isSuccess: true, fee: 803_100n, energy: 13_029 }],
    ['token-too-little-energy-no-trx-info', { isSuccess: false, fee: 0n, energy: 4_998 }],
    ['trx-to-unactivated-fee', { isSuccess: true, fee: 1_100_000n }],
  ])('%s', async (name, info) => {
    const call = recordedCall('transactions', name)
    const { nodes, asked } = replay(call)
    const read = await readInfo(nodes, String(call.request.value))
    if (info === null) expect(read).toBeNull()
    else expect(read).toMatchObject(info)
    expect(asked).toEqual([{ path: call.path, body: call.request }])
  })

  it('that failed has the reason in words', async () => {
    const call = recordedCall('transactions', 'token-too-little-energy-no-trx-info')
    const info = await readInfo(replay(call).nodes, String(call.request.value))
    expect(info?.message).toMatch(/^Not enough energy for 'SSTORE'/)
  })
})

describe('delegations', () => {
  it.each([
    ['getcandelegatedmaxsize-energy', 1_980_000_000_000n],
    ['getcandelegatedmaxsize-bandwidth-none', 0n],
  ])('%s', async (name, sun) => {
    expect(await readDelegatable(replay(recordedCall('delegation', name)).nodes, someone)).toBe(sun)
  })

  it.each([
    ['getdelegatedresourcev2', 20_000_000_000n],
    ['getdelegatedresourcev2-locked', 0n],
    ['getdelegatedresourcev2-none', 0n],
  ])('%s: what can be taken back', async (name, sun) => {
    const call = recordedCall('delegation', name)
    const { nodes, asked } = replay(call)
    const [from, to] = [call.request.fromAddress, call.request.toAddress].map((one) =>
      unwrap(parseAddress(String(one))),
    )
    expect(await readDelegated(nodes, from ?? someone, to ?? someone)).toBe(sun)
    expect(asked).toEqual([{ path: call.path, body: call.request }])
  })

  it.each([
    ['getdelegatedresourceaccountindexv2-of-delegator', 2],
    ['getdelegatedresourceaccountindexv2-of-neither', 0],
  ])('%s', async (name, count) => {
    expect((await readReceivers(replay(recordedCall('delegation', name)).nodes, someone)).size).toBe(count)
  })
})

describe('the chain', () => {
  it('has its prices, none of which is known in advance', async () => {
    expect(await readPrices(replay(recordedCall('chain', 'chainparameters-mainnet-like')).nodes)).toEqual({
      sunPerByte: 1_000n,
      sunPerEnergy: 100n,
      createAccountFee: 100_000n,
      newAccountFee: 1_000_000n,
      feeLimitMax: 15_000_000_000n,
      freeBytes: 600,
    })
  })

  it('without one of the prices is not believed', async () => {
    const { chainParameter } = recordedCall('chain', 'chainparameters-mainnet-like').response
    const list = (chainParameter as { key: string }[]).filter(({ key }) => key !== 'getEnergyFee')
    await expect(readPrices(replay({ response: { chainParameter: list } }).nodes)).rejects.toThrow('getchainparameters')
  })
})
