import { type ChildProcess, fork } from 'node:child_process'
import type { BlocksOptions } from './blocks.ts'
import { root, Trouble } from './project.ts'

/** What a node answered since it was last asked. */
export interface NodeCounts {
  readonly requests: number
  /** Requests among them that proved deposits: they asked for receipts. */
  readonly proofs: number
  readonly calls: number
  readonly bytes: number
}

/** What the node's process is told. */
export type ToNode = { readonly kind: 'finalize'; readonly height: number } | { readonly kind: 'take' }

type FromNode =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'counts'; readonly counts: NodeCounts }

/** A running loopback node. */
export interface LoopbackNode {
  /** Its JSON-RPC URL. */
  readonly url: string
  /** Makes the blocks up to `height` final. */
  finalize(height: number): Promise<void>
  /** What it answered since the last call. */
  take(): Promise<NodeCounts>
  stop(): void
}

const startWithinMs = 60_000
const live = new Set<ChildProcess>()

/** Starts a node in a process of its own, so that it does not share a thread with what measures. */
export async function startNode(options: BlocksOptions): Promise<LoopbackNode> {
  const child = fork(`${root}test/bench/node.ts`, [JSON.stringify(options)])
  live.add(child)
  child.once('exit', () => live.delete(child))
  const started = await told(child, startWithinMs)
  if (started.kind !== 'listening') throw new Trouble('the loopback node did not start')
  const ask = async (message: ToNode): Promise<NodeCounts> => {
    const answer = told(child, startWithinMs)
    child.send(message)
    const { kind, ...rest } = await answer
    if (kind !== 'counts' || !('counts' in rest)) throw new Trouble('the loopback node said something else')
    return rest.counts
  }
  return {
    url: `http://127.0.0.1:${started.port}/jsonrpc`,
    finalize: async (height) => void (await ask({ kind: 'finalize', height })),
    take: () => ask({ kind: 'take' }),
    stop: () => void child.kill(),
  }
}

/** Ends whatever is still running. */
export function stopNodes(): void {
  for (const child of live) child.kill()
}

function told(child: ChildProcess, withinMs: number): Promise<FromNode> {
  return new Promise((resolve, reject) => {
    const ended = () => settle(() => reject(new Trouble('the loopback node ended')))
    const said = (message: unknown) => settle(() => resolve(message as FromNode)) // node.ts sends nothing else
    const late = setTimeout(() => settle(() => reject(new Trouble('the loopback node is silent'))), withinMs)
    const settle = (then: () => void) => {
      clearTimeout(late)
      child.off('message', said)
      child.off('exit', ended)
      then()
    }
    child.once('message', said)
    child.once('exit', ended)
  })
}
