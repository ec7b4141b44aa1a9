import { eq } from 'drizzle-orm'
import type { TokenFacts } from '../deposits/token-facts.ts'
import { type Database, openTables } from './database.ts'
import { tokens } from './tables.ts'

/** What token contracts returned, over D1. */
export function createTokenFacts(db: Database): TokenFacts {
  return {
    async decimals(contract) {
      const row = await openTables(db)
        .select({ decimals: tokens.decimals })
        .from(tokens)
        .where(eq(tokens.contract, contract))
        .get()
      return row?.decimals ?? null
    },

    async storeDecimals(contract, decimals, at) {
      await openTables(db)
        .insert(tokens)
        .values({ contract, decimals, created_at: at })
        .onConflictDoUpdate({ target: tokens.contract, set: { decimals, created_at: at } })
    },
  }
}
