import { describe, expect, it } from 'vitest'
import { hashOf } from '../../src/worker/archive/segment.ts'
import { addressIn, payFinal, usdtTo } from '../http/service.ts'
import { archive, linesOf, rowOf, segments, startArchived } from './harness.ts'

const entry = (osn: string, amt = '1.5') => ({ uid: 7, cuy: 2, type: 5, osn, amt })

describe('the archive', () => {
  it('has what happened, as lines in the order of commit', async () => {
    const service = await startArchived()
    const own = await addressIn(await service.get('/tron/generate'))
    await archive(service)
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    await service.post([entry('a'), entry('b')])
    await archive(service)
    const all = await linesOf()
    expect(all.map(({ row }) => row)).toEqual([
      ...['configuration', 'address', 'scan'],
      ...['configuration', 'transfer', 'entry', 'entry', 'entry', 'scan'],
    ])
    const [deposit, ...posts] = await linesOf('entry')
    expect(deposit).toMatchObject({ id: 1, uid: 7, cuy: 2, type: 1, transfer_id: 1, amt: '25', balance: '25' })
    expect(posts.map(({ osn, amt, balance }) => [osn, amt, balance])).toEqual([
      ['a', '1.5', '26.5'],
      ['b', '1.5', '28'],
    ])
    expect((await linesOf('transfer'))[0]).toMatchObject({
      id: 1,
      state: 'credited',
      raw: '25000000',
      amt: '25',
      to_address: own,
    })
    expect((await linesOf('address'))[0]).toMatchObject({ id: 1, uid: 7, address: own })
  })

  it('chains its segments, and names each by its first line', async () => {
    const service = await startArchived()
    for (const osn of ['a', 'b', 'c']) {
      await service.post([entry(osn)])
      await archive(service)
    }
    const list = await segments()
    expect(list).toHaveLength(3)
    let before = '0'.repeat(64)
    let [first, event] = [0, 0]
    for (const { name, text, head, lines } of list) {
      expect(name).toMatch(new RegExp(`/segments/${String(first).padStart(15, '0')}\\.jsonl$`))
      expect(head).toMatchObject({ first, last: first + lines.length, before, from: { event }, epoch: 1, cell: 1 })
      before = hashOf(text)
      first = head.last + 1
      event = head.to.event
    }
    expect(await rowOf(service)).toMatchObject({ lines: first, hash: before, event, epoch: 1, checkpoint: null })
  })

  it('repeats after a correction what was stored again since, because a reader removes what stands before it', async () => {
    const service = await startArchived()
    const own = await addressIn(await service.get('/tron/generate'))
    payFinal(service, usdtTo(own, 25_000_000n))
    await service.tick()
    await archive(service)
    const { height } = (await service.db.prepare('SELECT height FROM scan').first<{ height: number }>()) ?? {
      height: 0,
    }
    const sent = `INSERT INTO sent (txid, address, height, cuy) VALUES ('${'ab'.repeat(32)}', '${own}', ${height}, 1)`
    const steps = [
      sent,
      `INSERT INTO correction (finalized, reason, created_at) VALUES (${height - 1}, 'wrong', 1)`,
      `UPDATE scan SET height = ${height}, finalized = ${height}`,
      sent,
    ]
    await service.db.batch(steps.map((sql) => service.db.prepare(sql)))
    await archive(service)
    const rows = (await linesOf()).map(({ row }) => row).filter((row) => row === 'sent' || row === 'correction')
    expect(rows).toEqual(['sent', 'correction', 'sent'])
  })

  it('writes nothing while nothing happens, and a segment after an hour', async () => {
    const service = await startArchived()
    for (let i = 0; i < 4; i += 1) await archive(service)
    expect(await segments()).toHaveLength(1)
    service.clock.seconds += 3_600
    await archive(service)
    expect((await linesOf()).map(({ row }) => row)).toEqual(['configuration', 'scan', 'scan'])
  })
})
