import type { Address } from '../chain/address.ts'
import type { ScannerCalls } from '../chain/scanner-calls.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { type AddressAt, issueFirst, issueFurther, selectCurrent } from './address-book.ts'

/** Addresses of one caller that may be without a deposit (BIP-44's gap limit). */
export const gapLimit = 20

/** What issuing an address needs. */
export interface IssueAddressParts {
  readonly db: WriteDatabase
  readonly scanner: Pick<ScannerCalls, 'prepareIssue'>
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: AddressAt
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
}

/**
 * The caller's current deposit address. The first call creates it; `fresh` issues a further one, unless `gapLimit` of the
 * caller's addresses are without a deposit. No address is shown before the start of the scan is stored.
 */
export async function issueAddress(
  { db, scanner, addressAt, firstIndex }: IssueAddressParts,
  uid: Uid,
  { fresh }: { readonly fresh: boolean },
): Promise<Result<{ readonly id: number; readonly address: Address }, QueryFailure>> {
  if (!fresh) {
    const current = await selectCurrent(db, uid)
    if (current !== null) return ok(current)
  }
  const prepared = await scanner.prepareIssue(uid)
  if (!prepared.ok) return prepared
  if (!fresh) return ok(await issueFirst(db, uid, addressAt, firstIndex ?? 0))
  const issued = await issueFurther(db, uid, addressAt, firstIndex ?? 0, gapLimit)
  return issued === 'gap-limit' ? err({ kind: 'gap-limit', limit: gapLimit }) : ok(issued)
}
