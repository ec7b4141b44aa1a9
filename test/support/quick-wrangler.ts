/**
 * A stand-in for `wrangler d1 execute DB --local --json --command <sql>`, which takes seconds to
 * start. It runs the statements on the same file, in one transaction, and prints the same form of
 * output. `test/commands/operate/busy.test.ts` checks the real wrangler's answers.
 */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileOfD1 } from './database-file.ts'
import { printLine } from './project.ts'

const args = process.argv.slice(2)
const optionOf = (name: string, otherwise: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise)
const binding = args[args.indexOf('execute') + 1]
const entry = new RegExp(`binding = "${binding}"\n[^[]*database_id = "([^"]+)"`)
const [, id = ''] = entry.exec(readFileSync('wrangler.toml', 'utf8')) ?? []
const db = new DatabaseSync(fileOfD1(`${optionOf('--persist-to', '.wrangler/state')}/v3/d1`, id))
/** Splits the command at semicolons outside of quoted text. */
const statements = (optionOf('--command', '') ?? '').match(/(?:'(?:[^']|'')*'|[^;'])+/g) ?? []
db.exec('BEGIN')
try {
  const replies = statements.map((sql) => ({ results: db.prepare(sql).all(), success: true }))
  db.exec('COMMIT')
  printLine(JSON.stringify(replies))
} catch (error) {
  printLine(JSON.stringify({ error: { text: `${error instanceof Error ? error.message : error}: SQLITE_CONSTRAINT` } }))
  process.exitCode = 1
}
