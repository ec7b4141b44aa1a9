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

const key = (n: number) => n.toString(16).padStart(64, '0') as EndpointKey
const endpoint = (n: number, number = n) => ({ key: key(n), number })
const register = (list: readonly ReturnType<typeof endpoint>[], at = 0) => registerEndpoints(db, list, ms(at))
const credit = (n: number) => storeTransfers(db, [transfer(credited(), { txid: txid(n) })], ms(5))
const fresh = { attempts: 0, failingSince: null, nextTry: ms(0), setAside: null, lastFailure: null }
const id = (n: number) => n as EventId

describe('an endpoint', () => {
  it('begins with the next event, and keeps what it has', async () => {
    expect(await register([endpoint(1)])).toEqual([{ ...endpoint(1), position: 0, ...fresh }])
    await credit(1)
    expect(await register([endpoint(1), endpoint(2)])).toEqual([
      { ...endpoint(1), position: 0, ...fresh },
      { ...endpoint(2), position: 1, ...fresh },
    ])
    expect(await selectEndpoint(db, key(2))).toEqual({ ...endpoint(2), position: 1, ...fresh })
    expect(await selectEndpoint(db, key(3))).toBeNull()
  })

  it('follows a change of places', async () => {
    await register([endpoint(1), endpoint(2), endpoint(3)])
    const states = await register([endpoint(3, 1), endpoint(1, 2)])
    expect(states.map((state) => [state.key, state.number])).toEqual([
      [key(3), 1],
      [key(1), 2],
    ])
  })

  it('keeps its position for 30 days while no deployment has it', async () => {
    await register([endpoint(1), endpoint(2)])
    await credit(1)
    await register([endpoint(2)], endpointKeptMs)
    expect(await register([endpoint(1), endpoint(2)], endpointKeptMs)).toMatchObject([{ position: 0 }, { position: 0 }])
    await register([endpoint(2)], 2 * endpointKeptMs + 1)
    expect(await column(db, 'SELECT number FROM webhook')).toEqual([2])
    expect(await register([endpoint(1)], 2 * endpointKeptMs + 1)).toMatchObject([{ position: 1 }])
  })

  it('is stored as seen once an hour, not at each registration', async () => {
    for (const at of [0, 3_600_000, 3_600_001, 4_000_000]) await register([endpoint(1)], at)
    expect(await column(db, 'SELECT seen_at FROM webhook')).toEqual([3_600_001])
  })

  it('moves on from the position that was read, once', async () => {
    await register([endpoint(1)])
    await credit(1)
    await credit(2)
    const failed = {
      position: id(1),
      attempts: 2,
      failingSince: ms(60),
      nextTry: ms(400),
      setAside: id(1),
      lastFailure: 'HTTP 500',
    }
    expect(await storeProgress(db, key(1), 0, failed)).toBe(true)
    expect(await storeProgress(db, key(1), 0, { ...fresh, position: id(2) })).toBe(false)
    expect(await storeProgress(db, key(9), 0, { ...fresh, position: id(2) })).toBe(false)
    expect(await selectEndpoint(db, key(1))).toEqual({ ...endpoint(1), ...failed })
    expect(await storeProgress(db, key(1), id(1), { ...fresh, position: id(2) })).toBe(true)
    expect(await selectEndpoint(db, key(1))).toEqual({ ...endpoint(1), ...fresh, position: 2 })
  })
})
