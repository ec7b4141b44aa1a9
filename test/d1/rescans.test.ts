import { beforeEach, describe, expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { endSearch, selectNotFound, storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { selectBalances } from '../../src/worker/ledger/store/entries.ts'
import { notAgreed, type Rescan, type RescanPart } from '../../src/worker/scan/rescan.ts'
import { dueAtOnce, selectDueRescan, selectOpenGaps } from '../../src/worker/scan/store/rescans.ts'
import { appendStep, type RescanStep, storeRescanStep } from '../../src/worker/scan/store/steps.ts'
import {
  block,
  column,
  credited,
  gap,
  height,
  held,
  measure,
  ms,
  noPayouts,
  openDatabase,
  refused,
  seen,
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
const stored = async (id: number): Promise<Rescan> => {
  const columns =
    'id, kind, next_height AS "from", to_height AS "to", attempts, next_try AS nextTry, why, receipts, unread'
  const row = await db
    .prepare(`SELECT ${columns} FROM rescan WHERE id = ?1`)
    .bind(id)
    .first<Rescan & { unread: string | null }>()
  if (row === null) throw new Error(`no rescan ${id}`)
  return { ...row, unread: row.unread === null ? [] : (JSON.parse(row.unread) as Rescan['unread']) }
}
const part = (from: number, to: number, changes: Partial<RescanPart> = {}): RescanPart => ({
  from: height(from),
  to: height(to),
  attempts: 0,
  nextTry: ms(99),
  why: null,
  receipts: 0,
  unread: [],
  ...changes,
})
/** Stores a step of the rescan, after which the parts `left` are still to be read. */
const again = async (id: number, left: readonly RescanPart[], changes: Partial<RescanStep> = {}) =>
  storeRescanStep(db, {
    rescan: await stored(id),
    correctedBy: 0,
    judged: [],
    sent: [],
    payouts: noPayouts,
    acts: [],
    left,
    isWholeBlock: false,
    at: ms(60),
    ...changes,
  })
const due = async (at: number) => {
  const rescan = await selectDueRescan(db, ms(at))
  return rescan && [Number(rescan.id), Number(rescan.from), Number(rescan.to), rescan.attempts]
}
const open = async () =>
  (await selectOpenGaps(db, ms(60))).map(({ from, to, attempts }) => `${from}–${to}, ${attempts}`).sort()
const tried = { attempts: 3, why: notAgreed }

describe('the due rescan', () => {
  it('is the one that was tried least, and of these the one that has been due longest', async () => {
    expect(await due(99)).toBeNull()
    await request(95, 97, 60)
    await request(98, 99, 50)
    expect(await due(49)).toBeNull()
    expect(await due(70)).toEqual([2, 98, 99, 0])
    await again(2, [part(99, 99, { ...tried, nextTry: ms(55) })])
    expect(await due(70)).toEqual([1, 95, 97, 0])
    await again(1, [part(97, 97, { nextTry: ms(90) })])
    expect(await due(80)).toEqual([2, 99, 99, 3])
    expect(await due(90)).toEqual([1, 97, 97, 0])
  })

  it('is one that a hundred unreadable ones keep from nothing', async () => {
    await appendStep(db, step({ to: block(110), gaps: [gap(110)] }))
    for (let n = 1; n <= 100; n += 1) await request(n % 90, n % 90, 0)
    await db.prepare(`UPDATE rescan SET attempts = 1, tried_at = 1, why = 'x' WHERE kind = 'request'`).run()
    expect(await due(9_000)).toEqual([1, 110, 110, 0])
  })

  it('ends at the finalized height, which a correction has lowered: all above is read anew', async () => {
    await request(95, 99)
    await request(99, 99, 40)
    await db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (97, 'a node lied', 9)`).run()
    expect(await due(70)).toEqual([1, 95, 97, 0])
    expect(await column(db, 'SELECT closed FROM rescan ORDER BY id')).toEqual([
      null,
      'a correction has its blocks read anew',
    ])
  })

  it('is due at once after other nodes are configured, or one is well again, if it was tried before', async () => {
    await request(95, 97, 0)
    await again(1, [part(95, 97, { ...tried, nextTry: ms(90_000) })])
    await dueAtOnce(db, { at: ms(500), triedBefore: ms(60) }).run()
    expect(await due(500)).toBeNull()
    await dueAtOnce(db, { at: ms(500), triedBefore: ms(61) }).run()
    expect(await due(500)).toEqual([1, 95, 97, 3])
  })
})

describe('a step of a rescan', () => {
  it('stores what was found, and decides again what was refused', async () => {
    await storeTransfers(db, [transfer(refused, { block: block(96) })], ms(10))
    await request(95, 97)
    const judged = [
      transfer(credited(), { block: block(96) }),
      transfer(credited(), { txid: txid(2), block: block(97) }),
    ]
    expect(await again(1, [], { judged, sent: [sent(5)] })).toEqual({ contradicted: [] })
    expect(await selectBalances(db, uid(1))).toEqual([{ cuy: 1, amount: 10n }])
    expect(await column(db, 'SELECT finished_at FROM rescan')).toEqual([60])
    expect(await column(db, 'SELECT txid FROM sent')).toEqual([txid(5)])
  })

  it('of a rescan that was read by another one meanwhile is superseded, and stores nothing', async () => {
    await request(95, 97)
    const before = await stored(1)
    await again(1, [part(97, 97)])
    expect(await again(1, [part(96, 97)], { rescan: before, judged: [transfer()] })).toBe('superseded')
    expect(await column(db, 'SELECT next_height FROM rescan')).toEqual([97])
    expect(await column(db, 'SELECT count(*) FROM transfer')).toEqual([0])
    const last = await stored(1)
    await again(1, [])
    expect(await again(1, [], { rescan: last, at: ms(70) })).toBe('superseded')
    expect(await column(db, 'SELECT finished_at FROM rescan')).toEqual([60])
  })

  it('that was read before a correction is superseded, and stores nothing', async () => {
    await request(95, 97)
    await db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (110, 'a node lied', 9)`).run()
    expect(await again(1, [], { judged: [transfer()] })).toBe('superseded')
    expect(await column(db, 'SELECT count(*) FROM transfer')).toEqual([0])
    expect(await again(1, [], { correctedBy: 1 })).toEqual({ contradicted: [] })
  })

  it('makes a row of each part that is left, asked for by the same', async () => {
    await request(90, 99)
    const why = 'its receipts are not read yet'
    await again(1, [part(91, 92, tried), part(94, 94, { why }), part(97, 99)])
    const columns = 'next_height, to_height, attempts, reason'
    expect(await db.prepare(`SELECT ${columns} FROM rescan ORDER BY next_height`).raw()).toEqual([
      [91, 92, 3, 'a payment is missing'],
      [94, 94, 0, 'a payment is missing'],
      [97, 99, 0, 'a payment is missing'],
    ])
    expect(await open()).toEqual(['91–92, 3'])
  })

  it('drops what was seen in the blocks of a gap that were read, and nothing else', async () => {
    const seenAt = (n: number) => transfer(seen(), { txid: txid(n), block: block(n) })
    await storeTransfers(db, [101, 102, 103].map(seenAt), ms(10))
    await appendStep(db, step({ to: block(103), gaps: [101, 102, 103].map(gap) }))
    expect(await column(db, 'SELECT state FROM transfer')).toEqual(['seen', 'seen', 'seen'])
    await again(1, [part(101, 101, tried), part(103, 103)])
    expect(await column(db, 'SELECT state FROM transfer ORDER BY id')).toEqual(['seen', 'dropped', 'seen'])
  })

  it('keeps how many receipts were read, and drops what is in none of them once all were tried', async () => {
    await storeTransfers(
      db,
      [1, 2].map((n) => transfer(seen(), { txid: txid(n), block: block(101) })),
      ms(10),
    )
    await appendStep(db, step({ gaps: [{ height: height(101), kind: 'receipts' }] }))
    await again(1, [part(101, 101, { receipts: 18, unread: [txid(2)] })])
    expect(await stored(1)).toMatchObject({ receipts: 18, unread: [txid(2)] })
    expect(await column(db, 'SELECT state FROM transfer ORDER BY id')).toEqual(['seen', 'seen'])
    const left = [part(101, 101, { ...tried, receipts: 20, unread: [txid(2)] })]
    await again(1, left, { isWholeBlock: true })
    expect(await column(db, 'SELECT state FROM transfer ORDER BY id')).toEqual(['dropped', 'seen'])
  })
})

describe('gaps of the scan', () => {
  it('are one for consecutive blocks, and grow with the blocks right above them while they are tried often', async () => {
    await appendStep(db, step({ to: block(104), gaps: [101, 103, 104].map(gap) }))
    expect(await open()).toEqual(['101–101, 0', '103–104, 0'])
    await again(2, [part(103, 104, tried)])
    await appendStep(
      db,
      step({ expected: { ...block(104), correctedBy: 0 }, to: block(106), gaps: [105, 106].map(gap) }),
    )
    expect(await open()).toEqual(['101–101, 0', '103–106, 3'])
    await again(2, [part(103, 106, { ...tried, attempts: 9 })])
    await appendStep(db, step({ expected: { ...block(106), correctedBy: 0 }, to: block(107), gaps: [gap(107)] }))
    expect(await open()).toEqual(['101–101, 0', '103–106, 9', '107–107, 0'])
  })

  it('are blocks alone where receipts are to be read', async () => {
    const receipts = (n: number) => ({ height: height(n), kind: 'receipts' as const })
    await appendStep(db, step({ to: block(104), gaps: [gap(101), receipts(102), receipts(103), gap(104)] }))
    expect(await open()).toEqual(['101–101, 0', '102–102, 0', '103–103, 0', '104–104, 0'])
  })
})

it('the cost of a step does not grow with the gaps of the past, open or finished', async () => {
  const cost = async (from: number) => {
    const expected = { ...block(from), correctedBy: 0 }
    const judged = [transfer(held(), { txid: txid(from) })]
    const found = step({ expected, to: block(from + 1), gaps: [gap(from + 1)], judged })
    const appended = await measure(db, (metered) => appendStep(metered, found))
    const id = (await column<number>(db, 'SELECT max(id) FROM rescan'))[0] ?? 0
    const rescan = await stored(id)
    const nothing = { judged: [], sent: [], acts: [], payouts: noPayouts }
    const read = { rescan, correctedBy: 0, ...nothing, left: [], isWholeBlock: false, at: ms(60) }
    const again = await measure(db, (metered) => storeRescanStep(metered, read))
    return appended.rows + again.rows
  }
  const first = await cost(100)
  await db.prepare(`UPDATE scan SET finalized = 9000`).run()
  const expected = { ...block(101), correctedBy: 0 }
  await appendStep(db, step({ expected, to: block(3000), gaps: upTo(900).map((n) => gap(200 + 3 * n)) }))
  await db
    .prepare('UPDATE rescan SET next_height = to_height + 1, finished_at = 5 WHERE finished_at IS NULL AND id % 2 = 0')
    .run()
  expect(await cost(3000)).toBeLessThanOrEqual(first + 5)
})

describe('after a correction', () => {
  const correct = (finalized: number) =>
    db
      .prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (?1, 'a node lied', 9)`)
      .bind(finalized)
      .run()
  const missing = async () => (await selectNotFound(db, 9)).map((one) => one.txid)
  const atBlock = (n: number, txids: readonly number[]) =>
    txids.map((one) => transfer(credited(), { txid: txid(one), block: block(n) }))

  it('credited transfers above it are looked for, until they are found or the scan has passed all of them', async () => {
    await storeTransfers(db, [...atBlock(105, [1, 2]), ...atBlock(98, [3])], ms(5), 0)
    await correct(100)
    expect(await missing()).toEqual([]) // the scan, which began again at block 100, has not reached these blocks yet
    await db.prepare('UPDATE scan SET finalized = 120').run()
    const expected = { ...block(100), correctedBy: 1 }
    await appendStep(db, step({ expected, to: block(106), judged: atBlock(104, [1]) }))
    expect(await missing()).toEqual([txid(2)])
    await endSearch(db, await column(db, 'SELECT id FROM transfer WHERE sought = 1'))
    expect(await missing()).toEqual([])
  })

  it('one in a gap is looked for until that is read', async () => {
    await storeTransfers(db, atBlock(105, [1]), ms(5), 0)
    await correct(100)
    await db.prepare('UPDATE scan SET finalized = 120').run()
    await appendStep(db, step({ expected: { ...block(100), correctedBy: 1 }, to: block(106), gaps: [gap(105)] }))
    expect(await missing()).toEqual([])
    await again(1, [], { correctedBy: 1 })
    expect(await missing()).toEqual([txid(1)])
  })
})
