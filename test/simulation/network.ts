import type { Environment } from './environment.ts'
import type { AnyFetch, Invocation } from './invocation.ts'
import { lacksContents } from './lacking.ts'
import {
  batchLimitBody,
  batchRefused,
  claimAbsurdHeight,
  drawMalformedReply,
  type MalformedReply,
  oddError,
  otherChainId,
  replaceAny,
  replyLimitBody,
  slowsDown,
} from './malformed-replies.ts'
import { answerCall, type Call, type CallReply, type NodeView, readBalanceCall, type Wire } from './node-replies.ts'
import type { NodeService, Nodes, SimulatedNode } from './nodes.ts'
import { closedReplies, failsAtBlock, inVersion, nodeException, nodeLimit } from './refusals.ts'

interface Incoming {
  readonly node: SimulatedNode
  readonly service: NodeService
  readonly batch: boolean
  readonly calls: readonly Call[]
}

/**
 * The network of one invocation. A request takes time in both directions, and fails at the rates of
 * the scenario.
 */
export function connectToNodes(
  env: Environment,
  nodes: Nodes,
  invocation: Invocation,
): (url: string, body: string) => ReturnType<AnyFetch> {
  const { random, scheduler } = env
  const latency = () => random.int(5, env.phase === 'faults' && random.chance(0.1) ? 1_500 : 120)
  return async (url, body) => {
    const incoming = receive(nodes, url, body)
    const { node, service } = incoming
    const limitMs = invocation.timerMs
    await invocation.step()
    checkAllowance(env, node, invocation.kind)
    noteAsked(env, incoming)
    await scheduler.wait(latency())
    const malformed = drawFault(env, incoming)
    if (malformed !== null) env.count(malformed.name)
    env.trace(() => {
      return `${invocation.name} → node ${node.number} ${service} ${describe(incoming)} ${malformed?.name ?? ''}`
    })
    if (node.answerMs > 0) await scheduler.wait(Math.min(node.answerMs, Math.max(0, limitMs - beforeLimitMs)))
    const response = reportingBugs(env, () => reply(env, nodes, incoming, malformed))
    if (malformed?.kind === 'late') await scheduler.wait(random.int(2_000, 9_000))
    await scheduler.wait(latency())
    await invocation.step()
    // never resolves: the time limit of the service's request ends the wait
    if (malformed?.name === 'time-out') await new Promise(() => {})
    if (response === null) throw new TypeError(`fetch failed: ${url}`)
    return response
  }
}

/**
 * A node that answers as late as it can leaves this much of the request's time limit, in
 * milliseconds, so that the reply can still travel.
 */
const beforeLimitMs = 300

const dayMs = 86_400_000

/**
 * The service must never exceed what a node allows in a second and in a day, and callers may use at
 * most half of a day's requests. Two kinds of seconds are excused: the first of an instance, which
 * does not know the requests of the instance before it, and the first after a clock has stepped
 * ahead.
 */
function checkAllowance(
  { allowance, scheduler, instancesAt, steppedAt, violate }: Environment,
  node: SimulatedNode,
  kind: string,
): void {
  const { number, requests } = node
  const { perSecond, perDay } = allowance
  const now = scheduler.now()
  requests.push(now)
  while ((requests[0] ?? now) <= now - dayMs) requests.shift()
  if (kind !== 'scanner alarm' && kind !== 'scanner sendPayouts') node.byCallers += 1
  if (node.byCallers > perDay / 2) violate(`callers have used ${node.byCallers} requests to node ${number}`)
  if (requests.length > perDay) violate(`node ${number} got ${requests.length} requests in a day`)
  const second = requests.slice(-perSecond - 1).filter((at) => at > now - 1_000).length
  const isExcused = () => [...instancesAt, steppedAt].some((at) => at > now - 1_000)
  if (second > perSecond && !isExcused()) violate(`node ${number} got ${second} requests in a second`)
}

/**
 * Notes when the node is asked for blocks above the final ones, for final blocks, for its head or
 * for one block. A trial needs to know whether the node was asked often enough to be named in a
 * warning or an alarm.
 */
