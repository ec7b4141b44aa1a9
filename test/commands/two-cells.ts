/** An operator's folder with a deployment of two cells. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { keyAt, parsePath } from '../../src/commands/signing/account-key.ts'
import { parseMnemonic } from '../../src/commands/signing/mnemonic.ts'
import { deriveAddress, parseExtendedPublicKey } from '../../src/worker/addresses/derive.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { root } from '../support/project.ts'
import { backendSecret, testSecret, testXpub } from '../support/variables.ts'
import { createDeployment, type TestDeployment } from './collect/deployment.ts'
import { keysOf, testMnemonic, unwrap } from './collect/harness.ts'
import { createTables, databaseId, rowsIn } from './local-database.ts'
import { objectBindings } from './objects.ts'
import { payoutAddress } from './payout/harness.ts'

/** The id of the second cell's database. */
export const secondId = '7c9e6679-7425-40de-944b-e07fc1f90ae7'
/**
 * The account of the second cell's key; earlier accounts have the gas address and the payout
 * addresses.
 */
export const secondAccount = 3
export const secondPath = "m/44'/195'/2'/0/1"
export const secondPayoutAddress = formatBase58(
  keyAt(unwrap(parseMnemonic(testMnemonic)), parsePath(secondPath) as NonNullable<ReturnType<typeof parsePath>>)
    .address, // safe: `secondPath` is valid
)
const secondXpub = keysOf(testMnemonic).extendedPublicKey(secondAccount)
/** The deposit address at an index of the second cell's key. */
export const secondAddressAt = (index: number) => deriveAddress(unwrap(parseExtendedPublicKey(secondXpub)), index)

/** The cells and their users in the words of the commands. */
export const cellList = '1 for users 1 to 999999, 2 for users from 1000000'

/** The value of `CELLS` in this deployment: user 1,000,000 is the first of the second cell. */
export const cells = [
  { db: 'DB', uids: '1-999999', xpub: 'TRON_XPUB', payouts: { address: payoutAddress } },
  { db: 'DB_2', uids: '1000000-', xpub: 'SECOND_KEY', payouts: { address: secondPayoutAddress } },
]

/** The deployment; `rows` reads the database of a cell. */
export interface TwoCells extends TestDeployment {
  rows(cell: 1 | 2, sql: string): unknown
  /** Writes `.dev.vars` with the variables of both cells and these changes. */
  setVariables(changes?: Readonly<Record<string, string>>): void
}

/**
 * Creates the folder, with a local database for each cell. Both cells use the node of the local
 * chain.
 */
export function createTwoCells(devnet: { readonly rpcUrl: string; readonly apiUrl: string }): TwoCells {
  const deployment = createDeployment({ devnet })
  const { folder, path } = deployment
  appendFileSync(
    path('wrangler.toml'),
    `[[d1_databases]]\nbinding = "DB_2"\ndatabase_name = "x-2"\ndatabase_id = "${secondId}"
migrations_dir = "${root}migrations"\n${objectBindings('')}`,
  )
  const setVariables: TwoCells['setVariables'] = (changes = {}) => {
    const variables = {
      CELLS: JSON.stringify(cells),
      TRON_XPUB: testXpub,
      SECOND_KEY: secondXpub,
      AUTH_JWT_SECRET: testSecret,
      BACKEND_JWT_SECRET: backendSecret,
      ...changes,
    }
    const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(path('.dev.vars'), lines.join(''))
  }
  setVariables()
  for (const id of [databaseId, secondId]) createTables(folder, id)
  return { ...deployment, setVariables, rows: (cell, sql) => rowsIn(folder, sql, cell === 1 ? databaseId : secondId) }
}
