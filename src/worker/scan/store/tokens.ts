import { sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { tokens } from '../../d1/state-tables.ts'

/** What nodes say of a token's decimals, until they agree on the configured ones. */
export interface DecimalsTry {
  /** What the nodes agreed on, or null. */
  readonly found: number | null
  readonly tries: number
  readonly nextTry: UnixMs
}

/** The nodes were not asked for the decimals of a token. */
export const neverAsked: DecimalsTry = { found: null, tries: 0, nextTry: 0 as UnixMs }

/** What nodes have said of the decimals of these contracts. One that was never asked about is absent. */
export async function selectTries(
  db: ReadDatabase,
  contracts: readonly Address[],
): Promise<ReadonlyMap<Address, DecimalsTry>> {
  const { results } = await select(db, { contracts: JSON.stringify(contracts) }).all<
    DecimalsTry & { readonly contract: Address }
  >()
  return new Map(results.map((row) => [row.contract, row]))
}

/** Stores what nodes have said last. */
export async function storeTry(db: WriteDatabase, contract: Address, told: DecimalsTry): Promise<void> {
  await store(db, { contract, ...told }).run()
}

const select = fixedStatement<'contracts'>(sql`
SELECT ${tokens.contract}, ${tokens.found}, ${tokens.tries}, ${tokens.next_try} AS "nextTry" FROM ${tokens}
WHERE ${tokens.contract} IN (SELECT value FROM json_each(${sql.placeholder('contracts')}))`)

const told = ['contract', 'found', 'tries', 'nextTry'].map((name) => sql.placeholder(name))
const store = fixedStatement<'contract' | keyof DecimalsTry>(sql`
INSERT INTO ${tokens} (contract, found, tries, next_try) VALUES (${sql.join(told, sql`, `)})
ON CONFLICT (contract) DO UPDATE SET found = excluded.found, tries = excluded.tries, next_try = excluded.next_try`)
