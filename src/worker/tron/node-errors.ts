import type { ChainFailure } from '../chain/chain.ts'
import { err, type Result } from '../common/result.ts'
import { isObject } from './parse/fields.ts'

/** Why a node gave no usable reply. `detail` and `remedy` are for people and never a node's text, which could contain a URL or key. */
export interface NodeError {
  readonly kind: NodeErrorKind
  readonly detail: string
  /** What an operator can do. */
  readonly remedy?: string
  /** Of kind `limited`: what the query fails with. */
  readonly limit?: ChainFailure & { readonly kind: 'limited' }
}

/** The result of a query to one node. An error never means "nothing there". */
export type NodeResult<T> = Promise<Result<T, NodeError>>

/** A node error as a failed result. */
export function nodeError(kind: NodeErrorKind, detail: string): { readonly ok: false; readonly error: NodeError } {
  return { ok: false, error: { kind, detail } }
}

/** The result of a question that the scan cannot do without: a node that does not have it is unfit. */
export function needed<T>(result: Result<T, NodeError>): Result<T, NodeError> {
  return result.ok || result.error.kind !== 'unsupported' ? result : err({ ...result.error, kind: 'unfit' })
}

/** What an error means for the blocks that were asked for. */
type ForQuestion =
  /** One of them cannot be read: fewer are asked for at once, and the one that is left is a gap. */
  | 'content'
  /** They are too many for one reply, and one alone can be as well. */
  | 'size'
  /** One of them, or their number, can be the reason; the node can be it too. */
  | 'perhaps'
  /** They are too many for the time. */
  | 'time'
  /** They are too many for the requests of a second. */
  | 'pace'
  /** Nothing. */
  | 'nothing'

/** What an error means for the service of the node that gave it. */
type ForNode =
  /** It rests, longer after each further one. */
  | 'rest'
  /** It gets fewer requests in a second, and none for half a minute. */
  | 'pace'
  /** It is used after nodes that are not behind. */
  | 'behind'
  /** It is not used for a minute. */
  | 'other-chain'
  /** The node is not used for a minute where it is needed for money, and then probed. */
  | 'unfit'
  | 'nothing'

/** Each kind of node error, and what it means. */
export const meanings = {
  /** A malformed or unexpected reply. Whatever is not in the table below is one: a matter of what was asked for, never of pace. */
  'bad-answer': { question: 'content', node: 'rest' },
  /** The reply is too large for the node or for this service. */
  'too-large': { question: 'size', node: 'nothing' },
  /** The whole batch was refused. Smaller ones, or single calls, can pass. */
  'batch-refused': { question: 'size', node: 'nothing' },
  'timed-out': { question: 'perhaps', node: 'rest' },
  unreachable: { question: 'perhaps', node: 'rest' },
  /** The time of this piece of work is used up. */
  'out-of-time': { question: 'time', node: 'nothing' },
  'rate-limited': { question: 'pace', node: 'pace' },
  /** The allowance has no room for the request. */
  limited: { question: 'nothing', node: 'nothing' },
  /** The node does not have the block yet. */
  behind: { question: 'nothing', node: 'behind' },
  /** The node has nothing of what it need not keep. */
  'not-kept': { question: 'nothing', node: 'nothing' },
  /** The node does not have what was asked. Where the scan needs it, the node is unfit. */
  unsupported: { question: 'nothing', node: 'nothing' },
  /** The node cannot be used for money. */
  unfit: { question: 'nothing', node: 'unfit' },
  'wrong-chain': { question: 'nothing', node: 'other-chain' },
} as const satisfies Readonly<Record<string, { readonly question: ForQuestion; readonly node: ForNode }>>

/** The kind of a node error. */
export type NodeErrorKind = keyof typeof meanings

/** What is seen of a refusal: an HTTP status, the code of a JSON-RPC error, a text in either, or several of these. */
interface Refusal {
  readonly statuses?: readonly number[]
  readonly codes?: readonly number[]
  readonly mark?: RegExp
  readonly kind: NodeErrorKind
  /** The kind where it is the answer to a whole batch, if that is another one. */
  readonly ofBatch?: NodeErrorKind
  /** What the operator reads. */
  readonly says: string
  /** What can be done, if it is not what helps against any refusal. */
  readonly remedy?: string
}

/** What helps against any refusal. */
export const anyRemedy = 'if it stays, ask its provider, or name another node'
const askLess = 'try again later, or name the variable of an API key in keyVar'
/** An exception of a node and the reason of a contract can have any text in them: what is in a block decides about it. */
const saysTooMany =
  /^class java\.lang\.IllegalAccessException : lack of computing resources|^(?!class |REVERT).*(lack of computing resources|frequency limit|allowed_rps|is suspended for|daily usage|rate limit|too many requests)/is

