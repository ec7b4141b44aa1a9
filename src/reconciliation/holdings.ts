import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { members, type ReadDatabase, statement, type WriteDatabase } from '../d1/database.ts'
import type { holdings } from '../d1/state-tables.ts'
import type { DifferenceState, RecordedHolding } from './judge.ts'

/** An address and currency as stored. */
export interface Holding extends RecordedHolding {
  readonly cuy: CurrencyId
  readonly address: Address
  readonly dueAt: UnixMs
  /** The recorded sum as the triggers keep it: it is compared before a change is stored. */
  readonly parts: string
}

/** What a comparison leaves behind of a holding as it was read before. */
export interface HoldingChange {
  readonly before: Holding
  readonly after: DifferenceState & Pick<Holding, 'reading' | 'dueAt'>
}

const parts = [0, 1, 2, 3, 4, 5, 6].map((part) => `part_${part}`)
const digitsPerPart = 10n ** 12n

/** The parts are one text: D1 returns integers as doubles, and a part can have more digits than those keep. */
type HoldingRow = Omit<typeof holdings.$inferSelect, `part_${0 | 1 | 2 | 3 | 4 | 5 | 6}`> & { readonly parts: string }

/** Ids of addresses, from `first` to `last`: all of them have a holding in one currency. Both are 0 where none is known to have one. */
export interface AddedRange {
  readonly first: number
  readonly last: number
}

/**
 * Makes holdings of addresses that have none in a currency, due at once (and after all that have been due longer): of `max` addresses
 * above the range, and of `max` that were reserved below it. Returns the new range, which is the same where each address has one.
 */
export async function addMissingHoldings(
  db: WriteDatabase,
  cuy: CurrencyId,
  { first, last }: AddedRange,
  max: number,
  at: UnixMs,
): Promise<AddedRange> {
  const [, range] = await db.batch<{ readonly lowest: number | null; readonly highest: number | null }>([
    insertMissing(db, { cuy, first, last, max, at }),
    selectRange(db, { first, last, max }),
  ])
  const { lowest = null, highest = null } = range?.results[0] ?? {}
  if (lowest === null || highest === null) return { first, last }
  return { first: first === 0 ? lowest : Math.min(first, lowest), last: Math.max(last, highest) }
}

/** The holdings of a currency that have been due longest, at most `max`. */
export async function selectDueHoldings(
  db: ReadDatabase,
  cuy: CurrencyId,
  at: UnixMs,
  max: number,
): Promise<readonly Holding[]> {
  return (await selectDue(db, { cuy, at, max }).all<HoldingRow>()).results.map(readHolding)
}

/** Stores comparisons. One whose holding has changed since it was read is left out, and stays due. Returns how many were stored. */
export async function storeHoldings(db: WriteDatabase, changes: readonly HoldingChange[]): Promise<number> {
  if (changes.length === 0) return 0
  const { results } = await updateCompared(db, { list: JSON.stringify(changes.map(writeChange)) }).all()
  return results.length
}

function readHolding(row: HoldingRow): Holding {
  const reading =
    row.balance === null || row.read_from === null || row.read_to === null
      ? null
      : { balance: BigInt(row.balance), fromHeight: row.read_from, toHeight: row.read_to }
  return {
    cuy: row.cuy,
    address: row.address,
    parts: row.parts,
    recorded: row.parts.split(' ').reduce((sum, part) => sum * digitsPerPart + BigInt(part), 0n),
    sent: row.sent,
    changedHeight: row.changed_height,
    dueAt: row.due_at,
    reading,
    accepted: BigInt(row.accepted),
    acceptedSent: row.accepted_sent,
    differing: row.differing,
    difference: BigInt(row.difference),
  }
}

function writeChange({ before, after }: HoldingChange) {
  const { cuy, address, parts: parts_before, sent: sent_before, dueAt: due_before } = before
  const { reading, accepted, acceptedSent: accepted_sent, difference, differing, dueAt: due_at } = after
  return {
    ...{ cuy, address, parts_before, sent_before, due_before, accepted_sent, differing, due_at },
    balance: reading?.balance.toString() ?? null,
    read_from: reading?.fromHeight ?? null,
    read_to: reading?.toHeight ?? null,
    accepted: accepted.toString(),
    difference: difference.toString(),
  }
}

const compared = ['balance', 'read_from', 'read_to', 'accepted', 'accepted_sent', 'differing', 'difference']
const partsText = parts.join(` || ' ' || `)
const columns = `cuy, address, sent, changed_height, due_at, ${compared.join(', ')}, ${partsText} AS parts`

const page = `(SELECT * FROM (SELECT id, address FROM address WHERE id > :last ORDER BY id LIMIT :max)
  UNION ALL SELECT * FROM (SELECT id, address FROM address WHERE id < :first ORDER BY id DESC LIMIT :max))`
const insertMissing = statement(`
INSERT INTO holding (cuy, address, due_at)
SELECT :cuy, address, :at FROM ${page} AS page WHERE NOT EXISTS (
  SELECT 1 FROM holding WHERE cuy = :cuy AND holding.address = page.address)`)
const selectRange = statement(`SELECT min(id) AS lowest, max(id) AS highest FROM ${page}`)

const selectDue = statement(`
SELECT ${columns} FROM holding INDEXED BY holding_due
WHERE cuy = :cuy AND due_at <= :at ORDER BY due_at, address LIMIT :max`)

const updateCompared = statement(`
UPDATE holding SET ${[...compared, 'due_at'].map((name) => `${name} = change.${name}`).join(', ')}
FROM (SELECT ${members('cuy', 'address', 'parts_before', 'sent_before', 'due_before', ...compared, 'due_at')}
  FROM json_each(:list)) AS change
WHERE holding.cuy = change.cuy AND holding.address = change.address
  AND ${partsText} = parts_before AND holding.sent = sent_before AND holding.due_at = due_before
RETURNING 1 AS stored`)
