import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CommandEnd, runCommand } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'

/** A local database with the real migrations, in a folder of its own, as wrangler keeps it. */
export interface LocalDatabase {
  /** Runs `npm run operate`. */
  operate(...args: readonly string[]): Promise<CommandEnd>
  /** Runs the real wrangler. */
  wrangler(...args: readonly string[]): Promise<CommandEnd>
  /** The folder of the commands. */
  readonly folder: string
  /** The file of the database. */
  file(): string
  /** The rows of a statement, run on the file of the database: a command of wrangler takes seconds. */
  rows(sql: string): unknown
  remove(): void
}

/**
 * Creates the database, with its tables or still empty. With `isQuick`, a stand-in takes the place of wrangler, of which each start
 * takes seconds.
 */
export async function createLocalDatabase({ hasTables = true, isQuick = false } = {}): Promise<LocalDatabase> {
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
  const wrangler = (...args: readonly string[]) =>
    runCommand('node_modules/wrangler/bin/wrangler.js', args, { cwd: folder, environment })
  const file = () => join(files, readdirSync(files).find((name) => /^(?!metadata).*\.sqlite$/.test(name)) ?? 'missing')
  if (isQuick) {
    mkdirSync(files, { recursive: true })
    const db = new DatabaseSync(join(files, 'local.sqlite'))
    for (const name of readdirSync(`${root}migrations`).sort()) {
      if (name.endsWith('.sql')) db.exec(readFileSync(`${root}migrations/${name}`, 'utf8'))
    }
    db.close()
    const command = `exec '${process.execPath}' '${root}test/support/quick-wrangler.ts' "$@"`
    writeFileSync(join(folder, 'wrangler'), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  } else if (hasTables) {
    const { code, all } = await wrangler('d1', 'migrations', 'apply', 'DB', '--local', '--env=')
    if (code !== 0) throw new Error(all)
  }
  return {
    operate: (...args) => {
      const first = isQuick ? [folder] : []
      const PATH = [...first, `${root}node_modules/.bin`, process.env.PATH ?? ''].join(delimiter)
      return runCommand('src/tools/operate/start.ts', args, { cwd: folder, environment: { ...environment, PATH } })
    },
    wrangler,
    folder,
    file,
    rows(sql) {
      const db = new DatabaseSync(file())
      const rows = db.prepare(sql).all()
      db.close()
      return rows.map((row) => ({ ...row }))
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
