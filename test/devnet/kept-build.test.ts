import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../support/project.ts'
import { writeCellsFolder } from './cells.ts'
import { keepBuild } from './kept-build.ts'

let folder = ''
beforeAll(async () => {
  folder = `${mkdtempSync(join(tmpdir(), 'kept-'))}/`
  await writeCellsFolder(folder, 2, readFileSync(`${root}test/devnet/dev.vars`, 'utf8'), null)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a build is kept while its sources are the same, without what .dev.vars says', { timeout: 300_000 }, async () => {
  const first = await keepBuild(folder)
  const kept = `${folder}.wrangler/kept-build.json`
  const { ino } = statSync(kept)
  expect(await keepBuild(folder)).toEqual(first)
  expect(statSync(kept).ino).toBe(ino) // it is written to a new file
  expect(Object.keys(first.bindings)).toEqual(['TRON_CHAIN_ID', 'TRON_NODES', 'CURRENCIES'])
  expect(readFileSync(kept, 'utf8')).not.toContain('BACKEND_JWT_SECRET="')
  appendFileSync(`${folder}wrangler.json`, '\n')
  expect((await keepBuild(folder)).script).toBe(first.script)
  expect(statSync(kept).ino).not.toBe(ino)
})

it('a configuration that wrangler refuses is refused in its words', { timeout: 300_000 }, async () => {
  const broken = `${mkdtempSync(join(tmpdir(), 'kept-'))}/`
  await writeCellsFolder(broken, 1, '', null)
  appendFileSync(`${broken}wrangler.json`, '}')
  await expect(keepBuild(broken)).rejects.toThrow(
    /The Worker could not be built .*build-worker\.ts\):\n.*wrangler\.json/s,
  )
  rmSync(broken, { recursive: true })
})
