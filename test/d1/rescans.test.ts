import { beforeEach, describe, expect, it } from 'vitest'
import type { RescanId } from '../../src/common/ids.ts'
import type { WriteDatabase } from '../../src/d1/database.ts'
import { storeTransfers } from '../../src/deposits/transfers.ts'
import { selectBalances } from '../../src/ledger/entries.ts'
import {
  openRecheck,
  type RescanStep,
  selectDueRescan,
  selectOpenGaps,
  storeRescanStep,
} from '../../src/scan/rescans.ts'
import type { ScanContext } from '../../src/scan/rules.ts'
import { appendStep } from '../../src/scan/scan-state.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import {
  block,
  column,
  credited,
  height,
  held,
  measure,
  ms,
  openDatabase,
  refused,
  sent,
  step,
  transfer,
  txid,
  uid,
  upTo,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

const request = (from: number, to: number, at = 50) =>
  db
    .prepare(
      `INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
      VALUES ('request', ?1, ?2, ?1, 'a payment is missing', 1, ?3)`,
    )
    .bind(from, to, at)
    .run()
const again = (id: number, next: number, changes: Partial<RescanStep> = {}): RescanStep => ({
  ...{
    id: id as RescanId,
    correctedBy: 0,
    from: height(0),
    next: height(next),
    attempts: 0,
    nextTry: ms(99),
    why: null,
  },
  ...{ decided: [], sent: [], gaps: [], gapsWhy: null, unread: [], at: ms(60), ...changes },
})
const due = async (at: number) => {
  const rescan = await selectDueRescan(db, ms(at))
  return rescan && { ...rescan, id: Number(rescan.id) }
}

describe('the due rescan', () => {
  it('is the one that has been due longest', async () => {
    expect(await due(99)).toBeNull()
    await request(95, 97, 60)
    await request(98, 99, 50)
    expect(await due(49)).toBeNull()
    expect(await due(70)).toEqual({ id: 2, kind: 'request', next: 98, to: 99, attempts: 0 })
    await storeRescanStep(db, again(2, 99, { attempts: 3, nextTry: ms(80) }))
    expect(await due(70)).toMatchObject({ id: 1 })
    expect(await due(90)).toMatchObject({ id: 1 })
    await storeRescanStep(db, again(1, 98))
    expect(await due(90)).toEqual({ id: 2, kind: 'request', next: 99, to: 99, attempts: 3 })
  })

  it('ends at the position, which a correction can have lowered', async () => {
    await request(95, 99)
    await request(99, 99, 40)
    await db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (97, 'a node lied', 9)`).run()
    expect(await due(70)).toEqual({ id: 1, kind: 'request', next: 95, to: 97, attempts: 0 })
  })
})

describe('a step of a rescan', () => {
  it('stores what was found, and decides again what was refused', async () => {
    await storeTransfers(db, [transfer(refused, { block: block(96) })], ms(10))
    await request(95, 97)
    const decided = [
      transfer(credited(), { block: block(96) }),
      transfer(credited(), { txid: txid(2), block: block(97) }),
    ]
    expect(await storeRescanStep(db, again(1, 98, { decided, sent: [sent(5)] }))).toBe('stored')
    expect(await selectBalances(db, uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect(await column(db, 'SELECT finished_at FROM rescan')).toEqual([60])
    expect(await column(db, 'SELECT txid FROM sent')).toEqual([txid(5)])
  })

  it('never goes back, and changes nothing after the end', async () => {
    await request(95, 97)
    await storeRescanStep(db, again(1, 97))
    await storeRescanStep(db, again(1, 96))
    expect(await column(db, 'SELECT next_height FROM rescan')).toEqual([97])
    await storeRescanStep(db, again(1, 98))
    await storeRescanStep(db, again(1, 98, { at: ms(70) }))
    expect(await column(db, 'SELECT finished_at FROM rescan')).toEqual([60])
  })

  it('that was read further than an older copy of the database is, which was restored meanwhile, skips no block', async () => {
    await request(95, 99)
    await storeRescanStep(db, again(1, 99, { from: height(97), decided: [transfer()] }))
    expect(await column(db, 'SELECT next_height FROM rescan')).toEqual([95])
    expect(await column(db, 'SELECT state FROM transfer')).toEqual(['credited'])
    await storeRescanStep(db, again(1, 97, { from: height(95) }))
    expect(await column(db, 'SELECT next_height FROM rescan')).toEqual([97])
  })

  it('that was read before a correction is superseded, and stores nothing', async () => {
    await request(95, 97)
    await db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (110, 'a node lied', 9)`).run()
    expect(await storeRescanStep(db, again(1, 98, { decided: [transfer()] }))).toBe('superseded')
    expect(await column(db, 'SELECT count(*) FROM transfer')).toEqual([0])
    expect(await storeRescanStep(db, again(1, 98, { correctedBy: 1 }))).toBe('stored')
  })

  it('makes gaps of blocks that it passes over, once each', async () => {
    await appendStep(db, step({ to: block(110), gaps: [104, 105, 106, 107].map(height) }))
    await storeRescanStep(db, again(1, 107, { gaps: [104, 106].map(height) }))
    await request(100, 110)
    await storeRescanStep(db, again(4, 111, { gaps: [104, 107, 109].map(height) }))
    const gaps = (await selectOpenGaps(db)).map(({ from, to }) => `${from}–${to}`)
    expect(gaps.sort()).toEqual(['104–104', '106–106', '107–107', '109–109'])
  })

  it('counts tries, and says what cannot be read', async () => {
    await appendStep(db, step({ gaps: [height(101)] }))
    await storeRescanStep(db, again(1, 101, { attempts: 2, nextTry: ms(500), why: 'transaction ab cannot be read' }))
    await storeRescanStep(db, again(1, 101, { attempts: 3, nextTry: ms(900) }))
    expect(await selectOpenGaps(db)).toEqual([
      { id: 1, from: 101, to: 101, attempts: 3, why: 'transaction ab cannot be read' },
    ])
    expect(await due(899)).toBeNull()
  })
})

