import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBase58 } from '../devnet/control.ts'
import { type Clinic, failed, openClinic, type Values } from './harness.ts'
import { type Call, serve } from './servers.ts'
import { keySecret, secretsIn, urlSecret, valuesFor } from './support.ts'

let clinic: Clinic

beforeAll(async () => {
  clinic = await openClinic()
})
afterAll(() => clinic.close())

const word = (digits: string) => digits.padStart(64, '0')

describe('the doctor on a node that is wrong', () => {
  const unsupported = { error: { code: -32602, message: 'invalid block number' } }
  const isFinalized = ({ params }: Call) => params[0] === 'finalized'

  it('names the chain id that a node of another chain reports', async () => {
    const lines = await clinic.examined({ TRON_CHAIN_ID: '0xcd8690dc' })
    expect(failed(lines)).toEqual([
      expect.stringMatching(/^FAIL {2}node 1 .*: chain id 0x6465766e, not 0xcd8690dc \(TRON_CHAIN_ID\)$/),
      'FAIL  quorum: 0 of 1 nodes can be used and one is needed: nothing would be credited',
    ])
    expect(lines).toContain('warn  tokens: no usable node to ask')
  })

  it('finds out a node that only imitates a public chain’s id', async () => {
    const lines = await clinic.examined({
      TRON_CHAIN_ID: '0x2b6653dc',
      ...(await clinic.changedNode(({ method }) => (method === 'eth_chainId' ? { result: '0x2b6653dc' } : undefined))),
    })
    expect(lines).toContainEqual(expect.stringMatching(/^FAIL {2}node 1 .*: it is of another chain \(block 0 is 0{16}/))
  })

  it('says that a dead node can’t be reached, and goes on with the others', async () => {
    const gone = await serve(async () => ({ status: 200, body: '' }))
    await gone.close()
    const nodes = [{ rpc: `${gone.url}/${urlSecret}` }, ...(valuesFor(clinic.devnet).TRON_NODES as unknown[])] // an array, see there
    const lines = await clinic.examined({ TRON_NODES: nodes })
    expect(failed(lines)).toEqual([
      `FAIL  node 1 (${new URL(gone.url).host}): it can’t be reached (the connection failed)`,
      'FAIL  quorum: 1 of 2 nodes can be used and 2 must agree: nothing would be credited',
    ])
    expect(lines).toContain(`ok    token USDT (${tokenBase58}): symbol USDT (says node 2)`)
  })

  it.each<[string, () => Promise<Values>, RegExp]>([
    [
      'limits requests',
      async () => ({ TRON_NODES: [{ rpc: await clinic.served(async () => ({ status: 429, body: '{}' })) }] }),
      /it limits requests \(HTTP 429\)/,
    ],
    [
      'refuses the key',
      async () => ({ TRON_NODES: [{ rpc: await clinic.served(async () => ({ status: 401, body: '{}' })) }] }),
      /it refuses the key, or wants one \(HTTP 401\)$/,
    ],
    [
      'redirects',
      async () => ({ TRON_NODES: [{ rpc: await clinic.served(async () => ({ status: 302, body: '' })) }] }),
      /a redirect \(HTTP 302\)$/,
    ],
    [
      'has no finalized blocks',
      () => clinic.changedNode((call) => (isFinalized(call) ? unsupported : undefined)),
      /it has no finalized blocks \(before java-tron 4\.8\.0\)/,
    ],
    [
      'keeps no history',
      () => clinic.changedNode(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined)),
      /it keeps no receipts and logs/,
    ],
  ])('fails a node that %s', async (_, changes, expected) => {
    const [first, ...others] = failed(await clinic.examined(await changes()))
    expect(first).toMatch(expected)
    expect(others).toEqual(['FAIL  quorum: 0 of 1 nodes can be used and one is needed: nothing would be credited'])
  })

  it('warns of a node that takes no batches, which is usable all the same', async () => {
    const url = await clinic.served(async (body) => {
      if (body.startsWith('[')) return { status: 400, body: '{}' }
      return { status: 200, body: await (await fetch(clinic.devnet.rpcUrl, { method: 'POST', body })).text() }
    })
    const lines = await clinic.examined({ TRON_NODES: [{ rpc: url, api: clinic.devnet.apiUrl }] })
    expect(lines).toContainEqual(
      expect.stringMatching(/^warn {2}node 1 .*: takes no batches: the scan needs more requests/),
    )
    expect(failed(lines)).toEqual([])
  })

  it('warns of a node without eth_getBlockReceipts and of a version that it can’t read', async () => {
    const lines = await clinic.examined(
      await clinic.changedNode(({ method }) => {
        if (method === 'eth_getBlockReceipts') return { error: { code: -32601, message: 'method not found' } }
        return method === 'web3_clientVersion' ? { result: `Geth/${keySecret}` } : undefined
      }),
    )
    expect(lines).toContainEqual(expect.stringMatching(/^warn .*: has no eth_getBlockReceipts/))
    expect(lines).toContainEqual(expect.stringMatching(/^warn .*: its version is not that of a java-tron$/))
    expect(failed(lines)).toEqual([])
  })

  it.each<[string, number, RegExp]>([
    ['slow', -50_000, /its newest block is [45]\d s ahead of this machine’s clock \(limit 30 s\): the clock is slow$/],
    ['fast', 50_000, /its newest block is \d\d s behind this machine’s clock \(limit 30 s\): the node is behind, or/],
  ])('says that this machine’s clock is %s', async (_, aheadMs, expected) => {
    expect(failed(await clinic.examined({}, {}, aheadMs))).toEqual([expect.stringMatching(expected)])
  })

  it('says that finality stands still', async () => {
    const changes = await clinic.changedNode(({ params }, result) => {
      if (params[0] !== 'latest' || typeof result !== 'object' || result === null || !('timestamp' in result)) return
      return { result: { ...result, timestamp: `0x${(Number(result.timestamp) + 181).toString(16)}` } }
    })
    expect(await clinic.examined(changes, {}, 181_000)).toContainEqual(
      expect.stringMatching(/^FAIL .* 2 blocks \(18\d s\) behind the newest: the chain’s finality stands still/),
    )
  })
})

