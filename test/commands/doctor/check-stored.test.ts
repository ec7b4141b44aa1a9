import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigurationSource } from '../../../src/commands/configuration.ts'
import type { StoredData } from '../../../src/commands/database.ts'
import { err, ok } from '../../../src/worker/common/result.ts'
import type { Devnet } from '../../devnet/chain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { depositBase58 } from '../../devnet/support.ts'
import { failures, goodSecret, linesOf, platformAt, sourceOf, startChain, type Values, valuesFor } from './harness.ts'

let devnet: Devnet

beforeAll(async () => {
  devnet = await startChain()
})
afterAll(() => devnet.stop())

const empty: StoredData = { settings: [], lastIndex: null, migration: null }

/**
 * The doctor's lines for a valid configuration with changes, over this stored data. With null the
 * database cannot be read.
 */
async function check(changes: Values, stored: StoredData | null, more: Partial<ConfigurationSource> = {}) {
  const platform = await platformAt(devnet, 0, async () =>
    stored === null ? err({ why: 'no access', next: 'ask for it' }) : ok(stored),
  )
  return linesOf(sourceOf({ ...valuesFor(devnet), ...changes }, more), platform)
}

const trx = { cuy: 1, symbol: 'TRX', decimals: 6 }
const usdt = { cuy: 2, symbol: 'USDT', contract: tokenBase58, decimals: 6 }
const settings = [
  { name: 'TRON_CHAIN_ID', value: '0x6465766e', used: true },
  { name: 'TRON_XPUB', value: `${depositBase58} at m/44'/195'/n'/0/0`, used: true },
  { name: 'CURRENCIES.1', value: 'TRX, decimals 6, scale 6', used: true },
  { name: 'CURRENCIES.2', value: `contract ${tokenBase58}, decimals 6, scale 6`, used: true },
]
const stored: StoredData = { settings, lastIndex: 4, migration: 1 }
const storedWith = (name: string, value: string): StoredData => ({
  ...stored,
  settings: settings.map((setting) => (setting.name === name ? { ...setting, value } : setting)),
})

describe('the doctor on stored data', () => {
  it('passes a configuration with the meaning of the stored data', async () => {
    const lines = await check({}, stored)
    expect(lines).toContain('ok    stored data: chain, key and currencies are those of the configuration')
    expect(lines).toContain('ok    addresses: issued up to index 4')
    expect(failures(lines)).toEqual([])
  })

  it.each<[string, Values, StoredData, string]>([
    [
      'of another chain',
      {},
      storedWith('TRON_CHAIN_ID', '0x2b6653dc'),
      'TRON_CHAIN_ID is "0x6465766e", stored is "0x2b6653dc"',
    ],
    ['of another key', {}, storedWith('TRON_XPUB', 'T… at m'), 'TRON_XPUB is "TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6 at'],
    ['of another contract', {}, storedWith('CURRENCIES.2', 'TRX, decimals 6, scale 6'), 'CURRENCIES.2 is "contract '],
    [
      'of another scale',
      { CURRENCIES: [{ ...trx, scale: 3 }, usdt] },
      stored,
      'CURRENCIES.1 is "TRX, decimals 6, scale 3"',
    ],
  ])('fails where it is %s', async (_, changes, data, expected) => {
    const [line, ...others] = failures(await check(changes, data))
    expect(line).toContain(`FAIL  stored data: ${expected}`)
    expect(others).toEqual([])
  })

  it('fails where a used currency is missing, and passes where it is retired or unused', async () => {
    expect(failures(await check({ CURRENCIES: [trx] }, stored))).toEqual([
      expect.stringMatching(/^FAIL {2}stored data: CURRENCIES\.2 is "missing".*; keep it with retired: true$/),
    ])
    const lines = await check({ CURRENCIES: [trx, { ...usdt, retired: true }] }, stored)
    expect(lines).toContain('ok    currency USDT (2): retired, so that what arrives is kept, uncredited')
    expect(failures(lines)).toEqual([])
    const unused = { ...stored, settings: settings.map((one) => ({ ...one, used: one.name !== 'CURRENCIES.2' })) }
    expect(failures(await check({ CURRENCIES: [trx] }, unused))).toEqual([])
  })

  it('fails where it has a range of users, and there is one cell', async () => {
    const ranged = { ...stored, settings: [{ name: 'CELLS', value: '1-999999', used: true }, ...settings] }
    expect(failures(await check({}, ranged))).toEqual([
      'FAIL  stored data: CELLS is "missing", stored is "1-999999": nothing would be served',
    ])
  })

  it.each([
    [1, 'ok    migrations: the database has all, the newest is 1'],
    [
      0,
      'FAIL  migrations: the newest of the database is 0, of this folder 1: "npm run db:migrate" applies what is missing',
    ],
    [
      2,
      'warn  migrations: the newest of the database is 2, of this folder 1: a newer version has migrated it; this one works with its tables, but is older',
    ],
    [null, 'ok    migrations: the database has none yet; "npm run db:migrate" applies them'],
  ])('says whether it has the migrations of this folder: %s', async (migration, line) => {
    expect(await check({}, { ...stored, migration })).toContain(line)
  })

  it('passes a configuration with an archive', async () => {
    const worker = { ...sourceOf({}).worker, buckets: ['BUCKET'] }
    expect(failures(await check({ ARCHIVE: 'BUCKET' }, stored, { worker }))).toEqual([])
    expect(failures(await check({ ARCHIVE: 'BUCKET' }, stored))).toEqual([
      'FAIL  ARCHIVE: the name of an R2 bucket binding',
    ])
  })

  it('fails where it cannot be read', async () => {
    expect(await check({}, null)).toContain(
      'FAIL  stored data: not compared with the configuration: no access; ask for it',
    )
  })

  it('is not read for a deployment without a database', async () => {
    const lines = await check({}, stored, { isDeployment: true, database: 'placeholder' })
    expect(lines.filter((line) => line.includes('stored data'))).toEqual([])
  })
})

