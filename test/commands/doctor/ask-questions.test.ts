import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyRemedy } from '../../../src/worker/tron/node-errors.ts'
import { type DoctorHarness, failures, type JsonRpcCall, keySecret, openHarness, secretsIn } from './harness.ts'

let harness: DoctorHarness

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

const texts = {
  finalized: 'the block `finalized`',
  logs: 'the logs of a block by its hash, without a filter',
  blocks: 'getblockbylimitnext of the HTTP API',
}
const quorum = 'FAIL  quorum: 0 of 1 nodes are usable, 1 needed: nothing would be credited'
const nowhere = 'nothing is at its URL (HTTP 404): correct the URL in TRON_NODES'
const error = (code: number) => ({ error: { code, message: 'https://node.example/path-secret-7c1f' } })

/** The doctor's lines about a node that refuses some JSON-RPC calls, as a provider may. */
async function linesFor(refuse: (call: JsonRpcCall) => ReturnType<typeof error> | undefined): Promise<string[]> {
  const { TRON_NODES } = (await harness.alteredNode(refuse)) as { TRON_NODES: object[] } // safe: made by the harness
  return harness.check({ TRON_NODES: [{ ...TRON_NODES[0], name: 'A provider' }] })
}

describe('the three questions that the doctor asks of each node', () => {
  it('are answered, in one line', async () => {
    expect(await linesFor(() => undefined)).toContain(
      `ok    node 1 (A provider): answers ${texts.finalized}; ${texts.logs}; ${texts.blocks}`,
    )
  })

  it('show a provider that takes logs with a filter only, and that it answers the others', async () => {
    const lines = await linesFor(({ method }) => (method === 'eth_getLogs' ? error(-32000) : undefined))
    expect(lines).toContain(`ok    node 1 (A provider): answers ${texts.finalized}; ${texts.blocks}`)
    expect(failures(lines)).toEqual([
      `FAIL  node 1 (A provider): refuses: does not answer ${texts.logs}: its list of logs: an error (error -32000): ${anyRemedy}`,
      quorum,
    ])
  })

  it('show a provider that gives fewer logs than a block has', async () => {
    const lines = await linesFor(({ method }) => (method === 'eth_getLogs' ? error(-32005) : undefined))
    expect(failures(lines)).toEqual([
      `FAIL  node 1 (A provider): refuses: does not answer ${texts.logs}: its list of logs: the reply would be too large (error -32003): ${anyRemedy}`,
      quorum,
    ])
  })

  it('show a provider without the tag, and that it answers the others', async () => {
    const lines = await linesFor(({ params }) => (params[0] === 'finalized' ? error(-32602) : undefined))
    expect(lines).toContain(`ok    node 1 (A provider): answers ${texts.logs}; ${texts.blocks}`)
    expect(failures(lines)).toEqual([
      `FAIL  node 1 (A provider): refuses: does not answer ${texts.finalized}: it has no tag finalized (java-tron 4.8.0)`,
      quorum,
    ])
  })

  it('show a provider without the HTTP API', async () => {
    const url = await harness.serverUrl(async (body, path) => {
      if (path !== '/') return { status: 404, body: 'no such service' }
      return { status: 200, body: await (await fetch(harness.devnet.rpcUrl, { method: 'POST', body })).text() }
    })
    const lines = await harness.check({ TRON_NODES: [{ rpc: url, api: url }] })
    expect(lines).toContain(`ok    node 1: answers ${texts.finalized}; ${texts.logs}`)
    expect(failures(lines)).toEqual([`FAIL  node 1: refuses: does not answer ${texts.blocks}: ${nowhere}`, quorum])
  })

  it('show a provider without JSON-RPC: its HTTP API is asked for a block that each node has', async () => {
    const bodies: string[] = []
    const url = await harness.serverUrl(async (body, path) => {
      if (path === '/') return { status: 404, body: 'no such service' }
      bodies.push(body)
      const reply = await fetch(`${harness.devnet.apiUrl}${path}`, { method: 'POST', body })
      return { status: 200, body: await reply.text() }
    })
    const lines = await harness.check({ TRON_NODES: [{ rpc: url, api: url }] })
    expect(lines).toContain(`ok    node 1: answers ${texts.blocks}`)
    expect(failures(lines)).toEqual([`FAIL  node 1: refuses: does not answer JSON-RPC: ${nowhere}`, quorum])
    expect(bodies).toEqual(['{"startNum":1,"endNum":2}'])
  })
})

describe('the key of a node', () => {
  it('reaches it in its URLs, or in the header that is named, and no line', async () => {
    const got: string[][] = []
    const url = await harness.serverUrl(async (body, path, headers) => {
      got.push([path.replace(/\/wallet\/.*/, ''), String(headers['x-token'])])
      const [to, rest = ''] = path.includes('/wallet/')
        ? [harness.devnet.apiUrl, path.slice(path.indexOf('/wallet/'))]
        : [harness.devnet.rpcUrl]
      return { status: 200, body: await (await fetch(`${to}${rest}`, { method: 'POST', body })).text() }
    })
    const check = async (node: object) => {
      got.length = 0
      const lines = await harness.check({ TRON_NODES: [{ keyVar: 'NODE_KEY', ...node }], NODE_KEY: `${keySecret}/?` })
      expect(failures(lines)).toEqual([])
      return new Set(got.map((one) => one.join(' ')))
    }
    const encoded = `${keySecret}%2F%3F`
    expect(await check({ rpc: `${url}/{key}/jsonrpc?k={key}`, api: `${url}/{key}` })).toEqual(
      new Set([`/${encoded}/jsonrpc?k=${encoded} undefined`, `/${encoded} undefined`]),
    )
    expect(await check({ rpc: `${url}/a`, api: url, keyHeader: 'X-Token' })).toEqual(
      new Set([`/a ${keySecret}/?`, ` ${keySecret}/?`]),
    )
    const broken = await harness.check({
      TRON_NODES: [{ keyVar: 'NODE_KEY', rpc: 'http://127.0.0.1:1/{key}', api: 'http://127.0.0.1:1/{key}' }],
    })
    expect(failures(broken)).toHaveLength(3)
  })

  it('is in no line that was printed', () => {
    expect(harness.printed.length).toBeGreaterThan(50)
    expect(secretsIn(harness.printed.join('\n'))).toEqual([])
  })
})
