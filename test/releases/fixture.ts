import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { applyMigrations } from '../support/database-file.ts'
import { root } from '../support/project.ts'
import type { Answer } from './answers.ts'
import { copyDatabase, type Deployment } from './deployment.ts'
import type { KeptBundle } from './kept-bundle.ts'

/** What a release keeps for the tests of later versions. */
export interface Fixture {
  readonly version: string
  readonly bundle: KeptBundle
  readonly deployments: readonly Deployment[]
  /** What the release answered, by the name of the deployment. */
  readonly answers: Readonly<Record<string, readonly Answer[]>>
  readonly changes: readonly Change[]
}

/** A change of answers that a later version has made on purpose. */
export interface Change {
  /** What the changelog says about it, word for word. */
  readonly changelog: string
  readonly path: string
  /**
   * The members of the answer that differ, such as `data.list.reason`; `*` for the whole answer.
   */
  readonly members: readonly string[]
}

const folder = join(root, 'test/releases')
const folderOf = (version: string) => join(folder, version)
/** The versions that are released. */
export const releasedVersions = () => readdirSync(folder).filter((name) => /^\d+\.\d+\.\d+$/.test(name))

/** Writes a fixture. Throws if there is one of this version, because what is released stays. */
export function writeFixture({ version, bundle, deployments, answers }: Omit<Fixture, 'changes'>): void {
  const own = folderOf(version)
  if (releasedVersions().includes(version))
    throw new Error(`test/releases/${version} exists, and what was released is never made again.`)
  mkdirSync(own)
  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(own, name), text)
  const pack = (name: string, content: string | Uint8Array) => write(name, gzipSync(content, { level: 9 }))
  for (const { name, databases } of deployments) {
    for (const [binding, db] of Object.entries(databases)) pack(`${name}.${binding}.sqlite.gz`, bytesOf(db))
  }
  pack('bundle.json.gz', JSON.stringify(bundle))
  const stored = deployments.map(({ databases, ...one }) => ({ ...one, databases: Object.keys(databases) }))
  pack('deployments.json.gz', JSON.stringify(stored, withMaps))
  pack('answers.json.gz', JSON.stringify(answers))
  write('changes.json', '[]\n')
}

/** For `JSON.stringify`: a map, such as Durable Objects store, becomes `{ map: entries }`. */
export const withMaps = (_: string, value: unknown) => (value instanceof Map ? { map: [...value] } : value)
const readMaps = (_: string, value: unknown) =>
  isObject(value) && Array.isArray(value.map) && Object.keys(value).length === 1 ? new Map(value.map) : value
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** A database as a file, with wrangler's list of the applied migrations. */
function bytesOf(db: DatabaseSync): Uint8Array {
  const own = mkdtempSync(join(tmpdir(), 'fixture-'))
  const file = join(own, 'database')
  const copy = copyDatabase(db, file)
  copy.exec('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP)')
  const insert = copy.prepare('INSERT INTO d1_migrations (name, applied_at) VALUES (?, ?)')
  const names = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'))
  for (const name of names.sort()) insert.run(name, '2023-11-14 22:13:20')
  copy.close()
  const bytes = readFileSync(file)
  rmSync(own, { recursive: true })
  return bytes
}

/** What later versions have changed on purpose. */
export function readChanges(version: string): readonly Change[] {
  return JSON.parse(readFileSync(join(folderOf(version), 'changes.json'), 'utf8')) as readonly Change[] // safe: see `Change`
}

/** Reads a fixture; its databases are copies in `into`, as the release left them. */
export function readFixture(version: string, into: string): Fixture {
  const unpack = (name: string) => gunzipSync(readFileSync(join(folderOf(version), name)))
  const parse = <T>(name: string) => JSON.parse(unpack(name).toString(), readMaps) as T // safe: `writeFixture` has written it
  type Stored = Omit<Deployment, 'databases'> & { readonly databases: readonly string[] }
  const deployments = parse<readonly Stored[]>('deployments.json.gz').map((one) => {
    const opened = one.databases.map((binding) => {
      const file = fileOf(into, one.name, binding)
      writeFileSync(file, unpack(`${one.name}.${binding}.sqlite.gz`))
      return [binding, new DatabaseSync(file)] as const
    })
    return { ...one, databases: Object.fromEntries(opened) }
  })
  return {
    version,
    bundle: parse('bundle.json.gz'),
    deployments,
    answers: parse('answers.json.gz'),
    changes: readChanges(version),
  }
}

/** The file of a database of a fixture that was read into `into`. */
export const fileOf = (into: string, deployment: string, binding: string) =>
  join(into, `${deployment}.${binding}.sqlite`)

/** Applies the migrations that came after the release, and further SQL, to all its databases. */
export function migrateFixture({ deployments }: Fixture, into: string, further = ''): void {
  for (const { name, databases } of deployments) {
    for (const [binding, db] of Object.entries(databases)) {
      applyMigrations(fileOf(into, name, binding))
      db.exec(further)
    }
  }
}
