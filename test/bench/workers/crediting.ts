import type { Address } from '../../../src/chain/address.ts'
import type { BlockHash, BlockHeight, Txid } from '../../../src/chain/block.ts'
import type { CurrencyId, Uid } from '../../../src/common/ids.ts'
import type { UnixMs } from '../../../src/common/time.ts'
import { createDepositStore } from '../../../src/d1/deposit-store.ts'
import { createSightings } from '../../../src/d1/sightings.ts'
import type { Deposit } from '../../../src/deposits/deposit.ts'
import type { Amount } from '../../../src/common/amount.ts'
import { countingDatabase, createCounts } from './counting-database.ts'

interface Env {
  readonly DB: D1Database
  /** The addresses of the users, by uid − 1. */
  readonly ADDRESSES: readonly Address[]
}

/** The response. */
export interface CreditResult {
  readonly bytes: number
  /** Only for `/rows` and `/seen`; otherwise 0. */
  readonly rowsWritten: number
}

const at = 1_795_000_000_000 as UnixMs

/**
 * One block of token deposits, one for each user. `/credit/{block}` credits them with the service's own store;
 * `/insert/{block}` inserts the resulting rows directly, one statement each in one batch; `/rows/{block}` credits them
 * and counts the rows that D1 writes; `/seen/{block}` sees them in a block that is not final, counts the same, and forgets them
 * again, so that only the events stay. All return the size of the database. It is never deployed.
 */
export default {
  async fetch(request, env) {
    const [, action, block] = new URL(request.url).pathname.split('/')
    const deposits = env.ADDRESSES.map((to, i) => depositTo(to, i + 1, Number(block)))
    const counts = createCounts()
    if (action === 'credit') await credit(env.DB, deposits)
    else if (action === 'rows') await credit(countingDatabase(env.DB, counts), deposits)
    else if (action === 'seen') await see(countingDatabase(env.DB, counts), deposits)
    else await insertRows(env.DB, deposits, Number(block))
    if (action === 'seen') await env.DB.prepare('DELETE FROM sighting').run()
    const { meta } = await env.DB.prepare('SELECT 1').all()
    return Response.json({ bytes: meta.size_after, rowsWritten: counts.take().rowsWritten } satisfies CreditResult)
  },
} satisfies ExportedHandler<Env>

const credit = (db: D1Database, deposits: readonly Deposit[]) => createDepositStore(db, () => {}).credit(deposits, at)

function see(db: D1Database, deposits: readonly Deposit[]) {
  const seen = deposits.map((deposit) => ({ ...deposit, decimals: 6, seconds: 57 }))
  return createSightings(db).update(seen, at)
}

function depositTo(to: Address, uid: number, block: number): Deposit {
  const height = 70_000_000 + block
  const digits = (n: number, length: number) => n.toString(16).padStart(length, '0')
  const prefix = (uid * 2_654_435_761 + block * 40_503) % 4_294_967_296 // scattered like real txids
  return {
    txid: (digits(prefix, 8) + digits(block, 28) + digits(uid, 28)) as Txid, // 64 hex digits, unique
    position: 0,
    block: { height: height as BlockHeight, hash: (digits(height, 16) + 'ab'.repeat(24)) as BlockHash },
    cuy: 2 as CurrencyId,
    native: false,
    uid: uid as Uid,
    from: 'cd'.repeat(20) as Address,
    to,
    raw: 25_000_000n,
    outcome: 'credited',
    amount: 25_000_000n as Amount,
  }
}

const insertDeposit = `INSERT INTO deposit (txid, position, height, block_hash, cuy, native, uid, from_address, to_address, raw,
  outcome, amount, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const insertFlow = `INSERT INTO flow (wallet_id, uid, cuy, type, osn, amount, balance, mark, created_at, posted_by)
  VALUES (?, ?, ?, 1, ?, ?, ?, 'deposit', ?, '')`
const insertEvent = `INSERT INTO event (type, uid, created_at, entry_id) VALUES ('deposit.credited', ?, ?, (SELECT max(id) FROM flow))`
const saveWallet = `INSERT INTO wallet (id, uid, cuy, balance, entry_count, newest_entry) VALUES (?, ?, ?, ?, 1, 1)
  ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, entry_count = entry_count + 1,
    newest_entry = newest_entry + 1`

/** The rows that crediting writes: a deposit, its entry, its event, and the wallet's new balance. */
async function insertRows(db: D1Database, deposits: readonly Deposit[], block: number): Promise<void> {
  const [deposit, flow, wallet] = [db.prepare(insertDeposit), db.prepare(insertFlow), db.prepare(saveWallet)]
  const event = db.prepare(insertEvent)
  await db.batch(
    deposits.flatMap(({ txid, position, block: { height, hash }, cuy, uid, from, to, raw, outcome, amount }) => {
      const units = Number(amount)
      const balance = units * (block + 1)
      const row = [txid, position, height, hash, cuy, 0, uid, from, to, raw.toString(), outcome, units, at]
      return [
        deposit.bind(...row),
        wallet.bind(uid, uid, cuy, balance),
        flow.bind(uid, uid, cuy, `${txid}:${position}`, units, balance, at),
        event.bind(uid, at),
      ]
    }),
  )
}
