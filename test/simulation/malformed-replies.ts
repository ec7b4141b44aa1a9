import type { Call, CallReply, Wire } from './node-replies.ts'
import type { NodeService } from './nodes.ts'
import type { Random } from './random.ts'
import { nodeException, nodeLimit } from './refusals.ts'

/**
 * A reply that a careful client can recognize as wrong without a second node. Every node sends such
 * replies sometimes. A wrong reply that cannot be recognized is Byzantine (`false-blocks.ts`).
 */
export type MalformedReply =
  /** A status, or HTTP 200 with a body that is no JSON-RPC response. */
  | { readonly kind: 'http'; readonly name: string; readonly status: number; readonly body: string }
  | { readonly kind: 'transport'; readonly name: 'time-out' | 'lost connection' | 'truncated body' | 'endless body' }
  /** The correct response, seconds late. */
  | { readonly kind: 'late'; readonly name: 'late response' }
  /** The responses of the request, changed together. */
  | { readonly kind: 'responses'; readonly name: string; readonly change: (responses: Wire[]) => unknown }
  /** The responses to single calls, changed; undefined leaves a response as it is. */
  | {
      readonly kind: 'calls'
      readonly name: string
      readonly change: (call: Call, response: CallReply) => CallReply | undefined
    }

const http = (name: string, status: number, body = `<html>${status}</html>`): MalformedReply => ({
  kind: 'http',
  name,
  status,
  body,
})
/** The name of the reply that refuses a request as one too many. */
const rateLimit = 'rate limit'
/** Whether the service sends the node fewer requests after this reply. */
export const slowsDown = ({ name }: MalformedReply): boolean => name === rateLimit
const gridLimit = '{"Success":false,"Error":"The key exceeds the frequency limit(15)","StatusCode":403}'
/** The chain id of a test network. */
export const otherChainId = '0xcd8690dc'
export const batchRefused = 'batch refused'
/** How a node refuses a batch with too many calls. */
export const batchLimitBody =
  '{"jsonrpc":"2.0","id":"null","error":{"code":-32005,"message":"Batch size exceeds the limit"}}'

/** How a gateway refuses a reply with too many bytes. */
export const replyLimitBody = '{"jsonrpc":"2.0","id":"null","error":{"code":-32003,"message":"response too large"}}'

const responses = (name: string, change: (responses: Wire[]) => unknown): MalformedReply => ({
  kind: 'responses',
  name,
  change,
})
const calls = (name: string, change: (call: Call, response: CallReply) => CallReply | undefined): MalformedReply => ({
  kind: 'calls',
  name,
  change,
})

/**
 * Changes two neighbouring logs of one block. After a change that concerns one log alone, a client
 * could not recognize the reply as wrong.
 */
const logs = (name: string, change: (two: readonly unknown[]) => readonly unknown[]): MalformedReply =>
  calls(name, ({ method }, response) => {
    if (method !== 'eth_getLogs' || !('result' in response) || !Array.isArray(response.result)) return undefined
    const list: readonly Wire[] = response.result // safe: the builder of replies has made it
    const i = list.findIndex((log, place) => log.blockHash === list[place + 1]?.blockHash)
    return i < 0 ? undefined : { result: [...list.slice(0, i), ...change(list.slice(i, i + 2)), ...list.slice(i + 2)] }
  })

/**
 * What no field of a reply can be. A false value that a field can have cannot be recognized in a
 * single reply.
 */
const impossibleValues: readonly unknown[] = ['0xzz', 7.5, true, {}, { toString: 0 }]

/**
 * Values of every type that JSON has, and some that break code which reads them as text or as a
 * list without looking at their type.
 */
const anyValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  7.5,
  1e300,
  2 ** 60,
  '',
  '0x',
  '0x0',
  '0xzz',
  'ff',
  `0x${'f'.repeat(64)}`,
  `0x${'f'.repeat(600)}`,
  'x'.repeat(10_000),
  [],
  [null],
  [[]],
  Array(40).fill([{}]),
  {},
  { toString: 0 },
  { toString: 0, valueOf: 0, toJSON: 0 },
  { length: -1 },
  { length: 2 ** 32 },
  JSON.parse('{"then":0}'),
  JSON.parse('{"__proto__":{"result":"0x0"}}'),
  JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`),
]

/** Replaces one field of a value, at any depth, by one of `values`. */
function replace(random: Random, value: unknown, values: readonly unknown[]): unknown {
  const isTree = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isTree || random.chance(0.1)) return random.pick(values)
  const key = random.pick(Object.keys(value))
  const changed = replace(random, (value as Wire)[key], values) // an array has its indexes as keys
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }
}

/** Replaces one field of a value, at any depth, by one that it cannot have. */
const corrupt = (random: Random, value: unknown): unknown => replace(random, value, impossibleValues)

/** Replaces one field of a value, at any depth, by a value of any type. */
export const replaceAny = (random: Random, value: unknown): unknown => replace(random, value, anyValues)

const malformedField = (random: Random): MalformedReply =>
  calls('malformed field', (_, response) => {
    const isChanged = 'result' in response && response.result !== null && random.chance(0.5)
    return isChanged ? { result: corrupt(random, response.result) } : undefined
  })

/** A reply of the HTTP API with a changed list of blocks. */
const blocks = (name: string, change: (list: readonly Wire[]) => readonly Wire[]): MalformedReply =>
  calls(`API: ${name}`, (_, response) => {
    // safe: the builder of replies has made it
    const { block } = ('result' in response ? response.result : {}) as { readonly block?: readonly Wire[] }
    return block === undefined ? undefined : { result: { block: change(block) } }
  })

/** Gives each transaction of a block the bytes of another one. */
const exchangedBytes = blocks('exchanged bytes', (list) =>
  list.map((block) => {
    const transactions = block.transactions as readonly Wire[] | undefined // safe: the builder of replies has made it
    if (transactions === undefined) return block
    const bytesAt = (i: number) => transactions[i % transactions.length]?.raw_data_hex
    return { ...block, transactions: transactions.map((one, i) => ({ ...one, raw_data_hex: bytesAt(i + 1) })) }
  }),
)

/**
 * Raises the finalized block to a height that no chain can have by now. Undefined for other calls.
 */
export function claimAbsurdHeight(
  random: Random,
  { method, params }: Call,
  response: CallReply,
): CallReply | undefined {
  if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized' || !('result' in response)) return undefined
  const block = response.result as Wire | null // safe: a simulated node has made it
  if (block === null) return undefined
  const height = Number(block.number) + random.pick([1_000_000, 4_000_000_000_000])
  const rename = (hash: unknown, number: number) =>
    `0x${number.toString(16).padStart(16, '0')}${String(hash).slice(18)}`
  const number = `0x${height.toString(16)}`
  const parentHash = rename(block.parentHash, height - 1)
  return { result: { ...block, number, hash: rename(block.hash, height), parentHash } }
}

const nullFor = (what: string, nullMethod: string): MalformedReply =>
  calls(`null for ${what}`, ({ method }) => (method === nullMethod ? { result: null } : undefined))

/** An error as a gateway gives it, with a value of any kind in the place of its text. */
export const oddError = (random: Random): Wire => ({
  Error: random.chance(0.5) ? { toString: 0 } : random.pick(anyValues),
})
const oddErrorReply = (random: Random) =>
  http('odd error', random.pick([200, 400, 500]), JSON.stringify(oddError(random)))

const rpcReplies: readonly ((random: Random) => MalformedReply)[] = [
  (random) => http(rateLimit, random.pick([403, 429, 503]), random.pick(['', gridLimit])),
  () => http(rateLimit, 200, nodeLimit),
  oddErrorReply,
  (random) => http('server error', random.pick([404, 500, 502, 504])),
  (random) => http('not JSON', 200, random.pick(['<html>', 'null', '[]', '{}', '"0x1"', '{"jsonrpc":"2.0"'])),
  () => http('empty body', 200, ''),
  () => http('redirect', 302, ''),
  (random) => http(batchRefused, random.pick([400, 413, 415]), ''),
  () => http(batchRefused, 200, batchLimitBody),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'lost connection' }),
  () => ({ kind: 'transport', name: 'truncated body' }),
  () => ({ kind: 'transport', name: 'truncated body' }),
  () => ({ kind: 'transport', name: 'endless body' }),
  () => ({ kind: 'late', name: 'late response' }),
  () => ({ kind: 'late', name: 'late response' }),
  () => responses('responses reordered', (list) => [...list].reverse()),
  () => responses('response omitted', (list) => list.slice(0, -1)),
  () => responses('response duplicated', (list) => [...list, ...list.slice(-1)]),
  () => responses('response duplicated', (list) => list.map(() => list[0])),
  () => responses('ids of another request', (list) => list.map((one) => ({ ...one, id: Number(one.id) + 100 }))),
  () => responses('ids of another request', (list) => list.map((one) => ({ ...one, id: String(one.id) }))),
  (random) => {
    const failing = random.int(0, 19)
    return responses('error for one call', (list) =>
      list.map(({ id }, i) =>
        i === failing % list.length ? { jsonrpc: '2.0', id, error: { code: -32000, message: 'internal' } } : list[i],
      ),
    )
  },
  (random) => calls('absurd height', (call, response) => claimAbsurdHeight(random, call, response)),
  () => nullFor('blocks', 'eth_getBlockByNumber'),
  () => nullFor('receipts', 'eth_getTransactionReceipt'),
  () => nullFor('logs', 'eth_getLogs'),
  () => nullFor('balances', 'eth_getBalance'),
  (random) => {
    const chainId = random.chance(0.4) ? otherChainId : '0x'
    return calls('another chain', ({ method }) => (method === 'eth_chainId' ? { result: chainId } : undefined))
  },
  () =>
    calls('no tag finalized', ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized'
        ? { error: { code: -32602, message: 'invalid block number' } }
        : undefined,
    ),
  malformedField,
  malformedField,
  malformedField,
  () => logs('log omitted', ([, second]) => [second]),
  () => logs('log duplicated', ([first, second]) => [first, second, second]),
  () => logs('logs reordered', ([first, second]) => [second, first]),
]

const apiReplies: readonly ((random: Random) => MalformedReply)[] = [
  (random) => http('API: nothing', 200, random.pick(['{}', '', 'null', '[]', '{"block":[]}', '<html>'])),
  () => http('API: an error', 200, nodeException),
  oddErrorReply,
  malformedField,
  malformedField,
  malformedField,
  () => exchangedBytes,
  () => exchangedBytes,
  () => blocks('a block is missing', (list) => list.slice(1)),
  () => blocks('a block is missing', (list) => list.toSpliced(Math.floor(list.length / 2), 1)),
  () => blocks('blocks reversed', (list) => [...list].reverse()),
  () => blocks('a block twice', (list) => [...list.slice(0, 1), ...list]),
  (random) => http(rateLimit, random.pick([200, 403, 429]), gridLimit),
  (random) => http('server error', random.pick([404, 500, 502]), ''),
  () => http('redirect', 302, ''),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'truncated body' }),
  () => ({ kind: 'transport', name: 'lost connection' }),
  () => ({ kind: 'transport', name: 'endless body' }),
  () => ({ kind: 'late', name: 'late response' }),
]

/** Any malformed reply to one request to a node's JSON-RPC or HTTP API. */
export function drawMalformedReply(random: Random, service: NodeService): MalformedReply {
  return random.pick(service === 'api' ? apiReplies : rpcReplies)(random)
}
