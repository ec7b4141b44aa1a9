import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { BlockHash, BlockHeight } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { RescanId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { amountMax } from '../common/amount.ts'
import type { RescanKind } from '../scan/rescans.ts'
import { between, height, hex, instant, oneOfTexts, rule, safe, scanSuperseded } from './columns.ts'

/** Characters of the reason for a rescan or a correction. */
export const reasonMax = 500

/** Position, lease and state of the scan: one row after the start. */
export const scans = sqliteTable(
  'scan',
  {
    id: integer().primaryKey(),
    height: integer().$type<BlockHeight>(), // never null: scan_superseded
    hash: text().$type<BlockHash>(),
    finalized: height(),
    finalized_at: instant(),
    advanced_at: instant(),
    caught_up_at: instant(),
    tried_at: instant(),
    problem: text().$type<ChainFailure['kind']>(),
    lease: text().notNull(),
    lease_until: instant(),
    halted: text(),
    corrected_by: integer().notNull().default(0), // the newest correction that was applied
  },
  (table) => [
    rule(table.id, 'id = 1'),
    check(scanSuperseded, sql.raw('height IS NOT NULL')),
    rule(table.height, between(-1, 'finalized')), // -1: block 0 is the first block to scan
    rule(table.finalized, `finalized <= ${amountMax}`),
    rule(table.hash, (column) => `${column} IS NULL OR (${hex(64)(column)})`),
  ],
)

/** Ranges of stored blocks that are read again: gaps that the scan left, and what an operator asked for. */
export const rescans = sqliteTable(
  'rescan',
  {
    id: integer().$type<RescanId>().primaryKey(),
    kind: text().$type<RescanKind>().notNull(),
    from_height: height(),
    to_height: height(),
    next_height: height(),
    reason: text().notNull(),
    created_at: instant(),
    next_try: instant(),
    finished_at: integer().$type<UnixMs>(),
  },
  (table) => [
    uniqueIndex('rescan_gap').on(table.from_height).where(sql.raw(`kind = 'gap' AND finished_at IS NULL`)),
    index('rescan_due').on(table.next_try).where(sql.raw('finished_at IS NULL')),
    rule(table.kind, oneOfTexts<RescanKind>({ gap: true, request: true })),
    rule(table.from_height, between(0, 'to_height')),
    rule(table.to_height, `to_height <= ${amountMax} AND (kind <> 'gap' OR to_height = from_height)`),
    rule(table.next_height, between('from_height', 'to_height + 1')),
    rule(table.reason, `length(reason) BETWEEN 1 AND ${reasonMax}`),
    rule(table.finished_at, '(finished_at IS NOT NULL) = (next_height = to_height + 1)'),
  ],
)

/** Corrections of a wrong finalized height, each with its reason. A trigger applies them. */
export const corrections = sqliteTable(
  'correction',
  { id: integer().primaryKey(), finalized: height(), reason: text().notNull(), created_at: instant() },
  (table) => [rule(table.finalized, safe), rule(table.reason, `length(reason) BETWEEN 1 AND ${reasonMax}`)],
)
