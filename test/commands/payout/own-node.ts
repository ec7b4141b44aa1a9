import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen, type RunningServer } from '../../support/loopback.ts'
import { chainId } from './harness.ts'
import { blockAt } from './scripted-service.ts'

/**
 * The signer's own Tron node, on the chain of the scripted service. `script` changes the node's
 * answers.
 */
export interface OwnNode extends RunningServer {
  readonly script: {
    chainId: string
    decimals: number
    /** How far the node's newest final block is behind the clock. */
    behindMs: number
    /** Hash and time of the block at a height; null if the node does not have that block. */
    block(height: number): { readonly hash: string; readonly ms: number } | null
    /** What the node says of transactions in final blocks, by txid: whether each has succeeded. */
    readonly mined: Map<string, boolean>
    /** The methods of all calls that the node received, in order. */
    readonly asked: string[]
  }
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params?: readonly string[]
}

/**
 * Starts the signer's own node. By default the node's newest final block is the one that the
 * scripted service names.
 */
export async function startOwnNode(now: () => number): Promise<OwnNode> {
  const script: OwnNode['script'] = {
    chainId,
    decimals: 8,
    behindMs: 57_000,
    block: (height) => ({ hash: blockAt(height * 3_000).hash, ms: height * 3_000 }),
    mined: new Map(),
    asked: [],
  }
  const server = await listen(
    createServer((request, response) => {
      const respond = async () => {
        const body = (await json(request)) as Call | Call[] // safe: the command's own request
        if (request.url?.endsWith('/gettransactioninfobyid') === true) {
          const { value: txid } = body as unknown as { readonly value: string } // safe: the command's own request
          return response.end(JSON.stringify(infoOf(script, txid, now())))
        }
        const calls = Array.isArray(body) ? body : [body]
        for (const { method } of calls) script.asked.push(method)
        const replies = calls.map((call) => ({ jsonrpc: '2.0', id: call.id, result: answer(script, call, now()) }))
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]))
      }
      respond().catch(() => response.destroy())
    }),
  )
  return { ...server, script }
}

/**
 * The reply of the HTTP API about a transaction: one that is mined is in the newest final block.
 */
function infoOf({ mined, behindMs }: OwnNode['script'], txid: string, now: number): object {
  const isSuccess = mined.get(txid)
  if (isSuccess === undefined) return {}
  return { id: txid, blockNumber: blockAt(now - behindMs).height, ...(isSuccess ? {} : { result: 'FAILED' }) }
}

function answer(script: OwnNode['script'], { method, params: [first = ''] = [] }: Call, now: number): unknown {
  switch (method) {
    case 'eth_chainId':
      return script.chainId
    case 'eth_call':
      return `0x${script.decimals.toString(16).padStart(64, '0')}`
    case 'eth_getBlockByNumber': {
      const height = first === 'finalized' ? blockAt(now - script.behindMs).height : Number(first)
      const genesis = { hash: script.chainId.slice(2).padStart(64, '0'), ms: 0 }
      const block = height === 0 ? genesis : script.block(height)
      if (block === null) return null
      const parent = script.block(height - 1)?.hash ?? '0'.repeat(64)
      return {
        number: `0x${height.toString(16)}`,
        hash: `0x${block.hash}`,
        parentHash: `0x${height < 2 ? '0'.repeat(64) : parent}`,
        timestamp: `0x${(block.ms / 1_000).toString(16)}`,
        transactions: [],
      }
    }
    default:
      return null
  }
}

/** The hash of another block at the same height. */
export const otherHash = (hash: string) => hash.replace(/.$/, (digit) => (digit === 'b' ? 'c' : 'b'))
