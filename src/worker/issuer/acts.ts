import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { IssuerAct } from '../chain/chain.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { bareList, memberList, toJsonTexts, toStatement, type WriteDatabase } from '../d1/database.ts'
import { issuerActs } from '../d1/issuer-tables.ts'
import type { Currencies } from '../ledger/currencies.ts'

/**
 * The most rows in one JSON text. Each row takes about 400 bytes, and D1 binds texts up to 2 MB.
 */
const rowsMax = 2_000

/**
 * An act of an issuer that is to be stored, with the height of its final block and the token's
 * currency.
 */
export interface IssuerFact extends IssuerAct {
  readonly height: BlockHeight
  readonly cuy: CurrencyId
}

/**
 * Selects the acts to store: on a whole configured token, on an address that was issued here
 * (`owners`), and on a payout address (`payers`).
 */
export function selectActs(
  acts: readonly IssuerAct[],
  height: BlockHeight,
  owners: { has(address: Address): boolean },
  { currencies, payers }: { readonly currencies: Currencies; readonly payers: { has(address: Address): boolean } },
): readonly IssuerFact[] {
  return acts.flatMap((act) => {
    const { kind, address, contract } = act
    const currency = currencies.byContract.get(contract)
    const isOfToken = address === null || kind === 'deprecated'
    const concerns = isOfToken || owners.has(address) || payers.has(address)
    return currency === undefined || !concerns ? [] : [{ ...act, height, cuy: currency.cuy }]
  })
}

/**
 * Makes the statements that store acts, for a batch. Acts that are stored already stay as they are.
 */
export function actStatements(db: WriteDatabase, facts: readonly IssuerFact[], at: UnixMs): D1PreparedStatement[] {
  const once = [...new Map(facts.map((one) => [keyOf(one), one])).values()]
  const rows = once.map(({ txid, position, height, index, cuy, kind, address, amount, basisPoints }) => ({
    txid,
    position,
    height,
    place: index,
    cuy,
    kind,
    address,
    raw: amount?.toString() ?? null,
    basis_points: basisPoints?.toString() ?? null,
  }))
  return toJsonTexts(rows, rowsMax).map((list) => toStatement(db, insertActs(list, at)))
}

const keyOf = ({ txid, position }: { readonly txid: Txid; readonly position: number }) => `${txid} ${position}`

function insertActs(list: string, at: UnixMs) {
  const { txid, position, height, place, cuy, kind, address, raw, basis_points, created_at } = issuerActs
  const listed = [txid, position, height, place, cuy, kind, address, raw, basis_points]
  return sql`
INSERT INTO ${issuerActs} (${bareList([...listed, created_at])})
SELECT act.*, ${at} FROM (SELECT ${memberList(listed)} FROM json_each(${list})) AS act
WHERE NOT EXISTS (SELECT 1 FROM ${issuerActs} WHERE ${txid} = act.txid AND ${position} = act.position)`
}
