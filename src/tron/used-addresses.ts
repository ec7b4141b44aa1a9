import { type Address, formatBase58 } from '../chain/address.ts'
import type { Asset } from '../chain/asset.ts'
import type { ChainResult } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { queryBalances } from './balances.ts'
import { createNodeSelector, failureOf, firstAnswer } from './nodes/failover.ts'
import type { NodePool } from './nodes/node.ts'
import { nodeError } from './nodes/node-error.ts'
import { isObject } from './parse/fields.ts'
import { collectAnswers } from './quorum/agreement.ts'
import { postJson } from './transport/http.ts'

// Whether a key was used before. What is not shown here would let addresses be issued a second time.

/**
 * The first of at most `balancesMax` addresses that holds an asset by any of `quorum` nodes, or null. So a node that lies can
 * show that one holds something, and cannot hide it.
 */
export async function findHolder(
  pool: NodePool,
  addresses: readonly Address[],
  asset: Asset,
): ChainResult<number | null> {
  const selector = createNodeSelector(pool, 'any', pool.quorum)
  const answers = await collectAnswers(
    selector,
    (node) => queryBalances(node, addresses, asset),
    (all) => pool.quorum - all.length,
  )
  const index = addresses.findIndex((_, i) => answers.some(({ value }) => (value[i] ?? 0n) > 0n))
  if (index !== -1) return ok(index)
  return answers.length < pool.quorum ? err(failureOf(selector)) : ok(null)
}

/**
 * The first of these addresses whose account exists, by one node for each, or null; also null where no node has an HTTP API. An
 * address that was emptied holds nothing, and its account stays (PROTOCOL.md, HTTP API). One request for each, one after the
 * other: gateways limit the requests of a second (PROTOCOL.md, Rate limits and gateways).
 */
export async function findActivated(pool: NodePool, addresses: readonly Address[]): ChainResult<number | null> {
  const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
  for (const [index, address] of addresses.entries()) {
    const exists = nodes.length === 0 ? ok(false) : await accountExists(pool, nodes, formatBase58(address))
    if (!exists.ok) return exists
    if (exists.value) return ok(index)
  }
  return ok(null)
}

function accountExists(pool: NodePool, nodes: NodePool['nodes'], address: string): ChainResult<boolean> {
  const body = JSON.stringify({ address, visible: true })
  return firstAnswer(createNodeSelector(pool, 'api', 1, nodes), async ({ endpoint: { api, key }, allowance }) => {
    const reply = await postJson(pool.budget, { url: `${api}/wallet/getaccount`, key }, body, allowance)
    if (!reply.ok) return reply
    if (!isObject(reply.value)) return nodeError('bad-answer', 'no account')
    if (Object.keys(reply.value).length === 0) return ok(false)
    return reply.value.address === address ? ok(true) : nodeError('bad-answer', 'another account')
  })
}
