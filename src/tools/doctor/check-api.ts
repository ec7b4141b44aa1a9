import type { Block } from '../../chain/block.ts'
import type { TronNode } from '../../tron/nodes/node.ts'
import { isObject } from '../../tron/parse/fields.ts'
import { readTransactionBytes } from '../../tron/transaction-bytes.ts'
import { postJson } from '../../tron/transport/http.ts'
import { type CheckResult, failed, hostOf, passed, warned } from './check-result.ts'
import { describeFailure, describeNodeError } from './node-under-test.ts'

/** A txid that no transaction has. */
const unknownTxid = '0'.repeat(64)

/** Checks the HTTP API of a node with the last transaction of these blocks. */
export async function checkApi(node: TronNode, api: string, blocks: readonly Block[]): Promise<CheckResult> {
  const name = `HTTP API (${hostOf(api)})`
  const notUsable = (why: string) => failed(`${name}: not usable to verify TRX deposits: ${why}`)
  const txid = blocks.flatMap(({ transactions }) => transactions).at(-1)?.txid
  if (txid !== undefined) {
    const bytes = await readTransactionBytes(node.pool, txid)
    if (!bytes.ok) return notUsable(describeFailure(node, bytes.error))
    return passed(`${name}: the bytes of a transaction hash to its txid`)
  }
  const target = { url: `${api}/wallet/gettransactionbyid`, key: node.endpoint.key }
  const reply = await postJson(node.pool.budget, target, JSON.stringify({ value: unknownTxid }), node.allowance)
  if (!reply.ok) return notUsable(describeNodeError(reply.error))
  // PROTOCOL.md, HTTP API: an unknown txid gets {}. An API of another chain answers the same.
  const isEmpty = isObject(reply.value) && Object.keys(reply.value).length === 0
  if (!isEmpty) return notUsable('its answer about an unknown transaction is not that of a java-tron')
  return warned(`${name}: answers; its bytes could not be checked, because the last final blocks have no transaction`)
}