function noteAsked({ scheduler, finalized }: Environment, { node: { askedFor }, service, calls }: Incoming): void {
  const now = scheduler.now()
  for (const { method, params } of calls) {
    const [which] = params
    if (service === 'api') {
      const { startNum } = which as { readonly startNum?: number } // safe: the service's own request
      if (startNum !== undefined) askedFor[startNum > finalized() ? 'tail' : 'final'].push(now)
    } else if (method === 'eth_getBlockByNumber') {
      if (which === 'finalized') askedFor.head.push(now)
      else if (Number(which) > 0) askedFor.block.push(now) // before a node's first use, block 0 is asked for
    }
  }
}

function receive({ list }: Nodes, url: string, text: string): Incoming {
  const body: unknown = JSON.parse(text)
  for (const node of list) {
    if (node.rpc === url) {
      // safe: the service's own JSON
      const calls = (Array.isArray(body) ? body : [body]) as readonly Call[]
      return { node, service: 'rpc', batch: Array.isArray(body), calls }
    }
    if (url.startsWith(`${node.api}/`)) {
      return { node, service: 'api', batch: false, calls: [{ id: 0, method: 'api', params: [body] }] }
    }
  }
  throw new TypeError(`nothing listens at ${url}`)
}

/**
 * Reports an error in the simulated network as a violation. The service would take the error for a
 * lost connection, so that a bug of the simulation would pass unseen.
 */
function reportingBugs<T>(env: Environment, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    env.violate(`the simulated network failed: ${cause instanceof Error ? cause.stack : String(cause)}`)
    throw cause
  }
}

function drawFault({ random, scheduler, scenario, phase, scanHistory }: Environment, { node, service }: Incoming) {
  if (scheduler.now() < node.awayUntil[service]) {
    return { kind: 'transport', name: random.chance(0.5) ? 'time-out' : 'lost connection' } as const
  }
  const rate = phase === 'faults' ? scenario.rates.malformed : node.malformed
  const malformed = random.chance(rate) ? drawMalformedReply(random, service) : null
  // Before a first head is stored, nothing shows that a single reply is absurd.
  return malformed?.name === 'absurd height' && scanHistory.at(-1)?.scan === undefined ? null : malformed
}

function reply(env: Environment, nodes: Nodes, incoming: Incoming, malformed: MalformedReply | null): Response | null {
  const { node, service, batch, calls } = incoming
  const isLimited = isTooFast(env, node)
  if (isLimited || (malformed !== null && slowsDown(malformed))) env.slowedUntil = env.scheduler.now() + slowedFor(env)
  if (malformed?.name === batchRefused) env.batchlessUntil = env.scheduler.now() + slowedMs
  if (isLimited) return env.scenario.refusals?.speaksNext ? respond(inVersion(env, nodeLimit)) : respond('', 429)
  if (malformed?.kind === 'http') return respond(inVersion(env, malformed.body), malformed.status)
  if (malformed?.name === 'lost connection') return null
  if (malformed?.name === 'endless body') return respond(null)
  const refusal = refuseContents(env, incoming) ?? (service === 'api' ? refuse(env, incoming) : null)
  if (refusal !== null) return refusal
  if (batch && calls.length > node.callsMax) {
    env.count('batch limit')
    if (node.callsMax === 1) env.batchlessUntil = env.scheduler.now() + slowedMs
    return respond(batchLimitBody)
  }
  const responses = answerCalls(env, nodes, incoming).map((response, i): CallReply => {
    const call = calls[i]
    return malformed?.kind === 'calls' && call !== undefined ? (malformed.change(call, response) ?? response) : response
  })
  const text = giveAnyValue(env, node, write(incoming, responses, malformed))
  if (text.length > node.replyMax) {
    env.count('reply limit')
    return respond(batch ? replyLimitBody : replyLimitBody.replace('"null"', String(calls[0]?.id)))
  }
  const end = malformed?.name === 'truncated body' ? Math.floor(text.length * env.random.next()) : text.length
  const hasBlocks = incoming.service === 'api' && text.startsWith('{"block":')
  return respond(text.slice(0, end), 200, hasBlocks ? node.junkBytes : 0)
}

