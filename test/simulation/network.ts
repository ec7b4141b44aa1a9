import type { Fetch } from '../../src/tron/client.ts'
import type { Wire } from '../support/chain-builder.ts'
import { answerCall, type IncomingCall, type Outcome } from '../support/scripted-node.ts'
import type { Invocation } from './invocation.ts'
import { drawRubbish, type Rubbish } from './malformed-replies.ts'
import type { Nodes, SimNode } from './nodes.ts'
import type { World } from './world.ts'

type Service = 'rpc' | 'api'

/** The network as one invocation sees it: requests take time both ways, and go wrong at the world's rates. */
export function connectTo(world: World, nodes: Nodes, invocation: Invocation): Fetch {
  const { random, scheduler, scenario } = world
  const find = (url: string): readonly [SimNode, Service] => {
    for (const node of nodes.list) {
      if (node.rpc === url) return [node, 'rpc']
      if (node.api !== null && `${node.api}/wallet/gettransactionbyid` === url) return [node, 'api']
    }
    throw new TypeError(`nothing listens at ${url}`)
  }
  const latency = () => random.int(5, !world.healed && random.chance(0.1) ? 1_500 : 120)

  return async (url, init) => {
    const [node, service] = find(url)
    await invocation.step()
    await scheduler.wait(latency())
    const rubbish = world.healed ? null : trouble(node, service)
    if (rubbish !== null) world.count(rubbish.name)
    const calls = readCalls(service, String(init.body))
    world.trace(() => `${invocation.name} → node ${node.number} ${service} ${describe(calls)} ${rubbish?.name ?? ''}`)
    const response = soundly(() => answer(node, service, calls, rubbish))
    if (rubbish?.kind === 'late') await scheduler.wait(random.int(2_000, 9_000))
    await scheduler.wait(latency())
    await invocation.step()
    if (rubbish?.name === 'time-out') await new Promise(() => {}) // never: the asker gives up
    if (response === null) throw new TypeError(`fetch failed: ${url}`)
    return response
  }

  /** The service takes whatever its fetch throws for a lost connection: a mistake of the simulation must not pass so. */
  function soundly<T>(act: () => T): T {
    try {
      return act()
    } catch (cause) {
      world.breach(`the simulation's network failed: ${cause instanceof Error ? cause.stack : 'by something'}`)
      throw cause
    }
  }

  function trouble(node: SimNode, service: Service): Rubbish | null {
    if (scheduler.now() < node.awayUntil) {
      return { kind: 'transport', name: random.chance(0.5) ? 'time-out' : 'lost connection' }
    }
    return random.chance(scenario.rates.rubbish) ? drawRubbish(random, service) : null
  }

  function answer(node: SimNode, service: Service, calls: Incoming, rubbish: Rubbish | null): Response | null {
    if (rubbish?.kind === 'http') return respond(rubbish.body, rubbish.status)
    if (rubbish?.name === 'lost connection') return null
    if (rubbish?.name === 'endless answer') return respond(null)
    if (!world.healed && calls.batch && calls.list.length > node.callsMax) {
      world.count('batch limit')
      return respond('{"jsonrpc":"2.0","id":"null","error":{"code":-32005,"message":"Batch size exceeds the limit"}}')
    }
    const text = write(node, service, calls, rubbish)
    return respond(rubbish?.name === 'half answer' ? text.slice(0, Math.floor(text.length * random.next())) : text)
  }

  function write(node: SimNode, service: Service, calls: Incoming, rubbish: Rubbish | null): string {
    nodes.look(node)
    const { scripted } = node
    const behind = scripted.behind
    scripted.behind += node.spread > 0 ? random.int(0, node.spread) : 0
    const outcomes = calls.list.map((call): Outcome => {
      const right = hides(node, call) ? { result: null } : answerCall(scripted, call)
      return rubbish?.kind === 'answers' ? (rubbish.change(call, right) ?? right) : right
    })
    scripted.behind = behind
    const [only] = outcomes
    if (service === 'api') return JSON.stringify(only !== undefined && 'result' in only ? only.result : {})
    if (rubbish?.kind === 'envelopes') {
      const list = calls.list.map(({ id }, i): Wire => ({ jsonrpc: '2.0', id, ...outcomes[i] }))
      return JSON.stringify(rubbish.change(calls.batch ? list : list.slice(0, 1)))
    }
    const texts = calls.list.map(({ id }, i) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${textOf(outcomes[i])}}`)
    return calls.batch ? `[${texts.join()}]` : texts.join()
  }

  function hides(node: SimNode, { method }: IncomingCall): boolean {
    if (node.deceit !== 'unknown transactions' || method !== 'eth_getTransactionByHash') return false
    world.count('lie: unknown transactions')
    return true
  }
}

interface Incoming {
  readonly batch: boolean
  readonly list: readonly IncomingCall[]
}

function readCalls(service: Service, text: string): Incoming {
  const body: unknown = JSON.parse(text)
  if (service === 'api') return { batch: false, list: [{ id: 0, method: 'api', params: [body] }] }
  return Array.isArray(body) ? { batch: true, list: body } : { batch: false, list: [body as IncomingCall] } // our own JSON
}

const describe = ({ list }: Incoming) =>
  [...new Set(list.map(({ method }) => method))].map((method) => method.replace('eth_', '')).join()

/** Answers that nothing has changed are written once: blocks, logs and receipts are the bulk of all text. */
const written = new WeakMap<object, string>()

function textOf(outcome: Outcome | undefined): string {
  if (outcome === undefined || 'error' in outcome) return JSON.stringify(outcome).slice(1, -1)
  const { result } = outcome
  if (typeof result !== 'object' || result === null) return `"result":${JSON.stringify(result)}`
  const before = written.get(result)
  if (before !== undefined) return before
  const text = `"result":${JSON.stringify(result)}`
  written.set(result, text)
  return text
}

const encoder = new TextEncoder()
const mebibyte = new Uint8Array(1024 * 1024)

/** What the service reads of a `Response`, in a tenth of the time. `text` null is a body without an end. */
function respond(text: string | null, status = 200): Response {
  let left = text === '' ? 0 : 1
  const read = () => {
    if (text === null) return Promise.resolve({ done: false, value: mebibyte })
    left -= 1
    return Promise.resolve(left < 0 ? { done: true } : { done: false, value: encoder.encode(text) })
  }
  const cancel = () => Promise.resolve()
  return { status, body: { getReader: () => ({ read, cancel }), cancel } } as unknown as Response // all that rpc.ts reads
}
