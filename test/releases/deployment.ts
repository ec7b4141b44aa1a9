import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { RunningService } from '../http/service.ts'
import { withSessions } from '../simulation/database.ts'
import type { ChainBlock } from '../support/block-json.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'

/** A deployment at one moment, with all that is needed to go on from there. */
export interface Deployment {
  readonly name: string
  /** When it stopped, in milliseconds since 1970. */
  readonly nowMs: number
  /** Variables and secrets. */
  readonly variables: Readonly<Record<string, unknown>>
  /** The databases by their bindings. */
  readonly databases: Readonly<Record<string, DatabaseSync>>
  /** The storage of its Durable Objects, by name and key. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly nodes: StoredNodes
  /** The objects of its bucket by name; null if it has no archive. */
  readonly bucket: Readonly<Record<string, string>> | null
}

/** What its nodes show. */
export interface StoredNodes {
  readonly firstHeight: number
  readonly blocks: readonly ChainBlock[]
  readonly finalityLag: number
  /** Balances as in `ScriptedNode`, as decimal digits. */
  readonly balances: Readonly<Record<string, string>>
  readonly decimals: Readonly<Record<string, number>>
}

/** Makes the clock of a database show `now`, in milliseconds since 1970. */
export function setClock(sqlite: DatabaseSync, now: () => number): void {
  sqlite.function('unixepoch', { varargs: true }, () => now() / 1000)
}

/** A database and a D1 over it. */
export interface OpenDatabase {
  readonly sqlite: DatabaseSync
  readonly db: D1Database
  /** What `unixepoch()` says in it, in milliseconds since 1970. */
  now: () => number
}

/**
 * Opens a database with a clock of its own, which at first shows `startMs`: that in a file, or else
 * an empty one with all migrations.
 */
export function openDatabase(startMs: number, file?: string): OpenDatabase {
  const { sqlite, connect } = openSqliteD1(file)
  const size = sqlite.prepare('SELECT page_count * page_size AS size_after FROM pragma_page_count, pragma_page_size')
  const db = connect(async (work) => {
    const result = work()
    // each answer of D1 has the size of the database
    for (const one of [result].flat()) if (isObject(one) && isObject(one.meta)) Object.assign(one.meta, size.get())
    return result
  })
  const opened: OpenDatabase = { sqlite, db: withSessions(db), now: () => startMs }
  setClock(sqlite, () => opened.now())
  return opened
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** When the first block of the tests' chains is made, in milliseconds since 1970. */
export const chainStartMs = 1_700_000_000_000

/** The binding of the bucket, as deployments of tests name it. */
export const bucketName = 'ARCHIVE_BUCKET'

/** A bucket in memory. */
export function openBucket(objects: Map<string, string>): object {
  return {
    async put(name: string, text: string) {
      if (objects.has(name)) return null
      objects.set(name, text)
      return {}
    },
    async get(name: string) {
      const text = objects.get(name)
      return text === undefined ? null : { text: async () => text }
    },
    async list({ prefix = '', startAfter = '' }: R2ListOptions) {
      const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > startAfter)
      return { objects: names.sort((a, b) => (a < b ? -1 : 1)).map((key) => ({ key })) }
    },
  }
}

/** A running service as a deployment: all but its databases and the bucket. */
export function stop(
  name: string,
  service: RunningService,
  databases: Deployment['databases'],
  objects: ReadonlyMap<string, string> | null = null,
): Deployment {
  const [node] = service.nodes
  if (node === undefined) throw new Error('a service has nodes')
  const { chain, balances, decimals, finalityLag } = node
  const heights = Array.from({ length: chain.tip().height - chain.firstHeight + 1 }, (_, i) => chain.firstHeight + i)
  // functions and objects are bindings, all else is variables
  const isVariable = ([key, value]: [string, unknown]) =>
    !/^(SCANNER|ENDPOINT|BLOCKS|DB(_\d)?|ARCHIVE_BUCKET)$/.test(key) && value !== undefined
  return {
    name,
    nowMs: Math.round(service.clock.seconds * 1000),
    variables: Object.fromEntries(Object.entries(service.bindings).filter(isVariable)),
    databases,
    objects: Object.fromEntries([...service.hosts].map(([one, { values }]) => [one, Object.fromEntries(values)])),
    nodes: {
      firstHeight: chain.firstHeight,
      blocks: heights.flatMap((height) => chain.at(height) ?? []),
      finalityLag,
      balances: Object.fromEntries([...balances].map(([key, units]) => [key, String(units)])),
      decimals: Object.fromEntries(decimals),
    },
    bucket: objects === null ? null : Object.fromEntries(objects),
  }
}

/**
 * Copies a database, also one in the middle of a transaction, into a file or into memory. Triggers
 * come after the rows, so that they do not fire.
 */
export function copyDatabase(from: DatabaseSync, file = ':memory:'): DatabaseSync {
  const to = new DatabaseSync(file)
  const parts = from
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    .all()
  const ofType = (type: string) => parts.filter((part) => part.type === type)
  to.exec('BEGIN')
  for (const { name, sql } of ofType('table')) {
    to.exec(String(sql))
    // without generated columns, which `table_info` leaves out
    const columns = to.prepare('SELECT name FROM pragma_table_info(?)').all(String(name))
    const names = columns.map((column) => `"${column.name}"`).join()
    const read = from.prepare(`SELECT ${names} FROM ${name}`)
    read.setReadBigInts(true)
    read.setReturnArrays(true)
    const write = to.prepare(`INSERT INTO ${name} (${names}) VALUES (${columns.map(() => '?').join()})`)
    // safe: rows are arrays here
    for (const row of read.all() as unknown as readonly SQLInputValue[][]) write.run(...row)
  }
  for (const type of ['index', 'view', 'trigger']) for (const { sql } of ofType(type)) to.exec(String(sql))
  to.exec('COMMIT')
  return to
}
