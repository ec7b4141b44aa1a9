import type { Address } from '../../chain/address.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { err, ok } from '../../common/result.ts'
import { decimalsCall } from '../calls.ts'
import type { NodeQuery } from '../nodes/failover.ts'
import type { NodePool } from '../nodes/node.ts'
import { type Parsed, parseUint256 } from '../parse/fields.ts'
import { queryNode } from '../transport/batch.ts'
import { parseResult } from '../transport/json-rpc.ts'
import { agreeByQuorum } from './agreement.ts'

/** `decimals()` of a contract, as `quorum` nodes agree on it. */
export async function readTokenDecimals(pool: NodePool, contract: Address): ChainResult<number> {
  const query: NodeQuery<number> = async (node) => {
    const result = await queryNode(node, 'chain', [decimalsCall(contract)])
    return result.ok ? parseResult(result.value.replies[0], 'decimals', parseUint8) : result
  }
  return agreeByQuorum(pool, `decimals of ${contract}`, query, String)
}

function parseUint8(value: unknown): Parsed<number> {
  const number = parseUint256(value)
  if (!number.ok) return number
  return number.value > 255n ? err('more than a uint8') : ok(Number(number.value))
}
