import { type Address, parseAddress } from '../../src/worker/chain/address.ts'
import { type ChainBlock, type RenderedBlock, renderBlock, type Wire } from '../support/block-json.ts'
import { type CallResponse, type IncomingCall, answerCall as respond } from '../support/node-methods.ts'
import type { Block, ChainView } from './chain.ts'
import { chainId } from './chain.ts'
import type { NodePlan } from './scenario.ts'

export type { Wire } from '../support/block-json.ts'
export { readBalanceCall } from '../support/node-methods.ts'

/** One received JSON-RPC call. A request to the HTTP API is a call of `api` with its body. */
export type Call = IncomingCall
/** A node's reply to one call: its result or its error. */
export type CallReply = CallResponse

/** What a node knows when it replies. */
export interface NodeView {
  readonly chain: ChainView
  /**
   * The heights of the newest block that the node has, and of the newest one that it calls final.
   */
  readonly head: number
  readonly finalized: number
  readonly plan: NodePlan
  /** Without history every receipt is null and all logs are `[]` (PROTOCOL.md, Log queries). */
  readonly hasHistory: boolean
  /** Whether the node keeps internal transactions. */
  readonly keepsInternals: boolean
  /** Most logs in one reply. */
  readonly logsMax: number
  /** In chain units. `contract` null is TRX. */
  readonly balanceOf: (address: Address, contract: Address | null) => bigint
  readonly decimals: ReadonlyMap<Address, number>
  /** Transactions that are in no block. */
  readonly unmined: ReadonlySet<string>
  /** What the node answers to a signed transaction. */
  readonly broadcast: (transaction: string) => Wire
}

/** The reply of java-tron to one call (PROTOCOL.md). */
export function answerCall(view: NodeView, call: Call): CallReply {
  const { chain, plan, balanceOf, decimals, unmined } = view
  const rendering = (block: Block | undefined) => (block === undefined ? undefined : render(block, plan))
  return respond(
    {
      ...view,
      chainId,
      blockAt: (height) => rendering(chain.at(height)),
      blockByHash: (hash) => rendering(chain.byHash(hash)),
      blockOf: (txid) => rendering(chain.blockOf(txid)),
      decimalsOf: (contract) => decimals.get(contract),
      accountOf(address) {
        const account = parseAddress(address)
        const held = account.ok ? balanceOf(account.value, null) : 0n
        return held > 0n ? { address, balance: Number(held) } : {}
      },
      isUnmined: (txid) => unmined.has(txid),
    },
    call.method === 'api' ? { ...call, method: pathOf(call.params[0] as Wire) } : call, // safe: the service's own JSON
  )
}

/** The path of the HTTP API to which a body is sent, found by the members of the body. */
function pathOf({ address, value, transaction }: Wire): string {
  if (value !== undefined) return '/wallet/gettransactioninfobyid'
  if (transaction !== undefined) return '/wallet/broadcasthex'
  return address === undefined ? '/wallet/getblockbylimitnext' : '/wallet/getaccount'
}

/** The note of internal transactions that only some honest nodes show. */
export const featuredNote = 'delegateResourceOfEnergy'

/**
 * Blocks are rendered once for all nodes of the same kind, because they are most of the text that
 * nodes send.
 */
const rendered = new Map<string, WeakMap<Block, RenderedBlock>>()

function render(block: Block, plan: NodePlan): RenderedBlock {
  const { keepsFailedLogs, numbersByTransaction } = plan
  const kind = `${keepsFailedLogs} ${numbersByTransaction}`
  const ofKind = rendered.get(kind) ?? new WeakMap<Block, RenderedBlock>()
  rendered.set(kind, ofKind)
  const existing = ofKind.get(block) ?? renderBlock(shownBlock(block, keepsFailedLogs), { numbersByTransaction })
  ofKind.set(block, existing)
  return existing
}

/**
 * A block as a node shows it. A node that keeps the logs of failed transactions also shows internal
 * transactions with `featuredNote`.
 */
function shownBlock({ height, hash, parentHash, seconds, transactions }: Block, keepsFailedLogs: boolean): ChainBlock {
  const shown = transactions.map(({ txid, rawData, failed, logs, internals }) => ({
    txid,
    rawHex: Buffer.from(rawData).toString('hex'),
    result: failed ? 'REVERT' : 'SUCCESS',
    logs: failed && !keepsFailedLogs ? [] : logs,
    internals: internals.filter(({ note }) => keepsFailedLogs || note !== featuredNote),
  }))
  return { height, hash, parentHash, timeMs: seconds * 1000, transactions: shown }
}
