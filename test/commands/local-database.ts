import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runOperate } from '../../src/commands/operate/command.ts'
import { type CommandEnd, callCommand, runCommand } from '../support/command.ts'
import { createDatabaseFile, fileOfD1 } from '../support/database-file.ts'
import { root } from '../support/project.ts'
import { testXpub } from '../support/variables.ts'

/** The id of the database in the configurations of tests. */
export const databaseId = '0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05'

/** Where wrangler keeps a local database of a folder. */
export function databaseFileIn(folder: string, id = databaseId): string {
  return fileOfD1(join(folder, '.wrangler/state/v3/d1'), id)
}

/** Creates a local database of a folder with the real migrations. */
export function createTables(folder: string, id = databaseId): void {
  createDatabaseFile(databaseFileIn(folder, id))
}

/** Runs a statement on a local database of a folder, and returns its rows. */
export function rowsIn(folder: string, sql: string, id = databaseId): unknown {
  const db = new DatabaseSync(databaseFileIn(folder, id))
  const rows = db.prepare(sql).all()
  db.close()
  return rows.map((row) => ({ ...row }))
}

/** Installs a program in the place of wrangler. The result is the PATH on which it is found. */
export function installWrangler(folder: string, script: string): { readonly PATH: string } {
  writeFileSync(join(folder, 'wrangler'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: [folder, '/usr/bin', '/bin'].join(delimiter) }
}

/** Installs the stand-in for wrangler, of which each start takes seconds. */
export const installQuickWrangler = (folder: string) =>
  installWrangler(folder, `exec '${process.execPath}' '${root}test/support/quick-wrangler.ts' "$@"`)

/** What a command writes after its first line, which names this database. With wrong options it has none. */
function afterFirstLine(end: CommandEnd): CommandEnd {
  if (end.code === 2) return end
  const [first = ''] = end.out.split('\n')
  if (!first.startsWith(`Acts on this machine: database x (${databaseId}), `)) throw new Error(end.all)
  const from = first.length + 1
  return { code: end.code, out: end.out.slice(from), all: end.all.slice(from) }
}

/** The words of a command, on this machine unless they name another place. */
const here = (args: readonly string[]) =>
  args.some((one) => /^--(production|env|local)\b|^-e/.test(one)) ? args : [...args, '--local']

/** A local database in a folder of its own, as wrangler keeps it. */
export interface LocalDatabase {
  /** Calls the function of `npm run operate`, with the stand-in for wrangler. The outputs come without their first line. */
  operate(...args: readonly string[]): Promise<CommandEnd>
  /** The same, with these variables in its environment. */
  operateWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CommandEnd>
  /** Runs `npm run operate` with the real wrangler. */
  operateByWrangler(...args: readonly string[]): Promise<CommandEnd>
  /** Runs the real wrangler. */
  wrangler(...args: readonly string[]): Promise<CommandEnd>
  /** The folder of the commands. */
  readonly folder: string
  /** The rows of a statement, run on the file of the database. */
  rows(sql: string): unknown
  remove(): void
}

/** Creates the database, with its tables or still empty. */
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