it('the cost of a step does not grow with the gaps of the past, open or finished', async () => {
  const cost = async (from: number) => {
    const expected = { ...block(from), correctedBy: 0 }
    const gap = step({
      expected,
      to: block(from + 1),
      gaps: [height(from + 1)],
      decided: [transfer(held(), { txid: txid(from) })],
    })
    const appended = await measure(db, (metered) => appendStep(metered, gap))
    const id = (await column<number>(db, 'SELECT max(id) FROM rescan'))[0] ?? 0
    const stored = await measure(db, (metered) => storeRescanStep(metered, again(id, from + 2)))
    return appended.rows + stored.rows
  }
  const first = await cost(100)
  await db.prepare(`UPDATE scan SET finalized = 9000`).run()
  const expected = { ...block(101), correctedBy: 0 }
  await appendStep(db, step({ expected, to: block(3000), gaps: upTo(900).map((n) => height(200 + 3 * n)) }))
  await db
    .prepare('UPDATE rescan SET next_height = to_height + 1, finished_at = 5 WHERE finished_at IS NULL AND id % 2 = 0')
    .run()
  expect(await cost(3000)).toBeLessThanOrEqual(first + 5)
})

it('without a correction no credited transfer is looked for, though one can be above the position of a restored copy', async () => {
  await storeTransfers(db, [transfer()], ms(5))
  const context = { db, host: createMemoryHost() } as unknown as ScanContext // what it takes of the context
  expect(await openRecheck(context, { height: height(100), correctedBy: 0 })).toMatchObject({ missing: [] })
  expect((await openRecheck(context, { height: height(100), correctedBy: 1 })).missing).toHaveLength(1)
})
