import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compileCache } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'

/** How a command ended. */
interface CommandRun {
  readonly code: number
  readonly out: string
  readonly errors: string
}

/** A local database of the real wrangler with the real migrations, in a folder of its own. */
export interface LocalDatabase {
  /** Runs a command of `src/repair` in the folder. */
  command(file: string, ...args: string[]): Promise<CommandRun>
  /** The rows of a statement, run on the file of the database: a command of wrangler takes seconds. */
  rows(sql: string): unknown
  remove(): void
}

/** Creates the database. */
export async function createLocalDatabase(): Promise<LocalDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'repair-'))
  const start = (file: string, args: readonly string[]): Promise<CommandRun> => {
    const path = [`${root}node_modules/.bin`, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    const env = { PATH: path, HOME: folder, ...compileCache, WRANGLER_SEND_METRICS: 'false', CI: '1' }
    return new Promise((resolve) => {
      execFile(file, args, { cwd: folder, env }, (error, out, errors) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, errors }),
      )
    })
  }
  const files = join(folder, '.wrangler/state/v3/d1/miniflare-D1DatabaseObject')
  const database = 'binding = "DB"\ndatabase_name = "x"\ndatabase_id = "0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05"\n'
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[vars]\nTRON_XPUB = "${testXpub}"
[[d1_databases]]\n${database}migrations_dir = "${root}migrations"\n`,
  )
  const { code, errors } = await start(`${root}node_modules/.bin/wrangler`, [
    ...['d1', 'migrations', 'apply', 'DB', '--local', '--env='],
  ])
  if (code !== 0) throw new Error(errors)
  return {
    command: (file, ...args) => start(process.execPath, [`${root}src/repair/${file}`, ...args]),
    rows(sql) {
      const file = readdirSync(files).find((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite')
      const db = new DatabaseSync(join(files, file ?? 'missing'))
      const rows = db
        .prepare(sql)
        .all()
        .map((row) => ({ ...row }))
      db.close()
      return rows
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
