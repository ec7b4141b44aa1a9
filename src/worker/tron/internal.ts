import type { BlockHeight, Txid } from '../chain/block.ts'
import type { ChainResult, InternalReading } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { agreeByQuorum, failureOf } from './agreement.ts'
import { askApi } from './ask.ts'
import type { Session } from './node.ts'
import { nodeError } from './node-errors.ts'
import { parseInternals } from './parse/internal.ts'

/**
 * Reads the TRX that contracts sent in a transaction of a final block. Nodes need not keep internal
 * transactions, so a node that shows none proves nothing. All nodes are asked until `quorum` of
 * them show the same internal transactions. `not-shown`: too few nodes keep them.
 */
export async function readInternalTransfers(
  session: Session,
  txid: Txid,
  height: BlockHeight,
): ChainResult<InternalReading> {
  const { nodes, quorum } = session.pool
  const { verdicts, errors } = await agreeByQuorum(session, 'money', async (node, nodeSession) => {
    const shown = await askApi(nodeSession, node, '/wallet/gettransactioninfobyid', { value: txid }, (value) => {
      const parsed = parseInternals(value, txid, height)
      return parsed.ok ? parsed : nodeError('bad-answer', parsed.error)
    })
    if (!shown.ok) return shown
    const { canonicalText, transfers } = shown.value
    return canonicalText === ''
      ? nodeError('not-kept', 'no internal transactions')
      : ok([{ about: { txid }, canonicalText, logs: '', value: transfers }])
  })
  const [verdict] = verdicts
  if (verdict?.kind === 'agreed') return ok({ kind: 'shown', transfers: verdict.value })
  if (verdict?.kind === 'differs') return err({ kind: 'disagreement', about: `internal transactions of ${txid}` })
  const silent = [...errors.values()].filter(({ kind }) => kind === 'not-kept' || kind === 'unsupported').length
  return nodes.length - silent < quorum ? ok({ kind: 'not-shown' }) : err(failureOf(session, errors))
}
