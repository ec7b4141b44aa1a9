import { beforeEach, describe, expect, it } from 'vitest'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, issue, ms, sighting, startScan, txid, uid } from './fixtures.ts'

let sightings: Stores['sightings']
let scanStore: Stores['scanStore']

beforeEach(async () => {
  const db = await freshDatabase()
  ;({ sightings, scanStore } = createStores(db, () => {}))
  await issue(db, [1, 2])
  await startScan(scanStore)
})

describe('of', () => {
  it("reads transfers to the caller's addresses, at most 100", async () => {
    const many = Array.from({ length: 120 }, (_, n) => sighting({ txid: txid(n) }))
    await sightings.replace([...many, sighting({ txid: txid(999), to: addressAt(1) })], ms(1))
    expect(await sightings.of(uid(1))).toEqual(many.slice(0, 100))
    expect(await sightings.of(uid(2))).toEqual([sighting({ txid: txid(999), to: addressAt(1) })])
    expect(await sightings.of(uid(3))).toEqual([])
  })
})

describe('replace', () => {
  it('replaces all sightings and stores the time', async () => {
    await sightings.replace([sighting(), sighting({ txid: txid(2), to: addressAt(1) })], ms(1500))
    await sightings.replace([sighting({ txid: txid(3) })], ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting({ txid: txid(3) })])
    expect(await sightings.of(uid(2))).toEqual([])
    expect((await scanStore.state())?.unconfirmedReadAt).toBe(1600)
  })

  it('keeps all sightings where the list is null, and stores the time', async () => {
    await sightings.replace([sighting()], ms(1500))
    await sightings.replace(null, ms(1600))
    expect(await sightings.of(uid(1))).toEqual([sighting()])
    expect((await scanStore.state())?.unconfirmedReadAt).toBe(1600)
    await sightings.replace([], ms(1700))
    expect(await sightings.of(uid(1))).toEqual([])
  })
})
