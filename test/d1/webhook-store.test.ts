import { beforeEach, describe, expect, it } from 'vitest'
import type { EndpointKey } from '../../src/common/ids.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { Stores } from '../../src/services.ts'
import { freshDatabase } from '../support/database.ts'
import { deposit, issue, ms, startScan, txid } from './fixtures.ts'

let stores: Stores
let store: Stores['webhookStore']

beforeEach(async () => {
  const db = await freshDatabase()
  stores = createStores(db, () => {})
  store = stores.webhookStore
  await issue(db, [1])
  await startScan(stores.scanStore)
})

const key = (n: number) => n.toString(16).padStart(64, '0') as EndpointKey
const endpoint = (n: number, number = n) => ({ key: key(n), number })
const credit = (n: number) => stores.deposits.credit([deposit({ txid: txid(n) })], ms(5))
const fresh = { attempts: 0, failingSince: null, nextTry: 0, setAside: null }

describe('register', () => {
  it('begins a new endpoint with the next event and keeps the others', async () => {
    expect(await store.register([endpoint(1)])).toEqual([{ key: key(1), position: 0, ...fresh }])
    await credit(1)
    expect(await store.register([endpoint(1), endpoint(2)])).toEqual([
      { key: key(1), position: 0, ...fresh },
      { key: key(2), position: 1, ...fresh },
    ])
  })

  it('removes what is no longer configured, and follows a change of places', async () => {
    await store.register([endpoint(1), endpoint(2), endpoint(3)])
    expect((await store.register([endpoint(3, 1), endpoint(1, 2)])).map((state) => state.key)).toEqual([key(3), key(1)])
    expect(await store.register([])).toEqual([])
  })
})

describe('take', () => {
  beforeEach(async () => {
    await store.register([endpoint(1)])
  })

  it('gives the lease to one at a time, and takes over that of a killed one at its end', async () => {
    await credit(1)
    const taken = { key: key(1), position: 0, ...fresh, nextTry: 100 }
    expect(await store.take(key(1), 'a', ms(50), ms(100))).toEqual(taken)
    expect(await store.take(key(1), 'b', ms(99), ms(200))).toBeNull()
    expect(await store.take(key(1), 'b', ms(100), ms(200))).toEqual({ ...taken, nextTry: 200 })
  })

  it('gives nothing where there is no event for the endpoint', async () => {
    expect(await store.take(key(1), 'a', ms(50), ms(100))).toBeNull()
  })
})

describe('keep and release', () => {
  const progress = { ...fresh, position: 1 as never, nextTry: ms(300) }

  beforeEach(async () => {
    await store.register([endpoint(1)])
    await credit(1)
    await store.take(key(1), 'a', ms(50), ms(100))
  })

  it('store progress for the present lease', async () => {
    expect(await store.keep(key(1), 'a', progress)).toBe(true)
    await store.release(key(1), 'a', { ...progress, attempts: 2, failingSince: ms(60), nextTry: ms(400) })
    expect(await store.register([endpoint(1)])).toMatchObject([
      { position: 1, attempts: 2, failingSince: 60, nextTry: 400 },
    ])
  })

  it('store nothing for a lease that was lost', async () => {
    expect(await store.keep(key(1), 'b', progress)).toBe(false)
    await store.release(key(1), 'b', progress)
    expect(await store.register([endpoint(1)])).toMatchObject([{ position: 0, nextTry: 100 }])
  })
})
