import { type ChildProcess, fork } from 'node:child_process'
import { root, UserError } from '../support/project.ts'

/** Which blocks a node serves. */
export interface NodeOptions {
  /** Milliseconds since 1970 of block `firstHeight`. */
  readonly startMs: number
  /** Transactions of a block: one number for all, or several in turns. */
  readonly transactions: readonly number[]
  /**
   * From height `from` on each block has `each` deposits, half of them in TRX, to the seeded
   * addresses in turns.
   */
  readonly deposits: { readonly from: number; readonly each: number; readonly addresses: number } | null
}

/** A message to the node's process: the height up to which blocks are final. */
export type ToNode = number
/** A message from the node's process: when it has started, and after each message to it. */
export interface FromNode {
  readonly ports: readonly number[]
}

/** A running node on the loopback interface. */
export interface LoopbackNode {
  /** A base URL for each node that the process stands for. The nodes agree. */
  readonly urls: readonly string[]
  /** Makes the blocks up to `height` final. */
  finalize(height: number): Promise<void>
  stop(): void
}

const replyTimeoutMs = 60_000

/**
 * Starts a node in a process of its own, so that it does not share a thread with the measured
 * Worker.
 */
export async function startNode(options: NodeOptions): Promise<LoopbackNode> {
  const child = fork(`${root}test/bench/node.ts`, [JSON.stringify(options)])
  const started = await nextMessage(child)
  return {
    urls: started.ports.map((port) => `http://127.0.0.1:${port}`),
    async finalize(height) {
      const reply = nextMessage(child)
      child.send(height satisfies ToNode)
      await reply
    },
    stop: () => void child.kill(),
  }
}

function nextMessage(child: ChildProcess): Promise<FromNode> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UserError('the loopback node does not reply')), replyTimeoutMs)
    child.once('message', (message) => {
      clearTimeout(timer)
      resolve(message as FromNode) // safe: node.ts sends only such messages
    })
  })
}
