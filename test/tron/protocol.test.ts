import { describe, expect, it } from 'vitest'
import { createChain, transferLog, usdt, type Wire } from '../support/chain-builder.ts'
import { changing, type Fault, failing, type Incoming } from '../support/scripted-node.ts'
import { asked, at, busyChain, createHarness, type Harness, them, token, us } from './harness.ts'

/** Rows of the fact sheet's sections 6, 7 and 8, each with what the pool makes of it. */
type Row = readonly [row: string, fault: Fault | ((h: Harness, incoming: Incoming) => Fault | null)]

/** One node, probed while it was well; then the fault comes with every request. */
async function faulty(fault: Row[1]) {
  const h = createHarness({ nodes: 1, chain: busyChain() })
  await h.settle(h.pool().finalizedHead())
  for (const node of h.nodes) node.script = (incoming) => (typeof fault === 'function' ? fault(h, incoming) : fault)
  return { h, pool: h.pool(), firstHeight: h.chain.firstHeight }
}

async function readBlocks(fault: Row[1]) {
  const { h, pool, firstHeight } = await faulty(fault)
  return { h, answer: await h.settle(pool.finalizedBlocks(at(firstHeight), at(firstHeight + 2))) }
}

async function readReceipts(fault: Row[1]) {
  const { h, pool, firstHeight } = await faulty(fault)
  return { h, answer: await h.settle(pool.receipts([asked(h.chain, firstHeight, 1)])) }
}

const blocks = (change: (block: Record<string, unknown>) => unknown): Fault =>
  changing('eth_getBlockByNumber', (value, call) =>
    call.params[1] === true ? change(structuredClone(value) as Record<string, unknown>) : value,
  )
const transactions = (change: (list: Record<string, unknown>[]) => unknown): Fault =>
  blocks((block) => ({ ...block, transactions: change(block.transactions as Record<string, unknown>[]) }))
const logs = (change: (list: Record<string, unknown>[]) => unknown): Fault =>
  changing('eth_getLogs', (value) => change(structuredClone(value) as Record<string, unknown>[]))
const everyLog = (patch: Wire) => logs((list) => list.map((log) => ({ ...log, ...patch })))
const receipt = (change: (receipt: Record<string, unknown>) => unknown): Fault =>
  changing('eth_getTransactionReceipt', (value) => change(structuredClone(value) as Record<string, unknown>))
const envelopes = (change: (list: readonly Wire[]) => unknown): Fault => ({ kind: 'envelopes', change })
const body = (text: string): Fault => ({ kind: 'body', body: text })
const status = (code: number, text = ''): Fault => ({ kind: 'status', status: code, body: text })
const otherHash = `0x0000000000000001${'cd'.repeat(24)}`

const section6: readonly Row[] = [
  ['6.1 a null receipt cannot tell: it is not "failed"', receipt(() => null)],
  ['6.1 a receipt of another transaction', receipt((r) => ({ ...r, transactionHash: otherHash }))],
  ['6.1 a receipt without its block', receipt(({ blockHash: _, ...r }) => r)],
  ['6.1 a receipt whose block hash is not of its height', receipt((r) => ({ ...r, blockNumber: '0x7' }))],
  ['6.1 a receipt with "0x" for its height', receipt((r) => ({ ...r, blockNumber: '0x' }))],
  ['6.1 a receipt without logs', receipt(({ logs: _, ...r }) => r)],
  [
    '6.1 a log in a receipt that names another block',
    receipt((r) => ({ ...r, logs: patched(r.logs, { blockHash: otherHash }) })),
  ],
  [
    '6.1 a log in a receipt of another transaction',
    receipt((r) => ({ ...r, logs: patched(r.logs, { transactionHash: otherHash }) })),
  ],
  ['6.1 a removed log in a receipt', receipt((r) => ({ ...r, logs: patched(r.logs, { removed: true }) }))],
  ['6.1 an error for a receipt', failing('eth_getTransactionReceipt', -32602, 'invalid hash value')],
  ['6.1 no such method', failing('eth_getTransactionReceipt', -32601, 'method not found')],
  ['6.3 a receipt without a status', receipt(({ status: _, ...r }) => r)],
  ['6.3 a status that is neither 0x0 nor 0x1', receipt((r) => ({ ...r, status: '0x2' }))],
  ['6.3 a status that is a number', receipt((r) => ({ ...r, status: 1 }))],
]

