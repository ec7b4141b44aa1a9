import { beforeEach, describe, expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { selectBalances } from '../../src/worker/ledger/store/entries.ts'
import {
  haltScan,
  type ScanState,
  selectScan,
  startScan,
  storeFinalized,
  storeScanEnd,
} from '../../src/worker/scan/store/position.ts'
import { selectOpenGaps } from '../../src/worker/scan/store/rescans.ts'
import { appendStep } from '../../src/worker/scan/store/steps.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  block,
  column,
  credited,
  gap,
  height,
  held,
  measure,
  moved,
  ms,
  openDatabase,
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
  db = await openDatabase([1, 2])
})

const scan = async () => (await selectScan(db)) as ScanState
const correct = (to: number) =>
  db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (${to}, 'a node lied', 9)`).run()
const head = (n: number, at = 5_000) => ({ ...block(n), timestamp: ms(at) })
const statesOf = () => column(db, 'SELECT state FROM transfer ORDER BY id')

describe('the state of the scan', () => {
  it('is null before the start, and then what was started', async () => {
    expect(await scan()).toEqual({
      ...block(100),
      finalized: 120,
      finalizedTime: 900,
      finalizedAt: 1000,
      advancedAt: 1000,
      caughtUpAt: 0,
      triedAt: 0,
      answeringSince: null,
      problem: null,
      halted: null,
      correctedBy: 0,
      nodes: '',
      openPayers: [],
    })
    expect(await selectScan(writable(await freshDatabase()))).toBeNull()
  })

  it('is started once', async () => {
    await startScan(db, block(50), head(60), ms(7))
    expect(await scan()).toMatchObject({ height: 100, finalized: 120 })
  })

  it('has the highest finalized head, with its time', async () => {
    await storeFinalized(db, await scan(), head(130), ms(6_000))
    await storeFinalized(db, await scan(), head(125, 9_000), ms(9_000))
    await storeFinalized(db, await scan(), head(130, 9_000), ms(9_000))
    expect(await scan()).toMatchObject({ finalized: 130, finalizedTime: 5_000, finalizedAt: 6_000 })
  })

  it('takes no finalized head that was agreed on before a correction', async () => {
    const before = await scan()
    await correct(110)
    await storeFinalized(db, before, head(130), ms(6_000))
    expect(await scan()).toMatchObject({ finalized: 110, finalizedTime: 0, correctedBy: 1 })
  })

  it('keeps when scans ended, never backwards', async () => {
    await storeScanEnd(db, { startedAt: ms(50), hasHead: true, problem: null })
    await storeScanEnd(db, { startedAt: ms(90), hasHead: true, problem: 'no-answer' })
    await storeScanEnd(db, { startedAt: ms(70), hasHead: true, problem: 'limited' })
    expect(await scan()).toMatchObject({ caughtUpAt: 50, triedAt: 90, problem: 'limited' })
    await storeScanEnd(db, { startedAt: ms(80), hasHead: true, problem: null })
    expect(await scan()).toMatchObject({ caughtUpAt: 80, triedAt: 90, problem: null })
  })

  it('forgets when a scan ended by a clock that was ahead and has stepped back', async () => {
    await storeScanEnd(db, { startedAt: ms(600_050), hasHead: true, problem: null })
    await storeScanEnd(db, { startedAt: ms(50), hasHead: true, problem: 'no-answer' })
    expect(await scan()).toMatchObject({ triedAt: 50, problem: 'no-answer' })
    await storeScanEnd(db, { startedAt: ms(60), hasHead: true, problem: null })
    expect(await scan()).toMatchObject({ caughtUpAt: 60, triedAt: 60 })
  })

  it('is halted until the next step, and only where the position is the same', async () => {
    await haltScan(db, { ...block(99), correctedBy: 0 }, 'old')
    expect((await scan()).halted).toBeNull()
    await haltScan(db, await scan(), 'forked')
    expect((await scan()).halted).toBe('forked')
    expect(await appendStep(db, step({ judged: [transfer()] }))).toMatchObject({ kind: 'appended' })
    expect((await scan()).halted).toBeNull()
    expect(await selectBalances(db, uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })
})

describe('a step', () => {
  it('stores position, transfers, credits, sent transactions and gaps together', async () => {
    const judged = [
      transfer(),
      transfer(held(), { txid: txid(2) }),
      transfer(moved, { txid: txid(3), from: addressAt(1) }),
    ]
    const stored = await appendStep(db, step({ judged, sent: [sent(3)], gaps: [gap(101)] }))
    expect(stored).toMatchObject({ kind: 'appended' })
    expect(await scan()).toMatchObject({ ...block(101), advancedAt: 2000 })
    expect(await statesOf()).toEqual(['credited', 'held', 'moved'])
    expect(await column(db, 'SELECT txid FROM sent')).toEqual([txid(3)])
    expect(await selectOpenGaps(db, ms(60))).toMatchObject([{ from: 101, to: 101, attempts: 0 }])
  })

  it.each([
    ['another height', { expected: { ...block(99), correctedBy: 0 } }],
    ['another hash', { expected: { ...block(100), hash: block(5).hash, correctedBy: 0 } }],
    ['another correction', { expected: { ...block(100), correctedBy: 1 } }],
    ['a head that is not stored', { to: block(121) }],
  ])('that was read after %s is superseded, and stores nothing', async (_, changes) => {
    expect(await appendStep(db, step({ ...changes, judged: [transfer()], gaps: [gap(101)] }))).toEqual({
      kind: 'superseded',
    })
    expect(await scan()).toMatchObject(block(100))
    expect([await statesOf(), await selectOpenGaps(db, ms(60))]).toEqual([[], []])
  })

  it('that is stored by two objects at once is stored once', async () => {
    const ends = await Promise.all(upTo(10).map(() => appendStep(db, step({ judged: [transfer()] }))))
    expect(ends.filter(({ kind }) => kind === 'appended')).toHaveLength(1)
    expect(await selectBalances(db, uid(1))).toEqual([{ cuy: 1, amount: 5n }])
  })

  it('that cannot be stored whole throws, and stores nothing', async () => {
    const foreign = transfer(credited(), { to: addressAt(1) })
    await expect(appendStep(db, step({ judged: [transfer(held(), { txid: txid(2) }), foreign] }))).rejects.toThrow(
      'to_address',
    )
    expect(await scan()).toMatchObject(block(100))
    expect(await statesOf()).toEqual([])
  })

  it('stores a sent transaction and a gap once', async () => {
    await appendStep(db, step({ sent: [sent(3), sent(3)], gaps: [gap(101)] }))
    const expected = { ...block(101), correctedBy: 0 }
    await appendStep(db, step({ expected, to: block(102), sent: [sent(3), sent(4)], gaps: [gap(101)] }))
    expect(await column(db, 'SELECT sent FROM holding')).toEqual([2])
    expect(await selectOpenGaps(db, ms(60))).toHaveLength(1)
  })

  it('drops what was seen in its blocks and is not in them, but what a gap may have', async () => {
    const see = (n: number, at: number) => transfer(seen(), { txid: txid(n), block: block(at) })
    await storeTransfers(db, [see(1, 101), see(2, 102), see(3, 103), see(4, 104), see(5, 105)], ms(1500))
    const judged = [transfer(credited(), { txid: txid(2), block: block(103) })]
    await appendStep(db, step({ to: block(104), judged, gaps: [gap(103)] }))
    expect(await statesOf()).toEqual(['dropped', 'credited', 'seen', 'dropped', 'seen'])
    expect(await column(db, `SELECT txid FROM event WHERE type = 'deposit.dropped'`)).toEqual([txid(1), txid(4)])
  })

  it('ends with a block without a hash where that block was not read', async () => {
    await appendStep(db, step({ to: { height: height(102), hash: null }, gaps: [gap(102)] }))
    expect(await scan()).toMatchObject({ height: 102, hash: null })
    const next = step({ expected: await scan(), to: block(103) })
    expect(await appendStep(db, next)).toMatchObject({ kind: 'appended' })
    expect(await scan()).toMatchObject(block(103))
  })

  it('credits again what a correction left undecided, in whatever block it is', async () => {
    await appendStep(db, step({ to: block(110), judged: [transfer(held()), transfer(credited(), { txid: txid(2) })] }))
    await correct(100)
    expect(await statesOf()).toEqual(['seen', 'credited'])
    await storeFinalized(db, await scan(), head(130), ms(6_000))
    const judged = [
      transfer(credited(), { block: block(104) }),
      transfer(credited(), { txid: txid(2), block: block(104) }),
    ]
    expect(await appendStep(db, step({ expected: await scan(), to: block(110), judged }))).toMatchObject({
      kind: 'appended',
    })
    expect(await statesOf()).toEqual(['credited', 'credited'])
    expect(await selectBalances(db, uid(1))).toEqual([{ cuy: 1, amount: 10n }])
  })
})

describe('gaps', () => {
  const gaps = async () => (await selectOpenGaps(db, ms(60))).map(({ from, to }) => [from, to])

  it('are listed from the lowest on, at most 100', async () => {
    const many = upTo(120).map((n) => gap(101 + 2 * n))
    await storeFinalized(db, await scan(), head(500), ms(6_000))
    await appendStep(db, step({ to: block(400), gaps: many }))
    expect(await gaps()).toHaveLength(100)
    expect((await gaps())[0]).toEqual([101, 101])
  })
})

it('a step is two round trips, and one if there is nothing to decide, and its cost does not grow with what is stored', async () => {
  const first = await measure(db, (metered) => appendStep(metered, step({ judged: [transfer()] })))
  expect(first).toMatchObject({ result: { kind: 'appended' }, trips: 2 })
  await appendStep(
    db,
    step({
      expected: { ...block(101), correctedBy: 0 },
      to: block(102),
      judged: upTo(2_000).map((n) => transfer(credited(), { txid: txid(n + 10) })),
    }),
  )
  const later = step({
    expected: { ...block(102), correctedBy: 0 },
    to: block(103),
    judged: [transfer(credited(), { txid: txid(9) })],
  })
  const second = await measure(db, (metered) => appendStep(metered, later))
  expect(second.result).toMatchObject({ kind: 'appended' })
  expect(second.rows).toBeLessThanOrEqual(first.rows + 10)
})
