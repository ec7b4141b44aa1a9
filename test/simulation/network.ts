import { type Address, addressFromHex } from '../../src/chain/address.ts'
import type { Wire } from '../support/block-json.ts'
import { answerCall, type CallResponse, type IncomingCall } from '../support/node-methods.ts'
import { apiPaths } from '../support/scripted-node.ts'
import type { ByzantineFault } from './byzantine-faults.ts'
import { type Environment, statesSince } from './environment.ts'
import type { Invocation, NodeFetch } from './invocation.ts'
import {
  batchLimitBody,
  drawMalformedReply,
  type MalformedReply,
  otherChainId,
  replyLimitBody,
} from './malformed-replies.ts'
import type { Nodes } from './nodes.ts'
import { asReplied } from './reply-differences.ts'
import type { SimulatedNode } from './simulated-node.ts'

type NodeService = 'rpc' | 'api'

interface Incoming {
  readonly node: SimulatedNode
  readonly service: NodeService
  readonly batch: boolean
  readonly calls: readonly IncomingCall[]
}

/** The network of one invocation. A request takes time in both directions, and fails at the rates of the scenario. */
export function connectToNodes(env: Environment, nodes: Nodes, invocation: Invocation): NodeFetch {
  const { random, scheduler } = env
  const latency = () => random.int(5, env.phase === 'faults' && random.chance(0.1) ? 1_500 : 120)
  return async (url, body) => {
    const incoming = receive(nodes, url, body)
    const { node, service } = incoming
    await invocation.step()
    await scheduler.wait(latency())
    const malformed = drawFault(env, incoming)
    if (malformed !== null) env.count(malformed.name)
    env.trace(() => {
      return `${invocation.name} → node ${node.number} ${service} ${describe(incoming)} ${malformed?.name ?? ''}`
    })
    const response = reportingBugs(env, () => reply(env, nodes, invocation, incoming, malformed))
    if (malformed?.kind === 'late') await scheduler.wait(random.int(2_000, 9_000))
    await scheduler.wait(latency())
    await invocation.step()
    if (malformed?.name === 'time-out') await new Promise(() => {}) // never: the client gives up
    if (response === null) throw new TypeError(`fetch failed: ${url}`)
    return response
  }
}

function receive({ list }: Nodes, url: string, text: string): Incoming {
  const body: unknown = JSON.parse(text)
  for (const node of list) {
    if (node.rpc === url) {
      // our own JSON
      const calls = (Array.isArray(body) ? body : [body]) as readonly IncomingCall[]
      return { node, service: 'rpc', batch: Array.isArray(body), calls }
    }
    if (node.api !== null && apiPaths.some((path) => node.api + path === url)) {
      return { node, service: 'api', batch: false, calls: [{ id: 0, method: 'api', params: [body] }] }
    }
  }
  throw new TypeError(`nothing listens at ${url}`)
}

/** The service takes any error of its fetch for a lost connection: a bug of the simulation must not pass as one. */
function reportingBugs<T>(env: Environment, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    env.violate(`the simulated network failed: ${cause instanceof Error ? cause.stack : String(cause)}`)
    throw cause
  }
}

function drawFault(env: Environment, { node, service, calls }: Incoming): MalformedReply | null {
  const { random, scheduler, scenario, phase } = env
  if (scheduler.now() < node.awayUntil) {
    return { kind: 'transport', name: random.chance(0.5) ? 'time-out' : 'lost connection' }
  }
  if (isOverQuota(node, scheduler.now())) {
    return { kind: 'http', name: 'quota used up', status: 429, body: '' }
  }
  const asksForBlock = service === 'api' && calls.some(({ params: [body] }) => 'num' in (body as object)) // our own JSON
  if (asksForBlock && !node.plan.hasWholeBlocks) {
    return { kind: 'http', name: 'API: no whole blocks', status: 404, body: '' }
  }
  if (service === 'api' && node.lacksBytes) return { kind: 'http', name: 'API: nothing', status: 200, body: '{}' }
  const rate = phase === 'faults' ? scenario.rates.malformed : node.malformed
  return random.chance(rate) ? drawMalformedReply(random, service) : null
}

function isOverQuota(node: SimulatedNode, now: number): boolean {
  const minute = Math.floor(now / 60_000)
  if (minute !== node.quotaMinute) node.used = 0
  node.quotaMinute = minute
  node.used += 1
  return node.used > node.quota
}

