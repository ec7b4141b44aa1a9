import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenCall } from './control.ts'
import { byId, depositBase58, depositHex, post, result, rpc } from './support.ts'

const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const nowhere = `0x${'00'.repeat(31)}99`
const usdtMainnet = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'
const at = `0x${depositHex}`
const stateTags = 'TAG [earliest | pending | finalized | safe] not supported'

let devnet: Devnet
let token = ''
let paid = { trx: '', usdt: '', trc10: '', block: '' }

interface ShownBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly logsBloom: string
  readonly transactions: readonly Record<string, unknown>[]
}

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  token = `0x${devnet.tokenAddress}`
  const pay = async (currency: 'TRX' | 'USDT' | 'TRC10') =>
    (await devnet.pay({ to: depositBase58, amount: '2.5', currency })).txid
  paid = { trx: await pay('TRX'), usdt: await pay('USDT'), trc10: await pay('TRC10'), block: '' }
  await devnet.mine(3)
  paid.block = (await result<ShownBlock>(devnet, 'eth_getBlockByNumber', '0x2', false)).hash
})
afterAll(() => devnet.stop())

describe('refuses, as java-tron 4.8.2 does', () => {
  it.each<[string, string, unknown[], number, string]>([
    ['a parameter too few', 'eth_getBalance', [at], -32602, 'method parameters invalid'],
    ['a parameter too many', 'eth_chainId', ['0x1'], -32602, 'method parameters invalid'],
    ['a parameter of the wrong type', 'eth_getBlockByNumber', ['0x1', 'yes'], -32602, 'method parameters invalid'],
    ['a height of state', 'eth_getBalance', [at, '0x1'], -32602, 'QUANTITY not supported, just support TAG as latest'],
    ['finalized state', 'eth_getBalance', [at, 'finalized'], -32602, stateTags],
    ['pending state', 'eth_getBalance', [at, 'pending'], -32602, stateTags],
    ['safe state', 'eth_getCode', [at, 'safe'], -32602, stateTags],
    ['earliest state', 'eth_call', [{ to: at, data: '0x' }, 'earliest'], -32602, stateTags],
    ['a word that is no tag', 'eth_getBalance', [at, 'newest'], -32602, 'invalid block number'],
    ['a pending block', 'eth_getBlockByNumber', ['pending', false], -32602, 'TAG pending not supported'],
    ['a safe block', 'eth_getBlockByNumber', ['safe', false], -32602, 'TAG safe not supported'],
    ['a block number that is none', 'eth_getBlockByNumber', ['0xzz', false], -32602, 'invalid block number'],
    ['a short address', 'eth_getBalance', [at.slice(0, -2), 'latest'], -32602, 'invalid address hash value'],
    ['an odd address', 'eth_getBalance', [at.slice(0, -1), 'latest'], -32602, 'invalid address hash value'],
    ['21 bytes without 41', 'eth_getBalance', [`42${depositHex}`, 'latest'], -32602, 'invalid address hash value'],
    [
      'a Base58 address',
      'eth_getBalance',
      [depositBase58, 'latest'],
      -32602,
      'exception decoding Hex string: invalid characters encountered in Hex string',
    ],
    ['a short hash', 'eth_getTransactionByHash', ['0x12'], -32602, 'invalid hash value'],
    [
      'a call of no contract',
      'eth_call',
      [{ to: usdtMainnet, data: '0x' }, 'latest'],
      -32600,
      'Smart contract is not exist.',
    ],
    [
      'an unknown field in a call',
      'eth_call',
      [{ to: at, chainId: '0x1' }, 'latest'],
      -32602,
      'method parameters invalid',
    ],
    ['a call without a tag', 'eth_call', [{ to: at, data: '0x' }, null], -32600, 'invalid json request'],
    ['a call at an unknown height', 'eth_call', [{ to: at }, { blockNumber: '0x99' }], -32000, 'header not found'],
    [
      'a call at an unknown block',
      'eth_call',
      [{ to: at }, { blockHash: nowhere }],
      -32000,
      'header for hash not found',
    ],
    ['logs of an unknown block', 'eth_getLogs', [{ blockHash: nowhere }], -32602, 'invalid blockHash'],
    [
      'logs of a block and a range',
      'eth_getLogs',
      [{ blockHash: nowhere, fromBlock: '0x1' }],
      -32602,
      'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    ],
    ['logs of 21 bytes', 'eth_getLogs', [{ address: `41${depositHex}` }], -32602, `invalid address: 41${depositHex}`],
    [
      'logs of Base58',
      'eth_getLogs',
      [{ address: [depositBase58] }],
      -32602,
      `invalid address at index 0: ${depositBase58}`,
    ],
    [
      'a backward range',
      'eth_getLogs',
      [{ fromBlock: '0x3', toBlock: '0x2' }],
      -32602,
      'please verify: fromBlock <= toBlock',
    ],
    ['a pending range', 'eth_getLogs', [{ fromBlock: 'pending' }], -32602, 'TAG pending not supported'],
    ['a decimal range', 'eth_getLogs', [{ fromBlock: '1' }], -32602, 'Incorrect hex syntax'],
    ['five topics', 'eth_getLogs', [{ topics: [null, null, null, null, null] }], -32602, 'topics size should be <= 4'],
    ['a short topic', 'eth_getLogs', [{ topics: ['0xdd'] }], -32602, 'invalid topic(s): 0xdd'],
    ['1001 topics', 'eth_getLogs', [{ topics: [Array(1_001).fill(topic)] }], -32602, 'exceed max topics: 1000'],
    ['1001 addresses', 'eth_getLogs', [{ address: Array(1_001).fill(at) }], -32602, 'exceed max addresses: 1000'],
    ['an unknown field in a filter', 'eth_getLogs', [{ limit: 1 }], -32602, 'method parameters invalid'],
    ['a method that nobody has', 'eth_feeHistory', [], -32601, 'method not found'],
    [
      'a method that no Tron node has',
      'eth_getTransactionCount',
      [at, 'latest'],
      -32601,
      'the method eth_getTransactionCount does not exist/is not available',
    ],
  ])('%s', async (_what, method, params, code, message) => {
    expect((await rpc(devnet, method, ...params)).error).toMatchObject({ code, message })
  })

  it('a revert, with its reason and its bytes', async () => {
    const call = { to: token, data: tokenCall('transferAndRevert(address,uint256)', depositHex, 0n) }
    const { error } = await rpc(devnet, 'eth_call', call, 'latest')
    expect(error).toMatchObject({ code: -32000, message: 'REVERT opcode executed: reverted on purpose' })
    expect(error?.data).toMatch(/^0x08c379a0/)
  })
})

describe('answers, as java-tron 4.8.2 does', () => {
  it.each<[string, string, unknown[], unknown]>([
    ['the chain id', 'eth_chainId', [], '0x6465766e'],
    ['the network in hex, too', 'net_version', [], '0x6465766e'],
    ['its version', 'web3_clientVersion', [], 'TRON/v4.8.2/Linux/Java1.8'],
    ['no accounts', 'eth_accounts', [], []],
    ['Keccak-256', 'web3_sha3', ['0x'], '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['null for a height above the head', 'eth_getBlockByNumber', ['0x99', true], null],
    ['null for an unknown block', 'eth_getBlockByHash', [nowhere, true], null],
    ['null for an unknown transaction', 'eth_getTransactionByHash', [nowhere], null],
    ['null for an unknown receipt', 'eth_getTransactionReceipt', [nowhere], null],
    ['null receipts above the head', 'eth_getBlockReceipts', ['0x99'], null],
    ['null receipts of block 0', 'eth_getBlockReceipts', ['earliest'], null],
    ['no logs above the head, without an error', 'eth_getLogs', [{ fromBlock: '0x99', toBlock: '0xa0' }], []],
    ['no logs for a stranger', 'eth_getLogs', [{ fromBlock: '0x0', address: usdtMainnet }], []],
    ['no code of an account', 'eth_getCode', [at, 'latest'], '0x'],
    ['zero for an unused address', 'eth_getBalance', [usdtMainnet, 'latest'], '0x0'],
    ['a balance by 20 bytes', 'eth_getBalance', [at, 'latest'], '0x2625a0'],
    ['a balance by 21 bytes', 'eth_getBalance', [`41${depositHex}`, 'LATEST'], '0x2625a0'],
    ['the count of a block by its decimal height', 'eth_getBlockTransactionCountByNumber', ['2'], '0x3'],
    ['no uncles', 'eth_getUncleCountByBlockNumber', ['0x1'], '0x0'],
  ])('%s', async (_what, method, params, expected) => {
    expect(await rpc(devnet, method, ...params)).toStrictEqual({ jsonrpc: '2.0', id: 1, result: expected })
  })

  it('finalized is two blocks behind latest', async () => {
    const { latest, finalized } = await devnet.mine()
    expect(latest - finalized).toBe(2)
    const block = await result<ShownBlock>(devnet, 'eth_getBlockByNumber', 'finalized', false)
    expect(Number(block.number)).toBe(finalized)
  })

  it('a token through eth_call, by data or by input', async () => {
    const decimals = `0x${'6'.padStart(64, '0')}`
    expect(await result(devnet, 'eth_call', { to: token, data: '0x313ce567' }, 'latest')).toBe(decimals)
    expect(await result(devnet, 'eth_call', { to: token, input: '0x313ce567', data: '0x' }, 'latest')).toBe(decimals)
  })
})

describe('the transport', () => {
  it.each([
    ['text that is not JSON', '{', { id: 'null', error: { code: -32700, message: 'JSON parse error' } }],
    ['an empty batch', '[]', { id: 'null', error: { code: -32600, message: 'invalid request' } }],
    ['a number', '7', { id: 'null', error: { code: -32600, message: 'invalid request' } }],
    [
      'a batch of 101',
      JSON.stringify(Array(101).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })),
      { id: 'null', error: { code: -32005, message: 'Batch size 101 exceeds the limit of 100' } },
    ],
  ])('answers %s with one error object and HTTP 200', async (_what, body, expected) => {
    const reply = await post(devnet, body)
    expect(reply.status).toBe(200)
    expect(JSON.parse(reply.text)).toStrictEqual({ jsonrpc: '2.0', ...expected })
  })

  it('answers a batch in order, with ids as they came, as application/json-rpc', async () => {
    const calls = ['a', 7].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
    const reply = await post(devnet, JSON.stringify([...calls, { jsonrpc: '2.0', id: 8, method: 'nope', params: [] }]))
    expect(reply.type).toBe('application/json-rpc')
    expect(JSON.parse(reply.text)).toStrictEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x6465766e' },
      { jsonrpc: '2.0', id: 7, result: '0x6465766e' },
      { jsonrpc: '2.0', id: 8, error: { code: -32601, message: 'method not found' } },
    ])
  })

  it('takes POST alone', async () => {
    expect((await fetch(devnet.rpcUrl)).status).toBe(405)
    expect((await fetch(`${devnet.apiUrl}/wallet/nothing`, { method: 'POST' })).status).toBe(404)
  })
})

