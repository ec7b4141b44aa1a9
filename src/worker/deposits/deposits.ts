import { secondsLeft } from '../chain/finality.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Deposit, DepositFilter, DepositKey, DepositPage } from './deposit.ts'
import { selectDepositPage } from './store/lists.ts'

/**
 * One page of transfers, newest first, or oldest first with `after`. `count` is the number of
 * transfers on all pages; `countedMax` (store/lists.ts) means that many or more.
 */
export interface DepositList {
  readonly list: readonly Deposit[]
  readonly count: number
}

/**
 * Reads one page of transfers to users, in one round trip. It reads a bounded number of rows,
 * however many transfers match.
 */
export async function listDeposits(
  { db, clock, currencies }: Pick<ReadContext, 'db' | 'clock' | 'currencies'>,
  filter: DepositFilter | DepositKey,
  page: DepositPage,
): Promise<DepositList> {
  const { deposits, count, head } = await selectDepositPage(db, filter, currencies, page)
  const now = clock.now()
  const list = deposits.map((deposit) => {
    const isSeen = deposit.state === 'seen' && head !== null
    return isSeen ? { ...deposit, finalIn: secondsLeft(deposit.block.height, head, now) } : deposit
  })
  return { list, count }
}