/**
 * The reply of a node that gives heads and refuses the contents of blocks; null where it answers as
 * usual.
 */
function refuseContents(env: Environment, { node, service, batch, calls }: Incoming): Response | null {
  const { refusesContents: how } = node
  if (how === null) return null
  const [first] = calls
  // safe: the service's own request
  const { startNum = null } = (service === 'api' ? (first?.params[0] ?? {}) : {}) as { readonly startNum?: number }
  const isAboutBlocks = startNum !== null
  const isAboutLogs = calls.some(({ method }) => method === 'eth_getLogs')
  if (how === 'blocks {}' ? !isAboutBlocks : !isAboutLogs) return null
  env.count(`contents refused: ${how}`)
  // a gateway answers 403 to a key that has had too many requests, too
  if (how === 'logs 403') env.slowedUntil = env.scheduler.now() + slowedFor(env)
  if (how === 'blocks {}') return respond('{}')
  if (how !== 'logs -32005') return respond('', how === 'logs 403' ? 403 : 500)
  const refused = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32005, message: 'limit exceeded' } }))
  return respond(JSON.stringify(batch ? refused : refused[0]))
}

/** How the HTTP API of a node refuses the request, or null. */
function refuse(env: Environment, { node, calls }: Incoming): Response | null {
  if (node.closed !== null) {
    const [status, body] = closedReplies[node.closed]
    env.count(`HTTP API: ${node.closed}`)
    return respond(body, status)
  }
  if (!failsAtBlock(env, node.number, calls[0]?.params[0])) return null
  env.count('a block that is not rendered')
  return respond(inVersion(env, nodeException))
}

/** Whether the node has had more requests in the last second than it really allows. */
function isTooFast({ scheduler, count }: Environment, { pace, requests }: SimulatedNode): boolean {
  if (pace === Number.POSITIVE_INFINITY) return false
  const isOver = (requests.at(-pace - 1) ?? 0) > scheduler.now() - 1_000
  if (isOver) count('more than the node allows in a second')
  return isOver
}

/**
 * After a node has refused requests as too many, it takes this long until the service sends it two
 * requests a second again.
 */
const slowedMs = 600_000
/**
 * How long the service may be slow after a node has refused requests as too many. After an hour it
 * sends all that the node allows again. If a node takes no batches, each call is a request, so the
 * service is slow for the whole hour.
 */
const slowedFor = ({ scenario }: Environment) => (scenario.batchless > 0 ? 3_600_000 : slowedMs)

/** The replies of the node, true or Byzantine, from what the node knows at this moment. */
function answerCalls(env: Environment, nodes: Nodes, { node, calls }: Incoming): readonly CallReply[] {
  const { view, fault } = nodes.viewOf(node)
  const isGlitch = node.glitches > 0 && env.random.chance(node.glitches)
  return calls.map((call) => {
    if (isGlitch && call.method === 'eth_chainId') return { result: otherChainId }
    if (node.lacksFinal && isAboutFinal(env, call)) return { result: {} }
    if (call.method === node.refuses) return { error: { code: -32005, message: 'limit exceeded' } }
    if (fault === 'unknown transactions' && call.method === 'eth_getTransactionByHash') return { result: null }
    if (isAboutUnreadable(env, view, call)) return { error: { code: -32005, message: 'limit exceeded' } }
    const isEmpty = lacksContents(env, node.number, view.chain, call)
    const reply = answerCall(isEmpty ? { ...view, hasHistory: false } : view, call)
    noteBalance(env, call, reply)
    return fault === 'absurd height' ? (claimAbsurdHeight(env.random, call, reply) ?? reply) : reply
  })
}

function isAboutFinal({ finalized }: Environment, { method, params: [body] }: Call): boolean {
  // safe: the service's own request
  const { startNum } = (method === 'api' ? body : {}) as { readonly startNum?: number }
  return startNum !== undefined && startNum <= finalized()
}

