import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Uid } from '../ledger/entry.ts'
import { ensureScanStarted, type ScanStartParts } from '../scan/start.ts'
import type { Address } from './address.ts'
import type { AddressBook } from './address-book.ts'

/** Addresses of one caller that may be without a deposit (BIP-44). */
export const gapLimit = 20

/** What issuing an address needs. */
export interface IssueAddressParts extends ScanStartParts {
  readonly addresses: AddressBook
  /** The address at an index of the deployment's extended public key. */
  readonly derive: (index: number) => Address
}

/**
 * The caller's current deposit address; the first call creates it, `fresh` issues a further one (at most
 * `gapLimit` without a deposit). No address is shown before the scan's start is stored.
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
  const started = await ensureScanStarted(parts)
  if (!started.ok) return err({ kind: 'chain-unavailable' })
  if (!fresh) return ok(await parts.addresses.issueFirst(uid, parts.derive))
  const issued = await parts.addresses.issueFurther(uid, parts.derive, gapLimit)
  return issued === 'gap-limit' ? err({ kind: 'gap-limit', limit: gapLimit }) : ok(issued)
}
