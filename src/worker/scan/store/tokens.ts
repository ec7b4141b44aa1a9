import { sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { tokens } from '../../d1/state-tables.ts'

/**
 * How far asking for a token's decimals has come. Nodes are asked again and again, until they agree
 * on the configured decimals.
 */
export interface DecimalsTry {
  /** The decimals that the nodes agreed on, or null. */
  readonly found: number | null
  readonly tries: number
  readonly nextTry: UnixMs
}

/** For a token whose decimals were never asked for. */
export const neverAsked: DecimalsTry = { found: null, tries: 0, nextTry: 0 as UnixMs }

/**
 * Reads the last answers about the decimals of these contracts. A contract that was never asked
 * about is absent.
 */
export async function selectTries(
  db: ReadDatabase,
  contracts: readonly Address[],
): Promise<ReadonlyMap<Address, DecimalsTry>> {
  const { results } = await select(db, { contracts: JSON.stringify(contracts) }).all<
    DecimalsTry & { readonly contract: Address }
  >()
  return new Map(results.map((row) => [row.contract, row]))
}

/**
 * Stores the last answer of the nodes about the decimals of a contract, and when they are asked
 * again.
 */
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