/**
 * Replaces a field of the reply, at the node's rate, by a value of any type, or makes the reply an
 * error with such a value.
 */
function giveAnyValue(env: Environment, node: SimulatedNode, text: string): string {
  const { troubles } = env
  if (node.anyValues === 0 || !troubles.chance(node.anyValues)) return text
  env.count('a value of any kind')
  const isError = troubles.chance(node.oddErrors)
  return JSON.stringify(isError ? oddError(troubles) : replaceAny(troubles, JSON.parse(text)))
}

function noteBalance(env: Environment, call: Call, reply: CallReply): void {
  const asked = readBalanceCall(call)
  if (asked === null || !('result' in reply)) return
  const balance = BigInt(String(reply.result))
  env.balanceReplies.push({ at: env.scheduler.now(), ...asked, balance })
}

/**
 * Whether the reply would have to hold the logs of a transaction that has more logs than a reply
 * can hold.
 */
function isAboutUnreadable({ unreadable }: Environment, { chain }: NodeView, { method, params }: Call) {
  if (unreadable.size === 0) return false
  if (method === 'eth_getTransactionReceipt') return unreadable.has(String(params[0]).slice(2))
  if (method !== 'eth_getLogs') return false
  const { blockHash } = params[0] as { readonly blockHash?: string } // safe: the service's own JSON
  return chain.byHash(String(blockHash).slice(2))?.transactions.some(({ txid }) => unreadable.has(txid)) === true
}

function write(
  { node, service, batch, calls }: Incoming,
  responses: readonly CallReply[],
  malformed: MalformedReply | null,
) {
  const [only] = responses
  if (service === 'api') return JSON.stringify(only !== undefined && 'result' in only ? only.result : {})
  if (malformed?.kind === 'responses') {
    const list = calls.map(({ id }, i): Wire => ({ jsonrpc: '2.0', id, ...responses[i] }))
    return JSON.stringify(malformed.change(batch ? list : list.slice(0, 1)))
  }
  const texts = calls.map(({ id }, i) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${textOf(responses[i])}}`)
  if (node.plan.reordersBatches) texts.reverse()
  return batch ? `[${texts.join()}]` : texts.join()
}

const describe = ({ calls }: Incoming) =>
  [...new Set(calls.map(({ method }) => method))].map((method) => method.replace('eth_', '')).join()

/**
 * The JSON of results that are objects, kept because blocks, logs and receipts are most of the text
 * that nodes send, and rarely change.
 */
const resultTexts = new WeakMap<object, string>()

function textOf(response: CallReply | undefined): string {
  if (response === undefined || 'error' in response) return JSON.stringify(response).slice(1, -1)
  const { result } = response
  if (typeof result !== 'object' || result === null) return `"result":${JSON.stringify(result)}`
  const existing = resultTexts.get(result)
  if (existing !== undefined) return existing
  const text = `"result":${JSON.stringify(result)}`
  resultTexts.set(result, text)
  return text
}

const encoder = new TextEncoder()
const mebibyte = new Uint8Array(1024 * 1024)

const junk = new Uint8Array(4 * 1024 * 1024).fill(0x78)

/**
 * A stand-in for a `Response`, with the members that the service reads; making it takes a tenth of
 * the time. If `text` is null, the body has no end. If `junkBytes` is above 0, the object in the
 * body begins with a field of so many bytes of junk.
 */
function respond(text: string | null, status = 200, junkBytes = 0): Response {
  const body = {
    async *[Symbol.asyncIterator]() {
      if (junkBytes > 0) yield encoder.encode('{"junk":"')
      if (junkBytes > 0) yield junk.subarray(0, junkBytes)
      if (text !== null && text !== '') yield encoder.encode(junkBytes > 0 ? `",${text.slice(1)}` : text)
      while (text === null) yield mebibyte
    },
    cancel: () => Promise.resolve(),
  }
  return { status, body } as unknown as Response // safe: the service reads only these members
}
