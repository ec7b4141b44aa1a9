import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CommandEnd, runCommand } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'

/** A local database with the real migrations, in a folder of its own, as wrangler keeps it. */
export interface LocalDatabase {
  /** Runs `npm run operate` with the real wrangler. */
  operate(...args: readonly string[]): Promise<CommandEnd>
  /** The rows of a statement, run on the file of the database: a command of wrangler takes seconds. */
  rows(sql: string): unknown
  remove(): void
}

/** Creates the database. */
export async function createLocalDatabase(): Promise<LocalDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'operate-'))
  const environment = { WRANGLER_SEND_METRICS: 'false', CI: '1' }
  const files = join(folder, '.wrangler/state/v3/d1/miniflare-D1DatabaseObject')
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[vars]\nTRON_XPUB = "${testXpub}"
[[d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05"
migrations_dir = "${root}migrations"\n`,
  )
  const migrate = ['d1', 'migrations', 'apply', 'DB', '--local', '--env=']
  const { code, all } = await runCommand('node_modules/wrangler/bin/wrangler.js', migrate, { cwd: folder, environment })
  if (code !== 0) throw new Error(all)
  return {
    operate: (...args) => runCommand('src/tools/operate/start.ts', args, { cwd: folder, environment }),
    rows(sql) {
      const file = readdirSync(files).find((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite')
      const db = new DatabaseSync(join(files, file ?? 'missing'))
      const rows = db.prepare(sql).all()
      db.close()
      return rows.map((row) => ({ ...row }))
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
