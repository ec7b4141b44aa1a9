import { type SQL, sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { Address } from '../addresses/address.ts'
import type { BlockHash, BlockHeight, Txid } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { UnixMs } from '../common/time.ts'
import type { DepositOutcome, PendingReason } from '../deposits/deposit.ts'
import type { CurrencyId } from '../ledger/currencies.ts'
import type { FlowId, FlowType, Uid, WalletId } from '../ledger/entry.ts'

// What each table is for, and the invariants that SQL alone can say (STRICT, triggers), are in migrations/README.md.

const hex = (column: string, digits: number): SQL =>
  sql.raw(`length(${column}) = ${digits} AND ${column} NOT GLOB '*[^0-9a-f]*'`)
// A double holds no more (`amountMax`): past it D1 would hand back other digits than it stores.
const safe = (column: string): SQL => sql.raw(`${column} BETWEEN 0 AND 9007199254740991`)
// Chain units, up to 2^256 − 1.
const positive = (column: string): SQL =>
  sql.raw(`${column} GLOB '[1-9]*' AND ${column} NOT GLOB '*[^0-9]*' AND length(${column}) <= 78`)

const cuy = () => integer().$type<CurrencyId>().notNull()
const uid = () => integer().$type<Uid>().notNull()
const instant = () => integer().$type<UnixMs>().notNull()
const address = () => text().$type<Address>().notNull()

/** What names a deposit on the chain, and the block that holds it. */
const place = () => ({
  txid: text().$type<Txid>().notNull(),
  position: integer().notNull(),
  height: integer().$type<BlockHeight>().notNull(),
  block_hash: text().$type<BlockHash>().notNull(),
})
const placeChecks = (table: string) => [
  check(`${table}_txid`, hex('txid', 64)),
  check(`${table}_position`, safe('position')),
  check(`${table}_height`, safe('height')),
  check(`${table}_block_hash`, hex('block_hash', 64)),
]
const uidChecks = (table: string) => [
  check(`${table}_uid`, sql.raw('uid BETWEEN 1 AND 9007199254740991')),
  check(`${table}_cuy`, sql.raw('cuy BETWEEN 1 AND 9007199254740991')),
]

/** Every address ever issued. */
export const addresses = sqliteTable(
  'address',
  {
    id: integer().primaryKey(),
    idx: integer().notNull(),
    uid: uid(),
    hex: address(),
    created_at: instant(),
  },
  (table) => [
    uniqueIndex('address_idx').on(table.idx),
    uniqueIndex('address_hex').on(table.hex),
    index('address_uid').on(table.uid, table.idx),
    check('address_id', sql.raw('id = idx + 1')), // indices have no holes, and neither have ids
    check('address_idx_safe', sql.raw('idx BETWEEN 0 AND 2147483647')), // a non-hardened step has 31 bits
    check('address_uid_safe', sql.raw('uid BETWEEN 1 AND 9007199254740991')),
    check('address_hex_form', hex('hex', 40)),
  ],
)

/** A caller's balance in one currency, kept by the ledger's triggers. `newest` is its newest flow, 0 before any. */
export const wallets = sqliteTable(
  'wallet',
  {
    id: integer().$type<WalletId>().primaryKey(),
    uid: uid(),
    cuy: cuy(),
    balance: integer().notNull().default(0),
    flow_count: integer().notNull().default(0),
    newest: integer().$type<FlowId | 0>().notNull().default(0),
  },
  (table) => [
    uniqueIndex('wallet_owner').on(table.uid, table.cuy),
    ...uidChecks('wallet'),
    check('wallet_id', sql.raw('id BETWEEN 1 AND 9007199254740991')),
    check('wallet_balance', safe('balance')),
    check('wallet_flow_count', safe('flow_count')),
  ],
)

/** Ledger entries. `created_at` never falls as `id` grows: a span of time is a span of ids. */
export const flows = sqliteTable(
  'flow',
  {
    id: integer().$type<FlowId>().primaryKey({ autoIncrement: true }),
    wallet: integer()
      .$type<WalletId>()
      .notNull()
      .references(() => wallets.id),
    uid: uid(),
    cuy: cuy(),
    type: integer().$type<FlowType>().notNull(),
    osn: text().notNull(),
    amount: integer().notNull(),
    balance: integer().notNull(),
    mark: text().notNull(),
    created_at: instant(),
  },
  (table) => [
    uniqueIndex('flow_osn').on(table.wallet, table.osn, table.type),
    index('flow_uid').on(table.uid),
    index('flow_wallet').on(table.wallet),
    index('flow_type').on(table.wallet, table.type),
    index('flow_time').on(table.created_at),
    check('flow_id', sql.raw('id BETWEEN 1 AND 9007199254740991')),
    check('flow_amount', sql.raw('amount BETWEEN -9007199254740991 AND 9007199254740991')),
    check('flow_balance', safe('balance')),
    check(
      'flow_sign',
      sql.raw(`(type IN (1, 5) AND amount > 0) OR (type IN (2, 4) AND amount < 0) OR (type IN (3, 9) AND amount <> 0)`),
    ),
    check('flow_osn_length', sql.raw('length(osn) BETWEEN 1 AND 200')),
    check('flow_created_at', safe('created_at')),
  ],
)

/** Proven deposits, credited or not. Inserting a credited one makes its ledger entry. */
export const deposits = sqliteTable(
  'deposit',
  {
    ...place(),
    cuy: cuy(),
    native: integer({ mode: 'boolean' }).notNull(),
    uid: uid(),
    from_address: address(),
    to_address: address(),
    raw: text().notNull(),
    outcome: text().$type<DepositOutcome>().notNull(),
    amount: integer().notNull(),
    created_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('deposit_uid').on(table.uid, table.created_at),
    index('deposit_to').on(table.to_address),
    ...placeChecks('deposit'),
    ...uidChecks('deposit'),
    check('deposit_native', sql.raw('native = 0 OR (native = 1 AND position = 0)')),
    check('deposit_from', hex('from_address', 40)),
    check('deposit_to_form', hex('to_address', 40)),
    check('deposit_raw', positive('raw')),
    check('deposit_outcome', sql.raw(`outcome IN ('credited', 'below-minimum', 'dust', 'too-large')`)),
    check('deposit_amount', sql.raw(`amount BETWEEN 0 AND 9007199254740991 AND (amount > 0) = (outcome = 'credited')`)),
    check('deposit_created_at', safe('created_at')),
  ],
)

/** Candidates that can't be decided yet. */
export const pendingDeposits = sqliteTable(
  'pending',
  {
    ...place(),
    cuy: cuy(),
    uid: uid(),
    from_address: address(),
    to_address: address(),
    raw: text().notNull(),
    reason: text().$type<PendingReason>().notNull(),
    since: instant(),
    next_try: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('pending_uid').on(table.uid, table.since),
    index('pending_due').on(table.next_try),
    ...placeChecks('pending'),
    ...uidChecks('pending'),
    check('pending_from', hex('from_address', 40)),
    check('pending_to', hex('to_address', 40)),
    check('pending_raw', positive('raw')),
  ],
)

/** Transfers seen in blocks that are not final. */
export const sightings = sqliteTable('sighting', { ...place(), cuy: cuy(), to_address: address() }, (table) => [
  primaryKey({ columns: [table.txid, table.position] }),
  index('sighting_to').on(table.to_address),
  ...placeChecks('sighting'),
])

/** Money that left an address of ours, or moved between two. */
export const movements = sqliteTable(
  'movement',
  {
    ...place(),
    cuy: cuy(),
    address: address(),
    direction: text().$type<'in' | 'out'>().notNull(),
    raw: text().notNull(),
  },
  (table) => [
    // One transaction can move TRX and a token at position 0, and one transfer both leaves and reaches us.
    primaryKey({ columns: [table.address, table.txid, table.position, table.cuy, table.direction] }),
    ...placeChecks('movement'),
    check('movement_address', hex('address', 40)),
    check('movement_direction', sql.raw(`direction IN ('in', 'out')`)),
    check('movement_raw', sql`raw = '0' OR (${positive('raw')})`),
  ],
)

/** What contracts' `decimals()` said. */
export const tokens = sqliteTable(
  'token',
  { contract: address().primaryKey(), decimals: integer().notNull(), created_at: instant() },
  () => [check('token_contract', hex('contract', 40)), check('token_decimals', sql.raw('decimals BETWEEN 0 AND 255'))],
)

/** Where the scan is: one row, once it has started. */
export const scans = sqliteTable(
  'scan',
  {
    id: integer().primaryKey(),
    height: integer().$type<BlockHeight>().notNull(),
    hash: text().$type<BlockHash>(),
    finalized: integer().$type<BlockHeight>().notNull(),
    finalized_at: instant(),
    advanced_at: instant(),
    caught_up_at: instant(),
    tried_at: instant(),
    trouble: text().$type<ChainFailure['kind']>(),
    tail_read_at: instant(),
    lease: text().notNull(),
    lease_until: instant(),
    halted: text(),
  },
  () => [
    check('scan_one_row', sql.raw('id = 1')),
    check('scan_height', sql.raw('height BETWEEN -1 AND finalized')), // -1: block 0 is the first to scan
    check('scan_finalized', sql.raw('finalized <= 9007199254740991')),
    check('scan_hash', sql`hash IS NULL OR (${hex('hash', 64)})`),
  ],
)

const sum = () => text().notNull().default('0')
// Sums of chain units, with a sign. 90 digits are 10^12 of the largest raw amounts.
const signed = (column: string): SQL => {
  const digits = `substr(${column}, iif(${column} GLOB '-*', 2, 1))`
  return sql.raw(
    `${column} = '0' OR (${digits} GLOB '[1-9]*' AND ${digits} NOT GLOB '*[^0-9]*' AND length(${column}) <= 90)`,
  )
}
const ours = () => address().references(() => addresses.hex)

/** Comparisons of all addresses with the chain, one row for each currency and run. */
export const reconciliations = sqliteTable(
  'reconciliation',
  {
    id: integer().primaryKey(),
    cuy: cuy(),
    started_at: instant(),
    finished_at: integer().$type<UnixMs>(),
    turns: integer().notNull().default(0),
    cursor: integer().notNull().default(-1),
    through: integer().notNull(),
    addresses: integer().notNull().default(0),
    recorded: sum(),
    held: sum(),
    differing: integer().notNull().default(0),
  },
  (table) => [
    index('reconciliation_cuy').on(table.cuy),
    check('reconciliation_cuy_safe', sql.raw('cuy BETWEEN 1 AND 9007199254740991')),
    check('reconciliation_turns', safe('turns')),
    check('reconciliation_cursor', sql.raw('cursor BETWEEN -1 AND through')),
    check('reconciliation_end', sql.raw('finished_at IS NULL OR (finished_at >= started_at AND cursor = through)')),
    check('reconciliation_recorded', signed('recorded')),
    check('reconciliation_held', sql.raw(`held = '0' OR (held GLOB '[1-9]*' AND held NOT GLOB '*[^0-9]*')`)),
    check('reconciliation_differing', sql.raw('differing BETWEEN 0 AND addresses')),
  ],
)

/** What is accepted of the difference between an address and its books. */
export const acceptedDifferences = sqliteTable(
  'baseline',
  {
    address: ours(),
    cuy: cuy(),
    fees: sum(),
    sent: integer().notNull(),
    known: sum(),
    told: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.cuy] }),
    index('baseline_untold').on(table.cuy).where(sql.raw('told = 0')),
    check('baseline_fees', sql`fees = '0' OR (fees GLOB '-*' AND (${signed('fees')}))`),
    check('baseline_sent', safe('sent')),
    check('baseline_known', signed('known')),
  ],
)

/** Differences under examination, each with a look that isn't judged yet. */
export const openDifferences = sqliteTable(
  'difference',
  {
    address: ours(),
    cuy: cuy(),
    looks: integer().notNull(),
    amount: sum(),
    sent: integer().notNull(),
    held: text().notNull(),
    low: integer().$type<BlockHeight>().notNull(),
    high: integer().$type<BlockHeight>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.cuy] }),
    index('difference_due').on(table.cuy, table.high),
    check('difference_looks', sql.raw(`looks BETWEEN 0 AND 2 AND (looks = 0) = (amount = '0')`)),
    check('difference_amount', signed('amount')),
    check('difference_sent', safe('sent')),
    check('difference_held', sql`held = '0' OR (${positive('held')})`),
    check('difference_span', sql.raw('low BETWEEN 0 AND high AND high <= 9007199254740991')),
  ],
)
