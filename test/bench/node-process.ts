import { type ChildProcess, fork } from 'node:child_process'
import { root, UserError } from '../support/project.ts'
import type { BlocksOptions } from './blocks.ts'
import type { ScenarioOptions } from './scenarios.ts'

/** Which blocks a node serves: those like mainnet's, or those of a scenario. */
export type NodeOptions = BlocksOptions | ScenarioOptions

/** What a node has served since its counts were last read. */
export interface NodeCounts {
  readonly requests: number
  /** Those of the requests that ask for receipts, which the service needs only to verify deposits. */
  readonly receiptRequests: number
  /** Those to the HTTP API, which the service needs only to verify TRX deposits. */
  readonly apiRequests: number
  readonly calls: number
  readonly bytes: number
}

/** A message to the node's process. */
export type ToNode = { readonly kind: 'finalize'; readonly height: number } | { readonly kind: 'take-counts' }

/** A message from the node's process. */
export type FromNode =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  | { readonly kind: 'counts'; readonly counts: NodeCounts }

/** The most nodes that a figure needs: two must agree. */
export const nodesMax = 2

/** A running node on the loopback interface. */
export interface LoopbackNode {
  /** The base URLs under which it is several nodes: of its HTTP API, and with `/jsonrpc` of its JSON-RPC. */
  readonly urls: readonly string[]
  /** Makes the blocks up to `height` final. */
  finalize(height: number): Promise<void>
  /** The counts since the last call. */
  takeCounts(): Promise<NodeCounts>
  stop(): void
}

const replyTimeoutMs = 60_000

/**
 * Starts a node in a process of its own, so that it does not share a thread with the measured Worker. The process ends
 * with this one.
 */
export async function startNode(options: NodeOptions): Promise<LoopbackNode> {
  const child = fork(`${root}test/bench/node.ts`, [JSON.stringify(options)])
  const started = await nextMessage(child)
  if (started.kind !== 'listening') throw new UserError('the loopback node did not start')
  const send = async (message: ToNode): Promise<NodeCounts> => {
    const reply = nextMessage(child)
    child.send(message)
    const received = await reply
    if (received.kind !== 'counts') throw new UserError('the loopback node sent an unexpected message')
    return received.counts
  }
  return {
    urls: started.ports.map((port) => `http://127.0.0.1:${port}`),
    finalize: async (height) => void (await send({ kind: 'finalize', height })),
    takeCounts: () => send({ kind: 'take-counts' }),
    stop: () => void child.kill(),
  }
}

function nextMessage(child: ChildProcess): Promise<FromNode> {
  return new Promise((resolve, reject) => {
    const onExit = () => settle(() => reject(new UserError('the loopback node ended')))
    const onMessage = (message: unknown) => settle(() => resolve(message as FromNode)) // node.ts sends nothing else
    const onTimeout = () => settle(() => reject(new UserError('the loopback node does not reply')))
    const timer = setTimeout(onTimeout, replyTimeoutMs)
    const settle = (then: () => void) => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', onExit)
      then()
    }
    child.once('message', onMessage)
    child.once('exit', onExit)
  })
}
