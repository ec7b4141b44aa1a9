import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explainPending } from '../../../src/deposits/explain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { type DoctorHarness, failures, openHarness, type Values } from './harness.ts'
import { type JsonRpcCall, serve } from './servers.ts'
import { keySecret, secretsIn, urlSecret, valuesFor } from './support.ts'

let harness: DoctorHarness

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

const word = (digits: string) => digits.padStart(64, '0')
const anyQuorumFailure = expect.stringMatching(/^FAIL {2}quorum: /)

describe('the doctor on nodes with faults', () => {
  const unsupported = { error: { code: -32602, message: 'invalid block number' } }
  const isFinalized = ({ params }: JsonRpcCall) => params[0] === 'finalized'

  it('reports the chain id of a node of another chain', async () => {
    const lines = await harness.check({ TRON_CHAIN_ID: '0xcd8690dc' })
    expect(failures(lines)).toEqual([
      expect.stringMatching(/^FAIL {2}node 1 .*: chain id 0x6465766e, not 0xcd8690dc \(TRON_CHAIN_ID\)$/),
      'FAIL  quorum: 0 of 1 nodes are usable, 1 needed: nothing would be credited',
    ])
    expect(lines).toContain('warn  tokens: skipped, because no node is usable')
  })

  it('detects a node that imitates the chain id of a public chain', async () => {
    const lines = await harness.check({
      TRON_CHAIN_ID: '0x2b6653dc',
      ...(await harness.alteredNode(({ method }) => (method === 'eth_chainId' ? { result: '0x2b6653dc' } : undefined))),
    })
    expect(lines).toContainEqual(expect.stringMatching(/^FAIL {2}node 1 .*: another chain \(block 0 is 0{16}/))
  })

  it('reports a node that is down, and checks the others', async () => {
    const closed = await serve(async () => ({ status: 200, body: '' }))
    await closed.close()
    const nodes = [{ rpc: `${closed.url}/${urlSecret}` }, ...(valuesFor(harness.devnet).TRON_NODES as unknown[])] // safe: an array
    const lines = await harness.check({ TRON_NODES: nodes })
    expect(failures(lines)).toEqual([
      expect.stringMatching(`^FAIL {2}node 1 \\(${new URL(closed.url).host}\\): unreachable \\(`),
      anyQuorumFailure,
    ])
    expect(lines).toContain(`ok    token USDT (${tokenBase58}): symbol USDT (node 2)`)
  })

  it.each<[string, () => Promise<Values>, RegExp]>([
    [
      'limits requests',
      async () => ({ TRON_NODES: [{ rpc: await harness.serverUrl(async () => ({ status: 429, body: '{}' })) }] }),
      /rate limit \(HTTP 429\): try again later, or name the variable of an API key in keyVar$/,
    ],
    [
      'refuses the API key',
      async () => ({ TRON_NODES: [{ rpc: await harness.serverUrl(async () => ({ status: 401, body: '{}' })) }] }),
      /the API key is missing or refused \(HTTP 401\)$/,
    ],
    [
      'redirects',
      async () => ({ TRON_NODES: [{ rpc: await harness.serverUrl(async () => ({ status: 302, body: '' })) }] }),
      /HTTP 302/,
    ],
    [
      'has no finalized blocks',
      () => harness.alteredNode((call) => (isFinalized(call) ? unsupported : undefined)),
      /no finalized blocks \(before java-tron 4\.8\.0\): nothing can be credited$/,
    ],
    [
      'keeps no history',
      () =>
        harness.alteredNode(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined)),
      /no history of receipts and logs: nothing can be credited$/,
    ],
  ])('fails a node that %s', async (_, changes, expected) => {
    expect(failures(await harness.check(await changes()))).toEqual([expect.stringMatching(expected), anyQuorumFailure])
  })

  it('warns about a node that accepts no batches, which stays usable', async () => {
    const url = await harness.serverUrl(async (body) => {
      if (body.startsWith('[')) return { status: 400, body: '{}' }
      return { status: 200, body: await (await fetch(harness.devnet.rpcUrl, { method: 'POST', body })).text() }
    })
    const lines = await harness.check({ TRON_NODES: [{ rpc: url, api: harness.devnet.apiUrl }] })
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^warn {2}node 1 .*: accepts no batches: a scan needs more requests and reads fewer blocks/,
      ),
    )
    expect(failures(lines)).toEqual([])
  })

  it('warns about an unknown version', async () => {
    const lines = await harness.check(
      await harness.alteredNode(({ method }) =>
        method === 'web3_clientVersion' ? { result: `Geth/${keySecret}` } : undefined,
      ),
    )
    expect(lines).toContainEqual(expect.stringMatching(/^warn .*: web3_clientVersion has no version of java-tron$/))
    expect(failures(lines)).toEqual([])
  })

  it('accepts a java-tron that does not report its version', async () => {
    const changes = await harness.alteredNode(({ method }) =>
      method === 'web3_clientVersion' ? { error: { code: -32001, message: 'No match found' } } : undefined,
    )
    expect(await harness.check(changes)).toContainEqual(
      expect.stringMatching(/^ok {4}node 1 .*: java-tron of an unknown version: /),
    )
  })

  it.each(['SOLIDITY', 'PBFT'])('warns about a port of final state only: %s', async (port) => {
    const message = `the method buildTransaction does not exist/is not available in ${port}`
    const changes = await harness.alteredNode(({ method }) =>
      method === 'buildTransaction' ? { error: { code: -32601, message } } : undefined,
    )
    const lines = await harness.check(changes)
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^warn {2}node 1 .*: shows final state only .* are credited about \d+ s late: use the port of its full state$/,
      ),
    )
    expect(failures(lines)).toEqual([])
  })

  it.each<[string, number, RegExp]>([
    [
      'slow',
      -50_000,
      /the newest block is [45]\d s ahead of the clock of this machine \(limit 30 s\): the clock is slow$/,
    ],
    [
      'fast',
      50_000,
      /\d\d s behind the clock .*\(limit 30 s\): the node is behind or shows final state only, or the clock is fast$/,
    ],
  ])('fails where the clock of this machine is %s', async (_, aheadMs, expected) => {
    expect(failures(await harness.check({}, {}, aheadMs))).toEqual([expect.stringMatching(expected)])
  })

  it('fails where finality has stalled', async () => {
    const changes = await harness.alteredNode(({ params }, result) => {
      if (params[0] !== 'latest' || typeof result !== 'object' || result === null || !('timestamp' in result)) return
      return { result: { ...result, timestamp: `0x${(Number(result.timestamp) + 181).toString(16)}` } }
    })
    expect(await harness.check(changes, {}, 181_000)).toContainEqual(
      expect.stringMatching(
        /^FAIL .* 2 blocks \(18\d s\) behind the newest block \(limit 180 s\): finality has stalled/,
      ),
    )
  })
})

