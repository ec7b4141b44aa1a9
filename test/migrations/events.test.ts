import { beforeEach, describe, expect, it } from 'vitest'
import {
  a,
  b,
  entry,
  eventsAfter,
  expectRefusal,
  flow,
  inBytes,
  insert,
  or,
  posting,
  rescan,
  run,
  step,
  storeRows,
  t1,
  t2,
  t3,
  t4,
  transfer,
  type Values,
} from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

const written = () => eventsAfter(3)
const types = async () => (await written()).map(({ type }) => type)

describe('an event is written', () => {
  it('with each credit, and with each decision that credits nothing', async () => {
    const transferred = { uid: 1, created_at: 10, cuy: 1, raw: '50', address: a, position: 0 }
    expect(await eventsAfter(0)).toEqual([
      { id: 1, type: 'deposit.credited', uid: 1, created_at: 10, entry_id: 1 },
      { id: 2, type: 'deposit.refused', txid: t2, reason: 'dust', ...transferred },
      { id: 3, type: 'deposit.held', txid: t3, reason: 'retired', ...transferred },
    ])
  })

  it('with an entry of another type', async () => {
    await run(posting([entry()]))
    expect(await written()).toEqual([{ id: 4, type: 'entry.posted', uid: 1, created_at: 20, entry_id: 4 }])
  })

  it('with a transfer that is seen, dropped and seen again', async () => {
    await run(transfer('seen'), step(t4, 'dropped'), step(t4, 'seen', { changed_at: '12' }))
    const seen = { type: 'deposit.seen', uid: 1, txid: t4, position: 0, cuy: 1, raw: '50', address: a, seconds: 57 }
    expect(await written()).toEqual([
      { id: 4, created_at: 10, ...seen },
      { id: 5, type: 'deposit.dropped', uid: 1, created_at: 11, txid: t4, position: 0 },
      { id: 6, created_at: 12, ...seen },
    ])
  })

  it('not by a transfer that is seen in another block', async () => {
    await run(transfer('seen'), step(t4, 'seen', { height: '102' }))
    expect(await types()).toEqual(['deposit.seen'])
  })

  it('that a transfer is gone, for the user of whom it was seen, once it is another user’s or nobody’s', async () => {
    const other = { uid: '2', to_address: `'${b}'` }
    await run(transfer('seen'), step(t4, 'seen', other), step(t4, 'moved', { uid: 'NULL' }))
    expect((await written()).map(({ type, uid }) => [type, uid])).toEqual([
      ['deposit.seen', 1],
      ['deposit.dropped', 1],
      ['deposit.seen', 2],
      ['deposit.dropped', 2],
    ])
  })

  it('once for each reason for which a transfer is held', async () => {
    const differ = { reason: `'decimals-differ'` }
    await run(step(t3, 'held', { raw: `'60'` }), step(t3, 'held', differ), step(t3, 'held'), step(t3, 'held', differ))
    expect(await written()).toMatchObject([
      { type: 'deposit.held', txid: t3, reason: 'decimals-differ', created_at: 11 },
    ])
  })

  it('once for each reason for which a transfer is refused', async () => {
    const below = { reason: `'below-minimum'` }
    await run(
      rescan(),
      step(t2, 'refused', { raw: `'60'` }),
      step(t2, 'refused', below),
      step(t2, 'held'),
      step(t2, 'refused'),
    )
    expect((await written()).map(({ type, reason }) => [type, reason])).toEqual([
      ['deposit.refused', 'below-minimum'],
      ['deposit.held', 'retired'],
    ])
  })

  it('for each user whose transfer it was when it was held for this reason', async () => {
    const other = { uid: '2', to_address: `'${b}'` }
    const own = { uid: '1', to_address: `'${a}'` }
    await run(step(t3, 'held', other), step(t3, 'held', own), step(t3, 'held', other))
    expect(await written()).toMatchObject([{ type: 'deposit.held', txid: t3, reason: 'retired', uid: 2, address: b }])
  })

  it('not at all where its statement fails, and the next one has the next number', async () => {
    await expectRefusal(flow({ balance: '56' }), 'flow: balance must be')
    await run(posting([entry()]))
    expect(await written()).toMatchObject([{ id: 4 }])
  })

  it('or its statement fails, whatever the conflict clause', async () => {
    const unsure = transfer('seen', { seconds: 'NULL' })
    await expectRefusal(or('IGNORE', unsure), 'transfer: its event was not stored')
    await expectRefusal(or('REPLACE', unsure), 'event_seconds')
  })
})

const event = (changes: Values = {}) =>
  insert(
    'stored_event',
    inBytes({
      id: '4',
      type: `'deposit.held'`,
      uid: '1',
      created_at: '9',
      txid: `'${t3}'`,
      position: '0',
      ...heldData,
      ...changes,
    }),
  )
const heldData = { cuy: '1', raw: `'50'`, address: `'${a}'`, reason: `'retired'` }