describe('the doctor on the HTTP API', () => {
  it('warns that TRX deposits wait where no node has one', async () => {
    const lines = await clinic.examined({ TRON_NODES: [{ rpc: clinic.devnet.rpcUrl }] })
    expect(lines).toContain(
      'warn  TRX: no node has an HTTP API (api), so every TRX deposit waits: JSON-RPC can’t prove one',
    )
    expect(failed(lines)).toEqual([])
  })

  it.each<[string, () => Promise<string>, RegExp]>([
    ['that is elsewhere', async () => `${clinic.devnet.apiUrl}/elsewhere`, /HTTP 404/],
    [
      'that does not have the transaction',
      () => clinic.served(async () => ({ status: 200, body: '{}' })),
      /the API does not have the transaction/,
    ],
    [
      'that gives other bytes',
      () => clinic.served(async () => ({ status: 200, body: '{"raw_data_hex":"0a02"}' })),
      /bytes of another transaction/,
    ],
  ])('fails one %s', async (_, api, expected) => {
    const [line, ...others] = failed(
      await clinic.examined({ TRON_NODES: [{ rpc: clinic.devnet.rpcUrl, api: await api() }] }),
    )
    expect(line).toMatch(/its HTTP API \(127\.0\.0\.1:\d+\) can’t be used, and without one TRX deposits wait/)
    expect(line).toMatch(expected)
    expect(others).toEqual([])
  })
})

describe('the doctor on tokens', () => {
  const token = (changes: Values) => ({
    CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6, ...changes }],
  })
  const answering = (selector: string, result: string) =>
    clinic.changedNode(({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(selector) ? { result } : undefined,
    )

  it.each<[string, () => Promise<Values>, string]>([
    [
      'decimals that differ',
      async () => token({ decimals: 18 }),
      'its decimals are 6, not 18: nothing of it would be credited',
    ],
    [
      'a symbol that differs',
      async () => token({ symbol: 'USDX' }),
      'its own symbol is "USDT": is this the right contract?',
    ],
    [
      'an address without a contract',
      async () => token({ contract: 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6' }),
      'no contract there on this chain, or a node that runs no calls (error -32600)',
    ],
  ])('fails at %s', async (_, changes, expected) => {
    const [line, ...others] = failed(await clinic.examined(await changes()))
    expect(line).toMatch(/^FAIL {2}token USD[TX] \(T\w{33}\): /)
    expect(line).toContain(`: ${expected} (says node 1)`)
    expect(others).toEqual([])
  })

  it('reads a symbol of 32 bytes', async () => {
    const bytes32 = `0x${Buffer.from('USDT').toString('hex').padEnd(64, '0')}`
    expect(await clinic.examined(await answering('0x95d89b41', bytes32))).toContain(
      `ok    token USDT (${tokenBase58}): symbol USDT (says node 1)`,
    )
  })

  it('shows a symbol that can’t be configured without what it would do to a terminal', async () => {
    const text = Buffer.from('\u001b[2JUSD₮').toString('hex')
    const abi = `0x${word('20')}${word((text.length / 2).toString(16))}${text.padEnd(64, '0')}`
    expect(await clinic.examined(await answering('0x95d89b41', abi))).toContain(
      `warn  token USDT (${tokenBase58}): its own symbol is "?[2JUSD?" (says node 1)`,
    )
  })

  it.each(['0x', `0x${word('20')}`, `0x${word('20')}${word('ffffffff')}`, `0x${'f'.repeat(128)}`])(
    'is not led astray by the symbol %s',
    async (result) => {
      const lines = await clinic.examined(await answering('0x95d89b41', result))
      expect(lines.filter((line) => line.includes('symbol'))).toEqual([
        expect.stringMatching(/^(warn|FAIL) {2}token USDT/),
      ])
    },
  )
})

it('no line of all these shows a secret, a key or the path of a URL', () => {
  expect(clinic.seen.length).toBeGreaterThan(100)
  expect(secretsIn(clinic.seen.join('\n'))).toEqual([])
})
