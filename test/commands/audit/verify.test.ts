import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnyLine, cellName, noteOf, verifierKey, writeArchive } from './archive-builder.ts'
import { createStory, usualLines } from './archive-story.ts'
import { writeRealArchive } from './real-archive.ts'
import { audit } from './run-audit.ts'
import { tamper } from './tamper.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const verify = (...options: readonly string[]) => audit('verify', folder, '--verifier', verifierKey, ...options)

/** Verifies an archive of lines whose hashes and signatures are right. */
async function verifyLines(lines: readonly AnyLine[], rows = 1_000) {
  writeArchive(folder, lines, { rows })
  return verify()
}

/** The fault in what was printed: which file, which line, and why. */
function faultIn(text: string) {
  const [, file = '', line = null, why = ''] = /WRONG \S*\/(\S+?)(?:, line (\d+))?: (.*)\.\n/.exec(text) ?? []
  return { file, line: line === null ? null : Number(line), why }
}

const checkpointAt = (size: number) =>
  join(folder, cellName, 'checkpoints', `${String(size).padStart(15, '0')}.checkpoint`)

describe('audit verify', () => {
  it('finds nothing wrong in an archive of everything, and says what it has checked', async () => {
    expect(await verifyLines(usualLines(), 7)).toEqual({
      code: 0,
      text: [
        cellName,
        '  112 lines in 15 segments: 51 entries, 12 credited deposits, 3 paid payouts.',
        '  It is complete.',
        '  Checkpoints seal 112 lines.',
        'Nothing is wrong.',
        '',
      ].join('\n'),
    })
  })

  it('finds nothing wrong in an archive that the service has written, with what it has copied at first', async () => {
    const verifier = await writeRealArchive(folder, 7)
    const { code, text } = await audit('verify', folder, '--verifier', verifier)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('48 entries, 14 credited deposits, 0 paid payouts.')
    expect(text).toContain('It is complete.')
  })

  it('reads a folder of one cell, says what is not sealed, and needs no key', async () => {
    const lines = usualLines()
    writeArchive(folder, lines.slice(0, -1), { rows: 1_000 })
    rmSync(checkpointAt(99))
    const { code, text } = await audit('verify', join(folder, cellName))
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('The newest 31 lines may lack lines that they refer to.')
    expect(text).toContain('Checkpoints seal 68 lines, and not the newest 31.')
    expect(text).toContain('Their signatures were not checked: give --verifier.')
    expect(text).toContain('1 segments have no checkpoint of their own.')
  })

  it('says that an archive without checkpoints could be made anew', async () => {
    writeArchive(folder, usualLines(), { rows: 1_000, isSealed: false })
    expect((await verify()).text).toContain('It has no checkpoint: nobody outside can tell')
  })

  it('compares the archive with a checkpoint that was kept elsewhere', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const kept = join(folder, 'kept')
    writeFileSync(kept, `${readFileSync(checkpointAt(112), 'utf8')}\n`) // as programs save a text
    expect((await verify('--checkpoint', kept)).text).toContain(
      'It contains what 1 checkpoints that were kept elsewhere',
    )
    // the newest segment and its checkpoint are gone: nothing in the archive shows that
    const segments = join(folder, cellName, 'segments')
    rmSync(join(segments, readdirSync(segments).sort().at(-1) ?? ''))
    rmSync(checkpointAt(112))
    expect((await verify()).code).toBe(0)
    const { code, text } = await verify('--checkpoint', kept)
    expect({ code, why: faultIn(text).why }).toEqual({
      code: 1,
      why: 'it is about 112 lines, and the archive has only 108 lines',
    })
    writeFileSync(kept, noteOf(108, Buffer.alloc(32)))
    expect(faultIn((await verify('--checkpoint', kept)).text).why).toBe('its root is not that of the first 108 lines')
  })

  it('names what a newer version has added, which is sealed and not checked', async () => {
    const lines = usualLines().map((line) => (line.row === 'entry' && line.id === 5 ? { ...line, note: 'x' } : line))
    writeArchive(folder, [...lines.slice(0, 9), { row: 'gift', of: 'x' }, ...lines.slice(9)], { rows: 7 })
    const { code, text } = await verify('--verifier', verifierKey)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('This version does not know all of 2 lines, first line 11: the kind "gift".')
    const path = join(folder, 'rebuilt.sql')
    expect((await audit('rebuild', join(folder, cellName), path)).text).toContain('first the kind "gift"')
    expect(existsSync(path)).toBe(false)
    const segment = join(folder, cellName, 'segments', '000000000000008.jsonl')
    writeFileSync(segment, readFileSync(segment, 'utf8').replace('"of":"x"', '"of":"y"'))
    expect((await verify()).code).toBe(1)
  })

  it('names a newer format', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const segment = join(folder, cellName, 'segments', '000000000000000.jsonl')
    writeFileSync(segment, readFileSync(segment, 'utf8').replace('archive/1', 'archive/2'))
    expect(faultIn((await verify()).text).why).toBe(
      'it is written in tron-wallet-archive/2, which only a newer version of this command reads',
    )
  })

  it('refuses keys and checkpoints of another form, and folders without an archive', async () => {
    expect((await audit('verify', folder)).text).toContain('has no archive')
    expect((await audit('verify', join(folder, 'none'))).text).toContain('cannot be read')
    writeArchive(folder, usualLines(), { rows: 1_000 })
    expect((await audit('verify', folder, '--verifier', 'x')).code).toBe(2)
    expect((await audit('verify')).code).toBe(2)
    expect((await audit('check', folder)).code).toBe(2)
    const kept = join(folder, 'kept')
    writeFileSync(kept, 'x')
    const refused = await verify('--checkpoint', kept)
    expect({ code: refused.code, text: refused.text }).toMatchObject({ code: 1 })
    expect(refused.text).toContain('the note has no signature')
  })

  it('finds every byte that is flipped, cut, swapped or repeated, in segments and in checkpoints', async () => {
    writeArchive(folder, usualLines(), { rows: 7 })
    const copy = join(folder, 'copy')
    const missed: string[] = []
    for (let seed = 1; seed <= tries; seed += 1) {
      cpSync(join(folder, cellName), join(copy, cellName), { recursive: true })
      const what = tamper(join(copy, cellName), seed)
      if ((await audit('verify', copy, '--verifier', verifierKey)).code === 0) missed.push(`seed ${seed}: ${what}`)
      rmSync(copy, { recursive: true })
    }
    expect(missed).toEqual([])
  }, 600_000)
})

