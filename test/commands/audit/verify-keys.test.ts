import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readNote } from '../../../src/worker/archive/note.ts'
import { cellName, laterVerifierKey, noteOf, verifierKey, writeArchive } from './archive-builder.ts'
import { usualLines } from './archive-story.ts'
import { audit } from './run-audit.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('takes the keys of an archive whose key was replaced, in their order', async () => {
  writeArchive(folder, usualLines(), { rows: 7 })
  const cell = join(folder, cellName, 'checkpoints')
  const signLater = (name: string) => {
    const note = readNote(readFileSync(join(cell, name), 'utf8'))
    if (!note.ok) throw new Error(note.error)
    const { size, root } = note.value.checkpoint
    writeFileSync(join(cell, name), noteOf(size, root, true))
  }
  const names = readdirSync(cell).sort()
  for (const name of names.slice(-3)) signLater(name)
  const verify = async (...keys: readonly string[]) => {
    const { code, text } = await audit('verify', folder, ...keys.flatMap((key) => ['--verifier', key]))
    const [, file, why] = /WRONG \S*\/(\S+?): (.*)\.\n/.exec(text) ?? []
    return { code, file, why }
  }
  expect(await verify(verifierKey, laterVerifierKey)).toMatchObject({ code: 0 })
  const [first, later] = [names.at(0), names.at(-3)]
  expect(await verify(verifierKey)).toMatchObject({ code: 1, file: later })
  expect(await verify(laterVerifierKey)).toMatchObject({ code: 1, file: first })
  expect(await verify(laterVerifierKey, verifierKey)).toMatchObject({ code: 1, file: later })
  // whoever has found the first key writes with it what the later one has not signed
  signLater(first ?? '')
  const replaced = 'its key had been replaced before: a later one has signed'
  expect(await verify(verifierKey, laterVerifierKey)).toMatchObject({ code: 1, file: names[1], why: replaced })
  writeArchive(folder, usualLines(), { rows: 7 })
  const notLast = 'the newest checkpoint is not signed by the last --verifier'
  expect(await verify(verifierKey, laterVerifierKey)).toMatchObject({ code: 1, file: names.at(-1), why: notLast })
})