function patched(logs: unknown, patch: Wire): unknown {
  return (logs as Wire[]).map((log) => ({ ...log, ...patch }))
}

const section7: readonly Row[] = [
  ['7.1 an unknown block hash is an error', failing('eth_getLogs', -32602, 'invalid blockHash')],
  ['7.3 another parameter error', failing('eth_getLogs', -32602, 'invalid topic(s): x')],
  ['7.3 a number-format text from an old node', failing('eth_getLogs', -32001, 'NumberFormatException')],
  ['7.3 a bloom store problem', failing('eth_getLogs', -32000, 'section bloom is lost')],
  [
    '7.4 a lagging node with no such block yet',
    changing('eth_getBlockByNumber', (v, c) => (c.params[1] === true ? null : v)),
  ],
  ['7.4 a silent [] for a block with token calls', logs(() => [])],
  ['7.4 null in place of logs', logs(() => null)],
  ['7.4 an omitted log leaves a hole in the numbers', logs((list) => list.slice(1))],
  ['7.5 logs out of order', logs((list) => list.toReversed())],
  ['7.5 a log twice', logs((list) => [...list, ...list.slice(-1)])],
  ['7.5 a removed log', everyLog({ removed: true })],
  ['7.5 a log that names another block', everyLog({ blockHash: otherHash })],
  ['7.5 a log of another height', everyLog({ blockNumber: '0x1' })],
  ['7.5 a log of a transaction that is not in the block', everyLog({ transactionHash: otherHash })],
  ['7.5 a log with an index that is a number', logs((list) => list.map((log, i) => ({ ...log, logIndex: i })))],
  ['7.5 a log without its index', logs((list) => list.map(({ logIndex: _, ...log }) => log))],
  ['7.5 a log with the transaction index of another', everyLog({ transactionIndex: '0x0' })],
  ['7.5 a log with five topics', everyLog({ topics: Array(5).fill(otherHash) })],
  ['7.5 a topic of 31 bytes', everyLog({ topics: [`0x${'ab'.repeat(31)}`] })],
  ['7.5 data with half a byte', everyLog({ data: '0x123' })],
  ['7.5 a log without its contract', everyLog({ address: null })],
]

