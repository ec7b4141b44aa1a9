import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../../src/worker/chain/address.ts'
import { createLocalDatabase, type LocalDatabase } from '../local-database.ts'

describe('npm run operate -- currency', () => {
  let database: LocalDatabase
  beforeAll(() => {
    database = createLocalDatabase()
  })
  afterAll(() => database.remove())
  const rows = (sql: string) => database.rows(sql)
  const base58 = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf'
  const usdt = `contract ${base58}`
  const parsed = parseAddress(base58)
  const contract = parsed.ok ? parsed.value : ''
  const configure = (decimals: number, cuy = 3, scale = 6) => {
    const list = [{ cuy, symbol: 'X', contract: base58, decimals, scale }]
    return { TRON_CHAIN_ID: '0x1', CURRENCIES: JSON.stringify(list) }
  }
  const correct = (variables: Record<string, string>, cuy = '3') =>
    database.operateWith(variables, 'currency', '--cuy', cuy)

  it('stores corrected decimals, and what is to be done next', async () => {
    rows(`INSERT INTO stored_currency VALUES (3, '${contract}', 8, 6, 5)`)
    expect(await correct(configure(18))).toMatchObject({
      code: 0,
      out:
        `Currency 3 was stored as "${usdt}, decimals 8, scale 6", and is "${usdt}, decimals 18, scale 6" now. ` +
        'Deploy this configuration next.\n',
    })
    expect(rows('SELECT * FROM stored_currency')).toEqual([{ cuy: 3, contract, decimals: 18, scale: 6, stored_at: 5 }])
  })

  it('says what else must be configured where the scale would change: by default it follows the decimals', async () => {
    const { code, all } = await correct(configure(7, 3, 5))
    expect([code, all]).toEqual([
      1,
      expect.stringContaining('What to do: name "scale": 6 beside its decimals in CURRENCIES, since the scale stays.'),
    ])
  })

  it.each([
    ['is stored like that already', configure(18), '3', 'currency 3 is stored as it is configured'],
    ['was never stored', configure(18, 4), '4', 'nothing is stored of currency 4'],
    ['is not configured', configure(18), '5', 'CURRENCIES has no currency 5'],
    ['is configured wrongly', configure(99), '3', 'CURRENCIES'],
  ])('refuses one that %s', async (_, variables, cuy, why) => {
    expect(await correct(variables, cuy)).toMatchObject({ code: 1, all: expect.stringContaining(why) })
  })

  it('refuses other decimals than nodes have agreed on: everything of it would be held', async () => {
    rows(`INSERT INTO agreed_decimals VALUES ('${contract}', 18, 5)`)
    const { code, all } = await correct(configure(6))
    expect([code, all]).toEqual([
      1,
      'Stopped: nodes have agreed on 18 decimals of currency 3, not 6.\n' +
        'What to do: set "decimals": 18 in CURRENCIES: it is wrong now.\n',
    ])
    rows('DROP TRIGGER agreed_decimals_are_never_deleted')
    rows('DELETE FROM agreed_decimals')
  })

  it('refuses one of which a deposit is credited, with both values', async () => {
    rows('INSERT INTO day (day, cuy, type, entries, high, low) VALUES (1, 3, 1, 1, 0, 5)')
    const { code, all } = await correct(configure(6))
    expect([code, all]).toEqual([
      1,
      'Stopped: stored_currency: deposits of the currency are credited; ' +
        `stored is "${usdt}, decimals 18, scale 6", configured is "${usdt}, decimals 6, scale 6".\n` +
        'What to do: set the decimals in CURRENCIES back to those that are stored, which credited deposits have; ' +
        'if these are wrong, retire the currency.\n',
    ])
  })

  it('refuses one of which a payout is open', async () => {
    rows(`UPDATE day SET type = 9`)
    rows(`INSERT INTO payout_sum (state, cuy, count, amount) VALUES ('stuck', 3, 1, 5)`)
    const { code, all } = await correct(configure(6))
    expect([code, all]).toEqual([
      1,
      expect.stringMatching(
        /^Stopped: stored_currency: payouts of the currency are open; .*\nWhat to do: have each of them paid or cancelled first/,
      ),
    ])
    rows(`UPDATE day SET type = 1`)
  })
})
