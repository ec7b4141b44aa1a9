import { beforeEach, describe, expect, it } from 'vitest'
import {
  a,
  b,
  deposit,
  entry,
  expectRefusal,
  flow,
  insert,
  or,
  pending,
  posting,
  refusal,
  rescan,
  sighting,
  storeRows,
  t1,
  t2,
  t3,
  t4,
  type Values,
} from './rows.ts'

let db: D1Database

/** The members that no row of `storeRows` has: the events that a test makes have higher ids. */
let before: number

beforeEach(async () => {
  db = await storeRows()
  before = Number(await db.prepare('SELECT max(id) AS id FROM event').first('id'))
})

/** Runs statements, each on its own. */
async function run(...statements: string[]): Promise<void> {
  for (const sql of statements) await db.prepare(sql).run()
}

/** The events since the test began, with the members that are set. */
async function written(): Promise<Record<string, unknown>[]> {
  const { results } = await db.prepare('SELECT * FROM event WHERE id > ? ORDER BY id').bind(before).all()
  return results.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))
}

const event = (changes: Values = {}) =>
  insert('event', { type: `'deposit.dropped'`, uid: '1', created_at: '9', txid: `'${t4}'`, position: '0', ...changes })
const passed = `UPDATE scan SET height = 101, hash = '${t2}', advanced_at = 8`

describe('an event is written', () => {
  it('with each entry, and with each deposit that has none', async () => {
    const { results } = await db.prepare('SELECT * FROM event ORDER BY id').all()
    const held = { cuy: 1, raw: '50', address: a, position: 0 }
    expect(results).toMatchObject([
      { id: 1, type: 'deposit.credited', uid: 1, created_at: 10, entry_id: 1, txid: null },
      { id: 2, type: 'deposit.refused', uid: 1, created_at: 10, txid: t2, reason: 'dust', ...held },
      { id: 3, type: 'deposit.held', uid: 1, created_at: 1, txid: t3, reason: 'no-api', ...held },
    ])
  })

  it('with an entry of another type', async () => {
    await run(posting([entry()]))
    expect(await written()).toEqual([{ id: 4, type: 'entry.posted', uid: 1, created_at: 20, entry_id: 2 }])
  })

  it('as held with a deposit that is too large', async () => {
    await run(deposit({ txid: `'${t4}'`, outcome: `'too-large'`, amount: '0' }))
    expect(await written()).toMatchObject([{ type: 'deposit.held', txid: t4, reason: 'too-large' }])
  })

  it('with a refusal, which has the type of its contract', async () => {
    await run(refusal({ reason: `'other-contract'`, contract_type: '2' }))
    expect(await written()).toMatchObject([
      { type: 'deposit.refused', txid: t4, reason: 'other-contract', contract_type: 2, created_at: 1 },
    ])
  })

  it('with a transfer that is seen', async () => {
    await run(sighting())
    expect(await written()).toEqual([
      {
        ...{ id: 4, type: 'deposit.seen', uid: 1, created_at: 7, txid: t4, position: 0 },
        ...{ cuy: 1, raw: '50', address: a, decimals: 6, seconds: 57 },
      },
    ])
  })

  it('not at all where its statement fails, and the next one has the next number', async () => {
    await expectRefusal(flow({ balance: '56' }), 'flow: balance must be')
    await run(posting([entry()]))
    expect(await written()).toMatchObject([{ id: before + 1 }])
  })
})

describe('a pending deposit', () => {
  const setReason = (reason: string, at: number) =>
    `UPDATE pending SET reason = '${reason}', reason_at = ${at} WHERE txid = '${t4}'`

  it('is held once for each reason', async () => {
    await run(pending({ txid: `'${t4}'`, reason: `'queued'` }))
    expect(await written()).toEqual([])
    await run(setReason('disagreement', 2), setReason('api-unavailable', 3), setReason('disagreement', 4))
    expect(await written()).toMatchObject([
      { type: 'deposit.held', txid: t4, reason: 'disagreement', created_at: 2 },
      { type: 'deposit.held', txid: t4, reason: 'api-unavailable', created_at: 3 },
    ])
  })

  it('is not held again by another change, nor by going back to the queue', async () => {
    await run(`UPDATE pending SET next_try = 5`, `UPDATE pending SET reason = 'queued'`)
    expect(await written()).toEqual([])
  })

  it('that a rescan finds worthless again is refused once', async () => {
    await run(
      refusal({ height: '90' }),
      `INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
       VALUES ('request', 85, 95, 85, 'again', 1, 1)`,
      refusal({ height: '90' }),
    )
    expect((await written()).map(({ type }) => type)).toEqual(['deposit.refused'])
  })
})

