import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audit } from '../commands/audit/run-audit.ts'
import type { Deployment } from './deployment.ts'
import { readFixture, releasedVersions } from './fixture.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'released-archive-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes the bucket of a deployment as files. Returns the folder of its one cell. */
function writeBucket({ name, bucket }: Deployment): string {
  const root = join(folder, name)
  for (const [path, text] of Object.entries(bucket ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const [cell, ...others] = readdirSync(root)
  if (cell === undefined || others.length > 0) throw new Error(`${name} has not one cell`)
  return join(root, cell)
}

describe.each(releasedVersions())('the archives of %s', (version) => {
  it('are verified, and the entries of their databases come back, every one', async () => {
    const { deployments } = readFixture(version, folder)
    const archived = deployments.filter(({ bucket }) => bucket !== null)
    expect(archived.length).toBeGreaterThan(0)
    for (const deployment of archived) {
      const cell = writeBucket(deployment)
      expect(await audit('verify', cell)).toMatchObject({ code: 0, text: expect.not.stringContaining('does not know') })
      const file = join(folder, `${deployment.name}.sql`)
      expect(await audit('rebuild', cell, file)).toMatchObject({ code: 0 })
      const rebuilt = new DatabaseSync(':memory:')
      rebuilt.exec(readFileSync(file, 'utf8'))
      const entries = (db: DatabaseSync) =>
        db.prepare('SELECT id, wallet_id, type, amount, balance, osn, mark FROM stored_flow ORDER BY id').all()
      const [stored] = Object.values(deployment.databases)
      const back = entries(rebuilt)
      expect(back.length).toBeGreaterThan(0)
      // what the last run of the archive did not have yet is not in it
      expect(back).toEqual(stored === undefined ? [] : entries(stored).slice(0, back.length))
    }
  })
})
