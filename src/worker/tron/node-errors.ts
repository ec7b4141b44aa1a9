import type { ChainFailure } from '../chain/chain.ts'
import type { NodeState } from '../common/node-states.ts'
import { err, type Result } from '../common/result.ts'
import { isObject } from './parse/fields.ts'

/**
 * Why a node gave no usable reply. `detail` and `remedy` are for people and never contain text of a
 * node, which may include a URL or key.
 */
export interface NodeError {
  readonly kind: NodeErrorKind
  readonly detail: string
  /** An action with which an operator may end the error. */
  readonly remedy?: string
  /** The state of the node that the error shows, where it is not that of its kind. */
  readonly state?: NodeState
  /**
   * For the kind `limited`: whose allowance has no room for a request, and when it has room again.
   */
  readonly limit?: ChainFailure & { readonly kind: 'limited' }
}

/** The result of a query to one node. An error never means "nothing there". */
export type NodeResult<T> = Promise<Result<T, NodeError>>

/** A failed result. `detail` is for operators, and must contain no text of the node. */
export function nodeError(kind: NodeErrorKind, detail: string): { readonly ok: false; readonly error: NodeError } {
  return { ok: false, error: { kind, detail } }
}

/**
 * For a query that the scan cannot do without: turns the error `unsupported` into `unfit`, so that
 * no money depends on the node.
 */
export function needed<T>(result: Result<T, NodeError>): Result<T, NodeError> {
  return result.ok || result.error.kind !== 'unsupported' ? result : err({ ...result.error, kind: 'unfit' })
}

/** The consequence of an error for the blocks that were asked for. */
type ForQuery =
  /**
   * The first of the blocks is missing at this node, which may have later ones. Ask for this block
   * alone; if it is missing still, it becomes a gap.
   */
  | 'first'
  /**
   * One of the blocks cannot be read. Ask for fewer at once; a single unreadable block becomes a
   * gap.
   */
  | 'content'
  /** The blocks are too many for one reply. Even a single block may be too large. */
  | 'size'
  /** A block, the number of blocks, or the node may be the cause. */
  | 'perhaps'
  /** The blocks are too many for the time that is left. */
  | 'time'
  /** The blocks are too many for the requests that the node allows in a second. */
  | 'pace'
  /** The error says nothing about the blocks. */
  | 'nothing'

/**
 * The consequence of an error for the node. It concerns the node's JSON-RPC or its HTTP API,
 * whichever gave the error, except `unfit`.
 */
type ForNode =
  /**
   * The API of the node that gave the error gets no requests for a while, and for longer after each
   * further error.
   */
  | 'rest'
  /**
   * The API of the node that gave the error gets fewer requests in a second, and none for half a
   * minute.
   */
  | 'pace'
  /**
   * The API of the node that gave the error is used only after those of nodes that are not behind.
   */
  | 'behind'
  /** The API of the node that gave the error is not used for a minute. */
  | 'other-chain'
  /** For a minute the node gets no query on which money depends. Then it is probed. */
  | 'unfit'
  | 'nothing'

/** Each kind of node error, with its consequences, and the state of a node that answers with it. */
export const meanings = {
  /**
   * A malformed or unexpected reply. Every refusal that the table below does not list is a
   * `bad-answer`: it concerns the content and never the pace.
   */
  'bad-answer': { query: 'content', node: 'rest', state: 'refuses' },
  /** The reply is too large for the node or for this service. */
  'too-large': { query: 'size', node: 'nothing', state: 'refuses' },
  /** The node refused the whole batch. A smaller batch, or single calls, may pass. */
  'batch-refused': { query: 'size', node: 'nothing', state: 'refuses' },
  'timed-out': { query: 'perhaps', node: 'rest', state: 'down' },
  unreachable: { query: 'perhaps', node: 'rest', state: 'down' },
  /** The time of this piece of work is used up. */
  'out-of-time': { query: 'time', node: 'nothing', state: 'down' },
  'rate-limited': { query: 'pace', node: 'pace', state: 'limited' },
  /**
   * The allowance of the node, of all users or of one user (`limit`) has no room for the request.
   */
  limited: { query: 'nothing', node: 'nothing', state: 'limited' },
  /** The node does not have the block yet. */
  behind: { query: 'nothing', node: 'behind', state: 'behind' },
  /** The node lacks a final block. It is behind, or has a hole: then it has later blocks. */
  lacking: { query: 'first', node: 'behind', state: 'behind' },
  /**
   * The node has no receipt of a call in a final block. It keeps no receipts (a probe tells), or
   * lacks those of this block.
   */
  'no-receipt': { query: 'first', node: 'behind', state: 'refuses' },
  /** The node cannot pass on what it is sent, because it is connected to no other one. */
  'no-peers': { query: 'nothing', node: 'nothing', state: 'no-peers' },
  /** The node does not have data that it need not keep. */
  'not-kept': { query: 'nothing', node: 'nothing', state: 'refuses' },
  /** The node does not support the query. If the scan needs the query, the node is unfit. */
  unsupported: { query: 'nothing', node: 'nothing', state: 'refuses' },
  /**
   * The node cannot answer queries on which money depends: it has no transaction history, for
   * example.
   */
  unfit: { query: 'nothing', node: 'unfit', state: 'refuses' },
  'wrong-chain': { query: 'nothing', node: 'other-chain', state: 'refuses' },
} as const satisfies Readonly<
  Record<string, { readonly query: ForQuery; readonly node: ForNode; readonly state: NodeState }>
