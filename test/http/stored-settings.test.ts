import { HDKey } from '@scure/bip32'
import { beforeEach, describe, expect, test } from 'vitest'
import { recheckMs } from '../../src/worker/config/check-settings.ts'
import { explainHeld } from '../../src/worker/deposits/explain.ts'
import { notConfigured } from '../../src/worker/http/errors.ts'
import { newestMigration } from '../../src/worker/platform/version.ts'
import { testXpub, usdtBase58 } from '../support/variables.ts'
import { failed, firstAddress, payCaller, type RunningService, read, requestsOf, startService } from './service.ts'

const trx = { cuy: 1, symbol: 'TRX', decimals: 6 }
const usdt = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 }
const third = { cuy: 3, symbol: 'THIRD', contract: firstAddress, decimals: 6 }
const chainKey = HDKey.fromExtendedKey(testXpub).deriveChild(0).publicExtendedKey
const otherKey = HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/195'/1'").publicExtendedKey
const keyText = `${firstAddress} at m/44'/195'/n'/0/0`

let service: RunningService
beforeEach(async () => {
  service = await startService()
})
const alarmsOf = ({ lines }: RunningService) =>
  lines.map((line) => JSON.parse(line)).filter(({ alarm }) => alarm === 'configuration-differs')
const statusOf = async (running: RunningService) => (await running.get('/health', null)).status
const walletsOf = async (running: RunningService) => (await running.get('/wallet/list')).text()

describe('a database that lacks a migration of this version', () => {
  const setNumber = async (number: number) => {
    await service.db.exec('DROP VIEW newest_migration')
    await service.db.exec(`CREATE VIEW newest_migration AS SELECT ${number} AS number`)
  }

  test('is not served, with one alarm, until it has the migration', async () => {
    await service.tick()
    await setNumber(newestMigration - 1)
    const forgotten = service.with({})
    for (const path of ['/wallet/list', '/health']) {
      expect(await read(await forgotten.get(path))).toEqual(failed(503, notConfigured.msg))
    }
    const [stored, configured] = [String(newestMigration - 1), String(newestMigration)]
    expect(alarmsOf(service)).toMatchObject([{ setting: 'migrations', stored, configured, urgency: 'now' }])
    await setNumber(newestMigration)
    service.clock.seconds += recheckMs / 1000
    expect(await statusOf(forgotten)).toBe(200)
  })

  test('is served where it has more of them: a migration only adds', async () => {
    await service.tick()
    await setNumber(newestMigration + 1)
    expect(await statusOf(service.with({}))).toBe(200)
  })
})

