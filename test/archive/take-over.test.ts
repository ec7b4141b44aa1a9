import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { hasAllLines } from '../../src/worker/archive/take-over.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { addressIn, payFinal, type RunningService, usdtTo } from '../http/service.ts'
import { archive, linesOf, names, rowOf, segments, startArchived, textAt } from './harness.ts'
import { testSealKey } from './seal-key.ts'

const post = (service: RunningService, osn: string) => service.post([{ uid: 7, cuy: 2, type: 5, osn, amt: '1' }])

/** A bucket that throws after the put of a segment, as if its answer were lost. */
const losingAnswers = () => {
  const lost = { count: 0, from: 0 }
  const put = async (...given: Parameters<R2Bucket['put']>) => {
    const stored = await env.ARCHIVE_BUCKET.put(...given)
    lost.count += 1
    if (lost.count > lost.from) throw new Error('the answer is lost')
    return stored
  }
  return { put: put as unknown as R2Bucket['put'], lost }
}

/** Copies the row of the archive, to put it back later as a restore does. */
async function remember(service: RunningService) {
  const row = await rowOf(service)
  const changes = await service.db.prepare('SELECT * FROM archive_change').all()
  return { row, changes: changes.results }
}

/** Makes the row of the archive an older one, and changes what else an older copy has otherwise. */
async function putBack(service: RunningService, row: object | null, changes: readonly string[] = []) {
  const triggers = [
    'flow_is_never_deleted',
    'wallet_follows_its_newest_entry',
    'archive_goes_forward',
    'archive_has_one_row',
  ]
  const values = Object.keys(row ?? {}).map((_, index) => `value ->> ${index}`)
  await service.db.batch([
    ...triggers.map((name) => service.db.prepare(`DROP TRIGGER ${name}`)),
    ...changes.map((sql) => service.db.prepare(sql)),
    service.db.prepare('DELETE FROM archive'),
    service.db
      .prepare(`INSERT INTO archive SELECT ${values} FROM (SELECT ? AS value)`)
      .bind(JSON.stringify(Object.values(row ?? {}))),
  ])
}

describe('a segment that is in the bucket already', () => {
  it('is taken over after a lost answer, and never written again', async () => {
    const { put, lost } = losingAnswers()
    lost.from = 3
    const service = await startArchived({ SEAL_KEY: testSealKey }, { put })
    await archive(service)
    await post(service, 'a')
    await archive(service) // its checkpoint is lost, too
    const [, second] = await segments()
    lost.from = Number.POSITIVE_INFINITY
    await post(service, 'b')
    await archive(service)
    expect((await segments())[1]).toEqual(second)
    expect((await linesOf('entry')).map(({ osn }) => osn)).toEqual(['a', 'b'])
    expect((await segments()).map(({ head }) => [head.epoch, head.common])).toEqual(
      Array.from({ length: 3 }, () => [1, undefined]),
    )
    expect((await names()).filter((name) => name.endsWith('.checkpoint'))).toHaveLength(3)
  })

  it('is taken over from a second writer, whoever stores the position', async () => {
    const service = await startArchived()
    await archive(service)
    const other = service.with({})
    for (const osn of ['a', 'b', 'c']) {
      await post(service, osn)
      service.clock.seconds += 30
      await Promise.all([service.cron(), other.cron()])
      await Promise.all([service.deliver(), other.deliver()])
    }
    await archive(service)
    expect((await linesOf('entry')).map(({ osn }) => osn)).toEqual(['a', 'b', 'c'])
    const list = await segments()
    expect(list.every(({ head }) => head.epoch === 1)).toBe(true)
    expect(await rowOf(service)).toMatchObject({ lines: (list.at(-1)?.head.last ?? 0) + 1 })
  })

  it('stops the archive where it follows another one', async () => {
    const service = await startArchived()
    await archive(service)
    const name = (await names())[0]?.replace(
      /\d{15}/,
      String((await segments())[0]?.lines.length ?? 0)
        .padStart(15, '0')
        .replace(/\d$/, '3'),
    )
    await env.ARCHIVE_BUCKET.put(
      String(name),
      (await textAt((await names())[0] ?? '')).replaceAll('"first":0', '"first":3').replace('"last":2', '"last":5'),
    )
    await post(service, 'a')
    await archive(service)
    expect(service.lines.join('\n')).toContain('does not follow this archive')
  })
})