function reply(
  env: Environment,
  nodes: Nodes,
  invocation: Invocation,
  incoming: Incoming,
  malformed: MalformedReply | null,
): Response | null {
  const { node, batch, calls } = incoming
  if (malformed?.kind === 'http') return respond(malformed.body, malformed.status)
  if (malformed?.name === 'lost connection') return null
  if (malformed?.name === 'endless body') return respond(null)
  if (batch && calls.length > node.callsMax) {
    env.count('batch limit')
    return respond(batchLimitBody)
  }
  const responses = answerCalls(env, nodes, invocation, incoming).map((response, i): CallResponse => {
    const call = calls[i]
    return malformed?.kind === 'calls' && call !== undefined ? (malformed.change(call, response) ?? response) : response
  })
  const text = write(incoming, responses, malformed)
  if (text.length > node.replyMax) {
    env.count('reply limit')
    return respond(batch ? replyLimitBody : replyLimitBody.replace('"null"', String(calls[0]?.id)))
  }
  const end = malformed?.name === 'truncated body' ? Math.floor(text.length * env.random.next()) : text.length
  return respond(text.slice(0, end))
}

/** The node's own responses, true or Byzantine, in its view of this moment. */
function answerCalls(
  env: Environment,
  nodes: Nodes,
  invocation: Invocation,
  { node, calls }: Incoming,
): readonly CallResponse[] {
  const fault = nodes.setView(node)
  const { scripted } = node
  const { behind } = scripted
  scripted.behind += node.spread > 0 ? env.random.int(0, node.spread) : 0
  if (fault === 'held-back head') scripted.behind = Math.max(behind, env.chain.tip().height - node.heldHeight)
  const isGlitch = node.glitches > 0 && env.random.chance(node.glitches)
  const responses = calls.map((call) => {
    if (isGlitch && call.method === 'eth_chainId') return { result: otherChainId }
    if (call.method === node.refuses) return { error: { code: -32005, message: 'limit exceeded' } }
    if (fault === 'unknown transactions' && call.method === 'eth_getTransactionByHash') return { result: null }
    loadBalance(env, nodes, invocation, node, fault, call)
    return asReplied(node.plan, call, answerCall(scripted, call))
  })
  scripted.behind = behind
  return responses
}

/** Gives the node the balance that the call asks for, and records it for the checks of answers and alarms. */
function loadBalance(
  env: Environment,
  nodes: Nodes,
  invocation: Invocation,
  node: SimulatedNode,
  fault: ByzantineFault | null,
  call: IncomingCall,
): void {
  const asked = readBalanceCall(call)
  if (asked === null) return
  const { address, contract } = asked
  const { balance, isTrue } = nodes.balanceOf(node, fault, address, contract)
  node.scripted.balances.set(contract === null ? address : `${contract} ${address}`, balance)
  env.balanceReplies.push({ at: env.scheduler.now(), address, contract, balance })
  if (invocation.kind !== 'tick') return
  const key = `${contract} ${address}`
  const positions = statesSince(env, invocation.startedAt).map((scan) => scan?.height ?? 0) // a correction can have lowered it
  env.newestReadings.set(key, { at: env.scheduler.now(), position: Math.max(...positions) })
  if (isTrue) return
  env.falseReadings.set(key, (env.falseReadings.get(key) ?? 0) + 1)
}

function readBalanceCall({ method, params }: IncomingCall): { address: Address; contract: Address | null } | null {
  if (method === 'eth_getBalance') return { address: toAddress(params[0]), contract: null }
  if (method !== 'eth_call') return null
  const { to, data } = params[0] as { readonly to: string; readonly data: string } // our own JSON
  return data.startsWith('0x70a08231') ? { address: toAddress(data), contract: toAddress(to) } : null
}

function toAddress(text: unknown): Address {
  const address = addressFromHex(String(text).slice(-40))
  if (address === null) throw new Error(`no address: ${text}`)
  return address
}

function write(
  { node, service, batch, calls }: Incoming,
  responses: readonly CallResponse[],
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

/** The text of results that are objects: blocks, logs and receipts are most of all text, and rarely change. */
const resultTexts = new WeakMap<object, string>()

function textOf(response: CallResponse | undefined): string {
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

/** The part of a `Response` that the service reads, in a tenth of the time. `text` null is a body without an end. */
function respond(text: string | null, status = 200): Response {
  const body = {
    async *[Symbol.asyncIterator]() {
      if (text !== null && text !== '') yield encoder.encode(text)
      while (text === null) yield mebibyte
    },
    cancel: () => Promise.resolve(),
  }
  return { status, body } as unknown as Response // what is read of it
}
