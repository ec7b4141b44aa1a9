import { describe, expect, it } from 'vitest'
import { createAlarms, wellAfterMs } from '../../src/worker/alarms/alarms.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { systemClock } from '../../src/worker/platform/clock.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { freshDatabase } from '../support/database.ts'

const minuteMs = 60_000

/**
 * Sets up one database with alarms over it. `open` makes the alarms of another object or isolate;
 * `lines` has what all of them log; while `state.isAway` is true, the database throws.
 */
async function start() {
  const db = await freshDatabase()
  const state: { now: number; isAway: boolean } = { now: 10_000_000, isAway: false }
  const lines: string[] = []
  const reach = () => {
    if (state.isAway) throw new Error('D1_ERROR: the database is away')
    return db
  }
  const reached = writable({
    prepare: (sql) => reach().prepare(sql),
    batch: (statements) => reach().batch(statements),
  })
  const clock = { ...systemClock, now: () => state.now as UnixMs }
  return {
    db,
    state,
    lines,
    /**
     * Makes the alarms of a new object or isolate, which remember no alarm that was raised before.
     */
    open: () => createAlarms({ db: reached, clock, logger: createLogger((line) => lines.push(line)) }),
    times: async () => (await db.prepare('SELECT raised_at, seen_at FROM alarm').all()).results,
    rows: async () =>
      (await db.prepare('SELECT kind, subject FROM alarm ORDER BY kind, subject').raw()).map(
        ([kind, subject]) => `${kind} ${subject}`,
      ),
  }
}

describe('an alarm', () => {
  it('is one line with its kind and fields, once until it is cleared, whoever raises it', async () => {
    const { open, lines, rows } = await start()
    const alarms = open()
    for (const one of [alarms, alarms, open(), open()]) await one.raise('scan-stalled', {}, { why: 'nothing answers' })
    expect(lines).toEqual(['{"level":"error","alarm":"scan-stalled","why":"nothing answers","urgency":"now"}'])
    expect(await rows()).toEqual(['scan-stalled {}'])
    await open().clear('scan-stalled', {})
    expect(await rows()).toEqual([])
    await alarms.raise('scan-stalled', {}, {})
    expect(lines).toHaveLength(2)
  })

  it('is the same whatever the order of the members of its subject', async () => {
    const { open, lines, rows } = await start()
    await open().raise('reconciliation-surplus', { cuy: 1, address: 'a0' }, {})
    await open().raise('reconciliation-surplus', { address: 'a0', cuy: 1 }, {})
    expect(lines).toHaveLength(1)
    expect(await rows()).toEqual(['reconciliation-surplus {"address":"a0","cuy":1}'])
  })

  it('has the subject of its kind, by the compiler', async () => {
    const { open, rows } = await start()
    await open().raise('node-unfit', { node: 1 }, {})
    // @ts-expect-error: the subject of this kind is a gap, not a node
    await open().raise('gap-unread', { node: 1 }, {})
    // @ts-expect-error: this kind has no subject, because there is one standstill at a time
    await open().clear('scan-stalled', { node: 1 })
    expect(await rows()).toHaveLength(2)
  })

  it('is raised for each subject of its own', async () => {
    const { open, lines } = await start()
    for (const from of [7, 8, 7]) await open().raise('gap-unread', { from }, { from })
    expect(lines).toHaveLength(2)
  })

  it('is repeated where the object ends before the row is stored, so that none is lost', async () => {
    const { open, lines, state } = await start()
    state.isAway = true
    await open().raise('chain-forked', {}, {})
    state.isAway = false
    await open().raise('chain-forked', {}, {})
    await open().raise('chain-forked', {}, {})
    expect(lines).toHaveLength(2)
  })
})