describe('a restored database', () => {
  it('begins an epoch that names the last line that both have', async () => {
    const service = await startArchived()
    const own = await addressIn(await service.get('/tron/generate'))
    await archive(service)
    const before = await remember(service)
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    await archive(service)
    await post(service, 'lost')
    await archive(service)
    // the row is that of an older copy, and so is the ledger, as far as this test needs it
    await putBack(service, before.row, [
      `DELETE FROM stored_flow WHERE osn = 'lost'`,
      'UPDATE wallet SET balance = 25000000, entry_count = 1, newest_entry = 1',
    ])
    await post(service, 'other')
    await archive(service)
    const list = await segments()
    expect(list.map(({ head }) => head.epoch)).toEqual([1, 1, 1, 1, 2])
    const last = list.at(-1)
    const lost = list[3]
    expect(last?.head).toMatchObject({
      first: (lost?.head.last ?? 0) + 1,
      common: (lost?.head.first ?? 0) - 1,
      from: { event: 1 },
    })
    expect((await linesOf('entry')).map(({ osn }) => osn)).toEqual([undefined, 'lost', 'other'])
    await post(service, 'more')
    await archive(service)
    expect((await segments()).at(-1)?.head).toMatchObject({ epoch: 2 })
    expect((await segments()).at(-1)?.head.common).toBeUndefined()
  })
})

describe('a restored database that has a part of a segment', () => {
  it('repeats all of it: rows stand in it as they were at its end', async () => {
    const service = await startArchived()
    await archive(service)
    const { row } = await remember(service)
    await post(service, 'kept')
    await post(service, 'lost')
    await archive(service)
    await putBack(service, row, [
      `DELETE FROM stored_flow WHERE osn = 'lost'`,
      'UPDATE wallet SET balance = 1000000, entry_count = 1, newest_entry = 1',
    ])
    await archive(service)
    const [, old, next] = await segments()
    expect(next?.head).toMatchObject({ epoch: 2, common: (old?.head.first ?? 0) - 1, from: { event: 0 } })
    expect(next?.lines.filter((line) => line.row === 'entry')).toMatchObject([{ osn: 'kept' }])
  })
})

describe('a database without the row', () => {
  it('begins an epoch in which all of it stands again, also if it has all lines that are there', async () => {
    const service = await startArchived()
    await archive(service)
    await service.db.prepare('DELETE FROM archive').run()
    const own = await addressIn(await service.get('/tron/generate')) // no row notes it
    await archive(service)
    const [first, next] = await segments()
    expect(next?.head).toMatchObject({ epoch: 2, common: -1, first: (first?.head.last ?? 0) + 1 })
    expect(await linesOf('address')).toMatchObject([{ id: 1, address: own }])
  })
})

describe('a rebuilt database', () => {
  it('repeats what another writer has added to the epoch before, also where it has the same rows', async () => {
    const service = await startArchived()
    await archive(service)
    const { row } = await remember(service)
    const common = (await segments())[0]?.head.last
    await post(service, 'a')
    await archive(service)
    await putBack(service, { ...row, epoch: 2, common })
    await archive(service)
    const [, old, next, ...more] = await segments()
    expect(more).toEqual([])
    expect(next?.head).toMatchObject({ epoch: 2, common, first: (old?.head.last ?? 0) + 1 })
    expect(next?.lines.filter((line) => line.row === 'entry')).toMatchObject([{ osn: 'a' }])
  })
})

describe('a line that says that a transfer was removed', () => {
  it('is had by a database without that very row, also if another row has its id or its txid', async () => {
    const service = await startArchived()
    const own = await addressIn(await service.get('/tron/generate'))
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    const [row] = (await service.db.prepare('SELECT id, txid, position, created_at FROM transfer').all()).results
    const isHad = (more: object) =>
      hasAllLines(writable(service.db), [JSON.stringify({ row: 'removed', ...row, ...more })])
    expect(await isHad({})).toBe(false)
    for (const more of [{ id: 2 }, { txid: 'b'.repeat(64) }, { created_at: 5 }]) expect(await isHad(more)).toBe(true)
  })
})

describe('a bucket that fails', () => {
  it('delays no post, and the archive goes on where it was', async () => {
    const away = new Set(['put'])
    const put = async (...given: Parameters<R2Bucket['put']>) => {
      if (away.has('put')) throw new Error('R2 is full')
      return env.ARCHIVE_BUCKET.put(...given)
    }
    const service = await startArchived({}, { put: put as unknown as R2Bucket['put'] })
    for (const osn of ['a', 'b', 'c']) {
      expect((await post(service, osn)).status).toBe(200)
      await archive(service)
    }
    expect(await names()).toEqual([])
    away.clear()
    await archive(service)
    expect((await linesOf('entry')).map(({ osn }) => osn)).toEqual(['a', 'b', 'c'])
  })
})