/**
 * How nodes and gateways refuse (PROTOCOL.md, Errors of the HTTP API; PROTOCOL.md, Errors of JSON-RPC). The first row that fits counts, so
 * a status comes before a text. Pace is known by its own marks alone.
 */
export const refusals = {
  'api-off': {
    statuses: [404],
    mark: /unavailable due to config/,
    kind: 'unsupported',
    says: 'this part of its HTTP API is switched off',
    remedy: 'take it out of node.disabledApi of that node, or name another node',
  },
  'not-found': {
    statuses: [404],
    kind: 'bad-answer',
    says: 'nothing is at its URL',
    remedy: 'correct the URL in TRON_NODES',
  },
  'body-too-large': { statuses: [413], kind: 'too-large', says: 'it refuses so much at once' },
  'method-refused': { statuses: [405], kind: 'bad-answer', ofBatch: 'batch-refused', says: 'it refuses the request' },
  'server-error': { statuses: [500, 502, 504], kind: 'bad-answer', says: 'it fails, or its gateway does' },
  'key-refused': {
    statuses: [401],
    kind: 'unfit',
    says: 'the API key is missing or refused',
    remedy: 'name the variable of a valid key in keyVar',
  },
  forbidden: {
    statuses: [403],
    kind: 'rate-limited',
    says: 'refused: its plan lacks this, it has had too many requests, or its key is wrong or missing',
    remedy: askLess,
  },
  'too-many': { statuses: [429, 503], kind: 'rate-limited', says: 'it has had too many requests', remedy: askLess },
  'too-many-by-text': {
    mark: saysTooMany,
    kind: 'rate-limited',
    says: 'it has had too many requests',
    remedy: askLess,
  },
  'lite-node': {
    mark: /^this API is closed because this node is a lite fullnode/,
    kind: 'unsupported',
    says: 'it is a lite node, which gives no blocks',
    remedy: 'name a full node',
  },
  'request-refused': {
    statuses: [400, 415, 422, 501],
    kind: 'bad-answer',
    ofBatch: 'batch-refused',
    says: 'it refuses the request',
  },
  'reply-too-large': { codes: [-32003], kind: 'too-large', says: 'the reply would be too large' },
  'too-many-results': { codes: [-32005], kind: 'too-large', ofBatch: 'batch-refused', says: 'it would be too much' },
  'no-method': {
    codes: [-32601],
    kind: 'unsupported',
    ofBatch: 'batch-refused',
    says: 'it does not have the method',
    remedy: 'name a node that has it: java-tron from 4.8.0 on, at the port of its full state',
  },
  'not-taken': {
    codes: [-32700, -32600, -32602],
    kind: 'bad-answer',
    ofBatch: 'batch-refused',
    says: 'it does not take the question',
  },
} as const satisfies Readonly<Record<string, Refusal>>

const rows: readonly Refusal[] = Object.values(refusals)

function find(seen: { readonly status?: number; readonly code?: number; readonly text: string }): Refusal | undefined {
  return rows.find(({ statuses, codes, mark }) => {
    if (statuses !== undefined && !statuses.includes(seen.status ?? 0)) return false
    if (codes !== undefined && !codes.includes(seen.code ?? 0)) return false
    return mark === undefined || mark.test(seen.text)
  })
}

const toError = (row: Refusal | undefined, otherwise: string, seen: string, isBatch: boolean): NodeError => {
  const { kind, ofBatch, says, remedy = anyRemedy }: Refusal = row ?? { kind: 'bad-answer', says: otherwise }
  return { kind: isBatch ? (ofBatch ?? kind) : kind, detail: `${says} (${seen})`, remedy }
}

/** Characters of a body in which marks are looked for. */
const markedMax = 2_000

/** The error that an HTTP response is, or null if it is none. `value` is what its text is as JSON, or undefined. */
export function readHttpError(status: number, text: string, value: unknown, isBatch: boolean): NodeError | null {
  const isRefusal = isObject(value) && 'Error' in value && !('jsonrpc' in value)
  if (status === 200 && !isRefusal && value !== undefined) return null
  const isSaid = isRefusal && typeof value.Error === 'string'
  const row = find({ status, text: (isSaid ? String(value.Error) : text).slice(0, markedMax) })
  const isEmpty = text.trim() === '' // PROTOCOL.md, JSON-RPC transport
  const otherwise = isRefusal ? 'an exception of the node' : isEmpty ? 'an empty body' : 'a body that is not JSON'
  return toError(row, status === 200 ? otherwise : 'an unexpected status', `HTTP ${status}`, isBatch)
}

/** The error that the code and the text of a JSON-RPC error are: of one call, or of a batch as a whole. */
export function readRpcError(code: number, text: string, isBatch: boolean): NodeError {
  return toError(find({ code, text }), 'an error', `error ${code}`, isBatch)
}
