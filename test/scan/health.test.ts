import { describe, expect, it } from 'vitest'
import { behindBlocksMax, sharedHealthMs, stoppedAfterMs } from '../../src/scan/health.ts'
import { brokenDatabase, startService, textOf } from '../http/service.ts'
import { finalizedIn, stateOf, withDeposit } from './harness.ts'

describe('health', () => {
  it('is stopped where no scan ever began', async () => {
    const service = await startService()
    const response = await service.get('/health', null)
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('no scan has started yet')
  })

  it('is stopped when the position has not moved for too long', async () => {
    const { service } = await withDeposit()
    await service.tick()
    service.clock.seconds += stoppedAfterMs / 1000 - 60
    expect((await service.get('/health', null)).status).toBe(200)
    service.clock.seconds += 70
    expect((await service.get('/health', null)).status).toBe(503)
  })

  it('is behind when too many final blocks are not scanned', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const { height } = await stateOf(service)
    const healthWith = async (behind: number) => {
      await service.db
        .prepare('UPDATE scan SET finalized = ?1')
        .bind(height + behind)
        .run()
      service.clock.seconds += 2 // the state of this second is not read again
      return textOf(service, '/health')
    }
    expect(await healthWith(behindBlocksMax)).toContain('"status":"ok"')
    expect(await healthWith(behindBlocksMax + 1)).toContain('"status":"behind"')
  })

  it('is read from the database once in a second, however often it is asked for', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const { DB } = { DB: service.db }
    let reads = 0
    const counting = {
      prepare: (sql: string) => {
        reads += /from "?scan"?/i.test(sql) ? 1 : 0
        return DB.prepare(sql)
      },
      batch: (statements: D1PreparedStatement[]) => DB.batch(statements),
      withSession: () => counting,
      getBookmark: () => null,
    }
    const counted = service.with({ DB: counting })
    await counted.get('/health', null)
    const before = reads
    await Promise.all(Array.from({ length: 50 }, () => counted.get('/health', null)))
    expect(reads - before).toBeLessThanOrEqual(Math.ceil(2_000 / sharedHealthMs))
  })

  it('queries no node, and is not that of long ago where the database does not answer', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const before = service.nodes.map(({ requests }) => requests.length)
    expect(await textOf(service, '/health')).toContain(`"scanned":${finalizedIn(service)}`)
    expect(service.nodes.map(({ requests }) => requests.length)).toEqual(before)
    const broken = service.with({ DB: brokenDatabase() })
    expect((await broken.get('/health', null)).status).toBe(500)
  })
})