/** `AUDIT_TRIES=10000` tries more. */
const tries = Number(process.env.AUDIT_TRIES ?? 300)

type Change = (line: Record<string, unknown>, lines: AnyLine[]) => void

/** Changes the first line that fits, and returns all lines with the number of the changed one. */
function changed(fits: (line: AnyLine) => boolean, change: Change) {
  const lines = usualLines().map((line) => ({ ...line }))
  const index = lines.findIndex(fits)
  const line = lines[index]
  if (line === undefined) throw new Error('no line fits')
  change(line, lines)
  return { lines, line, index }
}

const entryOf = (type: number, cuy: number) => (line: AnyLine) =>
  line.row === 'entry' && line.type === type && line.cuy === cuy
const anEntry = entryOf(4, 1)
const isRow =
  (row: string, more: object = {}) =>
  (line: AnyLine) =>
    line.row === row && Object.entries(more).every(([name, value]) => line[name] === value)
const set =
  (more: object): Change =>
  (line) =>
    Object.assign(line, more)
const gone: Change = (line, lines) => void lines.splice(lines.indexOf(line as AnyLine), 1)
const twice: Change = (line, lines) => void lines.splice(lines.indexOf(line as AnyLine), 0, { ...line } as AnyLine)

describe('audit verify finds a liar who makes all hashes and signatures anew:', () => {
  const lies: readonly (readonly [string, (line: AnyLine) => boolean, Change, string])[] = [
    ['an entry with another amount', anEntry, set({ amt: '-0.3' }), 'the balance after it is 1200000 units'],
    ['another balance', anEntry, set({ balance: '1.5' }), 'the balance after it is 1250000 units'],
    ['an overdraft', anEntry, set({ amt: '-9' }), 'it takes more than the 1500000 units that the wallet has'],
    ['a sign that the type does not have', anEntry, set({ amt: '0.25' }), 'an entry of type 4 has no such amount'],
    ['an entry of nothing', entryOf(9, 2), set({ amt: '0' }), 'an entry of type 9 has no such amount'],
    [
      'more decimals than the currency has',
      anEntry,
      set({ amt: '-0.2500001' }),
      '-0.2500001 is no amount of its currency',
    ],
    ['another count of the wallet', anEntry, set({ number: 3 }), 'it is entry 2 of its wallet'],
    ['another count of the type', anEntry, set({ type_number: 2 }), 'it is entry 1 of its type in its wallet'],
    ['a wallet of somebody else', anEntry, set({ uid: 3 }), 'wallet 3 belongs to user 2, currency 1'],
    ['a second wallet', anEntry, set({ wallet_id: 99 }), 'user 2 has another wallet in currency 1'],
    ['an entry twice', anEntry, twice, 'number 5 stands after number 5'],
    ['an entry that is gone', anEntry, gone, 'the balance after it is'],
    [
      'an event that is gone',
      isRow('event', { type: 'payout.paid' }),
      gone,
      'number 9 is missing: 10 stands in its place',
    ],
    ['an older time', anEntry, set({ created_at: 5 }), 'it is older than the entry before it'],
    ['an unknown currency', anEntry, set({ cuy: 7 }), 'no configuration before it has currency 7'],
    [
      'a recharge that a backend has posted',
      entryOf(1, 1),
      set({ posted_by: 'x' }),
      'recharges, and only these, are posted by nobody',
    ],
    [
      'a recharge of a transfer that is not credited',
      entryOf(1, 1),
      set({ transfer_id: 77 }),
      'transfer 77 is not credited',
    ],
    [
      'a transfer that credits somebody else',
      isRow('transfer', { cuy: 1 }),
      set({ uid: 2 }),
      'transfer 2 credits another amount, currency or user',
    ],
    [
      'a transfer that is credited with more than it is worth',
      isRow('transfer', { cuy: 2 }),
      set({ amt: '31' }),
      '30000000000000000000 chain units are not worth 31',
    ],
    [
      'a transfer to an address of somebody else',
      isRow('transfer', { cuy: 2 }),
      set({ to_address: 'a'.repeat(40) }),
      'its recipient is no address of user 1',
    ],
    [
      'a txid for two transfers',
      isRow('transfer', { id: 2 }),
      (line, lines) => Object.assign(line, { txid: lines.find(isRow('transfer'))?.txid }),
      'transfer 1, which is credited, has its id, or its txid and position',
    ],
    [
      'a credited transfer that is removed',
      isRow('transfer', { id: 2 }),
      ({ id, txid, position, created_at }, lines) =>
        lines.splice(lines.findIndex(isRow('scan')), 0, { row: 'removed', id, txid, position, created_at }),
      'a credited transfer is never removed',
    ],
    [
      'a held transfer that another one replaces, and that was not removed',
      isRow('address', { id: 3 }),
      (line, lines) => {
        const { row = '', ...transfer } = lines.find(isRow('transfer')) ?? {}
        const held = { row, ...transfer, txid: 'c'.repeat(64), state: 'held', reason: 'review', amt: undefined }
        lines.splice(lines.indexOf(line as AnyLine) + 1, 0, { ...held, id: 70 }, { ...held, id: 71 })
      },
      'transfer 70 was in its place, and no line says that it was removed',
    ],
    [
      'an address for two users',
      isRow('address', { id: 2 }),
      (line, lines) => Object.assign(line, { address: lines.find(isRow('address'))?.address }),
      'its id or its address belongs to another row',
    ],
    ['a payout that has taken less', isRow('payout', { id: 1 }), set({ amt: '3' }), 'what was asked for is changed'],
    [
      'a payout that was never asked for',
      isRow('payout', { id: 1, version: 1 }),
      (_, lines) =>
        lines.splice(lines.findIndex(isRow('payout', { state: 'paid' })), 0, {
          ...lines.find(isRow('payout')),
          row: 'payout',
          id: 9,
          osn: 'x',
        }),
      'no entry has taken its amount',
    ],
    ['a payout without its transaction', isRow('transaction'), gone, 'it is paid, and its transaction has not paid it'],
    [
      'a transaction that failed',
      isRow('transaction'),
      set({ ended: 'failed', succeeded: 0 }),
      'it is paid, and its transaction has not paid it',
    ],
    [
      'a second transaction that has paid',
      isRow('transaction'),
      (line, lines) =>
        lines.splice(lines.indexOf(line as AnyLine), 0, { ...line, row: 'transaction', id: 50, txid: 'b'.repeat(64) }),
      'two transactions have paid it',
    ],
    [
      'one transaction for two payouts',
      isRow('transaction', { id: 3 }),
      (line, lines) => Object.assign(line, { txid: lines.find(isRow('transaction'))?.txid }),
      'another row has its txid',
    ],
    [
      'a cancelled payout whose money is not back',
      isRow('payout', { state: 'cancelled' }),
      set({ fee: '2' }),
      'what was asked for is changed',
    ],
    [
      'another scale',
      isRow('scan'),
      (line, lines) =>
        lines.splice(lines.indexOf(line as AnyLine), 0, {
          ...lines[0],
          row: 'configuration',
          currencies: [{ cuy: 1, decimals: 6, scale: 2, stored_at: 1 }],
        }),
      'currency 1 has another contract or scale than before',
    ],
    ['a member that no line has in place of one', anEntry, set({ amt: undefined, note: 'x' }), 'entry: `amt` has'],
    ['a line of no kind', anEntry, set({ row: 7 }), '`row` names no kind of line'],
    ['an entry that is a line of another kind', entryOf(4, 1), set({ row: 'gift' }), 'the balance after it is'],
    ['a line that begins a segment within one', anEntry, set({ row: 'segment' }), 'segment: `'],
  ]
  it.each(lies)('%s', async (_, fits, change, why) => {
    const { lines, index } = changed(fits, change)
    const { code, text } = await verifyLines(lines)
    expect(code).toBe(1)
    expect(faultIn(text).why).toContain(why)
    // an entry is checked by itself: its own line is named, after the first one of its segment
    if (fits === anEntry && change !== gone && change !== twice) expect(faultIn(text).line).toBe(index + 2)
  })

  it('transfers that do not sum to zero, at the first line of their post', async () => {
    const story = createStory()
    story.configure()
    story.address(1)
    story.deposit(1, 1, 5_000_000n)
    story.post(1, 1, 3, -1_000_000n, 'gift')
    story.post(2, 1, 3, 999_999n, 'gift')
    story.complete()
    expect(faultIn((await verifyLines(story.lines)).text)).toEqual({
      file: '000000000000000.jsonl',
      line: 6,
      why: 'the transfers of its post do not sum to zero',
    })
  })

  it('a credited transfer without its recharge, at the line of the transfer', async () => {
    const { lines, index } = changed(
      (line) => line.row === 'transfer' && line.id === 12,
      () => {},
    )
    const story = lines.filter((line) => !(line.row === 'entry' && line.transfer_id === 12))
    expect(index).toBeGreaterThan(0)
    const { text } = await verifyLines(story.slice(0, index + 1).concat({ row: 'scan', rescans: [] }))
    expect(faultIn(text)).toMatchObject({ why: 'the transfer is credited, and no entry is its recharge' })
  })
})