describe('the doctor on HTTP APIs', () => {
  it('warns that TRX deposits are on hold where no node has one', async () => {
    const lines = await harness.check({ TRON_NODES: [{ rpc: harness.devnet.rpcUrl }] })
    expect(lines).toContain(`warn  ${explainPending('no-api')}`)
    expect(failures(lines)).toEqual([])
  })

  it.each<[string, () => Promise<string>]>([
    ['at a wrong path', async () => `${harness.devnet.apiUrl}/elsewhere`],
    ['without the transaction', () => harness.serverUrl(async () => ({ status: 200, body: '{}' }))],
    [
      'that returns bytes of another transaction',
      () => harness.serverUrl(async () => ({ status: 200, body: '{"raw_data_hex":"0a02"}' })),
    ],
  ])('fails one %s', async (_, api) => {
    const nodes = [{ rpc: harness.devnet.rpcUrl, api: await api() }]
    expect(failures(await harness.check({ TRON_NODES: nodes }))).toEqual([
      expect.stringMatching(/: HTTP API \(127\.0\.0\.1:\d+\): not usable to verify TRX deposits: [^;]+$/),
    ])
  })
})

describe('the doctor on HTTP APIs of a chain whose last blocks are empty', () => {
  beforeAll(async () => {
    await harness.devnet.mine(60)
  })

  it('warns that the bytes could not be checked', async () => {
    expect(await harness.check({})).toContainEqual(
      expect.stringMatching(
        /^warn .*: HTTP API \(.*\): answers; its bytes could not be checked, because the last final/,
      ),
    )
  })

  it.each<[string, () => Promise<string>]>([
    ['at a wrong path', async () => `${harness.devnet.apiUrl}/elsewhere`],
    ['at the JSON-RPC', async () => harness.devnet.rpcUrl],
    ['that answers with an error', () => harness.serverUrl(async () => ({ status: 200, body: '{"Error":"x"}' }))],
    ['that answers with HTML', () => harness.serverUrl(async () => ({ status: 200, body: '<html>' }))],
    ['that is down', async () => 'http://127.0.0.1:1'],
  ])('fails one %s', async (_, api) => {
    const nodes = [{ rpc: harness.devnet.rpcUrl, api: await api() }]
    expect(failures(await harness.check({ TRON_NODES: nodes }))).toEqual([
      expect.stringMatching(/: HTTP API \(127\.0\.0\.1:\d+\): not usable to verify TRX deposits: [^;]+$/),
    ])
  })
})

