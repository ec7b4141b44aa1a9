import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { between, hex, instant, oneOf, orNull, positiveSafe, rule, rules, safe } from './columns.ts'

/**
 * The kinds of rows that the list of changes names: each is also the `row` of a line in the
 * archive (docs/decisions/0091-the-archive.md). They are in the order in which a database that has
 * data already is copied.
 */
export const changedKinds = [
  'correction',
  'address',
  'order',
  'transfer',
  'payout',
  'transaction',
  'decision',
  'act',
  'sent',
] as const
export type ChangedKind = (typeof changedKinds)[number]
/** What the list of changes notes: a row of one of these kinds, or a transfer that was removed. */
export type ChangeKind = ChangedKind | 'removed'

/**
 * How far the archive has got: one row, from the first run with `ARCHIVE` on. Only where it exists
 * do triggers keep `archive_change`.
 */
export const archives = sqliteTable(
  'archive',
  {
    id: integer().primaryKey(),
    epoch: integer().notNull(), // of the next segment
    lines: integer().notNull(), // how many lines the archive has; the number of the next one
    hash: text().notNull(), // SHA-256 of the newest segment; zeros before the first
    tree: text().notNull(), // JSON list: the hashes of the complete subtrees over all lines
    event: integer().$type<EventId | 0>().notNull(), // the newest entry or event in the archive
    change: integer().notNull(), // the newest row of `archive_change` in the archive
    copy: text(), // JSON list: kind and key of the row that was copied last; null once all are
    begun: integer().$type<EventId | 0>().notNull(), // the newest event when this row was made: what it copies knows it
    common: integer(), // the next segment begins an epoch, and this is the last line that still counts
    configuration: text(), // SHA-256 of the newest line `configuration`
    checkpoint: text(), // the newest signed note
    verifier: text(), // the key that verifies it
    written_at: instant(), // when the newest segment was written; 0 before the first
  },
  (table) => [
    rule(table.id, 'id = 1'),
    rule(table.epoch, positiveSafe),
    ...rules(safe, table.lines, table.event, table.change, table.begun, table.written_at),
    rule(table.hash, hex(64)),
    rule(table.tree, `json_type(tree) = 'array'`),
    rule(table.copy, `copy IS NULL OR json_type(copy) = 'array'`),
    rule(table.common, orNull(between(-1, 'lines - 1'))),
    rule(table.configuration, orNull(hex(64))),
    rule(table.verifier, '(verifier IS NULL) = (checkpoint IS NULL)'),
  ],
)

/**
 * Rows that are new or have changed, and whose lines are not in the archive yet. Triggers write it,
 * each row in the statement of the change. Entries and events, and what they name, have none.
 */
export const archiveChanges = sqliteTable(
  'archive_change',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    after_event: integer().$type<EventId | 0>().notNull(), // the newest entry or event at the change
    kind: text().$type<ChangeKind>().notNull(),
    key: text().notNull(), // JSON list: the columns of the row's key, or those of the line `removed`
  },
  (table) => [
    rule(table.id, positiveSafe),
    rule(table.after_event, safe),
    rule(table.kind, oneOf(...changedKinds, 'removed')),
    rule(table.key, `json_type(key) = 'array'`),
  ],
)

export type ArchiveRow = typeof archives.$inferSelect & { readonly written_at: UnixMs }
