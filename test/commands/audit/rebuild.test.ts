import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cellName, writeArchive } from './archive-builder.ts'
import { createStory, usualLines } from './archive-story.ts'
import { writeRealArchive } from './real-archive.ts'
import { audit } from './run-audit.ts'

let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'))
  file = join(folder, 'rebuilt.sql')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const cell = () => join(folder, cellName)
const rebuild = (...options: readonly string[]) => audit('rebuild', cell(), file, ...options)
const isWritten = () => statSync(file, { throwIfNoEntry: false }) !== undefined

/** A database with what is in the written file. */
function openRebuilt(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec(readFileSync(file, 'utf8'))
  return db
}

describe('audit rebuild', () => {
  it('writes the database of an archive that the service has written, and says what comes next', async () => {
    const verifier = await writeRealArchive(folder, 7)
    const { code, text } = await rebuild('--verifier', verifier)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('has 7 addresses, 48 entries, 21 transfers and 7 payouts.')
    expect(text).toContain('The scan goes on after block 5700.')
    const db = openRebuilt()
    expect(db.prepare('SELECT sum(balance) AS sum, count(*) AS count FROM wallet').get()).toEqual({
      ...db.prepare('SELECT sum(amount) AS sum, count(DISTINCT wallet_id) AS count FROM stored_flow').get(),
    })
    expect(db.prepare('SELECT name FROM d1_migrations').all()).toHaveLength(2)
    expect(() => db.exec('UPDATE stored_flow SET amount = 1')).toThrow('rows are never changed')
  })

  it('writes the database of an archive of everything', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const { code, text } = await rebuild()
    expect({ code, text }).toMatchObject({ code: 0 })
    const states = openRebuilt()
      .prepare('SELECT state, count(*) AS count FROM payout GROUP BY state ORDER BY state')
      .all()
    expect(states.map(({ state, count }) => [state, count])).toEqual([
      ['cancelled', 3],
      ['paid', 3],
    ])
  })

  it('stops payouts, and lets the archive go on with an epoch that names the last line that counts', async () => {
    const story = createStory()
    story.configure()
    story.post(1, 2, 5, 7n, 'kept')
    story.complete()
    story.post(1, 2, 5, 7n, 'cut off')
    writeArchive(folder, story.lines, { rows: 1_000 })
    expect((await rebuild()).code).toBe(0)
    const db = openRebuilt()
    expect(db.prepare('SELECT osn FROM stored_flow').all()).toEqual([{ osn: 'kept' }])
    expect(db.prepare('SELECT restored_at > 0 AS is_restored FROM scan').get()).toEqual({ is_restored: 1 })
    expect(db.prepare('SELECT epoch, lines, event, change, common FROM archive').get()).toEqual({
      ...{ epoch: 2, lines: 6, event: 1, change: 0, common: 3 },
    })
  })

  it('writes a file that only its owner reads, whose statements D1 takes', async () => {
    const story = createStory()
    story.configure()
    for (let i = 0; i < 3_000; i += 1) story.post(1, 2, 5, 1n, `order-${i}`)
    story.complete()
    writeArchive(folder, story.lines, { rows: 1_000 })
    expect((await rebuild()).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const statements = readFileSync(file, 'utf8').split(/;\n/)
    expect(Math.max(...statements.map((text) => Buffer.byteLength(text)))).toBeLessThan(100_000)
    expect(openRebuilt().prepare('SELECT count(*) AS count FROM stored_flow').get()).toEqual({ count: 3_000 })
  })

  it('keeps a text that wrangler takes for a command', async () => {
    const story = createStory()
    story.configure()
    story.post(1, 2, 5, 7n, 'BEGIN TRANSACTION;')
    story.complete()
    writeArchive(folder, story.lines, { rows: 1_000 })
    expect((await rebuild()).code).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain('BEGIN TRANSACTION')
    expect(openRebuilt().prepare('SELECT osn FROM stored_flow').all()).toEqual([{ osn: 'BEGIN TRANSACTION;' }])
  })

  it('names events as removed that the database had removed before the archive began', async () => {
    const story = createStory()
    story.configure()
    for (const osn of ['old', 'newer', 'newest']) story.post(1, 2, 5, 7n, osn)
    story.complete()
    const lines = story.lines.map((line) =>
      line.row === 'entry' && Number(line.id) > 1 ? { ...line, id: Number(line.id) + 1 } : line,
    )
    writeArchive(folder, lines, { rows: 1_000 })
    expect((await rebuild()).code).toBe(0)
    expect(openRebuilt().prepare('SELECT last_id FROM removed_event').all()).toEqual([{ last_id: 2 }])
  })
})

