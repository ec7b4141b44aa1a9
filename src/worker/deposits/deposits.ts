import { secondsLeft } from '../chain/finality.ts'
import type { TransferId } from '../common/ids.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Deposit, DepositFilter, DepositKey } from './deposit.ts'
import { selectDepositPage } from './store/lists.ts'

const endOfIds = Number.MAX_SAFE_INTEGER as TransferId // safe: above every id
/**
 * The newest `limit` transfers with ids below `before`. If `before` is null, the page begins with
 * the newest transfer.
 */
export interface DepositPage {
  readonly before: TransferId | null
  readonly limit: number
}

/**
 * One page of transfers, newest first. `count` is the number of transfers on all pages;
 * `countedMax` (store/lists.ts) means that many or more.
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
  { before, limit }: DepositPage,
): Promise<DepositList> {
  const { deposits, count, head } = await selectDepositPage(db, filter, currencies, before ?? endOfIds, limit)
  const now = clock.now()
  const list = deposits.map((deposit) => {
    const isSeen = deposit.state === 'seen' && head !== null
    return isSeen ? { ...deposit, finalIn: secondsLeft(deposit.block.height, head, now) } : deposit
  })
  return { list, count }
}
