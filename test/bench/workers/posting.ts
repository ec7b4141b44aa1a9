import { nativeAsset } from '../../../src/chain/asset.ts'
import type { BackendName, CurrencyId } from '../../../src/common/ids.ts'
import type { UnixMs } from '../../../src/common/time.ts'
import { createEntryStore } from '../../../src/d1/entry-store.ts'
import { indexCurrencies } from '../../../src/ledger/currencies.ts'
import { postEntries } from '../../../src/ledger/post-entries.ts'

const at = 1_795_000_000_000 as UnixMs
const users = 50
const currencies = indexCurrencies([
  { cuy: 1 as CurrencyId, symbol: 'TRX', asset: nativeAsset, decimals: 6, scale: 6, minDeposit: 0n, retired: false },
])

/**
 * Posts of refunds, one after the other. `/post/{round}/{posts}/{entries}` posts them with the service's own use case;
 * `/insert/…` inserts the resulting rows directly, one statement each, one batch for each post. It is never deployed.
 */
export default {
  async fetch(request, env) {
    const [, action, round, posts, entries] = new URL(request.url).pathname.split('/')
    const send = action === 'post' ? post : insertRows
    for (let i = 0; i < Number(posts); i += 1) await send(env.DB, `${round}-${i}`, Number(entries))
    return Response.json({})
  },
} satisfies ExportedHandler<{ readonly DB: D1Database }>

const refunds = (order: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    uid: (i % users) + 1,
    cuy: 1,
    type: 5,
    osn: `${order}-${i}`,
    amt: '1',
    mark: '',
  }))

async function post(db: D1Database, order: string, count: number): Promise<void> {
  const parts = { entryStore: createEntryStore(db), currencies }
  const posted = await postEntries(parts, refunds(order, count), 'bench' as BackendName, at)
  if (!posted.ok || posted.value.replayed) throw new Error('a post was not stored')
}

const insertFlow = `INSERT INTO flow (wallet_id, uid, cuy, type, osn, amount, balance, mark, created_at, posted_by)
  VALUES (?1, ?1, ?2, ?3, ?4, ?5, (SELECT balance FROM wallet WHERE id = ?1), ?6, ?7, 'bench')`
const insertEvent = `INSERT INTO event (type, uid, created_at, entry_id) VALUES ('entry.posted', ?1, ?2, (SELECT max(id) FROM flow))`
const saveWallet = `INSERT INTO wallet (id, uid, cuy, balance, entry_count, newest_entry) VALUES (?1, ?1, ?2, ?3, 1, 1)
  ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance, entry_count = entry_count + 1,
    newest_entry = newest_entry + 1`

/** The rows that a post writes: the entries with their events, and the new balances. The database has no triggers. */
async function insertRows(db: D1Database, order: string, count: number): Promise<void> {
  const [flow, wallet, event] = [db.prepare(insertFlow), db.prepare(saveWallet), db.prepare(insertEvent)]
  await db.batch(
    refunds(order, count).flatMap(({ uid, cuy, type, osn, mark }) => [
      wallet.bind(uid, cuy, 1_000_000),
      flow.bind(uid, cuy, type, osn, 1_000_000, mark, at),
      event.bind(uid, at),
    ]),
  )
}
