import type { BlockHeight, Header } from '../../worker/chain/block.ts'
import type { ChainResult } from '../../worker/chain/chain.ts'
import { ok } from '../../worker/common/result.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import { endsWithin } from '../../worker/platform/clock.ts'
import { readDecimals } from '../../worker/tron/accounts.ts'
import { agreeOnOne } from '../../worker/tron/agreement.ts'
import { askOne } from '../../worker/tron/ask.ts'
import { blockCall, parseResult } from '../../worker/tron/json-rpc.ts'
import type { Session, TronNode } from '../../worker/tron/node.ts'
import { type NodeResult, nodeError } from '../../worker/tron/node-errors.ts'
import { parseBriefBlock } from '../../worker/tron/parse/block.ts'
import type { AgreedNodes } from '../nodes.ts'
import { ToolError } from '../tool-error.ts'
import type { ShownHead } from './payout.ts'

/**
 * Comparisons of what the service says with the signer's own nodes, before anything is signed, so
 * that a service that was taken over cannot show another chain or other decimals. Each answer is
 * null if a quorum of the nodes confirms the service, else the reason why nothing is signed now.
 */
export interface OwnNodes {
  whyNotHead(head: ShownHead): Promise<string | null>
  /** Compares the decimals of a token. TRX needs no comparison. */
  whyNotDecimals(currency: Currency): Promise<string | null>
}

/**
 * Signing waits this many milliseconds for an answer of the signer's own nodes. A later answer
 * counts when the same question is asked again.
 */
const answerMs = 5_000
/**
 * Time limit of one attempt to ask the nodes, in milliseconds. If one node hangs, the other nodes
 * still answer within the time that a payout may take.
 */
const attemptMs = 6_000
/**
 * Confirmed decimals and heads count for this many milliseconds. Decimals may change later, because
 * the contract behind an address may be replaced.
 */
const decimalsMs = 600_000

/**
 * Makes the comparisons with these nodes. A final block (head) or decimals that they have confirmed
 * are not compared again for `decimalsMs`.
 */
export function createOwnNodes(nodes: AgreedNodes): OwnNodes {
  const { clock } = nodes
  const known = new Map<string, { readonly why: string | null; readonly at: number }>()
  const asked = new Map<string, Promise<unknown>>()
  const ask = async (about: string, lastsMs: number, query: () => Promise<string | null>) => {
    const before = known.get(about)
    if (before?.why === null && clock.now() < before.at + lastsMs) return null
    const running =
      asked.get(about) ??
      query()
        .catch(whyOf)
        .then((why) => known.set(about, { why, at: clock.now() }))
        .finally(() => asked.delete(about))
    asked.set(about, running)
    const isAnswered = await endsWithin(running, answerMs, clock)
    return isAnswered ? (known.get(about)?.why ?? null) : 'the nodes of this signer have not answered yet'
  }
  return {
    whyNotHead: (head) => {
      for (const [about, { at }] of known) if (clock.now() >= at + decimalsMs) known.delete(about) // forgets old heads
      return ask(`head ${head.hash}`, decimalsMs, () => compareHead(nodes, head))
    },
    async whyNotDecimals({ asset, decimals, symbol }) {
      if (asset.kind === 'native') return null
      return ask(`decimals ${decimals} of ${asset.contract}`, decimalsMs, async () => {
        const own = await nodes.read((session) => readDecimals(session, asset.contract), attemptMs)
        if (own === decimals) return null
        return `the contract of ${symbol} has ${own} decimals, by the nodes of this signer, and CURRENCIES of this machine ${decimals}`
      })
    },
  }
}

function whyOf(error: unknown): string {
  if (error instanceof ToolError) return `the nodes of this signer do not say: ${error.why}`
  throw error
}

async function compareHead(nodes: AgreedNodes, { height, hash, created_at }: ShownHead): Promise<string | null> {
  // safe: the schema of the service's reply checks it
  const own = await nodes.read((session) => readBlock(session, height as BlockHeight), attemptMs)
  if (own === null) return `the nodes of this signer have no block ${height} yet`
  if (own.hash !== hash) {
    return `the nodes of this signer have another block ${height}, ${own.hash}: the service is on another chain, or on a fork`
  }
  return own.timestamp === Date.parse(created_at)
    ? null
    : `the nodes of this signer have another time of block ${height}`
}

/**
 * Reads the header of the block at a height, agreed by a quorum of the nodes; null if a quorum
 * agrees that it has no such block yet.
 */
async function readBlock(session: Session, height: BlockHeight): ChainResult<Header | null> {
  const agreed = await agreeOnOne(session, 'chain', `block ${height}`, async (node, nodeSession) => {
    const block = await askForBlock(nodeSession, node, height)
    if (!block.ok) return block
    const canonicalText = block.value === null ? 'none' : `${block.value.hash} ${block.value.timestamp}`
    return ok([{ about: { height }, canonicalText, logs: '', value: block.value }])
  })
  return agreed.ok ? ok(agreed.value.value) : agreed
}

function askForBlock(session: Session, node: TronNode, height: BlockHeight): NodeResult<Header | null> {
  return askOne<Header | null>(session, node, blockCall(height), (reply) => {
    if (reply.kind === 'result' && reply.value === null) return ok(null)
    const block = parseResult(reply, `block ${height}`, parseBriefBlock)
    if (!block.ok || block.value.height === height) return block
    return nodeError('bad-answer', `block ${block.value.height} in place of ${height}`)
  })
}
