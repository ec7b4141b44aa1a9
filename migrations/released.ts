/**
 * `released.txt` has the SHA-256 of each migration that a release contained, as `sha256sum` writes
 * it. Such a file is never edited, because databases have applied it.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the migrations, with a slash at its end. */
export const folder = fileURLToPath(new URL('.', import.meta.url).href)
const list = `${folder}released.txt`

/** The text of each migration by its name, in the order in which they are applied. */
export function readMigrations(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return new Map(names.sort().map((name) => [name, readFileSync(folder + name, 'utf8')]))
}

/** The SHA-256 of each released migration by its name; none before the first release. */
export function readReleased(): ReadonlyMap<string, string> {
  const lines = readFileSync(list, 'utf8').matchAll(/^(\w+) {2}(.+)$/gm)
  return new Map([...lines].map(([, hash = '', name = '']) => [name, hash]))
}

/** What was done to released migrations: a sentence for each that is gone or has been edited. */
export function findEdited(
  migrations: ReadonlyMap<string, string>,
  released: ReadonlyMap<string, string>,
): readonly string[] {
  return [...released].flatMap(([name, hash]) => {
    const sql = migrations.get(name)
    if (sql !== undefined && hashOf(sql) === hash) return []
    return [
      `migrations/${name} was released, and is ${sql === undefined ? 'gone' : 'edited'}. Databases have applied it and would never get ` +
        `the change: take it back (git checkout), and write a new migration (docs/database.md, "Adding a migration").`,
    ]
  })
}

/** Lists all migrations as released. Throws if one that was released before has been edited. */
export function releaseMigrations(): void {
  const migrations = readMigrations()
  const edited = findEdited(migrations, readReleased())
  if (edited.length > 0) throw new Error(edited.join('\n'))
  writeFileSync(list, [...migrations].map(([name, sql]) => `${hashOf(sql)}  ${name}\n`).join(''))
}

const hashOf = (sql: string) => createHash('sha256').update(sql).digest('hex')
