import { beforeEach, describe, expect, it } from 'vitest'
import type { EndpointKey } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import {
  isRegistered,
  registerEndpoints,
  selectEndpoint,
  selectEndpoints,
} from '../../src/worker/webhooks/store/endpoint-state.ts'
import { column, credited, ms, openDatabase, transfer, txid } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

const minuteMs = 60_000
const keptMs = 30 * 86_400_000
const key = (n: number) => n.toString(16).padStart(64, '0') as EndpointKey
/** Registers the endpoints as a deployment does whose `WEBHOOKS` lists them in this order. */
const deploy = (list: readonly number[], at = 0) =>
  registerEndpoints(
    db,
    list.map((n, i) => ({ key: key(n), number: i + 1 })),
    ms(at),
  )
const credit = (n: number) => storeTransfers(db, [transfer(credited(), { txid: txid(n) })], ms(5))
const positions = async (...list: readonly number[]) =>
  Promise.all(list.map(async (n) => (await selectEndpoint(db, key(n)))?.position))

describe('an endpoint', () => {
  it('follows a change of places', async () => {
    await deploy([1, 2, 3])
    await deploy([3, 1])
    expect(await column(db, 'SELECT number FROM webhook ORDER BY endpoint')).toEqual([2, 2, 1])
  })

  it('that a deployment lacked for a minute goes on where it was', async () => {
    await deploy([1, 2])
    await credit(1)
    await deploy([], minuteMs)
    await deploy([1, 2], 2 * minuteMs)
    expect(await positions(1, 2)).toEqual([0, 0])
  })

  it('that no deployment has keeps its position for 30 days, and begins anew after that', async () => {
    await deploy([1, 2])
    await credit(1)
    await deploy([2], keptMs)
    await deploy([1, 2], keptMs)
    expect(await positions(1, 2)).toEqual([0, 0])
    await deploy([2], 2 * keptMs + 1)
    expect(await column(db, 'SELECT number FROM webhook')).toEqual([1])
    await deploy([1], 2 * keptMs + 1)
    expect(await positions(1)).toEqual([1])
  })

  it('needs no statement of a registration while all is as stored', async () => {
    const isStored = async (list: readonly number[], at: number) =>
      isRegistered(
        await selectEndpoints(db),
        list.map((n, i) => ({ key: key(n), number: i + 1 })),
        ms(at),
      )
    expect(await isStored([1], 0)).toBe(false)
    await deploy([1, 2])
    expect(await isStored([1, 2], 3_600_000)).toBe(true)
    expect(await isStored([1, 2], 3_600_001)).toBe(false)
    expect(await isStored([2, 1], 0)).toBe(false)
    expect(await isStored([1, 2, 3], 0)).toBe(false)
    expect(await isStored([1], 0)).toBe(true)
    await deploy([1], keptMs)
    expect([await isStored([1], keptMs), await isStored([1], keptMs + 1)]).toEqual([true, false])
  })

  it('is stored as seen once an hour, not at each registration', async () => {
    for (const at of [0, 3_600_000, 3_600_001, 4_000_000]) await deploy([1], at)
    expect(await column(db, 'SELECT seen_at FROM webhook')).toEqual([3_600_001])
  })
})