const section8: readonly Row[] = [
  ['8.1 answers in another order', envelopes((list) => list.toReversed())],
  ['8.1 an answer too few', envelopes((list) => list.slice(1))],
  ['8.1 an answer too many', envelopes((list) => [...list, ...list.slice(-1)])],
  ['8.1 one answer twice and one missing', envelopes((list) => [...list.slice(0, -1), list[0]])],
  ['8.1 one answer without its array', envelopes((list) => list[0])],
  [
    '8.1 an error for the whole batch that no smaller one avoids',
    body('{"jsonrpc":"2.0","id":"null","error":{"code":-32603,"message":"Internal error"}}'),
  ],
  ['8.1 an empty array', body('[]')],
  ['8.2 HTTP 200 with an empty body', body('')],
  ['8.2 HTTP 200 with blanks', body(' \n')],
  [
    '8.2 the rate limiter of a node: HTTP 200 that is no JSON-RPC',
    body('{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}'),
  ],
  ['8.2 ids as text', envelopes((list) => list.map((one) => ({ ...one, id: String(one.id) })))],
  ['8.2 ids of another request', envelopes((list) => list.map((one) => ({ ...one, id: Number(one.id) + 1 })))],
  ['8.2 no jsonrpc', envelopes((list) => list.map(({ jsonrpc: _, ...one }) => one))],
  ['8.2 another version', envelopes((list) => list.map((one) => ({ ...one, jsonrpc: '1.0' })))],
  ['8.2 both result and error', envelopes((list) => list.map((one) => ({ ...one, error: { code: 1, message: '' } })))],
  ['8.2 neither result nor error', envelopes((list) => list.map(({ result: _, ...one }) => one))],
  ['8.2 a result with the id "null"', envelopes((list) => list.map((one) => ({ ...one, id: 'null' })))],
  ['8.2 HTML', body('<!doctype html><title>502 Bad Gateway</title>')],
  ['8.2 half of the JSON', { kind: 'half-json' }],
  ['8.2 a broken connection', { kind: 'broken-connection' }],
  ['8.2 a redirect', { kind: 'redirect' }],
  [
    '8.3 an error without a code',
    envelopes((list) => list.map(({ result: _, ...one }) => ({ ...one, error: { message: 'x' } }))),
  ],
  [
    '8.3 -32700 with the id "null"',
    body('{"jsonrpc":"2.0","id":"null","error":{"code":-32700,"message":"JSON parse error"}}'),
  ],
  [
    '8.4 HTTP 403 of an exceeded key',
    status(403, '{"Success":false,"Error":"The key exceeds the frequency limit(15)","StatusCode":403}'),
  ],
  ['8.4 HTTP 429', status(429, 'Too Many Requests')],
  ['8.4 HTTP 503', status(503, '<html>')],
  [
    '8.4 HTTP 200 with an exceeded rate',
    body('{"Error":"request rate exceeded the allowed_rps(10), and the query server is suspended for 5 s"}'),
  ],
  ['8.5 a gateway’s own 400', status(400, '{"message":"unsupported"}')],
  ['8.5 a gateway’s own 401', status(401, '{"message":"bad key"}')],
  ['8.5 a gateway’s own 404', status(404)],
  ['8.5 HTTP 413 that no smaller question avoids', status(413)],
  ['8.5 HTTP 500', status(500)],
  ['8.5 HTTP 502', status(502, '<html>')],
  ['8.6 another network in the same batch', changing('eth_chainId', () => '0xcd8690dc')],
  ['8.3 -32001 for the chain id', failing('eth_chainId', -32001, 'Exception')],
  ['8.6 no chain id', changing('eth_chainId', () => null)],
  ['8.6 "0x" for a chain id', changing('eth_chainId', () => '0x')],
  ['8.6 a number for a chain id', changing('eth_chainId', () => 728126428)],
]

const codes: readonly Row[] = [
  ['8.3 -32600', failing('eth_getBlockByNumber', -32600, 'Invalid Request')],
  ['8.3 -32601', failing('eth_getLogs', -32601, 'the method eth_getLogs does not exist/is not available in PBFT')],
  ['8.3 -32602', failing('eth_getLogs', -32602, 'method parameters invalid')],
  ['8.3 -32603', failing('eth_getLogs', -32603, 'Internal error')],
  ['8.3 -32000', failing('eth_getLogs', -32000, 'header not found')],
  ['8.3 -32003 that no smaller question avoids', failingFull(-32003)],
  ['8.3 -32005 that no smaller question avoids', failingFull(-32005)],
]

