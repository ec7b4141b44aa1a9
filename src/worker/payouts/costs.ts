import type { Chain } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { selectUncosted, storeCost } from './store/transactions.ts'

/** Most stuck payouts among which failed transactions are looked for, the newest first. */
const lookedAtMax = 50
/** Most transactions whose cost one tick reads: each takes a request to each node of the quorum. */
const readMax = 5
/** The cost of a transaction is asked for within this time of its end. If no quorum tells it by then, it stays unknown. */
const askedMs = 3_600_000

/** Reads and stores what failed transactions of payouts have cost, for people. What the nodes do not tell is asked again by the next tick. */
export async function readCosts(db: WriteDatabase, chain: Pick<Chain, 'cost'>, now: UnixMs): Promise<void> {
  for (const transaction of await selectUncosted(db, now - askedMs, lookedAtMax, readMax)) {
    const cost = await chain.cost(transaction.txid, transaction.height)
    if (cost.ok) await storeCost(db, transaction, cost.value)
  }
}