describe('the doctor on the first address', () => {
  it('fails where the database is empty and the key was used', async () => {
    expect(failures(await check({}, empty))).toEqual([
      'FAIL  addresses: none is issued yet, but the key was used before: index 0 holds TRX; ' +
        'restore its database, or set TRON_FIRST_INDEX',
    ])
  })

  it('passes an empty database with a new key', async () => {
    const xpub =
      'xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq'
    expect(await check({ TRON_XPUB: xpub }, empty)).toContain(
      'ok    addresses: none is issued yet, and the first 20 addresses of the key hold nothing',
    )
  })

  it('warns where no node can be queried', async () => {
    expect(await check({ TRON_CHAIN_ID: '0xcd8690dc' }, empty)).toContain(
      'warn  addresses: none is issued yet; whether the key was used before could not be checked',
    )
  })

  it('shows whether TRON_FIRST_INDEX has an effect', async () => {
    expect(await check({ TRON_FIRST_INDEX: '7' }, empty)).toContain(
      'ok    addresses: none is issued yet, the first one has index 7 (TRON_FIRST_INDEX)',
    )
    expect(await check({ TRON_FIRST_INDEX: '7' }, stored)).toContain(
      'ok    addresses: issued up to index 4; TRON_FIRST_INDEX has no effect any more',
    )
  })
})

describe('the doctor on operators', () => {
  const wallet = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'

  it('shows them, and fails one that is a deposit address', async () => {
    const lines = await check({ OPERATOR_ADDRESSES: [wallet, 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'] }, stored)
    expect(lines).toContain(`ok    operators: ${wallet}: what it sends is never credited`)
    expect(failures(lines)).toEqual([
      'FAIL  operators: TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C is the deposit address at index 1 of the key',
    ])
  })

  it('warns about a deployment without them', async () => {
    const warning = expect.stringMatching(/^warn {2}operators: without OPERATOR_ADDRESSES, TRX that is sent/)
    expect(await check({}, stored, { isDeployment: true, database: 'set' })).toContainEqual(warning)
    expect(await check({}, stored)).not.toContainEqual(warning)
  })
})

it('the doctor warns while no new addresses are issued', async () => {
  const warning = 'warn  addresses: no new one is issued (ISSUE_ADDRESSES is off); remove it once a restore is complete'
  expect(await check({ ISSUE_ADDRESSES: 'off' }, stored)).toContain(warning)
  expect(await check({}, stored)).not.toContain(warning)
})

describe('the doctor on the keys of tokens', () => {
  it('shows a previous secret, and warns where it has no effect', async () => {
    expect(await check({ AUTH_JWT_SECRET_PREVIOUS: [...goodSecret].reverse().join('') }, stored)).toContainEqual(
      expect.stringMatching(/^ok {4}authentication: HS256 with the previous secret too/),
    )
    expect(await check({ AUTH_JWT_SECRET_PREVIOUS: goodSecret }, stored)).toContain(
      'warn  authentication: the previous secret is the secret itself: remove it',
    )
    expect(failures(await check({ AUTH_JWT_SECRET: '', AUTH_JWT_SECRET_PREVIOUS: goodSecret }, stored))).toContainEqual(
      expect.stringMatching(/^FAIL {2}AUTH_JWT_SECRET_PREVIOUS: /),
    )
  })

  it('checks both kinds of keys', async () => {
    expect(failures(await check({ AUTH_JWKS_URL: 'http://127.0.0.1:1/keys' }, stored))).toEqual([
      expect.stringMatching(/^FAIL {2}authentication: the key set at .* could not be/),
    ])
  })
})
