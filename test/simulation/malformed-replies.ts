import type { Wire } from '../support/chain-builder.ts'
import type { IncomingCall, Outcome } from '../support/scripted-node.ts'
import type { Random } from './random.ts'

/**
 * Answers that a careful reader can tell from good ones without a second node: what any node, honest or not, sends
 * sometimes. What such a reader can't tell is a lie, and only liars tell those (`lies.ts`).
 */
export type Rubbish =
  /** A status, or HTTP 200 with a body that is no answer. */
  | { readonly kind: 'http'; readonly name: string; readonly status: number; readonly body: string }
  | { readonly kind: 'transport'; readonly name: 'time-out' | 'lost connection' | 'half answer' | 'endless answer' }
  /** The right answer, seconds late. */
  | { readonly kind: 'late'; readonly name: 'late answer' }
  /** The envelopes are not those of the request. */
  | { readonly kind: 'envelopes'; readonly name: string; readonly change: (envelopes: Wire[]) => unknown }
  /** Single answers are wrong. */
  | {
      readonly kind: 'answers'
      readonly name: string
      readonly change: (call: IncomingCall, outcome: Outcome) => Outcome | undefined
    }

const http = (name: string, status: number, body = `<html>${status}</html>`): Rubbish => ({
  kind: 'http',
  name,
  status,
  body,
})
const rateLimit = 'rate limit'
const gridLimit = '{"Success":false,"Error":"The key exceeds the frequency limit(15)","StatusCode":403}'
const nodeLimit = '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}'
const tooLong = '{"jsonrpc":"2.0","id":"null","error":{"code":-32005,"message":"Batch size exceeds the limit"}}'

const envelopes = (name: string, change: (envelopes: Wire[]) => unknown): Rubbish => ({
  kind: 'envelopes',
  name,
  change,
})
const answers = (name: string, change: (call: IncomingCall, outcome: Outcome) => Outcome | undefined): Rubbish => ({
  kind: 'answers',
  name,
  change,
})

/** A change of the logs in an answer, at two that follow each other in one block: of one, no rest would show it. */
const logs = (name: string, change: (two: readonly unknown[]) => readonly unknown[]): Rubbish =>
  answers(name, ({ method }, outcome) => {
    if (method !== 'eth_getLogs' || !('result' in outcome) || !Array.isArray(outcome.result)) return undefined
    const list: readonly Wire[] = outcome.result // the builder's logs
    const at = list.findIndex((log, i) => log.blockHash === list[i + 1]?.blockHash)
    return at < 0
      ? undefined
      : { result: [...list.slice(0, at), ...change(list.slice(at, at + 2)), ...list.slice(at + 2)] }
  })

const all: readonly ((random: Random) => Rubbish)[] = [
  (random) => http(rateLimit, random.pick([403, 429, 503]), random.pick(['', gridLimit])),
  () => http(rateLimit, 200, nodeLimit),
  (random) => http('server error', random.pick([404, 500, 502, 504])),
  (random) => http('not JSON', 200, random.pick(['<html>', 'null', '[]', '{}', '"0x1"', '{"jsonrpc":"2.0"'])),
  () => http('empty answer', 200, ''),
  () => http('redirect', 302, ''),
  (random) => http('batch refused', random.pick([400, 413, 415]), ''),
  () => http('batch refused', 200, tooLong),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'lost connection' }),
  () => ({ kind: 'transport', name: 'half answer' }),
  () => ({ kind: 'transport', name: 'half answer' }),
  () => ({ kind: 'transport', name: 'endless answer' }),
  () => ({ kind: 'late', name: 'late answer' }),
  () => ({ kind: 'late', name: 'late answer' }),
  () => envelopes('answers reordered', (list) => [...list].reverse()),
  () => envelopes('answer omitted', (list) => list.slice(0, -1)),
  () => envelopes('answer duplicated', (list) => [...list, ...list.slice(-1)]),
  () => envelopes('answer duplicated', (list) => list.map(() => list[0])),
  () => envelopes('ids of another request', (list) => list.map((one) => ({ ...one, id: Number(one.id) + 100 }))),
  () => envelopes('ids of another request', (list) => list.map((one) => ({ ...one, id: String(one.id) }))),
  (random) => {
    const at = random.int(0, 19)
    return envelopes('error for one call', (list) =>
      list.map(({ id }, i) =>
        i === at % list.length ? { jsonrpc: '2.0', id, error: { code: -32000, message: 'internal' } } : list[i],
      ),
    )
  },
  () => answers('null for blocks', ({ method }) => (method === 'eth_getBlockByNumber' ? { result: null } : undefined)),
  () =>
    answers('null for receipts', ({ method }) =>
      method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
    ),
  () => answers('null for logs', ({ method }) => (method === 'eth_getLogs' ? { result: null } : undefined)),
  (random) => {
    const chainId = random.chance(0.2) ? '0xcd8690dc' : '0x' // the first keeps the node away for an hour
    return answers('another chain', ({ method }) => (method === 'eth_chainId' ? { result: chainId } : undefined))
  },
  () =>
    answers('no tag finalized', ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized'
        ? { error: { code: -32602, message: 'invalid block number' } }
        : undefined,
    ),
  () => logs('log omitted', ([, second]) => [second]),
  () => logs('log duplicated', ([first, second]) => [first, second, second]),
  () => logs('logs reordered', ([first, second]) => [second, first]),
]

const apiAnswers: readonly ((random: Random) => Rubbish)[] = [
  (random) => http('API: nothing', 200, random.pick(['{}', '', 'null'])),
  () => http('API: other bytes', 200, JSON.stringify({ raw_data_hex: '0a02' })),
  () => http('API: no bytes', 200, JSON.stringify({ txID: 'ff', raw_data: {} })),
  () => http(rateLimit, 200, gridLimit),
  (random) => http('server error', random.pick([429, 500]), ''),
  () => ({ kind: 'transport', name: 'time-out' }),
  () => ({ kind: 'transport', name: 'half answer' }),
  () => ({ kind: 'transport', name: 'lost connection' }),
]

/** Any rubbish for one request. */
export function drawRubbish(random: Random, service: 'rpc' | 'api'): Rubbish {
  return random.pick(service === 'api' ? apiAnswers : all)(random)
}
