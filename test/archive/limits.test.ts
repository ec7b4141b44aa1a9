import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { archiveEveryMs } from '../../src/worker/archive/archive-object.ts'
import { bucketAnswerMs } from '../../src/worker/archive/bucket.ts'
import { readNext } from '../../src/worker/archive/read.ts'
import { followItems, segmentBytesMax, segmentRowsMax } from '../../src/worker/archive/segment.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { startThreeCells } from '../cells/three-cells.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, usdtTo } from '../http/service.ts'
import { archive, emptyBucket, linesOf, names, rowOf, segments, startArchived } from './harness.ts'

/** Posts `count` entries, 20 at a time. */
async function post(service: RunningService, count: number, mark = '') {
  for (let i = 0; i < count; i += 20) {
    const entries = Array.from({ length: Math.min(20, count - i) }, (_, k) => {
      return { uid: 7, cuy: 2, type: 5, osn: `order-${i + k}`, amt: '1', mark }
    })
    expect((await service.post(entries)).status).toBe(200)
  }
}

/** How many entries, events and changes the database has, and rows of all other tables. */
async function countRows({ db }: RunningService) {
  const { results } = await db
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all<{ name: string }>()
  const counts = await db.batch<{ n: number }>(
    results.map(({ name }) => db.prepare(`SELECT count(*) AS n FROM ${name}`)),
  )
  return Object.fromEntries(results.map(({ name }, i) => [name, counts[i]?.results[0]?.n]))
}