const blockRows: readonly Row[] = [
  ['2.2 null for a block', blocks(() => null)],
  ['2.2 no tag finalized any more', failing('eth_getBlockByNumber', -32602, 'invalid block number')],
  ['5.1 a block of another height', blocks((b) => ({ ...b, number: '0x5' }))],
  ['5.1 a hash that does not carry the height', blocks((b) => ({ ...b, hash: otherHash }))],
  ['5.1 a parent hash that does not carry the height before', blocks((b) => ({ ...b, parentHash: otherHash }))],
  [
    '5.1 a parent that is not the block before',
    blocks((b) => ({ ...b, parentHash: `${String(b.parentHash).slice(0, -4)}0000` })),
  ],
  ['5.1 a height that is a number', blocks((b) => ({ ...b, number: Number(b.number) }))],
  ['5.1 "0x" for a height', blocks((b) => ({ ...b, number: '0x' }))],
  ['5.1 a block without transactions', blocks(({ transactions: _, ...b }) => b)],
  ['5.1 txids where transactions were asked for', transactions((list) => list.map((t) => t.hash))],
  [
    '5.2 a transaction that names another block',
    transactions((list) => list.map((t) => ({ ...t, blockHash: otherHash }))),
  ],
  ['5.2 a transaction of another height', transactions((list) => list.map((t) => ({ ...t, blockNumber: '0x1' })))],
  ['5.2 an unmined transaction in a block', transactions((list) => list.map((t) => ({ ...t, blockNumber: '0x' })))],
  ['5.2 a transaction twice', transactions((list) => [...list, { ...list[0], transactionIndex: '0x4' }])],
  ['5.2 transactions in another order', transactions((list) => list.toReversed())],
  ['5.2 a transaction without its value', transactions((list) => list.map(({ value: _, ...t }) => t))],
  ['5.2 a value that is a number', transactions((list) => list.map((t) => ({ ...t, value: 5 })))],
  ['5.2 an address of 19 bytes', transactions((list) => list.map((t) => ({ ...t, to: `0x${'ab'.repeat(19)}` })))],
  [
    '9 a finalized head below the blocks asked for',
    changing('eth_getBlockByNumber', (v, c) =>
      c.params[0] === 'finalized' ? { ...(v as Wire), number: '0x0', hash: `0x${'0'.repeat(64)}` } : v,
    ),
  ],
  [
    '9 a finalized head that is another block of that height',
    (h) =>
      changing('eth_getBlockByNumber', (v, c) =>
        c.params[0] === 'finalized'
          ? {
              ...h.chain.at(h.chain.firstHeight + 2)?.brief,
              hash: `0x${(h.chain.firstHeight + 2).toString(16).padStart(16, '0')}${'cd'.repeat(24)}`,
            }
          : v,
      ),
  ],
]

/** An error to the full blocks alone, so that the batch's own guard stays well. */
function failingFull(code: number): Fault {
  return {
    kind: 'answers',
    change: (call) =>
      call.method === 'eth_getBlockByNumber' && call.params[1] === true ? { error: { code, message: '' } } : undefined,
  }
}

