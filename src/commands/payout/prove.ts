import { readFinalizedHead } from '../../worker/tron/finalized-head.ts'
import { readInfo } from '../node-replies.ts'
import type { AgreedNodes } from '../nodes.ts'
import type { JournalEntry } from './journal.ts'
import { pastMs } from './judge.ts'

/**
 * Why a transaction may still pay or has paid; null if a quorum of the signer's own nodes knows that it never will. Asked before a second transaction is
 * signed, because a service that was taken over could claim that the first has ended.
 */
export async function findWhyStillPayable(
  nodes: AgreedNodes,
  { txid, expiration }: JournalEntry,
): Promise<string | null> {
  const { header: final } = await nodes.read((session) => readFinalizedHead(session, null))
  const info = await readInfo(nodes, txid) // read after the head, so a transaction in no block now is in none up to the head
  if (info === null)
    return final.timestamp > expiration + pastMs ? null : 'no node knows a final block after its expiration'
  if (info.height > final.height) return `it is in block ${info.height}, which is not final`
  return info.isSuccess ? `it is in block ${info.height}, and succeeded there` : null
}
