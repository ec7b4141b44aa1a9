import { beforeEach, describe, expect, it } from 'vitest'
import type { EndpointKey, EventId } from '../../src/common/ids.ts'
import type { WriteDatabase } from '../../src/d1/database.ts'
import { storeTransfers } from '../../src/deposits/transfers.ts'
import { endpointKeptMs, registerEndpoints, selectEndpoint, storeProgress } from '../../src/webhooks/endpoint-state.ts'
import { column, credited, ms, openDatabase, transfer, txid } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

const minuteMs = 60_000
const key = (n: number) => n.toString(16).padStart(64, '0') as EndpointKey
/** Deploys with these endpoints, in this order. */
const deploy = (list: readonly number[], at = 0) =>
  registerEndpoints(
    db,
    list.map((n, i) => ({ key: key(n), number: i + 1 })),
    ms(at),
  )
const credit = (n: number) => storeTransfers(db, [transfer(credited(), { txid: txid(n) })], ms(5))
const fresh = { attempts: 0, failingSince: null, nextTry: ms(0), setAside: null, lastFailure: null }
const id = (n: number) => n as EventId
const positions = async (...list: readonly number[]) =>
  Promise.all(list.map(async (n) => (await selectEndpoint(db, key(n)))?.position))

describe('an endpoint', () => {
  it('begins with the next event, and keeps what it has', async () => {
    await deploy([1])
    await credit(1)
    await deploy([1, 2])
    expect(await positions(1, 2, 3)).toEqual([0, 1, undefined])
    expect(await selectEndpoint(db, key(2))).toEqual({ position: 1, ...fresh })
  })

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
    await deploy([2], endpointKeptMs)
    await deploy([1, 2], endpointKeptMs)
    expect(await positions(1, 2)).toEqual([0, 0])
    await deploy([2], 2 * endpointKeptMs + 1)
    expect(await column(db, 'SELECT number FROM webhook')).toEqual([1])
    await deploy([1], 2 * endpointKeptMs + 1)
    expect(await positions(1)).toEqual([1])
  })

  it('is stored as seen once an hour, not at each registration', async () => {
    for (const at of [0, 3_600_000, 3_600_001, 4_000_000]) await deploy([1], at)
    expect(await column(db, 'SELECT seen_at FROM webhook')).toEqual([3_600_001])
  })

  it('moves on from the position that was read, once', async () => {
    await deploy([1])
    await credit(1)
    await credit(2)
    const failed = {
      ...{ position: id(1), attempts: 2, failingSince: ms(60), nextTry: ms(400), setAside: id(1) },
      lastFailure: 'HTTP 500',
    }
    expect(await storeProgress(db, key(1), 0, failed)).toBe(true)
    expect(await storeProgress(db, key(1), 0, { ...fresh, position: id(2) })).toBe(false)
    expect(await storeProgress(db, key(9), 0, { ...fresh, position: id(2) })).toBe(false)
    expect(await selectEndpoint(db, key(1))).toEqual(failed)
    expect(await storeProgress(db, key(1), id(1), { ...fresh, position: id(2) })).toBe(true)
    expect(await selectEndpoint(db, key(1))).toEqual({ ...fresh, position: 2 })
  })
})