describe('audit rebuild refuses', () => {
  it('a wrong archive, by file and line', async () => {
    writeArchive(
      folder,
      usualLines().map((line) => (line.row === 'entry' && line.id === 3 ? { ...line, balance: '9' } : line)),
      { rows: 7 },
    )
    const { code, text } = await rebuild()
    expect(code).toBe(1)
    expect(text).toMatch(/^WRONG \S+\/segments\/\d{15}\.jsonl, line \d+: the balance after it is \d+ units\.\n/)
    expect(isWritten()).toBe(false)
  })

  it('an archive whose bytes were changed', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const path = join(cell(), 'segments', '000000000000016.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"mark":""', '"mark":"x"'))
    rmSync(join(cell(), 'checkpoints'), { recursive: true })
    const { code, text } = await rebuild()
    expect({ code, text }).toMatchObject({ code: 1 })
    expect(text).toContain('it does not name the bytes of the segment before it')
    expect(isWritten()).toBe(false)
  })

  it('a line that the database refuses, by file and line', async () => {
    const lines = usualLines().map((line) =>
      line.row === 'transfer' && line.id === 2 ? { ...line, native: 0, position: -1 } : line,
    )
    writeArchive(folder, lines, { rows: 7 })
    const { code, text } = await rebuild()
    expect({ code, isWritten: isWritten() }).toEqual({ code: 1, isWritten: false })
    expect(text).toMatch(
      /WRONG \S+\/segments\/\d{15}\.jsonl, line \d+: the database refuses it: CHECK constraint failed/,
    )
  })

  it('an event about something of another form, by file and line', async () => {
    const lines = usualLines().map((line) => (line.row === 'event' ? { ...line, about: { id: 1, cuy: 2 } } : line))
    writeArchive(folder, lines, { rows: 7 })
    const { code, text } = await rebuild()
    expect({ code, isWritten: isWritten() }).toEqual({ code: 1, isWritten: false })
    expect(text).toMatch(/WRONG \S+\/segments\/\d{15}\.jsonl, line \d+: undefined is no amount/)
  })

  it('an archive that lacks what a kept checkpoint is about', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const kept = join(folder, 'kept')
    writeFileSync(kept, readFileSync(join(cell(), 'checkpoints', '000000000000112.checkpoint')))
    for (const path of ['segments/000000000000108.jsonl', 'checkpoints/000000000000112.checkpoint'])
      rmSync(join(cell(), path))
    const { code, text } = await rebuild('--checkpoint', kept)
    expect({ code, text }).toMatchObject({ code: 1 })
    expect(text).toContain('it is about 112 lines')
  })

  it('an archive that is complete nowhere', async () => {
    writeArchive(
      folder,
      usualLines().filter(({ row }) => row !== 'scan'),
      { rows: 1_000 },
    )
    const { code, text } = await rebuild()
    expect({ code, isWritten: isWritten() }).toEqual({ code: 1, isWritten: false })
    expect(text).toContain('the archive is complete nowhere')
  })

  it('a file that exists, which it does not change', async () => {
    writeArchive(folder, usualLines(), { rows: 1_000 })
    writeFileSync(file, 'mine')
    const { code, text } = await rebuild()
    expect({ code, text }).toMatchObject({ code: 1 })
    expect(text).toContain('it exists already')
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  it('several cells at once, and another number of words', async () => {
    writeArchive(folder, usualLines(), { rows: 1_000 })
    writeArchive(join(folder, 'other'), usualLines(), { rows: 1_000 })
    renameSync(join(folder, 'other', cellName), join(folder, `${cellName.slice(0, -1)}a`))
    expect((await audit('rebuild', folder, file)).text).toContain('has several cells')
    expect((await audit('rebuild', cell())).code).toBe(2)
    expect((await audit('rebuild', cell(), file, 'more')).code).toBe(2)
    expect((await audit('verify', cell(), file)).code).toBe(2)
  })
})
