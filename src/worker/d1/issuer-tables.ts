import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { IssuerAct } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import {
  characters,
  cuy,
  height,
  hex,
  instant,
  oneOf,
  orNull,
  positiveSafe,
  rule,
  rules,
  safe,
  txid,
  units,
} from './columns.ts'
import { reasonMax } from './state-tables.ts'

const ofAddress = ['frozen', 'released', 'destroyed'] as const
const issuerActKinds = [
  ...ofAddress,
  ...['paused', 'unpaused', 'fee-set', 'deprecated'],
] as const satisfies readonly IssuerAct['kind'][]

const has = (column: string, kinds: readonly string[], form: string) =>
  `(${column} IS NOT NULL) = (${oneOf(...kinds)('kind')}) AND (${column} IS NULL OR (${form}))`

/**
 * Acts of tokens' issuers: on addresses that this service has issued or pays from, and on whole
 * tokens. If two acts contradict each other, the later one in the chain counts (`height`, `place`,
 * `position`), because blocks may be read in any order. A row changes only when an operator
 * confirms a fee.
 */
export const issuerActs = sqliteTable(
  'issuer_act',
  {
    txid: txid(),
    position: integer().notNull(), // index of the log in its transaction
    height: height(),
    place: integer().notNull(), // index of the transaction in its block
    cuy: cuy(),
    kind: text().$type<IssuerAct['kind']>().notNull(),
    address: text().$type<Address>(), // the address that the act concerns; for `deprecated` the token's successor
    raw: text(), // chain units: the destroyed amount, or the highest fee of a transfer
    basis_points: text(), // the fee of a transfer in hundredths of a percent
    confirmed_at: integer().$type<UnixMs>(), // when an operator has confirmed the fee, so that payouts go on
    confirmation: text(), // the operator's reason for confirming the fee
    created_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.txid, table.position] }),
    index('issuer_act_height').on(table.height),
    index('issuer_act_address').on(table.address).where(sql.raw(`kind IN ('frozen', 'released')`)),
    rule(table.txid, hex(64)),
    ...rules(safe, table.position, table.height, table.place, table.created_at),
    rule(table.cuy, positiveSafe),
    rule(table.kind, oneOf(...issuerActKinds)),
    rule(table.address, has('address', [...ofAddress, 'deprecated'], hex(40)('address'))),
    rule(table.raw, has('raw', ['destroyed', 'fee-set'], units('raw'))),
    rule(table.basis_points, has('basis_points', ['fee-set'], units('basis_points'))),
    rule(table.confirmed_at, `confirmed_at IS NULL OR (kind = 'fee-set' AND ${safe('confirmed_at')})`),
    rule(
      table.confirmation,
      `(confirmation IS NULL) = (confirmed_at IS NULL) AND (${orNull(characters(1, reasonMax))('confirmation')})`,
    ),
  ],
)
