import type { Ledger } from '../../../src/worker/index.ts'

interface Env {
  readonly DB: D1Database
  /** The service, for `/post`. */
  readonly LEDGER?: Service<typeof Ledger>
}

const users = 50
const at = 1_795_000_000_000
const units = 1_000_000

/**
 * `/post/{round}/{posts}/{entries}/{firstUid}` posts refunds by the service's own entrypoint, one
 * post after the other. `/insert/…` inserts the resulting rows, one batch for each post.
 * `/deposits/{round}/{count}` inserts the rows of deposits. The database for `/insert` and
 * `/deposits` has no triggers. This Worker is never deployed.
 */
export default {
  async fetch(request, env) {
    const [, action, round, first, second, firstUid = '1'] = new URL(request.url).pathname.split('/')
    if (action === 'deposits') await insertDeposits(env.DB, Number(round), Number(first))
    else {
      for (let i = 0; i < Number(first); i += 1) {
        const order = `${action}-${round}-${i}`
        if (action === 'post') await post(env, order, Number(second), Number(firstUid))
        else await insertEntries(env.DB, order, Number(second))
      }
    }
    return Response.json({})
  },
} satisfies ExportedHandler<Env>

async function post({ LEDGER }: Env, order: string, count: number, firstUid: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, i) => {
    return { uid: firstUid + (i % users), cuy: 1, type: 5 as const, osn: `${order}-${i}`, amt: '1' }
  })
  const posted = await LEDGER?.post(entries, 'bench')
  if (posted?.ok !== true || posted.replayed) throw new Error('a post was not stored')
}

const saveWallet = `INSERT INTO wallet (id, uid, cuy, balance, entry_count, newest_entry) VALUES (?1, ?1, ?2, ?3, 1, 1)
  ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance, entry_count = entry_count + 1,
    newest_entry = newest_entry + 1`
const insertFlow = `INSERT INTO stored_flow (wallet_id, type, osn, transfer_id, amount, balance, mark, created_at,
  posted_by, number, type_number)
  VALUES (?1, ?2, ?3, ?4, ?5, (SELECT balance FROM wallet WHERE id = ?1), ?6, ?7, ?8,
    (SELECT entry_count FROM wallet WHERE id = ?1), (SELECT entry_count FROM wallet WHERE id = ?1))`
const insertTransfer = `INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw,
  native, state,
  amount, created_at, changed_at) VALUES (unhex(?1), 0, ?2, 2, ?3, unhex(?4), unhex(?5), ?6, 0, 'credited', ?7, ?8, ?8)`
const saveHolding = `INSERT INTO stored_holding (cuy, address_id, part_0, changed_height, due_at)
  VALUES (2, ?1, ?2, ?3, ?4)
  ON CONFLICT (cuy, address_id) DO UPDATE
    SET part_0 = part_0 + excluded.part_0, changed_height = excluded.changed_height`

/**
 * The rows that a post writes: the entries and the new balances. An entry needs no further row for
 * its event.
 */
async function insertEntries(db: D1Database, order: string, count: number): Promise<void> {
  const [flow, wallet] = [db.prepare(insertFlow), db.prepare(saveWallet)]
  const rows = Array.from({ length: count }, (_, i) => {
    const uid = (i % users) + 1
    return [wallet.bind(uid, 1, units), flow.bind(uid, 5, `${order}-${i}`, null, units, '', at, 'bench')]
  })
  await db.batch(rows.flat())
}

/**
 * The rows that crediting writes: a transfer, its entry, the wallet's new balance, and the recorded
 * sum.
 */
async function insertDeposits(db: D1Database, round: number, count: number): Promise<void> {
  const [flow, wallet] = [db.prepare(insertFlow), db.prepare(saveWallet)]
  const [transfer, holding] = [db.prepare(insertTransfer), db.prepare(saveHolding)]
  const digits = (n: number, length: number) => n.toString(16).padStart(length, '0')
  const rows = Array.from({ length: count }, (_, i) => {
    const uid = i + 1
    const to = digits(uid, 40)
    const txid = digits((uid * 2_654_435_761 + round * 40_503) % 4_294_967_296, 8) + digits(round, 28) + digits(uid, 28)
    return [
      transfer.bind(txid, 70_000_000 + round, uid, 'cd'.repeat(20), to, `${units}`, units, at),
      wallet.bind(uid, 2, units),
      flow.bind(uid, 1, null, (round + 1) * 1_000_000 + uid, units, '', at, ''),
      holding.bind(uid, units, 70_000_000 + round, at),
    ]
  })
  await db.batch(rows.flat())
}
