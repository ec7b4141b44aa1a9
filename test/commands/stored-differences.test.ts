import { describe, expect, it } from 'vitest'
import { parseSources, sourcesOf } from '../../src/commands/cells.ts'
import { openForReading, type QueryRows } from '../../src/commands/reading-database.ts'
import { describeDifference, findCellDifferences, findKnownDifferences } from '../../src/commands/stored-differences.ts'
import { parseAddress } from '../../src/worker/chain/address.ts'
import { keysOf, testMnemonic, unwrap } from './collect/harness.ts'
import { goodSecret, rowsOfNewDatabase, sourceOf, type Values } from './doctor/harness.ts'
import { payoutAddress } from './payout/harness.ts'

const keyOf = (account: number) => keysOf(testMnemonic).extendedPublicKey(account)
const [one, two, three] = [keyOf(3), keyOf(4), keyOf(5)]
const values: Values = {
  TRON_CHAIN_ID: '0x6465766e',
  TRON_NODES: [{ rpc: 'http://127.0.0.1:9/jsonrpc', api: 'http://127.0.0.1:9' }],
  CURRENCIES: [{ cuy: 1, symbol: 'TRX', name: 'TRON', decimals: 6 }],
  AUTH_JWT_SECRET: goodSecret,
  TRON_XPUB: one,
  KEY_2: two,
  KEY_3: three,
}
const hexOf = (base58: string) => unwrap(parseAddress(base58))

/** The differences of a cell, from 0, of this configuration. Each database has its rows. */
async function differences(changes: Values, cell: number, databases: Readonly<Record<string, QueryRows>>) {
  const bindings = ['DB', 'DB_2', 'DB_3'].map((binding) => ({ binding }))
  const cells = parseSources(sourceOf({ ...values, ...changes }, { databases: bindings }))
  if (!cells.ok) throw new Error(cells.error.join())
  const open = ({ binding }: { readonly binding: string }) => openForReading(databases[binding] ?? rowsOfNewDatabase())
  const own = cells.value[cell]
  if (own === undefined) throw new Error('there is no such cell')
  return (await findCellDifferences(own, cells.value, [], open)).map(describeDifference)
}

const issued = `INSERT INTO stored_address (id, uid, address, issued_height, created_at)
  VALUES (1, 5, unhex('${hexOf(payoutAddress)}'), 1, 1)`
const rangeOf = (first: number, last: number) =>
  `INSERT INTO user_range (id, first, last, stored_at) VALUES (1, ${first}, ${last}, 1)`
const knows = (address: string) =>
  `INSERT INTO kept_address (kind, address, height, stored_at) VALUES ('cell', '${hexOf(address)}', NULL, 1)`

describe('what a command finds to differ from the stored data', () => {
  it('is nothing for a new database', async () => {
    expect(await differences({ PAYOUTS: { address: payoutAddress } }, 0, {})).toEqual([])
  })

  it('is a payout address that was issued to a user', async () => {
    const databases = { DB: rowsOfNewDatabase(issued) }
    expect(await differences({ PAYOUTS: { address: payoutAddress } }, 0, databases)).toEqual([
      `PAYOUTS is "${payoutAddress}", stored is "${payoutAddress} was issued to a user"`,
    ])
    expect(await differences({}, 0, databases)).toEqual([])
  })

  it('is also that where the secrets are not known here', async () => {
    const { TRON_XPUB: _, ...known } = values
    const [source] = unwrap(sourcesOf(sourceOf({ ...known, PAYOUTS: { address: payoutAddress } })))
    if (source === undefined) throw new Error('there is one cell')
    const stored = [
      { name: 'TRON_XPUB', value: 'any', used: true },
      { name: 'TRON_CHAIN_ID', value: '0x1', used: true },
    ]
    const open = () => openForReading(rowsOfNewDatabase(issued))
    expect((await findKnownDifferences(source, stored, open))?.map(describeDifference)).toEqual([
      'TRON_CHAIN_ID is "0x6465766e", stored is "0x1"',
      expect.stringMatching(/^PAYOUTS is /),
    ])
    expect(findKnownDifferences({ ...source, values: { ...known, CURRENCIES: 'x' } }, stored, open)).toBeNull()
  })

  const cells = (...ranges: readonly string[]) => ({
    CELLS: ranges.map((uids, i) => ({
      db: i === 0 ? 'DB' : `DB_${i + 1}`,
      uids,
      xpub: i === 0 ? 'TRON_XPUB' : `KEY_${i + 1}`,
    })),
  })

  it('is a range that another database keeps, and no range that is given up', async () => {
    const databases = {
      DB: rowsOfNewDatabase(rangeOf(1, 9)),
      DB_2: rowsOfNewDatabase(rangeOf(10, 9_007_199_254_740_990)),
    }
    expect(await differences(cells('1-9', '10-'), 0, databases)).toEqual([])
    expect(await differences(cells('1-99', '100-'), 0, databases)).toEqual([])
    const used = {
      ...databases,
      DB_2: rowsOfNewDatabase(rangeOf(10, 9_007_199_254_740_990), issued.replace('5,', '50,')),
    }
    expect(await differences(cells('1-99', '100-'), 0, used)).toEqual([
      'CELLS is "1-99", stored is "another database has users 10-9007199254740990"',
    ])
  })

  it('is a cell that is gone', async () => {
    const gone = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'
    const databases = { DB: rowsOfNewDatabase(rangeOf(1, 9), knows(gone)) }
    expect(await differences(cells('1-99', '100-'), 0, databases)).toEqual([
      `CELLS is "missing", stored is "the cell of ${gone}"`,
    ])
  })
})
