import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parseExtendedPublicKey } from '../../../src/worker/addresses/derive.ts'
import { issueAddress } from '../../../src/worker/addresses/issue-address.ts'
import { matchAddresses, selectAddresses } from '../../../src/worker/addresses/store/address-book.ts'
import type { Address } from '../../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight, Txid } from '../../../src/worker/chain/block.ts'
import type { Amount } from '../../../src/worker/common/amount.ts'
import { type BackendName, type CurrencyId, reservedUid, type Uid } from '../../../src/worker/common/ids.ts'
import { ok } from '../../../src/worker/common/result.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { type WriteDatabase, writable } from '../../../src/worker/d1/database.ts'
import { storeTransfers } from '../../../src/worker/deposits/store/transfers.ts'
import { selectEvents } from '../../../src/worker/events/store/events.ts'
import { listWallets } from '../../../src/worker/ledger/list-entries.ts'
import { postEntries } from '../../../src/worker/ledger/post-entries.ts'
import { selectEntries } from '../../../src/worker/ledger/store/entries.ts'
import { meaningOf, rememberSettings } from '../../../src/worker/ledger/stored-settings.ts'
import { selectScan, startScan } from '../../../src/worker/scan/store/position.ts'
import { currencies } from '../../support/currencies.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { testXpub } from '../../support/variables.ts'
import { createLocalDatabase, databaseFileIn, type LocalDatabase } from '../local-database.ts'

const uid = (n: number) => n as Uid
const at = 1_700_000_000_000 as UnixMs
const key = parseExtendedPublicKey(testXpub)
const addressAt = (index: number): Address => {
  if (!key.ok) throw new Error('the key of the tests is one')
  return key.value.addressAt(index)
}

/** The service's own functions over the file of a local database. */
function open(database: LocalDatabase) {
  const { sqlite, connect } = openSqliteD1(databaseFileIn(database.folder))
  const db: WriteDatabase = writable(connect(async (work) => work()))
  const scanner = { prepareIssue: async () => ok(null) }
  return {
    db,
    close: () => sqlite.close(),
    issue: async (caller: number, issuesAddresses = true, fresh = false) => {
      const parts = { db, scanner, addressAt, firstIndex: null, issuesAddresses, payouts: null }
      const issued = await issueAddress(parts, uid(caller), { fresh })
      return issued.ok ? issued.value.address : issued.error.kind
    },
    credit: (digit: string, caller: number, to: Address, height = 101) => {
      const block = { height: height as BlockHeight, hash: 'b'.repeat(64) as BlockHash }
      const facts = { txid: digit.repeat(64) as Txid, position: 0, block, cuy: 1 as CurrencyId, native: true, raw: 5n }
      const from = 'f'.repeat(40) as Address
      const verdict = { state: 'credited', uid: uid(caller), amount: 5n as Amount } as const
      return storeTransfers(db, [{ ...facts, from, to, ...verdict }], at)
    },
    hold: (digit: string, caller: number, to: Address) => {
      const block = { height: 101 as BlockHeight, hash: 'b'.repeat(64) as BlockHash }
      const facts = { txid: digit.repeat(64) as Txid, position: -1, block, cuy: 1 as CurrencyId, native: true, raw: 5n }
      const verdict = { state: 'held', uid: uid(caller), amount: 5n as Amount, reason: 'review' } as const
      return storeTransfers(db, [{ ...facts, from: 'f'.repeat(40) as Address, to, ...verdict }], at)
    },
    post: (osn: string) =>
      postEntries({ db, currencies }, [{ uid: 7, cuy: 1, type: 4, osn, amt: '-0.000002' }], 'shop' as BackendName, at),
    /** Everything that callers and backends can read. */
    seen: async () => {
      const of = async (caller: number) => [
        await listWallets({ db, currencies }, uid(caller)),
        await selectEntries(db, uid(caller), { limit: 100 }),
        await selectAddresses(db, uid(caller), 1_000),
      ]
      return [await of(7), await of(8), await selectEvents(db, 0, 100), await selectScan(db)]
    },
  }
}

const databases: LocalDatabase[] = []
afterAll(() => {
  for (const database of databases) database.remove()
})

