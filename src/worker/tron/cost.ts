import type { BlockHeight, Txid } from '../chain/block.ts'
import type { ChainResult, TransactionCost } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { agreeOnOne } from './agreement.ts'
import { askApi } from './ask.ts'
import type { Session } from './node.ts'
import { nodeError } from './node-errors.ts'
import { isCount, isObject } from './parse/fields.ts'

/**
 * Reads what a transaction of the final block at `height` has cost, as `quorum` nodes show it in
 * `gettransactioninfobyid`.
 */
export async function readCost(session: Session, txid: Txid, height: BlockHeight): ChainResult<TransactionCost> {
  const agreed = await agreeOnOne(session, 'money', `cost of ${txid}`, async (node, nodeSession) => {
    const cost = await askApi(nodeSession, node, '/wallet/gettransactioninfobyid', { value: txid }, (value) => {
      if (isObject(value) && Object.keys(value).length === 0) return nodeError('not-kept', 'no transaction info')
      const parsed = parseCost(value, txid, height)
      return parsed === null ? nodeError('bad-answer', 'a transaction info that has no cost') : ok(parsed)
    })
    if (!cost.ok) return cost
    const canonicalText = `${cost.value.burnt} ${cost.value.energy}`
    return ok([{ about: { txid }, canonicalText, logs: '', value: cost.value }])
  })
  return agreed.ok ? ok(agreed.value.value) : agreed
}

/** Parses a transaction info. Nodes leave out zeros. */
function parseCost(value: unknown, txid: Txid, height: BlockHeight): TransactionCost | null {
  if (!isObject(value) || value.id !== txid || value.blockNumber !== height) return null
  const { fee: burnt = 0, receipt = {} } = value
  const energy = isObject(receipt) ? (receipt.energy_usage_total ?? 0) : null
  return isCount(burnt) && isCount(energy) ? { burnt, energy } : null
}
