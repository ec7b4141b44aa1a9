import { beforeEach, describe, expect, it } from 'vitest'
import { entry, expectRefusal, flow, insert, or, posting, run, step, storeRows, t3, t4, transfer } from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

const row = {
  id: '1',
  epoch: '1',
  lines: '10',
  hash: `'${'0'.repeat(64)}'`,
  tree: `'[]'`,
  event: '2',
  change: '0',
  begun: '3',
  written_at: '5',
}
const begin = insert('archive', row)
const changes = async () => {
  const { results } = await db.prepare('SELECT after_event, kind, key FROM archive_change ORDER BY id').all()
  return results.map(({ after_event, kind, key }) => `${kind} ${key} after ${after_event}`)
}

describe('the list of changes', () => {
  it('has nothing where there is no archive', async () => {
    await run(transfer('moved'))
    expect(await changes()).toEqual([])
    await expectRefusal(
      insert('archive_change', { after_event: '0', kind: `'transfer'`, key: `'[1]'` }),
      'archive_change: there is no archive',
    )
  })

  it('has no deposit and no post', async () => {
    await run(begin, transfer('seen'), step(t4, 'credited'), posting([entry()]))
    expect(await changes()).toEqual([])
  })

  it('has what moved, and a step that makes no event', async () => {
    await run(begin, step(t3, 'held', { height: '91' }), transfer('moved'))
    expect(await changes()).toEqual(['transfer [3] after 3', 'transfer [4] after 3'])
  })

  it('has what a correction removes, by id, txid, position and time', async () => {
    await run(begin, transfer('moved'))
    const [row] = (await db.prepare('SELECT id, created_at FROM stored_transfer WHERE txid = unhex(?)').bind(t4).all())
      .results
    await run(insert('correction', { finalized: '10', reason: `'a test'`, created_at: '1700000000000' }))
    expect(await changes()).toContain(`removed [${row?.id},"${t4}",0,${row?.created_at}] after 3`)
  })

  it('ends with the archive', async () => {
    await run(begin, transfer('moved'), 'DELETE FROM archive')
    expect(await changes()).toEqual([])
  })

  it.each([
    ['UPDATE archive_change SET kind = kind', 'archive_change: rows are never changed'],
    ['DELETE FROM archive_change', 'archive_change: it is not in the archive yet'],
    [
      `${or('REPLACE', insert('archive_change', { id: '1', after_event: '0', kind: `'act'`, key: `'[1]'` }))}`,
      'archive_change: ids must increase',
    ],
  ])('refuses %s', async (wrong, message) => {
    await run(begin, transfer('moved'))
    await expectRefusal(wrong, message)
  })
})

describe('the row of the archive', () => {
  it.each([
    [insert('archive', row), 'archive: already begun'],
    [or('REPLACE', insert('archive', row)), 'archive: already begun'],
    ['UPDATE archive SET lines = 9', 'archive: it never goes back'],
    ['UPDATE archive SET epoch = 0', 'archive: it never goes back'],
    ['UPDATE archive SET event = 1', 'archive: it never goes back'],
    ['UPDATE archive SET change = -1', 'archive: it never goes back'],
    [`UPDATE archive SET copy = '[]'`, 'archive: it never goes back'],
    ['UPDATE archive SET begun = 2', 'archive: it never goes back'],
    ['UPDATE archive SET event = 4', 'archive: it is above the newest event'],
    ['UPDATE archive SET common = 10', 'archive_common'],
    [`UPDATE archive SET checkpoint = 'x'`, 'archive_verifier'],
    [insert('removed_event', { id: '1', last_id: '3' }), 'removed_event: it is not in the archive yet'],
  ])('refuses %s', async (wrong, message) => {
    await run(begin)
    await expectRefusal(wrong, message)
  })

  it('refuses to begin above the newest event', async () => {
    await expectRefusal(insert('archive', { ...row, event: '4' }), 'archive: it is above the newest event')
    await run(flow())
  })
})