describe('an event', () => {
  it.each([
    ['changed', `UPDATE stored_event SET uid = 2`, 'event: rows are never changed'],
    [
      'changed by OR REPLACE',
      `UPDATE OR REPLACE stored_event SET id = 1 WHERE id = 2`,
      'event: rows are never changed',
    ],
    ['written again', event({ id: '1' }), 'event: ids must increase'],
    ['replaced', or('REPLACE', event({ id: '3' })), 'event: ids must increase'],
    ['of the same reason again', event(), 'UNIQUE constraint failed'],
    ['with a number below 1', event({ id: '-5' }), 'event: ids must increase'],
    ['of an entry, which is its own', event({ type: `'entry.posted'` }), 'event: it must report a transfer'],
    ['without a number', event({ id: 'NULL' }), 'event: ids must increase'],
    ['of a transfer that does not exist', event({ txid: `'${t4}'` }), 'event: it must report a transfer'],
    ['of a transfer of another caller', event({ uid: '2' }), 'event: it must report a transfer'],
    [
      'of another state than the transfer has',
      event({ type: `'deposit.refused'` }),
      'event: it must report a transfer',
    ],
    ['with another reason than the transfer has', event({ reason: `'too-large'` }), 'event: it must report a transfer'],
    ['without its amount', event({ raw: 'NULL' }), 'event_raw'],
    ['without its address', event({ address: 'NULL' }), 'event_address'],
    ['without its currency', event({ cuy: 'NULL' }), 'event_cuy'],
    ['with seconds that it does not have', event({ seconds: '3' }), 'event_seconds'],
    ['deleted before an older one', 'DELETE FROM stored_event WHERE id = 3', 'event: only the oldest is deleted'],
    [
      'deleted while it is the newest',
      'DELETE FROM stored_event WHERE id IN (2, 3)',
      'event: the newest is not deleted',
    ],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('keeps its number for itself after it was deleted', async () => {
    await run(posting([entry()]), 'DELETE FROM stored_event', posting([entry({ osn: 'y' })]))
    expect(await written()).toMatchObject([{ id: 4 }, { id: 5 }])
  })
})

describe('an endpoint', () => {
  const other = `'${'f'.repeat(64)}'`
  const webhook = (changes: Values = {}) => {
    const fresh = { endpoint: `'${'e'.repeat(64)}'`, number: '1', position: '3', next_try: '0', seen_at: '5' }
    return insert('webhook', { ...fresh, ...changes })
  }

  it.each([
    ['twice', webhook(), 'webhook: already exists'],
    ['twice, by OR REPLACE', or('REPLACE', webhook()), 'webhook: already exists'],
    ['that begins with an old event', webhook({ endpoint: other, position: '2' }), 'webhook: must begin with'],
    ['that begins above the newest event', webhook({ endpoint: other, position: '4' }), 'webhook: must begin with'],
    ['that is above the newest event', 'UPDATE webhook SET position = 4', 'webhook: position is above'],
    ['that becomes another one', `UPDATE webhook SET endpoint = ${other}`, 'webhook: endpoint must not change'],
    ['that fails since no attempt', 'UPDATE webhook SET failing_since = 5', 'webhook_failing_since'],
    ['that takes no checkpoint since no attempt', 'UPDATE webhook SET seal_failing_since = 5', 'webhook_seal_failing'],
    ['with a checkpoint of no size', 'UPDATE webhook SET sealed = -1', 'webhook_sealed'],
    ['with its URL', webhook({ endpoint: `'https://one.example/'` }), 'webhook_endpoint'],
    ['with a long failure', `UPDATE webhook SET last_failure = '${'x'.repeat(101)}'`, 'webhook_last_failure'],
  ])('%s is refused', async (_, sql, why) => {
    await run(webhook())
    await expectRefusal(sql, why)
  })

  it('can be given old events again', async () => {
    await run(webhook(), 'UPDATE webhook SET position = 1')
    expect(await db.prepare('SELECT position FROM webhook').first('position')).toBe(1)
  })

  it('does not keep events from being removed', async () => {
    await run(webhook(), `UPDATE webhook SET position = 1`, posting([entry()]))
    await run('DELETE FROM stored_event', 'INSERT INTO removed_event (id, last_id) VALUES (1, 3)')
    expect(await db.prepare('SELECT count(*) AS n FROM event').first('n')).toBe(1)
  })
})

describe('up to where events were removed', () => {
  const removed = (id: number, at = 1) => `INSERT INTO removed_event (id, last_id) VALUES (${at}, ${id})`

  it.each([
    ['above the newest event', removed(4), 'removed_event: it is above the newest event'],
    ['above the newest event, later', 'UPDATE removed_event SET last_id = 4', 'removed_event: it is above the newest'],
    ['lower than before', 'UPDATE removed_event SET last_id = 1', 'removed_event: it only grows'],
    ['lower than before, by OR REPLACE', or('REPLACE', removed(1)), 'removed_event: it only grows'],
    ['in a second row', removed(3, 2), 'removed_event_id'],
    ['deleted', 'DELETE FROM removed_event', 'removed_event: the row is never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await run(removed(2))
    await expectRefusal(sql, why)
  })

  it('can be the newest event, which stays as a row so that its number is not given again', async () => {
    await run(removed(3), 'DELETE FROM stored_event WHERE id < 3', posting([entry()]))
    expect((await eventsAfter(0)).map(({ id }) => id)).toEqual([4])
  })
})

it('reports a credit to another caller as its own', async () => {
  await run(transfer('credited', { uid: '2', to_address: `'${b}'` }))
  expect(await written()).toMatchObject([{ type: 'deposit.credited', uid: 2, entry_id: 4 }])
  expect(await db.prepare(`SELECT osn FROM flow WHERE id = 4`).first('osn')).toBe(t4)
  expect(await db.prepare(`SELECT osn FROM flow WHERE id = 1`).first('osn')).toBe(t1)
})
