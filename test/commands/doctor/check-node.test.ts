import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBase58 } from '../../devnet/control.ts'
import { depositBase58 } from '../../devnet/support.ts'
import {
  type DoctorHarness,
  failures,
  type JsonRpcCall,
  openHarness,
  type Responder,
  secretsIn,
  serve,
  urlSecret,
  type Values,
  valuesFor,
} from './harness.ts'

let harness: DoctorHarness

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

const word = (digits: string) => digits.padStart(64, '0')
/** The variables of a node whose JSON-RPC and HTTP API are answered by `respond`. */
const nodeOf = async (respond: Responder): Promise<Values> => {
  const url = await harness.serverUrl(respond)
  return { TRON_NODES: [{ rpc: url, api: url }] }
}
const status = (code: number) => () => nodeOf(async () => ({ status: code, body: '{}' }))
const anyQuorumFailure = expect.stringMatching(/^FAIL {2}quorum: /)

describe('the doctor on nodes with faults', () => {
  const unsupported = { error: { code: -32602, message: 'invalid block number' } }
  const isFinalized = ({ params }: JsonRpcCall) => params[0] === 'finalized'

  it('reports the chain id of a node of another chain', async () => {
    const lines = await harness.check({ TRON_CHAIN_ID: '0xcd8690dc' })
    expect(failures(lines)).toEqual([
      expect.stringMatching(/^FAIL {2}node 1.*: another chain: chain id 0x6465766e, not 0xcd8690dc \(TRON_CHAIN_ID\)$/),
      'FAIL  quorum: 0 of 1 nodes are usable, 1 needed: nothing would be credited',
    ])
    expect(lines).toContain('warn  tokens: skipped, because no node is usable')
  })

  it('detects a node that imitates the chain id of a public chain', async () => {
    const lines = await harness.check({
      TRON_CHAIN_ID: '0x2b6653dc',
      ...(await harness.alteredNode(({ method }) => (method === 'eth_chainId' ? { result: '0x2b6653dc' } : undefined))),
    })
    expect(lines).toContainEqual(expect.stringMatching(/^FAIL {2}node 1.*: another chain: block 0 is 0{16}/))
  })

  it('reports a node that is down, and checks the others', async () => {
    const closed = await serve(async () => ({ status: 200, body: '' }))
    await closed.close()
    const nodes = [
      { rpc: `${closed.url}/${urlSecret}`, api: closed.url },
      ...(valuesFor(harness.devnet).TRON_NODES as unknown[]),
    ] // safe: the variables of `valuesFor` have an array of nodes
    const lines = await harness.check({ TRON_NODES: nodes })
    expect(failures(lines)).toEqual([
      'FAIL  node 1: down: does not answer JSON-RPC: unreachable: the connection failed',
      'FAIL  node 1: down: does not answer getblockbylimitnext of the HTTP API: unreachable: the connection failed',
      anyQuorumFailure,
    ])
    expect(lines).toContain(`ok    token USDT (${tokenBase58}): symbol USDT`)
  })

  it.each<[string, () => Promise<Values>, RegExp]>([
    [
      'has no finalized blocks',
      () => harness.alteredNode((call) => (isFinalized(call) ? unsupported : undefined)),
      /does not answer the block `finalized`: it has no tag finalized \(java-tron 4\.8\.0\)$/,
    ],
    [
      'keeps no history',
      () =>
        harness.alteredNode(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined)),
      /refuses: nothing can be credited: it has no transaction history \(storage\.transHistory\.switch\)$/,
    ],
  ])('fails a node that %s', async (_, changes, expected) => {
    expect(failures(await harness.check(await changes()))).toEqual([expect.stringMatching(expected), anyQuorumFailure])
  })

  it.each<[string, number, string, string]>([
    [
      'limits requests',
      429,
      'limited',
      'it has had too many requests (HTTP 429): try again later, or name the variable of an API key in keyVar',
    ],
    [
      'forbids requests',
      403,
      'refuses',
      'refused: its plan lacks this, it has had too many requests, or its key is wrong or missing (HTTP 403): try again later, or name the variable of an API key in keyVar',
    ],
    [
      'refuses the API key',
      401,
      'refuses',
      'the API key is missing or refused (HTTP 401): name the variable of a valid key in keyVar',
    ],
    ['redirects', 302, 'refuses', 'a redirect (HTTP 302)'],
  ])('fails a node that %s at both of its services', async (_, code, state, why) => {
    expect(failures(await harness.check(await status(code)()))).toEqual([
      `FAIL  node 1: ${state}: does not answer JSON-RPC: ${why}`,
      `FAIL  node 1: ${state}: does not answer getblockbylimitnext of the HTTP API: ${why}`,
      anyQuorumFailure,
    ])
  })

  it.each(['SOLIDITY', 'PBFT'])('warns about a port of final state only: %s', async (port) => {
    const message = `the method buildTransaction does not exist/is not available in ${port}`
    const changes = await harness.alteredNode(({ method }) =>
      method === 'buildTransaction' ? { error: { code: -32601, message } } : undefined,
    )
    const lines = await harness.check(changes)
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^warn {2}node 1.*: shows final state only .* are credited about \d+ s late: use the port of its full state$/,
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
    // The blocks of a local chain may have other times than the clock, so on a local chain a wrong
    // clock is only a warning.
    expect(await harness.check({}, {}, aheadMs)).toContainEqual(expect.stringMatching(/^warn .*: the newest block is /))
    const shasta = await harness.alteredNode(({ method, params }, result) => {
      if (method === 'eth_chainId') return { result: '0x94a9059e' }
      const isFirst = method === 'eth_getBlockByNumber' && params[0] === '0x0'
      return isFirst ? { result: { ...(result as object), hash: `0x${'0'.repeat(56)}94a9059e` } } : undefined
    })
    const [line] = failures(await harness.check({ ...shasta, TRON_CHAIN_ID: '0x94a9059e' }, {}, aheadMs))
    expect(line).toMatch(expected)
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
  const altered = (alter: (reply: string) => string) => () =>
    harness.serverUrl(async (body, path) => {
      const reply = await fetch(`${harness.devnet.apiUrl}${path}`, { method: 'POST', body })
      return { status: 200, body: alter(await reply.text()) }
    })
  const failing: readonly [string, () => Promise<string>, RegExp][] = [
    ['at a wrong path', async () => `${harness.devnet.apiUrl}/elsewhere`, /getblockbylimitnext of the HTTP API: /],
    ['at the JSON-RPC', async () => harness.devnet.rpcUrl, /getblockbylimitnext of the HTTP API: /],
    ['that answers with an error', altered(() => '{"Error":"x"}'), /HTTP API: an exception of the node/],
    ['that answers with HTML', altered(() => '<html>'), /HTTP API: a body that is not JSON/],
    ['that is down', async () => 'http://127.0.0.1:1', /HTTP API: unreachable/],
    ['without the block', altered(() => '{}'), /no block \d+/],
    [
      'with other blocks',
      altered((reply) =>
        reply.replace(/("blockID":"0{8}.{20})(.)/, (_, start, digit) => start + (digit === '0' ? '1' : '0')),
      ),
      /its JSON-RPC lacks block \d+ of its HTTP API/,
    ],
  ]
  const check = async (api: string) =>
    failures(await harness.check({ TRON_NODES: [{ rpc: harness.devnet.rpcUrl, api }] }))

  it('fails one with bytes of another transaction', async () => {
    const api = await altered((reply) => reply.replace('"raw_data_hex":"0a02', '"raw_data_hex":"0a03'))()
    expect(await check(api)).toEqual([
      expect.stringMatching(/: does not answer getblockbylimitnext of the HTTP API: /),
      anyQuorumFailure,
    ])
  })

  describe('of a chain whose last blocks are empty', () => {
    beforeAll(async () => {
      await harness.devnet.mine(60)
    })

    it('warns that bytes and history could not be checked', async () => {
      const lines = await harness.check({})
      expect(lines).toContainEqual(
        expect.stringMatching(/^warn .*: HTTP API \(.*\): has the final blocks; bytes could not be checked, because/),
      )
      expect(lines).toContainEqual(expect.stringMatching(/^warn .*: history: could not be checked, because the last/))
    })

    it.each(failing)('fails one %s all the same', async (_, api, why) => {
      const [line, quorum] = await check(await api())
      expect(line).toMatch(/^FAIL {2}node 1: /)
      expect(line).toMatch(why)
      expect(quorum).toEqual(anyQuorumFailure)
    })
  })
})

it('the doctor finds a node without history by a block that has calls, where the newest block is empty', async () => {
  await harness.devnet.pay({ to: depositBase58, amount: '1', currency: 'USDT' })
  await harness.devnet.mine(5)
  const changes = await harness.alteredNode(({ method }) => {
    if (method === 'eth_getLogs') return { result: [] }
    return method === 'eth_getTransactionReceipt' ? { result: null } : undefined
  })
  expect(failures(await harness.check(changes))).toEqual([
    expect.stringMatching(/blocks: no receipt of a call of block \d+: it has no transaction history/),
    anyQuorumFailure,
  ])
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
      'decimals could not be read, is there a contract?',
    ],
  ])('fails a token with %s', async (_, changes, expected) => {
    const [line, ...others] = failures(await harness.check(await changes()))
    expect(line).toMatch(/^FAIL {2}token USD[TX] \(T\w{33}\): /)
    expect(line).toContain(`: ${expected}`)
    expect(others).toEqual([])
  })

  it('reads a symbol of 32 bytes', async () => {
    const bytes32 = `0x${Buffer.from('USDT').toString('hex').padEnd(64, '0')}`
    expect(await harness.check(await replying('0x95d89b41', bytes32))).toContain(
      `ok    token USDT (${tokenBase58}): symbol USDT`,
    )
  })

  it('prints a symbol without characters that control a terminal', async () => {
    const text = Buffer.from('\u001b[2JUSD₮').toString('hex')
    const abi = `0x${word('20')}${word((text.length / 2).toString(16))}${text.padEnd(64, '0')}`
    expect(await harness.check(await replying('0x95d89b41', abi))).toContain(
      `warn  token USDT (${tokenBase58}): symbol "?[2JUSD?", not "USDT"`,
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
  expect(harness.printed.length).toBeGreaterThan(50)
  expect(secretsIn(harness.printed.join('\n'))).toEqual([])
})
