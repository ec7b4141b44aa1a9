import { describe, expect, test, vi } from 'vitest'
import { standstillMs } from '../../../src/worker/alarms/alarms.ts'
import { finalityMs } from '../../../src/worker/chain/finality.ts'
import { sharedReadMs } from '../../../src/worker/platform/shared-runs.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { behindBlocksMax, oldFinalMs } from '../../../src/worker/scan/health.ts'
import { startThreeCells, threeCells } from '../../cells/three-cells.ts'
import { recordDatabase } from '../../support/recorded-database.ts'
import {
  addressIn,
  brokenDatabase,
  payFinal,
  type RunningService,
  read,
  renewFinal,
  startService,
  usdtTo,
} from '../service.ts'

async function startScanned(): Promise<RunningService> {
  const service = await startService()
  payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 1n))
  await service.tick()
  await renewFinal(service)
  return service
}

describe('GET /health', () => {
  test('has the position of the scan, without a token and without a query to a node', async () => {
    const service = await startScanned()
    const requests = service.nodes.map((node) => node.requests.length)
    const height = service.chain.tip().height - 18
    expect(await read(await service.get('/health', null))).toEqual({
      status: 200,
      body: {
        code: 200,
        msg: 'success',
        data: { status: 'ok', scanned: height, finalized: height, behind: 0, version: serviceVersion, migration: 1 },
      },
    })
    expect(service.nodes.map((node) => node.requests.length)).toEqual(requests)
  })

  test('leaves one line of an isolate, with the version and the newest migration of each database', async () => {
    const service = await startScanned()
    const running = () => service.lines.filter((line) => line.includes('"event":"running"'))
    const line = (cell: object) =>
      JSON.stringify({ level: 'info', event: 'running', version: serviceVersion, migration: 1, ...cell })
    service.lines.length = 0
    const isolate = service.with({ EVENTS_KEEP_DAYS: '80' })
    for (let i = 0; i < 3; i += 1) {
      await isolate.get('/health', null)
      service.clock.seconds += sharedReadMs / 1000
    }
    expect(running()).toEqual([line({})])
    const cells = await startThreeCells()
    await cells.get('/health', null)
    const logged = cells.lines.filter((one) => one.includes('"event":"running"'))
    expect(logged).toEqual([1, 2, 3].map((cell) => line({ cell })))
  })

  test('answers also where no token key is configured', async () => {
    const service = await startService({ AUTH_JWT_SECRET: undefined })
    expect((await read(await service.get('/health', null))).body).toHaveProperty('data.status')
    expect((await service.get('/wallet/list')).status).toBe(503)
  })

  test('is 503 where no scan ever began', async () => {
    expect(await read(await (await startService()).get('/health', null))).toMatchObject({
      status: 503,
      body: { msg: 'no scan has started yet', data: { status: 'stopped', scanned: 0, finalized: 0, behind: 0 } },
    })
  })

  test('is 503 with the reason scan-not-started where an address was issued, until the first scan has run', async () => {
    const service = await startService({ TRON_START_BLOCK: 1 })
    await service.get('/tron/generate')
    const response = await service.get('/health', null)
    expect(response.headers.get('x-reason')).toBe('scan-not-started')
    expect(await read(response)).toMatchObject({ status: 503, body: { data: { status: 'stopped', scanned: 0 } } })
    await service.tick()
    service.clock.seconds += sharedReadMs / 1000
    expect((await read(await service.get('/health', null))).status).toBe(200)
  })

  test.each([
    ['ok', behindBlocksMax],
    ['behind', behindBlocksMax + 1],
  ])('is a success, and %s, where the scan is %d blocks behind', async (status, behind) => {
    const service = await startScanned()
    await service.db.prepare('UPDATE scan SET finalized = finalized + ?').bind(behind).run()
    const body = { code: 200, data: { status, behind } }
    expect(await read(await service.get('/health', null))).toMatchObject({ status: 200, body })
  })

  test('is behind by the blocks that must be final by the clock, if the newest final block that is known is old', async () => {
    const service = await startScanned()
    const { body: before } = await read(await service.get('/health', null))
    service.clock.seconds += (oldFinalMs - finalityMs) / 1000 - 1
    expect((await read(await service.get('/health', null))).body).toEqual(before)
    service.clock.seconds += 2
    const { status, body } = await read(await service.get('/health', null))
    const behind = Math.floor((oldFinalMs - finalityMs + 1_000) / 3_000)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { msg: 'success: the newest final block that is known is 128 s old', data: { status: 'behind', behind } },
    })
  })

  test('is 503 with its data where the scan has not advanced for too long', async () => {
    const service = await startScanned()
    service.clock.seconds += standstillMs / 1000 - 60
    expect((await service.get('/health', null)).status).toBe(200)
    service.clock.seconds += 61
    const { status, body } = await read(await service.get('/health', null))
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 503, data: { status: 'stopped' } } })
    expect(body).toMatchObject({ msg: expect.stringMatching(/^the scan has not advanced for 18\d s$/) })
  })

  test('has the number of the newest migration that the database has, whatever the service was built with', async () => {
    const service = await startScanned()
    await service.db.batch(
      ['DROP VIEW newest_migration', 'CREATE VIEW newest_migration AS SELECT 7 AS number'].map((sql) =>
        service.db.prepare(sql),
      ),
    )
    try {
      expect(await read(await service.get('/health', null))).toMatchObject({ body: { data: { migration: 7 } } })
    } finally {
      await service.db.exec('DROP VIEW newest_migration')
      await service.db.exec('CREATE VIEW newest_migration AS SELECT 1 AS number')
    }
  })

  test.each(['/health', '/currencies'])(
    '%s is one query for all who ask at once, at first, later and after a pause',
    async (path) => {
      const service = await startScanned()
      const { statements, db } = recordDatabase(service.db)
      const isolate = service.with({ DB: db, EVENTS_KEEP_DAYS: 80 })
      const countOf = async (seconds: number) => {
        statements.length = 0
        service.clock.seconds += seconds
        await Promise.all(Array.from({ length: 50 }, () => isolate.get(path, null)))
        return statements.length
      }
      const one = path === '/health' ? 1 : 2 // the currencies are the state of the scan, and the decimals of tokens
      const first = await countOf(0)
      await countOf(sharedReadMs / 1000) // pauses beside the first requests have moved the clock
      expect([await countOf(0), await countOf(sharedReadMs / 1000), await countOf(5)]).toEqual([0, one, one])
      expect(first).toBeLessThanOrEqual(one + 4) // the first request also compares the configuration with the database
    },
  )

  test('the bookmark of a backend that D1 refuses fails neither the health check nor that backend', async () => {
    const service = await startScanned()
    const refusing = {
      ...recordDatabase(service.db).db,
      withSession: (start: string) =>
        start === 'first-primary'
          ? service.db.withSession(start)
          : brokenDatabase(new Error('D1_ERROR: invalid bookmark')),
    }
    const isolate = service.with({ DB: refusing, EVENTS_KEEP_DAYS: 80 })
    await isolate.get('/health', null)
    service.clock.seconds += sharedReadMs / 1000
    const { status } = await isolate.ledger('/ledger/summary', { headers: { 'x-d1-bookmark': 'ff' } })
    expect([status, (await isolate.get('/health', null)).status]).toEqual([200, 200])
  })

  test('a read that hangs is waited for by all, and not begun again', async () => {
    const service = await startScanned()
    const { statements, db, hang, begun } = recordDatabase(service.db)
    const isolate = service.with({ DB: db, EVENTS_KEEP_DAYS: 80 })
    await isolate.get('/health', null)
    service.clock.seconds += 5
    statements.length = 0
    const before = begun.count
    const release = hang()
    const asked: Promise<Response>[] = []
    for (let i = 0; i < 20; i += 1) {
      asked.push(isolate.get('/health', null))
      service.clock.seconds += 0.2
    }
    await vi.waitUntil(() => begun.count > before)
    release()
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]))
    expect(statements).toHaveLength(1)
  })

  test('a database that fails is asked once a second, however often the state is asked for', async () => {
    const service = await startScanned()
    let calls = 0
    const fail = () => {
      calls += 1
      throw new Error('D1_ERROR: the database is away')
    }
    const isolate = service.with({ DB: { prepare: fail, batch: fail, withSession: fail }, EVENTS_KEEP_DAYS: 80 })
    const statuses = new Set<number>()
    for (let i = 0; i < 50; i += 1) statuses.add((await isolate.get('/health', null)).status)
    expect(statuses.has(200)).toBe(false)
    expect(calls).toBe(1)
    service.clock.seconds += sharedReadMs / 1000
    await isolate.get('/health', null)
    expect(calls).toBe(2)
  })

  test('causes at most one query a second for each cell, however often it is asked', async () => {
    const service = await startThreeCells()
    const counted = threeCells.map(({ db }) => recordDatabase(service.bindings[db] as D1Database))
    const isolate = service.with(Object.fromEntries(threeCells.map(({ db }, i) => [db, counted[i]?.db])))
    await isolate.get('/health', null)
    service.clock.seconds += 5
    for (const { statements } of counted) statements.length = 0
    await Promise.all(Array.from({ length: 50 }, () => isolate.get('/health', null)))
    expect(counted.map(({ statements }) => statements.length)).toEqual([1, 1, 1])
  })
})
