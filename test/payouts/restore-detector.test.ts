import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { expect, it, vi } from 'vitest'
import { isDatabaseAway } from '../../src/worker/d1/away.ts'
import { createSessions } from '../../src/worker/d1/sessions.ts'
import { createRestoreDetector } from '../../src/worker/payouts/restore-detector.ts'
import { createUsage } from '../../src/worker/platform/usage.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { recordDatabase } from '../support/recorded-database.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { ask, signedPayout, startPaying } from './harness.ts'

/**
 * The memory of an object that has noted the newest event; its next comparison hangs until
 * `release`.
 */
async function hanging() {
  const service = await startPaying()
  await signedPayout(service)
  const { db, statements, begun, hang } = recordDatabase(service.db)
  const host = createMemoryHost()
  host.values.set('payouts', { newest: null, restoredAt: null })
  const clock = createVirtualClock(service.clock.seconds * 1000)
  // safe: the members that it uses
  const sessions = createSessions(db as unknown as D1Database, { clock, logger: { warn: () => undefined } })
  const restores = createRestoreDetector({ db: sessions.primary(createUsage()), clock, host })
  expect(await restores.compare()).toBeNull()
  statements.length = 0
  begun.count = 0
  const release = hang()
  const running = restores.compare()
  await vi.waitUntil(() => begun.count > 0)
  return { restores, host, clock, statements, running, release }
}

it('all who come while a comparison runs share the next one', async () => {
  const { restores, statements, running, release } = await hanging()
  const later = Array.from({ length: 50 }, () => restores.compare())
  release()
  expect(await Promise.all([running, ...later])).toEqual(Array.from({ length: 51 }, () => null))
  expect(statements).toHaveLength(2)
  await restores.compare()
  expect(statements).toHaveLength(3)
})

it('a restore before somebody comes is known to them, also if a comparison that runs has not seen it', async () => {
  const { restores, host, clock, running, release } = await hanging()
  host.values.set('payouts', { newest: { id: 9_999, digest: 'ab'.repeat(32) }, restoredAt: null })
  const later = [restores.compare(), restores.compare()]
  release()
  expect(await running).toBeNull()
  expect(await Promise.all(later)).toEqual([clock.now(), clock.now()])
})

it('a database that says itself that it was restored counts as that where the object has no memory', async () => {
  const service = await startPaying()
  const clock = createVirtualClock(service.clock.seconds * 1000)
  const db = createSessions(service.db, { clock, logger: { warn: () => undefined } }).primary(createUsage())
  expect(await createRestoreDetector({ db, clock, host: createMemoryHost() }).compare()).toBeNull()
  await service.db.exec('UPDATE scan SET restored_at = 1')
  expect(await createRestoreDetector({ db, clock, host: createMemoryHost() }).compare()).toBe(clock.now())
})

it('a comparison that hangs fails after ten seconds as a database that is away, and so does the one after it', async () => {
  const { restores, clock, running } = await hanging()
  const ends = [running, restores.compare(), restores.compare()].map((one) => one.catch(isDatabaseAway))
  await clock.advance(10_000)
  expect(await ends[0]).toBe(true)
  await clock.advance(10_000)
  expect(await Promise.all(ends)).toEqual([true, true, true])
})

it('an event and an entry are known by the columns of version 1.0.0, whatever columns later versions add', async () => {
  const service = await startPaying()
  const clock = createVirtualClock(service.clock.seconds * 1000)
  const db = createSessions(service.db, { clock, logger: { warn: () => undefined } }).primary(createUsage())
  const host = createMemoryHost()
  const expectKnownBy = async (sql: string) => {
    await createRestoreDetector({ db, clock, host }).compare()
    const text = String(await service.db.prepare(`${sql} ORDER BY id DESC LIMIT 1`).first('text'))
    const { id } = JSON.parse(text.replace('[', '{"id":').replace(/,.*/, '}')) as { id: number }
    expect(host.values.get('payouts')).toMatchObject({
      newest: { id, digest: bytesToHex(sha256(utf8ToBytes(text))) },
    })
  }
  await expectKnownBy(`SELECT json_array(id, wallet_id, type, osn, transfer_id, amount, balance, mark, created_at,
    posted_by, number, type_number) AS text FROM stored_flow`)
  await ask(service)
  await expectKnownBy(`SELECT json_array(id, type, uid, created_at, nullif(lower(hex(txid)), ''), position, cuy, raw,
    nullif(lower(hex(address)), ''), seconds, reason, about) AS text FROM stored_event`)
})