describe('a segment', () => {
  it('has at most 1,000 rows; the next one has the others, and alone says that it is complete', async () => {
    const service = await startArchived()
    await archive(service)
    await post(service, segmentRowsMax + 20)
    await archive(service)
    const [, full, rest] = await segments()
    expect([full?.lines.length, rest?.lines.length]).toEqual([segmentRowsMax, 21])
    expect([full?.lines.at(-1)?.row, rest?.lines.at(-1)?.row]).toEqual(['entry', 'scan'])
    expect((await linesOf('entry')).map(({ id }) => id)).toEqual(Array.from({ length: 1_020 }, (_, i) => i + 1))
  })

  it('says that it is complete also if it has exactly 1,000 rows', async () => {
    const service = await startArchived()
    await archive(service)
    await post(service, segmentRowsMax)
    await archive(service)
    const [, full, ...others] = await segments()
    expect(others).toEqual([])
    expect([full?.lines.length, full?.lines.at(-1)?.row]).toEqual([segmentRowsMax + 1, 'scan'])
  })

  it('has at most 1 MB', async () => {
    const service = await startArchived()
    await archive(service)
    await service.db
      .prepare(
        `INSERT INTO posting (entries, posted_by, created_at)
         SELECT (SELECT json_group_array(json_object('uid', 7, 'cuy', 2, 'type', 5, 'osn', 'x' || value, 'amount', 1, 'mark', ?1))
           FROM generate), 'shop', 1790000000000 FROM (SELECT 1)`.replace(
          'FROM generate',
          `FROM json_each('[${Array.from({ length: 900 }, (_, i) => i).join()}]')`,
        ),
      )
      .bind('x'.repeat(1_500))
      .run()
    await archive(service)
    const list = await segments()
    const sizes = list.map(({ text }) => new TextEncoder().encode(text).length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(segmentBytesMax)
    expect(sizes[1]).toBeGreaterThan(segmentBytesMax - 10_000)
    expect(await linesOf('entry')).toHaveLength(900)
  })

  it('has what was committed at most half a minute before', () => {
    expect(archiveEveryMs + 3 * bucketAnswerMs).toBeLessThanOrEqual(60_000)
  })
})

describe('the database', () => {
  it('gains one row for the archive, and none for a deposit or a post', async () => {
    const counts = []
    await emptyBucket()
    for (const variables of [{}, { ARCHIVE: 'BUCKET', BUCKET: env.ARCHIVE_BUCKET }]) {
      const service = await startService(variables)
      const own = await addressIn(await service.get('/tron/generate'))
      await service.tick()
      await archive(service)
      const written = await service.db.prepare('SELECT count(*) AS n FROM archive_change').first('n')
      payFinal(service, usdtTo(own, 25_000_000n))
      await service.tick()
      await post(service, 3)
      expect(await service.db.prepare('SELECT count(*) AS n FROM archive_change').first('n')).toBe(written)
      await archive(service)
      counts.push(await countRows(service))
    }
    const [without, { archive: own, ...beside } = {}] = counts
    expect(own).toBe(1)
    expect({ ...beside, archive: 0, sqlite_sequence: without?.sqlite_sequence }).toEqual(without)
  })

  it('is copied first, if it is older than the archive', async () => {
    await emptyBucket()
    const service = await startService({ BUCKET: env.ARCHIVE_BUCKET })
    const own = await addressIn(await service.get('/tron/generate'))
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    await post(service, 2)
    const archived = service.with({ ARCHIVE: 'BUCKET' })
    await archive(archived)
    expect((await linesOf()).map(({ row }) => row)).toEqual([
      ...['configuration', 'address', 'transfer', 'entry', 'entry', 'entry', 'scan'],
    ])
    await post(archived, 0)
    payFinal(archived, usdtTo(own, 1_000_000n))
    await archived.tick()
    await archive(archived)
    expect((await linesOf()).slice(7).map(({ row }) => row)).toEqual(['transfer', 'entry', 'scan'])
  })

  it('reads no more entries and events at once than a segment can have, in the order of their one numbering', async () => {
    const service = await startArchived()
    await service.tick()
    const to = await addressIn(await service.get('/tron/generate'))
    for (const _ of [1, 2, 3, 4, 5]) {
      service.chain.add([usdtTo(to, 25_000_000n)])
      await service.tick() // an event
      service.chain.addEmpty(finalityLag)
      await service.tick() // an entry
    }
    const ids = async (event: number, max: number) => {
      const { entries, events, rows } = await readNext(writable(service.db), { event, change: 0 }, max)
      expect(rows.transfer.length).toBeLessThanOrEqual(max)
      return [...entries, ...events].map(({ id }) => Number(id)).sort((one, other) => one - other)
    }
    const all = await ids(0, 100)
    expect(all).toHaveLength(10)
    expect(await ids(0, 4)).toEqual(all.slice(0, 4))
    expect(await ids(4, 4)).toEqual(all.slice(4, 8))
  })

  it('stops where entries and events are missing, also where more are missing than it reads at once', async () => {
    const service = await startArchived()
    await post(service, 5)
    const from = { event: 0, change: 0 }
    const reading = await readNext(writable(service.db), from, 3)
    const of = (count: number) => followItems({ ...reading, entries: reading.entries.slice(0, count) }, from, 0, 2)
    expect(of(3).items).toHaveLength(2)
    expect(() => of(1)).toThrow('the entry or event 2 is missing')
    expect(() => of(0)).toThrow('the entry or event 1 is missing')
  })

  it('is not touched, nor is any bucket, without ARCHIVE', async () => {
    await emptyBucket()
    const service = await startService({ BUCKET: env.ARCHIVE_BUCKET })
    await post(service, 1)
    await archive(service)
    expect([await rowOf(service), await names()]).toEqual([null, []])
  })

  it('keeps events that are not in the archive, however old they are', async () => {
    const away = new Set(['put'])
    const put = async (...given: Parameters<R2Bucket['put']>) => {
      if (away.has('put')) throw new Error('R2 is away')
      return env.ARCHIVE_BUCKET.put(...given)
    }
    const service = await startArchived({ EVENTS_KEEP_DAYS: '1' }, { put: put as unknown as R2Bucket['put'] })
    await service.get('/tron/generate')
    await service.tick()
    await post(service, 3)
    await archive(service)
    const removed = () => service.db.prepare('SELECT last_id FROM removed_event').first('last_id')
    service.clock.seconds += 3 * 86_400
    await service.tick()
    expect(await removed()).toBeNull()
    away.clear()
    await archive(service)
    await service.tick()
    expect(await removed()).toBe(3)
  })
})

describe('R2 that hangs', () => {
  it('ends the run after ten seconds, and takes nobody else’s time', async () => {
    const hanging = new Set(['put'])
    const put = async (...given: Parameters<R2Bucket['put']>) =>
      hanging.has('put') ? new Promise<null>(() => undefined) : env.ARCHIVE_BUCKET.put(...given)
    const service = await startArchived({}, { put: put as unknown as R2Bucket['put'] })
    await post(service, 1)
    const before = service.clock.seconds
    await archive(service)
    expect(service.clock.seconds - before).toBeLessThanOrEqual(45)
    expect(service.lines.join('\n')).toContain('R2 has not answered within 10 s')
    hanging.clear()
    await archive(service)
    expect(await linesOf('entry')).toHaveLength(1)
  })
})

describe('several cells', () => {
  it('have a folder each', async () => {
    await emptyBucket()
    const service = await startThreeCells({ ARCHIVE: 'BUCKET', BUCKET: env.ARCHIVE_BUCKET })
    await archive(service)
    const folders = new Set((await names()).map((name) => name.split('/')[0]))
    expect(folders.size).toBe(3)
    expect((await segments()).map(({ head }) => head.cell).sort()).toEqual([1, 2, 3])
  })
})