describe('the doctor on tokens', () => {
  const token = (changes: Values) => ({
    CURRENCIES: [{ cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6, ...changes }],
  })
  const replying = (selector: string, result: string) =>
    harness.alteredNode(({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(selector) ? { result } : undefined,
    )

  it.each<[string, () => Promise<Values>, string]>([
    [
      'other decimals',
      async () => token({ decimals: 18 }),
      'decimals 6, not 18: no deposit of this token would be credited',
    ],
    [
      'another symbol',
      async () => token({ symbol: 'USDX' }),
      'symbol "USDT", not "USDX": compare the contract with that of the token',
    ],
    [
      'no contract at the address',
      async () => token({ contract: 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6' }),
      'no contract at this address, or the node does not support eth_call (error -32600)',
    ],
  ])('fails a token with %s', async (_, changes, expected) => {
    const [line, ...others] = failures(await harness.check(await changes()))
    expect(line).toMatch(/^FAIL {2}token USD[TX] \(T\w{33}\): /)
    expect(line).toContain(`: ${expected} (node 1)`)
    expect(others).toEqual([])
  })

  it('reads a symbol of 32 bytes', async () => {
    const bytes32 = `0x${Buffer.from('USDT').toString('hex').padEnd(64, '0')}`
    expect(await harness.check(await replying('0x95d89b41', bytes32))).toContain(
      `ok    token USDT (${tokenBase58}): symbol USDT (node 1)`,
    )
  })

  it('prints a symbol without characters that control a terminal', async () => {
    const text = Buffer.from('\u001b[2JUSD₮').toString('hex')
    const abi = `0x${word('20')}${word((text.length / 2).toString(16))}${text.padEnd(64, '0')}`
    expect(await harness.check(await replying('0x95d89b41', abi))).toContain(
      `warn  token USDT (${tokenBase58}): symbol "?[2JUSD?", not "USDT" (node 1)`,
    )
  })

  it.each(['0x', `0x${word('20')}`, `0x${word('20')}${word('ffffffff')}`, `0x${'f'.repeat(128)}`])(
    'warns or fails at the malformed symbol %s',
    async (result) => {
      const lines = await harness.check(await replying('0x95d89b41', result))
      expect(lines.filter((line) => line.includes('symbol'))).toEqual([
        expect.stringMatching(/^(warn|FAIL) {2}token USDT/),
      ])
    },
  )
})

it('prints no secret, no API key and no path of a URL', () => {
  expect(harness.printed.length).toBeGreaterThan(100)
  expect(secretsIn(harness.printed.join('\n'))).toEqual([])
})