describe('what is no answer, and never "no deposits"', () => {
  it.each([...section7, ...section8, ...codes, ...blockRows])('blocks: %s', async (_, fault) => {
    const { answer } = await readBlocks(fault)
    expect(answer).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each([...section6, ...section8])('receipts: %s', async (_, fault) => {
    const { answer } = await readReceipts(fault)
    expect(answer).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })

  it.each([...section7, ...section8, ...codes, ...blockRows])('goes on with the next node: %s', async (_, fault) => {
    const h = createHarness({ nodes: 2, chain: busyChain() })
    const [bad] = h.nodes
    const { firstHeight } = h.chain
    await h.settle(h.pool({ quorum: 1 }).finalizedHead())
    if (bad !== undefined) bad.script = (incoming) => (typeof fault === 'function' ? fault(h, incoming) : fault)
    const answer = await h.settle(h.pool({ quorum: 1 }).finalizedBlocks(at(firstHeight), at(firstHeight + 2)))
    expect(answer.ok && answer.value.map(({ hash, logs }) => [hash, logs.length])).toEqual(
      [0, 1, 2].map((i) => [h.chain.at(firstHeight + i)?.hash, 2]),
    )
  })

  it.each<Row>([
    ['a node that does not answer in time', { kind: 'hang' }],
    ['a reply that does not end', { kind: 'oversize' }],
  ])('goes on with the next node: %s', async (_, fault) => {
    const h = createHarness({ nodes: 2 })
    await h.settle(h.pool({ quorum: 1 }).finalizedHead())
    const [bad] = h.nodes
    if (bad !== undefined && typeof fault !== 'function') bad.script = () => fault
    const answer = await h.settle(
      h.pool({ quorum: 1 }).finalizedBlocks(at(h.chain.firstHeight), at(h.chain.firstHeight)),
    )
    expect(answer.ok && answer.value.length).toBe(1)
  })
})

describe('what is tolerated', () => {
  it.each<Row>([
    ['6.1 blockTimestamp in logs, from 4.8.2 on', everyLog({ blockTimestamp: '0x69f18c42' })],
    ['7.5 no removed in logs', logs((list) => list.map(({ removed: _, ...log }) => log))],
    ['5.1 fields that nobody knows', blocks((b) => ({ ...b, blobGasUsed: '0x0', nested: { a: [1] } }))],
    ['5.2 a nonce of "0x0", from 4.8.2 on', transactions((list) => list.map((t) => ({ ...t, nonce: '0x0' })))],
    [
      'R21 leading zeros',
      transactions((list) => list.map((t) => ({ ...t, blockNumber: `0x000${String(t.blockNumber).slice(2)}` }))),
    ],
    [
      'R21 capitals',
      transactions((list) => list.map((t) => ({ ...t, hash: `0x${String(t.hash).slice(2).toUpperCase()}` }))),
    ],
    [
      '5.4 an address of 21 bytes',
      transactions((list) => list.map((t) => ({ ...t, to: `0x41${String(t.to).slice(2)}` }))),
    ],
  ])('%s', async (_, fault) => {
    const { answer, h } = await readBlocks(fault)
    if (!answer.ok) throw new Error(JSON.stringify(h.lines))
    const [block] = answer.value
    const built = h.chain.at(h.chain.firstHeight)
    expect(block?.transactions.map(({ txid, to }) => [txid, to])).toEqual(
      built?.transactions.map(({ txid, wire }) => [txid, String(wire.to).slice(2)]),
    )
    expect(block?.logs.map(({ txid }) => txid)).toEqual(built?.transactions.slice(1, 3).map(({ txid }) => txid))
  })

  it.each([null, '0x'])('5.3 a contract type without a target: %s', async (to) => {
    const { answer } = await readBlocks(transactions((list) => list.map((t) => ({ ...t, to, from: to }))))
    expect(answer.ok && answer.value[0]?.transactions[0]).toMatchObject({ to: null, from: '0'.repeat(40) })
  })

  it('6.3 a failed transaction that has logs is a receipt that did not succeed', async () => {
    const { answer } = await readReceipts(receipt((r) => ({ ...r, status: '0x0' })))
    const [found] = answer.ok ? [...answer.value.values()] : []
    expect(found).toMatchObject({ succeeded: false, logs: [{ position: 0 }] })
  })

  it('7.5 the position of a log is its place among those of its own transaction, not in the block', async () => {
    const chain = createChain()
    const logs = [1n, 2n, 3n].map((amount) => transferLog(usdt, them, us, amount))
    chain.add([token(9n), { kind: 'call', contract: usdt, from: them, logs }, token(8n)])
    chain.addEmpty(18)
    const h = createHarness({ chain })
    const { firstHeight } = chain
    const read = await h.settle(h.pool().finalizedBlocks(at(firstHeight), at(firstHeight)))
    expect(read.ok && read.value[0]?.logs.map(({ position }) => position)).toEqual([0, 0, 1, 2, 0])
    const { txid, block } = asked(chain, firstHeight, 1)
    const receipts = await h.settle(h.pool().receipts([{ txid, block }]))
    expect(receipts.ok && receipts.value.get(txid)?.logs).toEqual(read.ok && read.value[0]?.logs.slice(1, 4))
  })

  it('7.2 a block of more logs than eth_getLogs gives is read from its receipts', async () => {
    const { answer, h } = await readBlocks(failing('eth_getLogs', -32005, 'query returned more than 10000 results'))
    expect(answer.ok && answer.value.map(({ logs }) => logs.length)).toEqual([2, 2, 2])
    expect(h.lines.filter(({ name }) => name === 'node-trouble')).toEqual([])
  })

  it.each([
    ['that are null', changing('eth_getBlockReceipts', () => null)],
    ['of too few transactions', changing('eth_getBlockReceipts', (list) => (list as unknown[]).slice(1))],
    ['in another order', changing('eth_getBlockReceipts', (list) => (list as unknown[]).toReversed())],
  ] as const)('6.2 not with block receipts %s', async (_, fault) => {
    const { answer } = await readBlocks({
      kind: 'answers',
      change: (call, outcome) => {
        if (call.method === 'eth_getLogs') return { error: { code: -32005, message: '' } }
        return fault.kind === 'answers' ? fault.change(call, outcome) : undefined
      },
    })
    expect(answer).toMatchObject({ ok: false, error: { kind: 'no-answer' } })
  })
})