>

export type NodeErrorKind = keyof typeof meanings

/**
 * The marks of a refusal: an HTTP status, a JSON-RPC error code, a text in the HTTP body or the
 * JSON-RPC error, or several of these.
 */
interface Refusal {
  readonly statuses?: readonly number[]
  readonly codes?: readonly number[]
  readonly mark?: RegExp
  readonly kind: NodeErrorKind
  /** The kind of the error if the refusal answers a whole batch, where it differs from `kind`. */
  readonly ofBatch?: NodeErrorKind
  /** Says for operators why the node refuses. */
  readonly says: string
  /** The state of the node, where it is not that of `kind`. */
  readonly state?: NodeState
  /** The remedy, if it is not `anyRemedy`. */
  readonly remedy?: string
}

/** The remedy for a refusal without its own `remedy`. */
export const anyRemedy = 'if it stays, ask its provider, or name another node'
const askLess = 'try again later, or name the variable of an API key in keyVar'
/**
 * Texts that mean too many requests. A text that begins with `class ` (an exception of the node) or
 * with `REVERT` (the reason of a contract) is not one of them, except the first text of this
 * pattern: whoever writes a block chooses what such texts contain.
 */
const saysTooMany =
  /^class java\.lang\.IllegalAccessException : lack of computing resources|^(?!class |REVERT).*(lack of computing resources|frequency limit|allowed_rps|is suspended for|daily usage|rate limit|too many requests)/is

/**
 * How nodes and gateways refuse (PROTOCOL.md, Errors of the HTTP API, and Errors of JSON-RPC). The
 * first row that matches counts, so a status takes precedence over a text. A refusal that no row
 * matches is a `bad-answer`, never a rate limit.
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
  'server-error': {
    statuses: [500, 502, 504],
    kind: 'bad-answer',
    says: 'it fails, or its gateway does',
    state: 'down',
  },
  'key-refused': {
    statuses: [401],
    kind: 'unfit',
    says: 'the API key is missing or refused',
    remedy: 'name the variable of a valid key in keyVar',
  },
  'too-many': { statuses: [429], kind: 'rate-limited', says: 'it has had too many requests', remedy: askLess },
  'too-many-by-text': {
    mark: saysTooMany,
    kind: 'rate-limited',
    says: 'it has had too many requests',
    remedy: askLess,
  },
  forbidden: {
    statuses: [403],
    kind: 'rate-limited',
    says: 'refused: its plan lacks this, it has had too many requests, or its key is wrong or missing',
    remedy: askLess,
    state: 'refuses',
  },
  unavailable: {
    statuses: [503],
    kind: 'rate-limited',
    says: 'it is not available now: it is down or overloaded, or its gateway finds no node',
    state: 'down',
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
  const { kind, ofBatch, says, state, remedy = anyRemedy }: Refusal = row ?? { kind: 'bad-answer', says: otherwise }
  const found = { kind: isBatch ? (ofBatch ?? kind) : kind, detail: `${says} (${seen})`, remedy }
  return state === undefined ? found : { ...found, state }
}

/**
 * Only this many characters at the beginning of an HTTP body are searched for marks of a refusal.
 */
const markedMax = 2_000

/**
 * The error in an HTTP response, or null if there is none. `value` is the text parsed as JSON, or
 * undefined if the text is not JSON.
 */
export function readHttpError(status: number, text: string, value: unknown, isBatch: boolean): NodeError | null {
  const isRefusal = isObject(value) && 'Error' in value && !('jsonrpc' in value)
  if (status === 200 && !isRefusal && value !== undefined) return null
  const isSaid = isRefusal && typeof value.Error === 'string'
  const row = find({ status, text: (isSaid ? String(value.Error) : text).slice(0, markedMax) })
  const isEmpty = text.trim() === '' // a node can send an empty body (PROTOCOL.md, JSON-RPC transport)
  const otherwise = isRefusal ? 'an exception of the node' : isEmpty ? 'an empty body' : 'a body that is not JSON'
  return toError(row, status === 200 ? otherwise : 'an unexpected status', `HTTP ${status}`, isBatch)
}

/**
 * The node error for the code and text of a JSON-RPC error. `isBatch`: the error answers a whole
 * batch.
 */
export function readRpcError(code: number, text: string, isBatch: boolean): NodeError {
  return toError(find({ code, text }), 'an error', `error ${code}`, isBatch)
}