describe('blocks and transactions', () => {
  it('block hashes begin with their height and link, and block 0 ends with the chain id', async () => {
    const blocks: ShownBlock[] = []
    for (const height of ['0x0', '0x1', '0x2', '0x3']) {
      blocks.push(await result<ShownBlock>(devnet, 'eth_getBlockByNumber', height, false))
    }
    expect(blocks.map(({ hash }) => Number(`0x${hash.slice(2, 18)}`))).toStrictEqual([0, 1, 2, 3])
    expect(blocks.slice(1).map(({ parentHash }) => parentHash)).toStrictEqual(
      blocks.slice(0, 3).map(({ hash }) => hash),
    )
    expect(blocks[0]?.hash.slice(-8)).toBe('6465766e')
  })

  it('a block has exactly the fields of a Tron block', async () => {
    const block = await result<ShownBlock>(devnet, 'eth_getBlockByHash', paid.block, false)
    const fields =
      'number hash parentHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner difficulty ' +
      'totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles baseFeePerGas mixHash'
    expect(new Set(Object.keys(block))).toStrictEqual(new Set(fields.split(' ')))
    expect(block).toMatchObject({
      logsBloom: `0x${'0'.repeat(512)}`,
      nonce: '0x0000000000000000',
      stateRoot: '0x',
      transactions: [`0x${paid.trx}`, `0x${paid.usdt}`, `0x${paid.trc10}`],
    })
    expect(Number(block.timestamp)).toBeLessThan(10 ** 11) // seconds: in milliseconds this would be 1973
  })

  it('a worthless TRC-10 transfer differs from a TRX transfer in nothing but what names the one transaction', async () => {
    const { transactions } = await result<ShownBlock>(devnet, 'eth_getBlockByNumber', '0x2', true)
    const [trx = {}, , trc10 = {}] = transactions
    const own = ['hash', 'transactionIndex', 'r', 's']
    const rest = (transaction: object) => Object.entries(transaction).filter(([key]) => !own.includes(key))
    expect(rest(trc10)).toStrictEqual(rest(trx))
    expect(Object.keys(trx)).toHaveLength(15)
    expect(trx).toMatchObject({
      to: at,
      value: '0x2625a0',
      input: '0x',
      gas: '0x0',
      nonce: '0x0',
      type: '0x0',
      v: '0x1b',
    })
    const receipts = await result<object[]>(devnet, 'eth_getBlockReceipts', paid.block)
    const [a = {}, , b = {}] = receipts
    const common = ({
      transactionHash: _hash,
      transactionIndex: _index,
      cumulativeGasUsed: _used,
      ...receipt
    }: Record<string, unknown>) => receipt
    expect(common({ ...b })).toStrictEqual(common({ ...a }))
    expect(a).toMatchObject({ status: '0x1', gasUsed: '0x0', contractAddress: null, logs: [] })
    expect(a).not.toHaveProperty('value')
  })

  it('a token transfer has its log under the txid, in the receipt as in eth_getLogs', async () => {
    const receipt = await result<{ status: string; logs: unknown[] }>(devnet, 'eth_getTransactionReceipt', paid.usdt)
    const topics = [topic, null, [`0x${depositHex.padStart(64, '0')}`]]
    const logs = await result<unknown[]>(devnet, 'eth_getLogs', { blockHash: paid.block, address: token, topics })
    expect(receipt.status).toBe('0x1')
    expect(receipt.logs).toStrictEqual(logs)
    expect(logs).toMatchObject([
      {
        address: token,
        data: `0x${'2625a0'.padStart(64, '0')}`,
        transactionHash: `0x${paid.usdt}`,
        transactionIndex: '0x1',
        blockHash: paid.block,
        logIndex: '0x0',
        removed: false,
      },
    ])
    expect(await result(devnet, 'eth_getLogs', { fromBlock: '0x2', toBlock: 'finalized' })).toStrictEqual(logs)
  })

  it('an unmined transaction is shown without a block, and is in the balance already', async () => {
    const to = '0x00000000000000000000000000000000000000aa'
    const { txid } = await devnet.pay({ to, amount: '1', currency: 'TRX' })
    const shown = { blockHash: '0x', blockNumber: '0x', transactionIndex: '0x', gasPrice: '0x' }
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ ...shown, hash: `0x${txid}` })
    expect(await result(devnet, 'eth_getTransactionReceipt', txid)).toBeNull()
    expect(await byId(devnet, txid)).toStrictEqual({})
    expect(await result(devnet, 'eth_getBalance', to, 'latest')).toBe('0xf4240')
    await devnet.mine()
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({
      transactionIndex: '0x0',
      gasPrice: '0x64',
    })
  })

  it('a reverted call is mined as failed with its value shown and no log', async () => {
    const data = tokenCall('transferAndRevert(address,uint256)', depositHex, 1n)
    const { txid } = await devnet.send({ to: devnet.tokenAddress, data })
    await devnet.mine()
    expect(await result(devnet, 'eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x0', logs: [] })
    expect(await byId(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'REVERT' }] })
  })

  it('a failed call can have a log of the genuine token', async () => {
    const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
    const data = tokenCall('phantomTransfer(address,uint256)', depositHex, 9n)
    const { txid } = await devnet.send({ from, to: devnet.tokenAddress, data })
    await devnet.mine()
    const receipt = await result<{ blockHash: string; logs: unknown[] }>(devnet, 'eth_getTransactionReceipt', txid)
    expect(receipt).toMatchObject({ status: '0x0', logs: [{ address: token }] })
    expect(await result(devnet, 'eth_getLogs', { blockHash: receipt.blockHash })).toStrictEqual(receipt.logs)
    expect(await byId(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'OUT_OF_TIME' }] })
  })
})

