import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runOperate } from '../../src/commands/operate/command.ts'
import { type CommandEnd, callCommand, runCommand } from '../support/command.ts'
import { createDatabaseFile, fileOfD1 } from '../support/database-file.ts'
import { root } from '../support/project.ts'
import { testXpub } from '../support/variables.ts'

/** The id of the database in the wrangler.toml of tests. */
export const databaseId = '0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05'

/** The file in which wrangler stores a local database of the folder. */
export function databaseFileIn(folder: string, id = databaseId): string {
  return fileOfD1(join(folder, '.wrangler/state/v3/d1'), id)
}

/** Creates a local database of the folder, with the real migrations. */
export function createTables(folder: string, id = databaseId): void {
  createDatabaseFile(databaseFileIn(folder, id))
}

/** Runs one statement on a local database of the folder; returns its rows. */
export function rowsIn(folder: string, sql: string, id = databaseId): unknown {
  const db = new DatabaseSync(databaseFileIn(folder, id))
  const rows = db.prepare(sql).all()
  db.close()
  return rows.map((row) => ({ ...row }))
}

/** Puts a shell script in the place of wrangler. Returns the PATH on which commands find it. */
export function installWrangler(folder: string, script: string): { readonly PATH: string } {
  writeFileSync(join(folder, 'wrangler'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: [folder, '/usr/bin', '/bin'].join(delimiter) }
}

/**
 * Puts a quick stand-in in the place of wrangler, because wrangler takes seconds for each start.
 */
export const installQuickWrangler = (folder: string) =>
  installWrangler(folder, `exec '${process.execPath}' '${root}test/support/quick-wrangler.ts' "$@"`)

/**
 * Checks and removes the first line, which names the database. A command with wrong options ends
 * with code 2 and does not print this line.
 */
function afterFirstLine(end: CommandEnd): CommandEnd {
  if (end.code === 2) return end
  const [first = ''] = end.out.split('\n')
  if (!first.startsWith(`Acts on this machine: database x (${databaseId}), `)) throw new Error(end.all)
  const from = first.length + 1
  return { code: end.code, out: end.out.slice(from), all: end.all.slice(from) }
}

/**
 * Adds `--local`, unless the arguments choose a database themselves with `--production`, `--env` or
 * `--local`.
 */
const here = (args: readonly string[]) =>
  args.some((one) => /^--(production|env|local)\b|^-e/.test(one)) ? args : [...args, '--local']

/** A folder with a local database as wrangler stores it. */
export interface LocalDatabase {
  /**
   * Calls the function of `npm run operate`, with the stand-in for wrangler. The output is without
   * its first line, which names the database.
   */
  operate(...args: readonly string[]): Promise<CommandEnd>
  /** As `operate`, with these variables in the environment. */
  operateWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CommandEnd>
  /**
   * Runs `npm run operate` in a process, with the real wrangler. The output is without its first
   * line, which names the database.
   */
  operateByWrangler(...args: readonly string[]): Promise<CommandEnd>
  wrangler(...args: readonly string[]): Promise<CommandEnd>
  /** The folder in which the commands run. */
  readonly folder: string
  /** Runs a statement directly on the database's file; returns its rows. */
  rows(sql: string): unknown
  remove(): void
}

/**
 * Creates a folder with a local database, which has its tables or, without `hasTables`, is empty.
 */
export function createLocalDatabase({ hasTables = true } = {}): LocalDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'operate-'))
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[vars]\nTRON_XPUB = "${testXpub}"
[[d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "${databaseId}"
migrations_dir = "${root}migrations"\n`,
  )
  if (hasTables) createTables(folder)
  const environment = { WRANGLER_SEND_METRICS: 'false', CI: '1' }
  const quick = installQuickWrangler(folder)
  return {
    operate: async (...args) =>
      afterFirstLine(await callCommand(runOperate, here(args), { cwd: folder, environment: quick })),
    operateWith: async (variables, ...args) =>
      afterFirstLine(
        await callCommand(runOperate, here(args), { cwd: folder, environment: { ...quick, ...variables } }),
      ),
    operateByWrangler: async (...args) =>
      afterFirstLine(await runCommand('src/commands/operate/start.ts', here(args), { cwd: folder, environment })),
    wrangler: (...args) => runCommand('node_modules/wrangler/bin/wrangler.js', args, { cwd: folder, environment }),
    folder,
    rows: (sql) => rowsIn(folder, sql),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
