import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHex, parseAddress } from '../../../src/chain/address.ts'
import { createLocalDatabase, type LocalDatabase } from './local-database.ts'

// The commands with the real wrangler, on a local database with the real migrations.

/** The first two addresses of the tests' extended public key. */
const [firstHex = '', secondHex = ''] = [
  'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6',
  'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C',
].map((text) => {
  const address = parseAddress(text)
  return address.ok ? formatHex(address.value).slice(-40) : ''
})

let database: LocalDatabase
const rescan = (...args: string[]) => database.command('start.ts', ...args)
const reserve = (...args: string[]) => database.command('reserve.ts', ...args)
const rows = (sql: string) => database.rows(sql)

beforeAll(async () => {
  database = await createLocalDatabase()
  const hash = 'a'.repeat(64)
  await rows(`INSERT INTO scan VALUES (1, 100, '${hash}', 120, 5, 5, 5, 5, NULL, '', 0, NULL, 0)`)
}, 120_000)
afterAll(() => database.remove())

describe('npm run rescan', () => {
  it('stores a range that is read again, with its reason', async () => {
    const { code, out } = await rescan('--from', '85', '--to', '95', '--reason', `it's missing; DROP TABLE flow`)
    expect([code, out]).toEqual([0, 'The next ticks read the blocks 85 to 95 again.\n'])
    expect(rows('SELECT kind, from_height, to_height, next_height, reason, finished_at FROM rescan')).toEqual([
      {
        kind: 'request',
        from_height: 85,
        to_height: 95,
        next_height: 85,
        reason: `it's missing; DROP TABLE flow`,
        finished_at: null,
      },
    ])
  }, 60_000)

  it('refuses blocks that were not read yet, in one sentence', async () => {
    const { code, errors } = await rescan('--from', '85', '--to', '101', '--reason', 'x')
    expect([code, errors]).toEqual([1, 'Nothing is changed: rescan: blocks above the position are not read yet\n'])
  }, 60_000)

  it('lowers a finalized height, which is kept with its reason', async () => {
    const { code, out } = await rescan('--finalized', '90', '--reason', 'a node lied')
    expect([code, out]).toEqual([
      0,
      'The finalized height is 90 now. The scan goes on from there with the next tick.\n',
    ])
    expect(rows('SELECT finalized, reason FROM correction')).toEqual([{ finalized: 90, reason: 'a node lied' }])
    expect(rows('SELECT height, finalized FROM scan')).toEqual([{ height: 90, finalized: 90 }])
  }, 60_000)

  it('explains wrong options', async () => {
    const { code, errors } = await rescan('--from', '85')
    expect(code).toBe(2)
    expect(errors).toContain('npm run rescan -- --from <block> --to <block> --reason')
    expect((await rescan('--forever')).code).toBe(2)
    expect((await rescan('--env', 'x', '--production')).code).toBe(2)
  }, 60_000)
})

describe('npm run reserve', () => {
  const insert = (index: number, address: string) =>
    rows(
      `INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES (${index}, 7, '${address}', 120, 5)`,
    )

  it('stores the addresses up to an index for no caller, and the next one follows', async () => {
    expect((await reserve('--to', '3')).errors).toContain('set TRON_FIRST_INDEX instead')
    await insert(0, firstHex)
    const { code, out } = await reserve('--to', '600')
    expect([code, out]).toEqual([0, 'The indices 1 to 600 are reserved: the next address is that of 601.\n'])
    const count = 'SELECT count(*) AS n, max(derivation_index) AS last, max(uid) AS uid FROM address'
    expect(rows(count)).toEqual([{ n: 601, last: 600, uid: Number.MAX_SAFE_INTEGER }])
    expect(rows('SELECT address FROM address WHERE derivation_index = 1')).toEqual([{ address: secondHex }])
    expect((await reserve('--to', '600')).errors).toBe(
      'Nothing is changed: index 600 is stored already; the newest is 600\n',
    )
  }, 120_000)

  it('explains wrong options', async () => {
    expect((await reserve()).code).toBe(2)
    expect((await reserve('--to', '-1')).code).toBe(2)
    expect((await reserve('--to', '5', '--env', 'x', '--production')).code).toBe(2)
  }, 60_000)
})
