import type { Address } from '../../src/worker/chain/address.ts'
import { type BuiltChain, restoreChain } from '../support/chain-builder.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import type { TransactionSpec } from '../support/transaction-spec.ts'
import type { Deployment } from './deployment.ts'

/** The nodes of a deployment, and the endpoint of its events, as they go on after it stopped. */
export interface Surroundings {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Starts nodes that have the chain of a deployment. */
export function surround({ variables, nodes: stored }: Deployment): Surroundings {
  const chain = restoreChain(stored.firstHeight, stored.blocks)
  const configured = variables.TRON_NODES as readonly { rpc: string; api: string }[] // safe: every deployment has them
  const nodes = configured.map(() => {
    const node = createScriptedNode(chain)
    node.finalityLag = stored.finalityLag
    for (const [key, units] of Object.entries(stored.balances)) node.balances.set(key, BigInt(units))
    for (const [contract, decimals] of Object.entries(stored.decimals)) {
      node.decimals.set(contract as Address, decimals) // safe: a key of the same map
    }
    return node
  })
  const reach = connect(configured.flatMap((urls, i) => nodes.slice(i, i + 1).map((node) => ({ ...urls, node }))))
  const fetch: Surroundings['fetch'] = async (url, init) =>
    url.startsWith('https://hooks.example/') ? new Response(null, { status: 204 }) : reach(url, init)
  return { chain, nodes, fetch }
}

/** An answer to a request of any method. */
export interface Reply {
  readonly status: number
  /** The word in `x-reason`, or null. */
  readonly reason: string | null
  readonly body: string
}

/** A version of the Worker over a database, with all around it. */
export interface Stage {
  readonly name: string
  /** Sends a request with the token of a user or a backend; with `body` it is a POST. */
  send(as: number | string, path: string, body?: unknown): Promise<Reply>
  /** Puts transactions into the next block, makes it final, and lets the scan read it. */
  mine(...specs: readonly TransactionSpec[]): Promise<void>
  /** Waits for what requests have begun and their answers did not wait for. */
  settled(): Promise<void>
  /** The newest final block. */
  head(): { readonly height: number; readonly hash: string; readonly timestamp: number }
}
