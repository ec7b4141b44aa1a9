import { readFinalizedHead } from '../../worker/tron/finalized-head.ts'
import { readInfo } from '../node-replies.ts'
import type { AgreedNodes } from '../nodes.ts'
import type { JournalEntry } from './journal.ts'
import { type Proof, pastMs } from './judge.ts'

/**
 * Asks a quorum of the signer's own nodes whether a transaction can never pay any more: the proof,
 * or why it may still pay or has paid. `absent`: it is in no block, and a block may still contain
 * it. Asked before a second transaction is signed, because a service that was taken over could
 * claim that the first has ended.
 */
export async function proveGone(
  nodes: AgreedNodes,
  { txid, expiration }: Pick<JournalEntry, 'txid' | 'expiration'>,
): Promise<{ readonly proof: Proof } | { readonly why: string | 'absent' }> {
  const { header: final } = await nodes.read((session) => readFinalizedHead(session, null))
  // read after the head, so a transaction in no block now is in none up to the head
  const info = await readInfo(nodes, txid)
  if (info === null) return final.timestamp > expiration + pastMs ? { proof: 'absent' } : { why: 'absent' }
  if (info.height > final.height) return { why: `it is in block ${info.height}, which is not final` }
  return info.isSuccess ? { why: `it is in block ${info.height}, and succeeded there` } : { proof: 'failed' }
}