describe('faults that are observed', () => {
  const gap = (from: number) => ({ kind: 'gap-unread', subject: { from }, fields: { from } }) as const

  it('are raised once each, and every other subject of the kinds is well', async () => {
    const { open, lines, rows } = await start()
    await open().raise('gap-unread', { from: 7 }, {})
    await open().raise('tick-failed', {}, {})
    await open().raise('chain-forked', {}, {})
    await open().observe([{ kinds: ['gap-unread', 'tick-failed'], faults: [gap(8), gap(9)] }])
    await open().observe([{ kinds: ['gap-unread', 'tick-failed'], faults: [gap(8), gap(9)] }])
    expect(lines).toHaveLength(5)
    expect(await rows()).toEqual(['chain-forked {}', 'gap-unread {"from":8}', 'gap-unread {"from":9}'])
  })

  it('are of several observations', async () => {
    const { open, rows } = await start()
    const stalled = { kind: 'scan-stalled', subject: {}, fields: {} } as const
    for (const faults of [[stalled], [stalled], []]) {
      await open().observe([
        { kinds: ['gap-unread'], faults: [gap(8)] },
        { kinds: ['scan-stalled'], faults },
      ])
    }
    expect(await rows()).toEqual(['gap-unread {"from":8}'])
  })

  it('are raised again after they were well', async () => {
    const { open, lines } = await start()
    const alarms = open()
    for (const faults of [[gap(8)], [], [gap(8)], [gap(8)]])
      await alarms.observe([{ kinds: ['gap-unread'], faults: faults }])
    expect(lines).toHaveLength(2)
  })

  it('take one query where nothing has changed', async () => {
    const { open, db } = await start()
    const faults = Array.from({ length: 50 }, (_, i) => gap(i))
    await open().observe([{ kinds: ['gap-unread'], faults: faults }])
    let queries = 0
    const counted = writable({
      prepare: (sql) => {
        queries += 1
        return db.prepare(sql)
      },
      batch: (statements) => db.batch(statements),
    })
    const clock = { ...systemClock, now: () => 10_000_000 as UnixMs }
    await createAlarms({ db: counted, clock, logger: createLogger(() => undefined) }).observe([
      { kinds: ['gap-unread'], faults: faults },
    ])
    expect(queries).toBe(1)
  })
})

describe('an alarm whose end cannot be observed', () => {
  it('keeps when it was raised first, lasts while it is observed, and ends once it was not for an hour', async () => {
    const { open, lines, rows, times, state } = await start()
    const alarms = open()
    for (let minutes = 0; minutes <= 180; minutes += 5) {
      await alarms.raise('nodes-disagree', { node: 1 }, { minutes })
      await open().observe([{ kinds: ['chain-forked'], faults: [] }])
      state.now += 5 * minuteMs
    }
    expect(lines).toHaveLength(1)
    expect(await times()).toEqual([{ raised_at: 10_000_000, seen_at: 10_000_000 + 180 * minuteMs }])
    state.now += wellAfterMs
    await open().observe([{ kinds: ['chain-forked'], faults: [] }])
    expect(await rows()).toEqual([])
    await alarms.raise('nodes-disagree', { node: 1 }, {})
    expect(lines).toHaveLength(2)
  })

  it('takes no query each time that it is observed', async () => {
    const { open, state, lines } = await start()
    const alarms = open()
    await alarms.raise('node-lies', { node: 1 }, {})
    state.isAway = true // a query would throw and change no row
    for (let i = 0; i < 100; i += 1) await alarms.raise('node-lies', { node: 1 }, {})
    expect(lines).toHaveLength(1)
  })
})

describe('while the database cannot be reached, an alarm', () => {
  it('is raised once by an object that knows the database, and again after it was well', async () => {
    const { open, lines, state } = await start()
    const alarms = open()
    await alarms.observe([{ kinds: ['tick-failed'], faults: [] }])
    for (const isAway of [true, true, true, false, true, true]) {
      state.isAway = isAway
      if (isAway) await alarms.raise('tick-failed', {}, {})
      else await alarms.observe([{ kinds: ['tick-failed'], faults: [] }])
    }
    expect(lines).toHaveLength(2)
  })

  it('is raised once by an object that has never reached it', async () => {
    const { open, lines, state } = await start()
    state.isAway = true
    const alarms = open()
    for (let i = 0; i < 3; i += 1) await alarms.raise('tick-failed', {}, {})
    expect(lines).toHaveLength(1)
  })

  it('is not repeated where the failure lasts beyond the outage', async () => {
    const { open, lines, rows, state } = await start()
    const alarms = open()
    state.isAway = true
    await alarms.raise('tick-failed', {}, {})
    state.isAway = false
    await alarms.raise('tick-failed', {}, {})
    await open().raise('tick-failed', {}, {})
    state.isAway = true
    await alarms.raise('tick-failed', {}, {})
    expect(lines).toHaveLength(1)
    state.isAway = false
    expect(await rows()).toEqual(['tick-failed {}'])
  })

  it('is stored as soon as the database is reached, also where its end cannot be observed', async () => {
    const { open, state, lines, rows } = await start()
    const alarms = open()
    state.isAway = true
    await alarms.raise('node-unfit', { node: 1 }, {})
    state.isAway = false
    state.now += minuteMs
    await alarms.raise('node-unfit', { node: 1 }, {})
    expect(await rows()).toEqual(['node-unfit {"node":1}'])
    expect(lines).toHaveLength(1)
  })

  it('ends nothing and throws nothing where its end is observed', async () => {
    const { open, rows, state } = await start()
    await open().raise('scan-stalled', {}, {})
    state.isAway = true
    await open().clear('scan-stalled', {})
    await open().observe([{ kinds: ['scan-stalled'], faults: [] }])
    state.isAway = false
    expect(await rows()).toEqual(['scan-stalled {}'])
  })
})
