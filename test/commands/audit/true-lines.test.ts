import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listArchives } from '../../../src/commands/audit/archive-files.ts'
import { readTrueLines } from '../../../src/commands/audit/true-lines.ts'
import { writeArchive } from './archive-builder.ts'
import { createStory } from './archive-story.ts'

it('the true lines are in order, without those that an epoch has made untrue', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const story = createStory()
  for (const osn of ['a', 'b', 'c']) story.post(1, 2, 5, 1n, osn)
  const [a, b, c] = story.lines
  if (a === undefined || b === undefined || c === undefined) throw new Error('a line is missing')
  // a segment has its first line and two others: numbers 1 and 2, 4 and 5, then the epoch with 7
  const lines = [a, b, b, c, { row: 'epoch', common: 2, event: 2 }, c]
  writeArchive(folder, lines, { rows: 2 })
  const [cell] = listArchives(folder)
  const found = [...readTrueLines(cell?.segments ?? [])].map(({ number, line }) => [number, line])
  expect(found).toEqual([
    [1, a],
    [2, b],
    [7, c],
  ])
  rmSync(folder, { recursive: true })
})
