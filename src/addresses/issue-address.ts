import type { Address } from '../chain/address.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import { ensureScanStarted, type ScanStartParts } from '../scan/start.ts'
import type { AddressBook } from './address-book.ts'
import { checkKeyUse, type KeyUseParts } from './key-use.ts'

/** Addresses of one caller that may be without a deposit (BIP-44's gap limit). */
export const gapLimit = 20

/** What issuing an address needs. */
export interface IssueAddressParts extends ScanStartParts, KeyUseParts {
  readonly addresses: Pick<AddressBook, 'current' | 'isEmpty' | 'issueFirst' | 'issueFurther'>
  readonly chain: ScanStartParts['chain'] & KeyUseParts['chain']
}

/**
 * The caller's current deposit address. The first call creates it; `fresh` issues a further one, unless `gapLimit` of the
 * caller's addresses are without a deposit. No address is shown before the start of the scan is stored.
 */
export async function issueAddress(
  parts: IssueAddressParts,
  uid: Uid,
  { fresh }: { readonly fresh: boolean },
): Promise<Result<{ readonly id: number; readonly address: Address }, QueryFailure>> {
  if (!fresh) {
    const current = await parts.addresses.current(uid)
    if (current !== null) return ok(current)
  }
  const key = await checkKeyUse(parts)
  if (key !== 'unused') return err({ kind: key === 'used' ? 'cannot-issue' : 'chain-unavailable' })
  const started = await ensureScanStarted(parts)
  if (!started.ok) {
    return err({ kind: started.error.kind === 'start-above-head' ? 'cannot-issue' : 'chain-unavailable' })
  }
  if (!fresh) return ok(await parts.addresses.issueFirst(uid, parts.addressAt))
  const issued = await parts.addresses.issueFurther(uid, parts.addressAt, gapLimit)
  return issued === 'gap-limit' ? err({ kind: 'gap-limit', limit: gapLimit }) : ok(issued)
}