describe('a transfer that was seen', () => {
  const dropped = { type: 'deposit.dropped', uid: 1, txid: t4, position: 0, created_at: 8 }
  const remove = 'DELETE FROM sighting'
  const types = async () => (await written()).map(({ type }) => type)

  it('is dropped where the position has passed its height and it is stored nowhere', async () => {
    await run(sighting(), passed, remove)
    expect((await written()).slice(1)).toEqual([{ id: before + 2, ...dropped }])
  })

  it('is not dropped before that', async () => {
    await run(sighting(), remove)
    expect(await types()).toEqual(['deposit.seen'])
  })

  it.each([
    ['a deposit', deposit({ txid: `'${t4}'`, height: '101' }), ['deposit.seen', 'deposit.credited']],
    [
      'a deposit at another position',
      deposit({ txid: `'${t4}'`, native: '0', position: '3', height: '101' }),
      ['deposit.seen', 'deposit.credited'],
    ],
    ['pending', pending({ txid: `'${t4}'`, reason: `'queued'`, height: '101' }), ['deposit.seen']],
    ['a refusal', refusal({ height: '101' }), ['deposit.seen', 'deposit.refused']],
    [
      'a movement',
      insert('movement', {
        ...{ txid: `'${t4}'`, position: '0', height: '101', block_hash: `'${t4}'`, cuy: '1' },
        ...{ address: `'${a}'`, direction: `'in'`, raw: `'50'` },
      }),
      ['deposit.seen'],
    ],
  ])('is not dropped where it is %s', async (_, sql, expected) => {
    await run(sighting(), sql, passed, remove)
    expect(await types()).toEqual(expected)
  })

  it('is not dropped where it was refused and is to be read again', async () => {
    const range = { from_height: '101', to_height: '101', next_height: '101' }
    await run(sighting(), refusal({ height: '101' }), passed, rescan(range))
    expect(await db.prepare('SELECT count(*) AS n FROM refusal').first('n')).toBe(0)
    await run(remove)
    expect(await types()).toEqual(['deposit.seen', 'deposit.refused'])
  })

  it('changes its block without an event', async () => {
    await run(sighting(), `UPDATE sighting SET height = 102, block_hash = '${t2}'`)
    expect(await types()).toEqual(['deposit.seen'])
  })
})

describe('an event', () => {
  it.each([
    ['changed', `UPDATE event SET uid = 2`, 'event: rows are never changed'],
    ['changed by OR REPLACE', `UPDATE OR REPLACE event SET id = 1 WHERE id = 2`, 'event: rows are never changed'],
    ['written again', event({ id: '1' }), 'event: already exists'],
    ['replaced', or('REPLACE', event({ id: '1' })), 'event: already exists'],
    ['with a number below 1', event({ id: '-5' }), 'event_id'],
    ['of an entry that does not exist', entryEvent({ entry_id: '7' }), 'event: it must report an entry'],
    ['of an entry of another caller', entryEvent({ uid: '2' }), 'event: it must report an entry'],
    ['of an entry of another type', entryEvent({ type: `'entry.posted'` }), 'event: it must report an entry'],
    ['of an unknown type', event({ type: `'deposit.lost'` }), 'event_type'],
    ['with an unknown reason', heldEvent({ reason: `'lost'` }), 'event_reason'],
    ['refused with the reason of a held one', heldEvent({ type: `'deposit.refused'` }), 'event_reason'],
    ['without its reason', heldEvent({ reason: 'NULL' }), 'event_reason'],
    ['without its amount', heldEvent({ raw: 'NULL' }), 'event_raw'],
    ['without its address', heldEvent({ address: 'NULL' }), 'event_address'],
    ['without its currency', heldEvent({ cuy: 'NULL' }), 'event_cuy'],
    ['of an entry with a txid', entryEvent({ txid: `'${t1}'`, position: '0' }), 'event_txid'],
    ['with seconds that it does not have', event({ seconds: '3' }), 'event_seconds'],
    ['with decimals that it does not have', event({ decimals: '6' }), 'event_decimals'],
    ['with the type of a contract that it does not have', event({ contract_type: '2' }), 'event_contract_type'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('is not written below the newest one, where older ones were removed', async () => {
    await run('DELETE FROM event WHERE id < 3')
    await expectRefusal(event({ id: '2' }), 'event: ids must increase')
    await expectRefusal(or('IGNORE', event({ id: '2' })), 'event: ids must increase')
    await run('DELETE FROM event', event())
    expect(await written()).toMatchObject([{ id: 4 }])
  })

  it('is deleted only when each endpoint has got it', async () => {
    await run(webhook(), event(), `UPDATE webhook SET position = 3`)
    await expectRefusal('DELETE FROM event', 'event: an endpoint has not received it')
    await run('DELETE FROM event WHERE id <= 3', `UPDATE webhook SET position = 4`, 'DELETE FROM event', event())
    expect(await written()).toMatchObject([{ id: 5 }])
  })
})

describe('an endpoint', () => {
  const other = `'${'f'.repeat(64)}'`

  it.each([
    ['twice', webhook(), 'webhook: already exists'],
    ['twice, by OR REPLACE', or('REPLACE', webhook()), 'webhook: already exists'],
    ['that begins with an old event', webhook({ endpoint: other, position: '2' }), 'webhook: must begin with'],
    ['that begins above the newest event', webhook({ endpoint: other, position: '4' }), 'webhook: must begin with'],
    ['that is above the newest event', 'UPDATE webhook SET position = 4', 'webhook: position is above'],
    ['that becomes another one', `UPDATE webhook SET endpoint = ${other}`, 'webhook: endpoint must not change'],
    ['that fails since no attempt', 'UPDATE webhook SET failing_since = 5', 'webhook_failing_since'],
    ['with its URL', webhook({ endpoint: `'https://one.example/'` }), 'webhook_endpoint'],
  ])('%s is refused', async (_, sql, why) => {
    await run(webhook())
    await expectRefusal(sql, why)
  })

  it('can be given old events again', async () => {
    await run(webhook(), 'UPDATE webhook SET position = 1')
    expect(await db.prepare('SELECT position FROM webhook').first('position')).toBe(1)
  })
})

function entryEvent(changes: Values): string {
  return event({ type: `'deposit.credited'`, txid: 'NULL', position: 'NULL', entry_id: '1', ...changes })
}

function heldEvent(changes: Values): string {
  const transfer = { cuy: '1', raw: `'50'`, address: `'${b}'`, reason: `'no-api'` }
  return event({ type: `'deposit.held'`, ...transfer, ...changes })
}

function webhook(changes: Values = {}): string {
  return insert('webhook', { endpoint: `'${'e'.repeat(64)}'`, number: '1', position: '3', next_try: '0', ...changes })
}
