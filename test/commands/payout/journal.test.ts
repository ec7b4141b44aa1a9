import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createJournal, type Journal, type JournalEntry, openJournal } from '../../../src/commands/payout/journal.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { root } from '../../support/project.ts'
import { chainId, payoutAddress } from './harness.ts'
import { blockAt, recipient } from './scripted-service.ts'

const owner = { chainId, address: payoutAddress }
let folder = ''
let path = ''
const opened: Journal[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  path = join(folder, 'journal')
  createJournal(path, owner, 1_000 as UnixMs)
})
afterEach(() => {
  closeAll()
  rmSync(folder, { recursive: true, force: true })
})

function open(): Journal {
  const journal = openJournal(path, owner)
  opened.push(journal)
  return journal
}
function closeAll(): void {
  for (const journal of opened.splice(0)) journal.close()
}

const entryOf = (osn: string, at: number): JournalEntry => ({
  at,
  id: 1,
  uid: 7,
  cuy: 2,
  osn,
  amt: '1.5',
  to: recipient,
  attempts: 0,
  created_at: new Date(at).toISOString(),
  txid: 'ab'.repeat(32),
  expiration: at + 900_000,
  head: blockAt(at),
  transaction: '0a01',
})

it('has every transaction again when it is opened again, in order and by key, and only its owner can read it', () => {
  const entries = [entryOf('a', 2_000), entryOf('b', 2_001), entryOf('a', 2_002)]
  const first = open()
  for (const entry of entries) first.append(entry)
  closeAll()
  const journal = open()
  expect(journal.entries).toEqual(entries)
  expect(journal.of({ uid: 7, cuy: 2, osn: 'a' })).toEqual([entries[0], entries[2]])
  expect(journal.of({ uid: 8, cuy: 2, osn: 'a' })).toEqual([])
  expect(journal.startedAt).toBe(1_000)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5)
})

it('loses only the line that a power failure cut short, wherever it was cut', () => {
  open().append(entryOf('a', 2_000))
  closeAll()
  const whole = readFileSync(path, 'utf8')
  const line = `${JSON.stringify(entryOf('b', 2_001))}\n`
  for (let length = 1; length < line.length - 1; length += 7) {
    writeFileSync(path, whole + line.slice(0, length))
    const journal = open()
    expect([journal.entries.map(({ osn }) => osn), journal.wasCut]).toEqual([['a'], true])
    journal.append(entryOf('c', 2_002))
    closeAll()
    expect(open().entries.map(({ osn }) => osn)).toEqual(['a', 'c'])
    closeAll()
  }
})

it('keeps a whole last line whose end an editor has removed', () => {
  open().append(entryOf('a', 2_000))
  closeAll()
  truncateSync(path, statSync(path).size - 1)
  const journal = open()
  expect([journal.entries.length, journal.wasCut]).toEqual([1, false])
  journal.append(entryOf('b', 2_001))
  closeAll()
  expect(open().entries.map(({ osn }) => osn)).toEqual(['a', 'b'])
})

it.each([
  ['a line in the middle', (text: string) => text.replace('"osn":"a"', '"osn":'), 'is damaged at line 2'],
  ['the first line', (text: string) => text.replace('payout-journal', 'other'), 'is damaged at line 1'],
  ['an empty file', () => '', 'is damaged at line 1'],
  [
    'another address',
    (text: string) => text.replace(payoutAddress, recipient),
    `is the journal of ${recipient} on chain`,
  ],
])('refuses %s', (_, change, why) => {
  const journal = open()
  journal.append(entryOf('a', 2_000))
  journal.append(entryOf('b', 2_001))
  closeAll()
  writeFileSync(path, change(readFileSync(path, 'utf8')))
  expect(open).toThrow(why)
})

it('whose lines are in another order is refused: what is counted for a day would depend on it', () => {
  const journal = open()
  for (const [osn, at] of [
    ['a', 2_000],
    ['b', 2_001],
    ['c', 2_002],
  ] as const)
    journal.append(entryOf(osn, at))
  closeAll()
  const [header, a, b, c] = readFileSync(path, 'utf8').trim().split('\n')
  for (const [lines, line] of [
    [[a, c, b], 4],
    [[c, a, b], 3],
    [[a, b, b, c], 4],
  ] as const) {
    writeFileSync(path, `${[header, ...lines].join('\n')}\n`)
    expect(open).toThrow(`the lines of ${path} are not in the order in which they were signed, at line ${line}`)
  }
  writeFileSync(path, `${[header, a, b, c].join('\n')}\n`)
  expect(open().entries).toHaveLength(3)
})

it('is not made again where there is one, and a missing one is not made by itself', () => {
  expect(() => createJournal(path, owner, 1_000 as UnixMs)).toThrow('exists already')
  rmSync(path)
  expect(open).toThrow(`there is no journal at ${path}`)
})

it('is open in one process at a time, and a killed process leaves no lock', async () => {
  const script = `import { openJournal } from '${root}src/commands/payout/journal.ts'
globalThis.kept = openJournal(${JSON.stringify(path)}, ${JSON.stringify(owner)});
console.log('open'); setInterval(() => {}, 1000)`
  const child = spawn(`${root}node_modules/.bin/node`, ['--input-type=module-typescript', '-e', script], { cwd: root })
  await once(child.stdout, 'data')
  expect(open).toThrow('another process uses')
  appendFileSync(path, '') // the lock keeps out a second signer, not a program that appends to the file
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(open().entries).toEqual([])
})