// Follows the steps of docs/guides/repair.md.
it('an export by the real wrangler is restored, and the service goes on: no caller gets an address that another one had', async () => {
  const [old, restored] = [createLocalDatabase({ hasTables: false }), createLocalDatabase({ hasTables: false })]
  databases.push(old, restored)
  const migrate = ['d1', 'migrations', 'apply', 'DB', '--local', '--env='] as const
  expect(await old.wrangler(...migrate)).toMatchObject({ code: 0 })
  expect(old.rows('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]) // busy.test.ts relies on this mode
  const before = open(old)
  await rememberSettings(before.db, meaningOf('0x1', addressAt(0), currencies))
  const hundred = { height: 100 as BlockHeight, hash: 'a'.repeat(64) as BlockHash }
  await startScan(before.db, hundred, { ...hundred, timestamp: at }, at)
  expect([await before.issue(7), await before.issue(8)]).toEqual([addressAt(0), addressAt(1)])
  await before.db.prepare('UPDATE scan SET finalized = 120').run()
  await before.credit('1', 7, addressAt(0))
  expect(await before.post('order-1')).toMatchObject({ ok: true, value: { replayed: false } })
  const copied = await before.seen()

  const backup = join(old.folder, 'backup.sql')
  expect(await old.wrangler('d1', 'export', 'DB', '--local', '--env=', '--output', backup)).toMatchObject({ code: 0 })
  expect(await before.issue(9)).toBe(addressAt(2)) // issued after the backup
  before.close()

  const executed = await restored.wrangler('d1', 'execute', 'DB', '--local', '--env=', '--yes', '--file', backup)
  expect([executed.code, executed.all]).toMatchObject([0, expect.any(String)])
  let after = open(restored)
  expect(await after.seen()).toEqual(copied)
  // As with ISSUE_ADDRESSES = "off", before the addresses are reserved.
  expect([await after.issue(7, false), await after.issue(8, false)]).toEqual([addressAt(0), addressAt(1)])
  for (const [caller, fresh] of [
    [9, false],
    [10, false],
    [7, true],
  ] as const) {
    expect(await after.issue(caller, false, fresh)).toBe('issuing-off')
  }
  await after.credit('2', 8, addressAt(1))
  after.close()
  expect(await restored.operate('reserve', '--to', '5')).toMatchObject({ code: 0 })

  after = open(restored)
  expect([await after.issue(10), await after.issue(9), await after.issue(7)]).toEqual([
    ...[addressAt(6), addressAt(7), addressAt(0)],
  ])
  expect(await after.post('order-1')).toMatchObject({ ok: true, value: { replayed: true } })
  await after.credit('1', 7, addressAt(0)) // this deposit is in the backup: nothing changes
  expect(await selectEvents(after.db, 0, 100)).toMatchObject([
    { id: 1, type: 'deposit.credited' },
    { id: 2, type: 'entry.posted' },
    { id: 3, type: 'deposit.credited' },
  ])
  after.close()
  expect((await restored.wrangler(...migrate)).all).toContain('No migrations')
}, 180_000)

it('what was paid to a reserved address since the copy has a row: before the restore, between it and the reservation, and after', async () => {
  const database = createLocalDatabase()
  databases.push(database)
  const copy = open(database)
  await rememberSettings(copy.db, meaningOf('0x1', addressAt(0), currencies))
  const hundred = { height: 100 as BlockHeight, hash: 'a'.repeat(64) as BlockHash }
  await startScan(copy.db, hundred, { ...hundred, timestamp: at }, at)
  expect(await copy.issue(7)).toBe(addressAt(0))
  // After the restore the scan goes on, without the address at index 1, which was issued after the
  // backup.
  await copy.db.prepare('UPDATE scan SET finalized = 200').run()
  copy.close()

  expect(
    (await database.operate('reserve', '--to', '2')).out,
  ).toBe(`2 addresses are reserved, up to index 2: the next one is that of 3.
Payments to them in blocks that were read before are not recorded yet. Have those blocks read again:
  npm run operate -- rescan --from 101 --to 200 --reason "restored" --local
It is refused until the scan has reached block 200: repeat it then.
`)
  const rescan = ['rescan', '--from', '101', '--to', '200', '--reason', 'restored'] as const
  expect((await database.operate(...rescan)).all).toContain('blocks above the position are not read yet')
  database.rows(`UPDATE scan SET height = 200, hash = '${'c'.repeat(64)}'`)
  expect(await database.operate(...rescan)).toMatchObject({ code: 0 })
  database.rows('UPDATE scan SET finalized = 210')

  const after = open(database)
  const [owner] = (await matchAddresses(after.db, [addressAt(1)])).values()
  expect(owner).toEqual({ uid: reservedUid, issuedHeight: 100, isForOrders: false })
  await after.credit('1', reservedUid, addressAt(1), 101)
  await after.credit('2', reservedUid, addressAt(1), 150)
  await after.credit('3', reservedUid, addressAt(1), 205)
  after.close()
  expect(database.rows('SELECT height, state, uid FROM transfer ORDER BY height')).toEqual(
    [101, 150, 205].map((height) => ({ height, state: 'credited', uid: reservedUid })),
  )
})

it('what was decided after the copy about held deposits is open again: reserve counts and names them, with the newest event', async () => {
  const database = createLocalDatabase()
  databases.push(database)
  const copy = open(database)
  await rememberSettings(copy.db, meaningOf('0x1', addressAt(0), currencies))
  const hundred = { height: 100 as BlockHeight, hash: 'a'.repeat(64) as BlockHash }
  await startScan(copy.db, hundred, { ...hundred, timestamp: at }, at)
  expect(await copy.issue(7)).toBe(addressAt(0))
  await copy.db.prepare('UPDATE scan SET finalized = 120').run()
  await copy.credit('1', 7, addressAt(0))
  await copy.hold('2', 7, addressAt(0))
  copy.close()

  expect(
    (await database.operate('reserve', '--to', '2')).out,
  ).toContain(`1 deposits wait for a decision, also those that were decided after the copy:
  ${'2'.repeat(64)} i0
The newest event of this database is 2. If it is a restored copy, look at the later ones that your endpoint has kept:
  deposit.credited or deposit.refused with a key from this list: decide it in the same way again
  deposit.credited with a position i<number>: ask for its txid again (/tron/recharge?txid=, as its user)
`)
})
