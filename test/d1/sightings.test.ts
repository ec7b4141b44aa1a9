import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  block,
  deposit,
  height,
  issue,
  ms,
  pending,
  sighting,
  startScan,
  step,
  txid,
  uid,
} from './fixtures.ts'

let db: D1Database
let stores: Stores
let sightings: Stores['sightings']

beforeEach(async () => {
  db = await freshDatabase()
  stores = createStores(db, () => {})
  sightings = stores.sightings
  await issue(db, [1, 2])
  await startScan(stores.scanStore)
})

/** The types of all events with the number of their transaction. */
async function events(): Promise<(readonly [unknown, number])[]> {
  const { results } = await db.prepare('SELECT type, txid FROM event ORDER BY id').all()
  return results.map(({ type, txid: of }) => [type, Number.parseInt(String(of), 16)])
}

/** Stores block 101 as the newest one. */
const passBlock = (changes: Parameters<typeof step>[0] = {}) => stores.scanStore.append(step(changes))

describe('of', () => {
  it("reads transfers to the caller's addresses, at most 100", async () => {
    const many = Array.from({ length: 120 }, (_, n) => sighting({ txid: txid(n) }))
    const other = sighting({ txid: txid(999), to: addressAt(1), uid: uid(2) })
    await sightings.update([...many, other], ms(1))
    expect(await sightings.of(uid(1))).toEqual(many.slice(0, 100))
    expect(await sightings.of(uid(2))).toEqual([other])
    expect(await sightings.of(uid(3))).toEqual([])
  })
})

describe('update', () => {
  it('keeps what was seen, whether it is seen again or not', async () => {
    await sightings.update([sighting({ txid: txid(1) }), sighting({ txid: txid(2) })], ms(1500))
    await sightings.update([sighting({ txid: txid(2), seconds: 3 }), sighting({ txid: txid(3) })], ms(1600))
    await sightings.update(null, ms(1700))
    expect(await sightings.of(uid(1))).toEqual([1, 2, 3].map((n) => sighting({ txid: txid(n) })))
    expect(await events()).toEqual([1, 2, 3].map((n) => ['deposit.seen', n]))
  })

  it('moves a transfer that was mined again in another block, without an event', async () => {
    await sightings.update([sighting()], ms(1500))
    await sightings.update([sighting({ block: block(131) })], ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting({ block: block(131) })])
    expect(await events()).toEqual([['deposit.seen', 1]])
  })

  it('drops what is not in the block that was seen with it, once that height is passed', async () => {
    await sightings.update([sighting({ block: block(101) })], ms(1500))
    await passBlock()
    await sightings.update(null, ms(1600))
    expect(await sightings.of(uid(1))).toEqual([])
    expect(await events()).toEqual([
      ['deposit.seen', 1],
      ['deposit.dropped', 1],
    ])
  })

  it('sees again what was dropped and is mined after that', async () => {
    await sightings.update([sighting({ block: block(101) })], ms(1500))
    await passBlock()
    await sightings.update([], ms(1600))
    await sightings.update([sighting({ block: block(103) })], ms(1700))
    expect((await events()).map(([type]) => type)).toEqual(['deposit.seen', 'deposit.dropped', 'deposit.seen'])
  })

  it('sees nothing that a node which is behind shows at or below the position', async () => {
    await passBlock()
    await sightings.update([sighting({ block: block(101) }), sighting({ txid: txid(2), block: block(102) })], ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting({ txid: txid(2), block: block(102) })])
    expect(await events()).toEqual([['deposit.seen', 2]])
  })

  it('drops nothing that was mined again at a greater height before', async () => {
    await sightings.update([sighting({ block: block(101) })], ms(1500))
    await passBlock()
    await sightings.update([sighting({ block: block(102) })], ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting({ block: block(102) })])
    expect(await events()).toEqual([['deposit.seen', 1]])
  })

  it('drops nothing of a block whose logs could not be read, until they are read again', async () => {
    await sightings.update([sighting({ block: block(101) })], ms(1500))
    await passBlock({ unreadable: [height(101)] })
    await sightings.update([], ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting({ block: block(101) })])
    await db.prepare(`UPDATE rescan SET next_height = to_height + 1, finished_at = 1`).run()
    await sightings.update([], ms(1700))
    expect((await events()).map(([type]) => type)).toEqual(['deposit.seen', 'deposit.dropped'])
  })

  it('drops nothing that was found in its block, and does not see it again', async () => {
    const queued = sighting({ txid: txid(2), block: block(101) })
    await sightings.update([sighting({ block: block(101) }), queued], ms(1500))
    await passBlock({ candidates: [pending({ reason: 'queued' }), pending({ txid: txid(2), reason: 'queued' })] })
    await stores.deposits.credit([deposit()], ms(1550))
    await sightings.update([sighting({ block: block(102) }), queued], ms(1600))
    await sightings.update([sighting({ block: block(102) }), queued], ms(1700))
    expect(await sightings.of(uid(1))).toEqual([])
    const types = (await events()).map(([type]) => type)
    expect(types).toEqual(['deposit.seen', 'deposit.seen', 'deposit.credited'])
  })
})
