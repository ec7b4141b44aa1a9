import type { Address } from '../chain/address.ts'
import type { Asset } from '../chain/asset.ts'
import type { ChainResult } from '../chain/chain.ts'
import { balancesMax } from '../chain/limits.ts'
import { parseQuantity } from '../chain/quantity.ts'
import { err, ok } from '../common/result.ts'
import { balanceCall, tokenBalanceCall } from './calls.ts'
import { batchCallsMax } from './limits.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import type { NodePool, TronNode } from './nodes/node.ts'
import type { NodeResult } from './nodes/node-error.ts'
import { type Parsed, parseUint256 } from './parse/fields.ts'
import { queryNode } from './transport/batch.ts'
import { parseResults } from './transport/json-rpc.ts'

/** The newest balances of addresses by one node, in chain units. */
export async function readBalances(
  pool: NodePool,
  addresses: readonly Address[],
  asset: Asset,
): ChainResult<readonly bigint[]> {
  if (addresses.length === 0) return ok([])
  if (addresses.length > balancesMax) return err({ kind: 'no-answer', why: `${addresses.length} balances at once` })
  return firstAnswer(createNodeSelector(pool, 'any'), (node) => queryBalances(node, addresses, asset))
}

/** The newest balances of at most `balancesMax` addresses at one node. */
export async function queryBalances(
  node: TronNode,
  addresses: readonly Address[],
  asset: Asset,
): NodeResult<readonly bigint[]> {
  const calls = addresses.map((address) =>
    asset.kind === 'native' ? balanceCall(address) : tokenBalanceCall(asset.contract, address),
  )
  const parse = asset.kind === 'native' ? parseSun : parseUint256
  // One call more than in other batches, so that 20 addresses take one request. The chain id in it replaces a probe.
  const result = await queryNode(node, 'chain', calls, { batchMax: batchCallsMax + 1 })
  return result.ok ? parseResults(result.value.replies, addresses, () => 'a balance', parse) : result
}

function parseSun(value: unknown): Parsed<bigint> {
  const sun = parseQuantity(value)
  return sun === null ? err('not a quantity') : ok(sun)
}
