import type { ReadDatabase } from '../worker/d1/database.ts'
import { quoted, readDatabase } from './database.ts'
import type { Place } from './place.ts'
import { orRefuse } from './tool-error.ts'

/** Runs statements that only read, and returns the rows of each. */
export type QueryRows = (statements: readonly string[]) => Promise<readonly (readonly object[])[]>

/**
 * Reads the database of a deployment, or of this machine, through wrangler. A database that cannot
 * be read throws a `ToolError`.
 */
export const rowsOf =
  (place: Place): QueryRows =>
  async (statements) =>
    orRefuse(await readDatabase(place, ...statements))

/**
 * A database for functions of the service that only read, so that a command decides by the same
 * function as the service. Its statements have their values in their text, because wrangler runs
 * statements without parameters. It has only the part of D1 that those functions use: `prepare`,
 * `bind`, `batch`, `all`, `first` and `raw`.
 */
export function openForReading(read: QueryRows): ReadDatabase {
  const statement = (text: string, values: readonly unknown[]) => ({
    text: () => withValues(text, values),
    bind: (...given: readonly unknown[]) => statement(text, given),
    all: async () => ({ results: (await read([withValues(text, values)]))[0] ?? [] }),
    first: async () => (await read([withValues(text, values)]))[0]?.[0] ?? null,
    // the columns are in the order in which the statement names them
    raw: async () => ((await read([withValues(text, values)]))[0] ?? []).map((row) => Object.values(row)),
  })
  const database = {
    prepare: (text: string) => statement(text, []),
    batch: async (statements: readonly { text(): string }[]) =>
      (await read(statements.map(({ text }) => text()))).map((results) => ({ results })),
  }
  return database as unknown as ReadDatabase // safe: see the comment above
}

/** Puts values in the places of the question marks outside quotes, in order. */
function withValues(text: string, values: readonly unknown[]): string {
  let next = 0
  return text.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === '?' ? literal(values[next++]) : part))
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  throw new Error(`a value of the type ${typeof value} has no literal`)
}