describe('a configuration that differs from what the stored data means', () => {
  test.each([
    ['another chain', { TRON_CHAIN_ID: '0xcd8690dc' }, 'TRON_CHAIN_ID', '0x2b6653dc', '0xcd8690dc'],
    [
      'another scale',
      { CURRENCIES: [trx, { ...usdt, scale: 4 }] },
      'CURRENCIES.2',
      `contract ${usdtBase58}, decimals 6, scale 6`,
      `contract ${usdtBase58}, decimals 6, scale 4`,
    ],
    [
      'another contract',
      { CURRENCIES: [trx, { ...usdt, contract: firstAddress }] },
      'CURRENCIES.2',
      `contract ${usdtBase58}, decimals 6, scale 6`,
      `contract ${firstAddress}, decimals 6, scale 6`,
    ],
    [
      'other decimals',
      { CURRENCIES: [trx, { ...usdt, decimals: 7 }] },
      'CURRENCIES.2',
      `contract ${usdtBase58}, decimals 6, scale 6`,
      `contract ${usdtBase58}, decimals 7, scale 6`,
    ],
  ])('by %s is not served and credits nothing, with one alarm', async (_what, changes, setting, stored, configured) => {
    await service.tick()
    await payCaller(service)
    const changed = service.with(changes)
    for (const path of ['/wallet/list', '/tron/generate', '/tron/recharge', '/health']) {
      expect(await read(await changed.get(path))).toEqual(failed(503, notConfigured.msg))
    }
    await changed.tick()
    expect(alarmsOf(service)).toEqual([
      { level: 'error', alarm: 'configuration-differs', setting, stored, configured, urgency: 'now' },
    ])
    expect(await walletsOf(service)).toContain('{"amt":0,"cuy":2}')
    expect(await statusOf(service)).toBe(200)
  })

  test('by another key is not served, and its addresses are not issued', async () => {
    await service.get('/tron/generate')
    const changed = service.with({ TRON_XPUB: otherKey })
    expect(await read(await changed.get('/tron/generate', 8))).toEqual(failed(503, notConfigured.msg))
    expect(alarmsOf(service)).toMatchObject([{ setting: 'TRON_XPUB', stored: keyText }])
  })

  test('is none where the same key is given by its external chain in place of its account', async () => {
    await service.get('/tron/generate')
    await service.tick()
    expect(await statusOf(service.with({ TRON_XPUB: chainKey }))).toBe(200)
    expect(alarmsOf(service)).toEqual([])
  })

  test('is not served where CELLS is missing and the database has the users of one cell, with one alarm', async () => {
    await service.get('/tron/generate')
    await service.tick()
    await service.db.prepare('INSERT INTO user_range VALUES (1, 1, 999999, 0)').run()
    const changed = service.with({})
    expect(await statusOf(changed)).toBe(503)
    await changed.tick()
    expect(alarmsOf(service)).toMatchObject([{ setting: 'CELLS', stored: '1-999999', configured: 'missing' }])
  })

  test('is compared again after a few seconds, so that it can be repaired', async () => {
    await service.get('/tron/generate')
    await service.tick()
    const changed = service.with({ TRON_CHAIN_ID: '0x1' })
    expect(await statusOf(changed)).toBe(503)
    await service.db.batch(
      ['DROP TRIGGER stored_setting_is_never_deleted', `DELETE FROM stored_setting WHERE name = 'TRON_CHAIN_ID'`].map(
        (sql) => service.db.prepare(sql),
      ),
    )
    expect(await statusOf(changed)).toBe(503)
    service.clock.seconds += recheckMs / 1000
    expect(await statusOf(changed)).toBe(200)
  })

  test('stores nothing of its own', async () => {
    await service.get('/tron/generate')
    await statusOf(service.with({ TRON_CHAIN_ID: '0x1', CURRENCIES: [trx, usdt, third] }))
    const names = await service.db.prepare('SELECT name FROM stored_setting ORDER BY name').raw()
    expect(names.flat()).toEqual(['TRON_CHAIN_ID', 'TRON_XPUB'])
    expect(await service.db.prepare('SELECT cuy FROM stored_currency').raw()).toEqual([[1], [2]])
  })

  test('does not resume deposits of a retired currency', async () => {
    await service.get('/tron/generate')
    const retired = service.with({ CURRENCIES: [trx, { ...usdt, retired: true }] })
    await payCaller(service)
    await retired.tick()
    const reasons = () => service.db.prepare('SELECT reason FROM transfer').raw()
    expect(await reasons()).toEqual([['retired']])
    expect(await statusOf(service.with({ TRON_CHAIN_ID: '0x1' }))).toBe(503)
    expect(await reasons()).toEqual([['retired']])
  })
})

describe('a currency', () => {
  test('can be added, and removed again while it has nothing', async () => {
    await service.get('/tron/generate')
    await service.tick()
    expect(await statusOf(service.with({ CURRENCIES: [trx, usdt, third] }))).toBe(200)
    expect(await statusOf(service.with({ CURRENCIES: [trx, { ...usdt }] }))).toBe(200)
    expect(await statusOf(service.with({ CURRENCIES: [trx, usdt, { ...third, scale: 0 }] }))).toBe(503)
  })

  test('cannot be removed where it has entries', async () => {
    await payCaller(service)
    await service.tick()
    expect(await statusOf(service.with({ CURRENCIES: [trx] }))).toBe(503)
    expect(alarmsOf(service)).toMatchObject([{ setting: 'CURRENCIES.2', configured: 'missing' }])
  })

  test('that is retired keeps what it has, and credits what arrived once it is back', async () => {
    await payCaller(service)
    await service.tick()
    const retired = service.with({ CURRENCIES: [trx, { ...usdt, retired: true }] })
    const txid = await payCaller(service)
    await retired.tick()
    expect(await walletsOf(retired)).toContain('{"amt":25,"cuy":2}')
    const before = requestsOf(service)
    expect(await read(await retired.get(`/tron/recharge?txid=${txid}`))).toEqual(failed(422, explainHeld('retired')))
    expect(requestsOf(service)).toBe(before + 2) // one to each node: did the contract send TRX as well?
    service.clock.seconds += 600
    await retired.tick()
    expect(await walletsOf(retired)).toContain('{"amt":25,"cuy":2}')
    await service.with({ CURRENCIES: [trx, { ...usdt, retired: false }] }).tick()
    expect(await walletsOf(service)).toContain('{"amt":50,"cuy":2}')
  })

  test('that is back credits what an isolate of before has stored as retired since then', async () => {
    const retired = service.with({ CURRENCIES: [trx, { ...usdt, retired: true }] })
    await payCaller(service)
    await service.tick()
    const txid = await payCaller(service)
    await retired.tick()
    expect((await retired.get(`/tron/recharge?txid=${txid}`)).status).toBe(422)
    await service.tick()
    expect((await service.get(`/tron/recharge?txid=${txid}`)).status).toBe(200)
    await payCaller(service)
    await retired.tick()
    service.clock.seconds += 60
    await service.tick()
    expect(await walletsOf(service)).toContain('{"amt":75,"cuy":2}')
  })
})