describe('audit verify, after a restore,', () => {
  it('forgets what a new epoch says is not in the database, and checks what follows from there', async () => {
    const before = createStory()
    before.configure()
    before.address(1)
    before.deposit(1, 1, 5_000_000n)
    before.complete()
    const lost = { ...before.lines.at(-2), id: 2, type: 4, osn: 'lost', transfer_id: undefined, posted_by: 'shop' }
    const entry = {
      ...lost,
      amt: '-1',
      balance: '4',
      number: 2,
      type_number: 1,
      created_at: 1_900_000_000_000,
    } as unknown as AnyLine
    const again = { ...entry, osn: 'again', amt: '-5', balance: '0', created_at: 1_800_000_000_000 }
    const lines = [...before.lines, entry, { row: 'epoch', common: 5, event: 1 }, again, { row: 'scan', rescans: [] }]
    const { code, text } = await verifyLines(lines)
    expect({ code, text }).toMatchObject({ code: 0 })
    expect(text).toContain('Epoch 2: a restore has made lines 6 to 7 untrue.')
    const wrong = lines.map((line) => (line === again ? { ...again, number: 3 } : line))
    rmSync(join(folder, cellName), { recursive: true })
    expect(faultIn((await verifyLines(wrong)).text)).toMatchObject({ line: 2, why: 'it is entry 2 of its wallet' })
  })
})