describe('the HTTP API', () => {
  it('tells the TRC-10 transfer from the TRX transfer', async () => {
    const type = async (txid: string) => {
      const { raw_data: raw } = (await byId(devnet, txid)) as { raw_data: { contract: { type: string }[] } } // asserted below
      return raw.contract[0]?.type
    }
    expect(await type(paid.trx)).toBe('TransferContract')
    expect(await type(paid.usdt)).toBe('TriggerSmartContract')
    expect(await type(paid.trc10)).toBe('TransferAssetContract')
  })

  it('answers {} for an unknown transaction, and an Error for no hash, both with HTTP 200', async () => {
    expect(await byId(devnet, nowhere.slice(2))).toStrictEqual({})
    expect(await byId(devnet, 'x')).toHaveProperty('Error')
  })
})

describe('the controls', () => {
  it.each<[string, string, object, string]>([
    [
      'an address with a changed letter',
      'pay',
      { to: `${depositBase58.slice(0, -1)}7`, amount: '1', currency: 'TRX' },
      'no Tron address',
    ],
    ['an amount of nothing', 'pay', { to: depositBase58, amount: '0', currency: 'TRX' }, 'decimal above zero'],
    ['an unknown currency', 'pay', { to: depositBase58, amount: '1', currency: 'BTC' }, 'TRX, USDT or TRC10'],
    ['an unknown contract type', 'inject', { type: 'Nothing' }, 'no contract type Nothing'],
    ['an injected TRX transfer', 'inject', { type: 'TransferContract', to: depositBase58 }, 'is sent for real'],
    ['an injection without its other side', 'inject', { type: 'TransferAssetContract' }, 'needs "to"'],
    ['no blocks', 'mine', { blocks: 0 }, 'from 1 to 1000'],
  ])('refuse %s in one sentence', async (_what, control, body, sentence) => {
    const response = await fetch(`${devnet.apiUrl}/devnet/${control}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toHaveProperty('error', expect.stringContaining(sentence))
  })

  it('pay and mine over HTTP, as a test inside workerd does', async () => {
    const call = async (control: string, body: object) => {
      const response = await fetch(`${devnet.apiUrl}/devnet/${control}`, { method: 'POST', body: JSON.stringify(body) })
      return response.json()
    }
    const { txid } = (await call('pay', { to: depositBase58, amount: '0.000001', currency: 'TRX' })) as { txid: string }
    expect(await call('mine', { blocks: 3 })).toHaveProperty('latest')
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ value: '0x1' })
  })
})
