import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { readCheckpoint } from '../../src/worker/archive/checkpoint.ts'
import { createSealer } from '../../src/worker/archive/seal.ts'
import { archiveNext, originOf } from '../../src/worker/archive/write.ts'
import type { WebhookType } from '../../src/worker/common/event-types.ts'
import { testSealKey } from '../archive/seal-key.ts'
import { firstSecret, startHarness } from './harness.ts'
import { hang, type Receiver, startReceiver, status } from './receiver.ts'

const hourMs = 3_600_000
const types: readonly WebhookType[] = ['ledger.sealed', 'entry.posted']
const sealKey = Buffer.from(testSealKey, 'base64')

type Harness = Awaited<ReturnType<typeof startHarness>>
type Body = { readonly type: string; readonly data: { readonly size: number; readonly note: string } }

/** The receiver's deliveries in order: the size of a checkpoint, or the number of an event. */
const received = ({ requests }: Receiver) =>
  requests.map(({ body }) => {
    const { type, data, id } = JSON.parse(body) as Body & { id?: number } // safe: the service's own JSON
    return type === 'ledger.sealed' ? `seal ${data.size}` : id
  })

/** Milliseconds until the next attempt. */
const nextIn = (h: Harness) => (h.host().alarmAt ?? 0) - h.clock.now()

/** Writes what is new with its checkpoint, as the archive's object does, and returns the size. */
function openArchive(h: Harness) {
  const objects = new Map<string, string>()
  const folder = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'
  const bucket = {
    putNew: async (name: string, text: string) => !objects.has(name) && objects.set(name, text) !== undefined,
    get: async (name: string) => objects.get(name) ?? null,
    nextName: async () => null,
  }
  const currency = `INSERT INTO stored_currency SELECT 2, '${'a'.repeat(40)}', 6, 6, 1
    WHERE NOT EXISTS (SELECT 1 FROM stored_currency)`
  return async () => {
    await h.db.prepare(currency).run()
    const seal = createSealer(sealKey, originOf(folder))
    while ((await archiveNext({ db: h.db, bucket, clock: h.clock, folder, cell: 1, seal })) === 'more');
    const newest = await readCheckpoint(h.db)
    if (!newest.ok) throw new Error('nothing is sealed')
    return newest.value
  }
}

describe('the newest checkpoint', () => {
  it('goes to an endpoint that names its type, once, and to no other one', async () => {
    const [wanting, all] = [await startReceiver(), await startReceiver()]
    const h = await startHarness({ receiver: wanting, types: ['ledger.sealed'] }, { receiver: all })
    const seal = openArchive(h)
    await h.wake(1)
    expect(wanting.requests).toEqual([])
    await h.happen(2)
    const newest = await seal()
    for (let i = 0; i < 2; i += 1) for (const n of [1, 2]) await h.wake(n)
    expect(received(all)).toEqual([1, 2])
    const [request, ...others] = wanting.requests
    expect(others).toEqual([])
    expect(JSON.parse(request?.body ?? '')).toEqual({ type: 'ledger.sealed', data: newest })
    const id = request?.headers['webhook-id'] ?? ''
    expect(id).toMatch(new RegExp(`^seal_${newest.size}_[0-9a-f]{16}$`))
    const signature = new Webhook(firstSecret).sign(id, new Date(h.clock.now()), request?.body ?? '')
    expect(request?.headers['webhook-signature']).toBe(signature)
    expect(h.row(1)).toMatchObject({ position: 2, sealed: newest.size })
    await h.happen(1)
    const next = await seal()
    await h.wake(1)
    expect(received(wanting)).toEqual([`seal ${newest.size}`, `seal ${next.size}`])
  })

  it('delays no event while an endpoint refuses it, and is tried ever more rarely', async () => {
    const receiver = await startReceiver()
    const refuse = (code: number) => {
      receiver.answer = (response, request) =>
        status(request.body.includes('ledger.sealed') ? code : 204)(response, request)
    }
    refuse(400)
    const h = await startHarness({ receiver, types })
    const seal = openArchive(h)
    const first = await seal()
    await h.wake()
    expect(h.row()).toMatchObject({ sealed: 0, seal_attempts: 1, attempts: 0 })
    await h.happen(1)
    await h.wake()
    expect(received(receiver)).toEqual([`seal ${first.size}`, 1])
    for (let i = 0; i < 5; i += 1) {
      await h.clock.advance(nextIn(h))
      await h.run()
    }
    expect(h.row()).toMatchObject({ position: 1, attempts: 0, seal_attempts: 6 })
    expect(nextIn(h)).toBeGreaterThan(0.8 * hourMs - 1)
    await h.clock.advance(hourMs)
    await h.watch()
    expect(h.raised()).toEqual(['endpoint-failing'])
    // when it is well again it gets the newest one, not those between
    const newest = await seal()
    refuse(204)
    await h.clock.advance(2 * hourMs)
    await h.run()
    expect(received(receiver).at(-1)).toBe(`seal ${newest.size}`)
    expect(h.row()).toMatchObject({ sealed: newest.size, seal_attempts: 0, seal_failing_since: null })
    await h.watch()
    expect(h.raised()).toEqual([])
  })

  it('has the same id where its answer was lost, and is delayed by no endpoint that hangs', async () => {
    const [hanging, receiver] = [await startReceiver(hang), await startReceiver(status(500))]
    const h = await startHarness({ receiver: hanging, types }, { receiver, types })
    const seal = openArchive(h)
    const newest = await seal()
    const waiting = h.wake(1)
    await h.wake(2)
    receiver.answer = status(204)
    await h.clock.advance(10_000)
    await waiting
    await h.run(2)
    expect(received(receiver)).toEqual([`seal ${newest.size}`, `seal ${newest.size}`])
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect([h.row(1).sealed, h.row(2).sealed]).toEqual([0, newest.size])
  })

  it('is sent by the next tick where the waking after its segment was lost', async () => {
    const receiver = await startReceiver()
    const h = await startHarness({ receiver, types })
    const seal = openArchive(h)
    await seal()
    let woken = 0
    const count = {
      wakeEndpoints: () => {
        woken += 1
      },
    }
    await h.watch(count)
    expect(woken).toBe(1)
    await h.wake()
    await h.watch(count)
    expect(woken).toBe(1)
  })
})
