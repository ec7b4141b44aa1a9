import { describe, expect, it } from 'vitest'
import { rangeMatchMs, recheckMs } from '../../src/worker/config/check-settings.ts'
import { alarmsIn, type RunningService, startService } from '../http/service.ts'
import { furtherDatabases } from '../support/database.ts'
import { otherXpubs, testXpub } from '../support/variables.ts'
import { addressesOf, balanceOf, startThreeCells, threeCells, tickAll, users } from './three-cells.ts'

describe('a range that would move users', () => {
  it('is refused: nothing is served from the database that has them', async () => {
    const service = await startThreeCells()
    await addressesOf(service)
    const moved = service.with({
      CELLS: [{ ...threeCells[0], uids: '1-6' }, { ...threeCells[1], uids: '7-1999999' }, threeCells[2]],
    })
    const answers = await Promise.all(users.map((uid) => moved.get('/wallet/list', uid)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(answers[0]?.headers.get('x-reason')).toBe('configuration-differs')
    expect(alarmsIn(service)).toContain('configuration-differs')
  })

  it('is accepted where it has no users yet', async () => {
    const service = await startThreeCells()
    await addressesOf(service)
    const grown = service.with({
      CELLS: [threeCells[0], { ...threeCells[1], uids: '1000000-1500000' }, { ...threeCells[2], uids: '1500001-' }],
    })
    for (const uid of users) expect((await grown.get('/wallet/list', uid)).status).toBe(200)
  })

  it('is kept by the databases themselves: an isolate of the configuration before adds nobody whom its cell no longer has', async () => {
    const before = await startThreeCells()
    const uid = 1_000_500
    // now the isolate remembers that the ranges match
    for (const one of [users[0], users[1], users[2]]) await before.get('/wallet/list', one)
    const after = before.with({
      CELLS: [{ ...threeCells[0], uids: '1-1000999' }, { ...threeCells[1], uids: '1001000-1999999' }, threeCells[2]],
    })
    expect((await after.get('/tron/generate', uid)).status).toBe(200)
    expect((await before.get('/tron/generate', uid)).status).not.toBe(200)
    await expect(strangersIn(before, 'DB_2', uid)).resolves.toBe(0)
    const posted = await before.post([{ uid, cuy: 2, type: 9, osn: 'late', amt: '1' }])
    expect(posted.status).toBe(500)
    expect(await balanceOf(after, uid)).toBe(0)
  })

  it('is right again within a minute where an isolate of the configuration before has changed it', async () => {
    const before = await startThreeCells()
    const uid = 1_000_500
    const CELLS = [
      { ...threeCells[0], uids: '1-1000999' },
      { ...threeCells[1], uids: '1001000-1999999' },
      threeCells[2],
    ]
    const after = before.with({ CELLS })
    await after.get('/wallet/list', users[0])
    // its database takes the old range again: the part given up has no user
    expect((await before.get('/wallet/list', users[0])).status).toBe(200)
    const post = () => after.post([{ uid, cuy: 2, type: 9, osn: 'late', amt: '1' }])
    expect((await post()).status).toBe(500)
    after.clock.seconds += rangeMatchMs / 1000
    expect((await post()).status).toBe(200)
    expect((await before.get('/wallet/list', users[0])).status).toBe(503)
  })

  it.each([1, 2])(
    'is taken by one of two isolates of different configurations that compare at the same time (%i)',
    async (held) => {
      const service = await startThreeCells()
      const uid = 700_000
      const CELLS = [
        { ...threeCells[0], uids: '1-499999' },
        { ...threeCells[1], uids: '500000-1999999' },
        threeCells[2],
      ]
      const after = service.with({ CELLS })
      let isHeld = true
      let writes = 0
      /**
       * Before this write of a range, the isolate of the other configuration compares, and issues
       * an address.
       */
      const late = (db: D1Database): D1Database => {
        const prepare = (query: string) => {
          if (query.includes('INSERT INTO "user_range"')) writes += 1
          return db.prepare(query)
        }
        const batch = async (statements: D1PreparedStatement[]) => {
          if (isHeld && writes === held) {
            isHeld = false
            expect((await after.get('/tron/generate', uid)).status).toBe(200)
          }
          return db.batch(statements)
        }
        return { prepare, batch, withSession: () => late(db), getBookmark: () => null } as never
      }
      const before = service.with({ DB: late(service.db) })
      const first = await before.get('/tron/generate', uid)
      expect(isHeld).toBe(false)
      expect(first.status).toBe(503)
      expect(await strangersIn(service, 'DB', uid)).toBe(0)
      before.clock.seconds += 2 * (recheckMs / 1000)
      expect((await before.get('/tron/generate', uid)).status).toBe(503)
      after.clock.seconds += rangeMatchMs / 1000
      for (const one of [users[0], uid, users[1], users[2]]) {
        expect([one, (await after.get('/wallet/list', one)).status]).toEqual([one, 200])
      }
      expect((await before.get('/tron/generate', uid)).status).toBe(503)
    },
  )

  it('is not taken back with what a third configuration has taken from the database meanwhile', async () => {
    const before = await startThreeCells()
    const uid = 700_000
    for (const one of users) await before.get('/wallet/list', one)
    const newest = before.with({
      CELLS: [{ ...threeCells[0], uids: '1-499999' }, { ...threeCells[1], uids: '500000-1999999' }, threeCells[2]],
    })
    let writes = 0
    let isHeld = true
    /** After the first write of a range, an isolate of the newest configuration compares. */
    const overtaken = (db: D1Database): D1Database => {
      const prepare = (query: string) => {
        if (query.includes('INSERT INTO "user_range"')) writes += 1
        return db.prepare(query)
      }
      const batch = async (statements: D1PreparedStatement[]) => {
        const results = await db.batch(statements)
        if (isHeld && writes === 1) {
          isHeld = false
          expect((await newest.get('/tron/generate', uid)).status).toBe(200)
        }
        return results
      }
      return { prepare, batch, withSession: () => overtaken(db), getBookmark: () => null } as never
    }
    const between = before.with({
      DB: overtaken(before.db),
      CELLS: [{ ...threeCells[0], uids: '1-1000006' }, { ...threeCells[1], uids: '1000007-1999999' }, threeCells[2]],
    })
    expect((await between.get('/wallet/list', users[0])).status).toBe(503)
    expect(isHeld).toBe(false)
    // an isolate that remembers that the ranges match
    expect((await before.get('/tron/generate', uid)).status).not.toBe(200)
    expect(await strangersIn(before, 'DB', uid)).toBe(0)
    newest.clock.seconds += (2 * rangeMatchMs) / 1000
    for (const one of [users[0], uid, users[1], users[2]]) {
      expect([one, (await newest.get('/wallet/list', one)).status]).toEqual([one, 200])
    }
  })

  it('is taken back whole if it has nothing in common with the one before: no user is in two databases', async () => {
    const before = await startThreeCells()
    const uid = 700_000
    for (const one of users) await before.get('/wallet/list', one)
    const first = { ...threeCells[0], uids: '1-499999' }
    const other = before.with({
      CELLS: [first, { ...threeCells[1], uids: '500000-1999999' }, threeCells[2]],
    })
    let writes = 0
    let isHeld = true
    /** Before its first write of a range, an isolate of the other configuration compares. */
    const overtaken = (db: D1Database): D1Database => {
      const prepare = (query: string) => {
        if (query.includes('INSERT INTO "user_range"')) writes += 1
        return db.prepare(query)
      }
      const batch = async (statements: D1PreparedStatement[]) => {
        if (isHeld && writes === 1) {
          isHeld = false
          expect((await other.get('/tron/generate', uid)).status).toBe(200)
        }
        return db.batch(statements)
      }
      return { prepare, batch, withSession: () => overtaken(db), getBookmark: () => null } as never
    }
    const third = before.bindings.DB_3 as D1Database // safe: as `startThreeCells` has bound it
    const disjoint = before.with({
      DB_3: overtaken(third),
      CELLS: [first, { ...threeCells[1], uids: '1000000-' }, { ...threeCells[2], uids: '500000-999999' }],
    })
    expect((await disjoint.get('/wallet/list', uid)).status).toBe(503)
    expect(isHeld).toBe(false)
    const { first: low } = (await third.prepare('SELECT first FROM user_range').first<{ first: number }>()) ?? {}
    expect(low).toBe(Number.MAX_SAFE_INTEGER) // only the owner of reserved addresses
    other.clock.seconds += (2 * rangeMatchMs) / 1000
    for (const one of [users[0], uid, users[1], users[2]]) {
      expect([one, (await other.get('/wallet/list', one)).status]).toEqual([one, 200])
    }
  })

  it('is refused where a cell is missing in CELLS, by the cell that would get its users, and by no other one', async () => {
    const service = await startThreeCells()
    await addressesOf(service)
    const without = service.with({ CELLS: [{ ...threeCells[0], uids: '1-1999999' }, threeCells[2]] })
    const answers = await Promise.all(users.map((uid) => without.get('/wallet/list', uid)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
    expect(alarmsIn(service)).toContain('configuration-differs')
    await tickAll(service)
    for (const uid of users) expect((await service.get('/wallet/list', uid)).status).toBe(200)
  })

  it('is kept by an isolate that does not know the newest cell: it takes none of the users back', async () => {
    const three = await startThreeCells()
    const uid = 2_000_500
    const before = three.with({ CELLS: [threeCells[0], { ...threeCells[1], uids: '1000000-' }] })
    expect((await before.get('/wallet/list', users[1])).status).toBe(200)
    const after = before.with({ CELLS: threeCells })
    expect((await after.get('/tron/generate', uid)).status).toBe(200)
    after.clock.seconds += rangeMatchMs / 1000
    expect((await before.get('/tron/generate', uid)).status).toBe(503)
    expect(await strangersIn(before, 'DB_2', uid)).toBe(0)
    expect((await after.get('/wallet/list', users[1])).status).toBe(200)
  })

  it('is refused without a trace: a cell that was only tried is not missing later', async () => {
    const three = await startThreeCells()
    const two = three.with({ CELLS: [threeCells[0], { ...threeCells[1], uids: '1000000-' }] })
    expect((await two.get('/tron/generate', users[1])).status).toBe(200)
    const tried = two.with({
      CELLS: [threeCells[0], { ...threeCells[1], uids: '1000000-1000003' }, { ...threeCells[2], uids: '1000004-' }],
    })
    expect((await tried.get('/wallet/list', 1_000_004)).status).toBe(503)
    const moved = two.with({
      CELLS: [
        { ...threeCells[0], uids: '1-500000' },
        { ...threeCells[1], uids: '500001-' },
      ],
    })
    expect((await moved.get('/wallet/list', 500_001)).status).toBe(200)
  })

  it('of another difference raises its alarm each time that it comes, not only the first time', async () => {
    const service = await startThreeCells()
    const setDecimals = (decimals: number) =>
      service.db.prepare('UPDATE stored_currency SET decimals = ? WHERE cuy = 2').bind(decimals).run()
    const raised = () => alarmsIn(service).filter((alarm) => alarm === 'configuration-differs').length
    const statusLater = async () => {
      service.clock.seconds += rangeMatchMs / 1000
      return (await service.get('/wallet/list', users[0])).status
    }
    expect(await statusLater()).toBe(200)
    for (const times of [1, 2]) {
      await setDecimals(7)
      expect([await statusLater(), raised()]).toEqual([503, times])
      await setDecimals(6)
      expect(await statusLater()).toBe(200)
      await tickAll(service) // ends the alarm
    }
  })

  it('is kept, too, where a deployment with one database gets a second one', async () => {
    const single = await startService()
    const uid = 1_000_500
    await single.get('/tron/generate', users[0])
    const [DB_2] = await furtherDatabases()
    const grown = single.with({
      ...{ DB_2, KEY_1: testXpub, KEY_2: otherXpubs[0] },
      CELLS: [threeCells[0], { db: 'DB_2', uids: '1000000-', xpub: 'KEY_2' }],
    })
    // the new cell registers its range before the old cell is asked
    expect((await grown.get('/tron/generate', uid)).status).toBe(200)
    expect((await single.get('/tron/generate', uid)).status).not.toBe(200)
    expect(await strangersIn(single, 'DB', uid)).toBe(0)
    expect((await grown.get('/wallet/list', users[0])).status).toBe(200)
  })
})

/** How many addresses the user has in that database, whichever cell the user belongs to. */
async function strangersIn({ bindings }: RunningService, name: 'DB' | 'DB_2', uid: number): Promise<unknown> {
  const db = bindings[name] as D1Database
  return db.prepare('SELECT count(*) AS n FROM stored_address WHERE uid = ?').bind(uid).first('n')
}
