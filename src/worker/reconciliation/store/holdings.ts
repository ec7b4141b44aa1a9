import { eq, gt, lt, lte, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { BlockHeight } from '../../chain/block.ts'
import type { CurrencyId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  bareList,
  columnName,
  fixedStatement,
  memberList,
  type ReadDatabase,
  shown,
  toStatement,
  type WriteDatabase,
} from '../../d1/database.ts'
import { compared as comparedRanges, holdings } from '../../d1/state-tables.ts'
import { addresses, transfers } from '../../d1/tables.ts'
import type { DifferenceState, RecordedHolding } from '../judge.ts'

/** A stored holding: the record of one address in one currency. */
export interface Holding extends RecordedHolding {
  readonly cuy: CurrencyId
  /** The id of the address in the table `address`. With `cuy` it is the key of the row. */
  readonly addressId: number
  readonly address: Address
  readonly dueAt: UnixMs
  /**
   * The recorded sum as the triggers keep it. A judgement is stored only if the sum is still the
   * judged one.
   */
  readonly parts: string
}

/** A holding as it was read, and the members to store. */
export interface HoldingChange {
  readonly before: Holding
  readonly after: DifferenceState & Pick<Holding, 'reading' | 'dueAt'>
}

const digitsPerPart = 10n ** 12n

/**
 * The columns of a holding, with the sum's parts as one text: D1 returns integers as doubles, which
 * lose digits of large parts.
 */
type HoldingRow = Omit<typeof holdings.$inferSelect, `part_${0 | 1 | 2 | 3 | 4 | 5 | 6}`> & {
  readonly parts: string
  readonly address: Address
}

/** A range of address ids that all have a holding in one currency. Both ends are 0 if none has. */
export interface AddedRange {
  readonly first: number
  readonly last: number
}

/** The due comparisons of one currency. */
export interface CompareWork extends AddedRange {
  readonly cuy: CurrencyId
  /** Whether there are addresses without a holding in this currency. */
  readonly hasNew: boolean
  /** When the holding that has waited longest became due; null if none is due. */
  readonly dueAt: UnixMs | null
}

/**
 * Reads what is due to be compared in each of these currencies, in one statement for any number of
 * addresses.
 */
export async function selectCompareWork(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
  at: UnixMs,
): Promise<readonly CompareWork[]> {
  const { cuy, first_id, last_id } = comparedRanges
  const [first, last] = [sql`coalesce(${first_id}, 0)`, sql`coalesce(${last_id}, 0)`]
  const { id } = addresses
  const query = sql`
SELECT currency.value AS cuy, ${first} AS first, ${last} AS last,
  EXISTS (SELECT 1 FROM ${addresses} WHERE ${id} > ${last})
    OR EXISTS (SELECT 1 FROM ${addresses} WHERE ${id} < ${first}) AS "hasNew",
  (SELECT ${holdings.due_at} FROM ${holdings} INDEXED BY holding_due
    WHERE ${holdings.cuy} = currency.value AND ${lte(holdings.due_at, at)} ORDER BY ${holdings.due_at}
      LIMIT 1) AS "dueAt"
FROM json_each(${JSON.stringify(currencies)}) AS currency LEFT JOIN ${comparedRanges} ON ${cuy} = currency.value`
  type Row = Omit<CompareWork, 'hasNew'> & { readonly hasNew: 0 | 1 }
  return (await toStatement(db, query).all<Row>()).results.map((row) => ({ ...row, hasNew: row.hasNew === 1 }))
}

/**
 * Adds holdings for addresses that have none in a currency: at most `max` addresses above the
 * range, and at most `max` below it, where addresses were reserved later. The new holdings are due
 * at once, after all that have been due longer.
 */
export async function addMissingHoldings(
  db: WriteDatabase,
  { cuy, first, last }: AddedRange & { readonly cuy: CurrencyId },
  max: number,
  at: UnixMs,
): Promise<void> {
  const page = pageOutside({ first, last }, max)
  await db.batch([toStatement(db, insertMissing(cuy, at, page)), toStatement(db, extendRange(cuy, page))])
}

/** Reads at most `max` holdings of a currency that have been due longest. */
export async function selectDueHoldings(
  db: ReadDatabase,
  cuy: CurrencyId,
  at: UnixMs,
  max: number,
): Promise<readonly Holding[]> {
  return (await toStatement(db, selectDue(cuy, at, max)).all<HoldingRow>()).results.map(readHolding)
}

/**
 * Stores judgements. If a holding has changed since it was read, its judgement is left out, and the
 * holding stays due. Returns how many judgements were stored.
 */
export async function storeHoldings(db: WriteDatabase, changes: readonly HoldingChange[]): Promise<number> {
  if (changes.length === 0) return 0
  const { results } = await updateCompared(db, { list: JSON.stringify(changes.map(writeChange)) }).all()
  return results.length
}

/**
 * Reads the recipients of transfers that were seen in a block before it was final, if the block is
 * now a gap (could not be read).
 */
export async function selectSeenInGaps(db: ReadDatabase, scannedHeight: BlockHeight): Promise<ReadonlySet<Address>> {
  const { results } = await selectInGaps(db, { position: scannedHeight }).all<
    Pick<typeof transfers.$inferSelect, 'to_address'>
  >()
  return new Set(results.map((row) => row.to_address))
}

function readHolding(row: HoldingRow): Holding {
  const reading =
    row.balance === null || row.read_from === null || row.read_to === null
      ? null
      : { balance: BigInt(row.balance), fromHeight: row.read_from, toHeight: row.read_to }
  return {
    cuy: row.cuy,
    addressId: row.address_id,
    address: row.address,
    parts: row.parts,
    recorded: row.parts.split(' ').reduce((sum, part) => sum * digitsPerPart + BigInt(part), 0n),
    sent: row.sent,
    changedHeight: row.changed_height,
    dueAt: row.due_at,
    reading,
    accepted: BigInt(row.accepted),
    acceptedSent: row.accepted_sent,
    readSent: row.read_sent,
    differing: row.differing,
    difference: BigInt(row.difference),
  }
}

/**
 * The columns to store, and the members that must be unchanged: `parts`, `sent` and `due_before`.
 */
type ChangeRow = Pick<HoldingRow, (typeof listed)[number] | 'parts'> & { readonly due_before: UnixMs }

function writeChange({ before, after }: HoldingChange): ChangeRow {
  const { reading } = after
  return {
    cuy: before.cuy,
    address_id: before.addressId,
    parts: before.parts,
    sent: before.sent,
    due_before: before.dueAt,
    balance: reading?.balance.toString() ?? null,
    read_from: reading?.fromHeight ?? null,
    read_to: reading?.toHeight ?? null,
    accepted: after.accepted.toString(),
    accepted_sent: after.acceptedSent,
    read_sent: after.readSent,
    differing: after.differing,
    difference: after.difference.toString(),
    due_at: after.dueAt,
  }
}

const compared = [
  'balance',
  'read_from',
  'read_to',
  'accepted',
  'accepted_sent',
  'read_sent',
  'differing',
  'difference',
  'due_at',
] as const
const listed = ['cuy', 'address_id', 'sent', ...compared] as const

const { part_0, part_1, part_2, part_3, part_4, part_5, part_6 } = holdings
const parts = sql.join([part_0, part_1, part_2, part_3, part_4, part_5, part_6], sql` || ' ' || `)

/** SQL that follows FROM: at most `max` addresses above a range, and as many below it. */
function pageOutside({ first, last }: AddedRange, max: number): SQL {
  const { id } = addresses
  const select = sql`SELECT ${id} FROM ${addresses}`
  return sql`(
  SELECT * FROM (${select} WHERE ${gt(id, last)} ORDER BY ${id} LIMIT ${max})
  UNION ALL SELECT * FROM (${select} WHERE ${lt(id, first)} ORDER BY ${id} DESC LIMIT ${max}))`
}

function extendRange(currency: CurrencyId, page: SQL): SQL {
  const { cuy, first_id, last_id } = comparedRanges
  const [first, last] = [columnName(first_id), columnName(last_id)]
  return sql`
INSERT INTO ${comparedRanges} (${bareList([cuy, first_id, last_id])})
SELECT ${currency}, min(id), max(id) FROM ${page} HAVING count(*) > 0
ON CONFLICT DO UPDATE SET ${first} = min(${first}, excluded.${first}), ${last} = max(${last}, excluded.${last})`
}

function insertMissing(cuy: CurrencyId, at: UnixMs, page: SQL): SQL {
  const missing = alias(addresses, 'missing')
  return sql`
INSERT INTO ${holdings} (${bareList([holdings.cuy, holdings.address_id, holdings.due_at])})
SELECT ${cuy}, ${missing.id}, ${at} FROM ${page} AS ${missing} WHERE NOT EXISTS (
  SELECT 1 FROM ${holdings} WHERE ${eq(holdings.cuy, cuy)} AND ${holdings.address_id} = ${missing.id})`
}

function selectDue(cuy: CurrencyId, at: UnixMs, max: number): SQL {
  const { address_id, changed_height, due_at } = holdings
  const columns = sql.join([changed_height, ...listed.map((name) => holdings[name])], sql`, `)
  return sql`
SELECT ${columns}, ${parts} AS parts, ${shown(addresses.address)} AS address
FROM ${holdings} INDEXED BY holding_due CROSS JOIN ${addresses} ON ${addresses.id} = ${address_id}
WHERE ${eq(holdings.cuy, cuy)} AND ${lte(due_at, at)} ORDER BY ${due_at}, ${address_id} LIMIT ${max}`
}

const change = alias(holdings, 'change')
const updateCompared = fixedStatement<'list'>(sql`
UPDATE ${holdings} SET ${sql.join(
  compared.map((name) => sql`${columnName(holdings[name])} = ${change[name]}`),
  sql`, `,
)}
FROM (SELECT ${memberList(listed.map((name) => holdings[name]))}, value ->> 'parts' AS parts,
  value ->> 'due_before' AS due_before
  FROM json_each(${sql.placeholder('list')})) AS ${change}
WHERE ${holdings.cuy} = ${change.cuy} AND ${holdings.address_id} = ${change.address_id}
  AND ${parts} = parts AND ${holdings.sent} = ${change.sent} AND ${holdings.due_at} = due_before
RETURNING 1 AS stored`)

const selectInGaps = fixedStatement<'position'>(sql`
SELECT DISTINCT ${shown(transfers.to_address)} AS to_address FROM ${transfers} INDEXED BY transfer_seen
WHERE ${transfers.state} = 'seen' AND ${transfers.height} <= ${sql.placeholder('position')} LIMIT 1000`)
