import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import { err, ok, type Result } from '../worker/common/result.ts'
import type { UserRange } from '../worker/common/user-range.ts'
import { toText } from '../worker/d1/database.ts'
import {
  type CurrencyRow,
  type Setting,
  type StoredSetting,
  selectCurrencies,
  selectSettings,
  selectUserRange,
  toStoredSettings,
} from '../worker/ledger/stored-settings.ts'
import { lastPrinted } from './child-environment.ts'
import { plainText } from './node-replies.ts'
import { commandIn, type Place } from './place.ts'
import type { ToolRefusal } from './tool-error.ts'
import { jsonAmong, queryMsMax, runWrangler } from './wrangler.ts'

/** The reason in the reply of a database to which no migration was applied. */
const noTables = 'the database has no tables yet'

/** A row of a result, by column names. The caller knows the types from its statement. */
export type DatabaseRow = Readonly<Record<string, string | number | null>>
/** The rows of each statement, in order, or why the statements failed. */
type QueryReply = Result<readonly (readonly DatabaseRow[])[], ToolRefusal>

const rowSchema = z.record(z.string(), z.nullable(z.union([z.string(), z.number()])))
const replySchema = z.array(z.object({ results: z.array(rowSchema) }))

/**
 * Runs statements on the database of a deployment, or on that of this machine, through wrangler.
 * The error has the remedy.
 */
export function queryDatabase(place: Place, ...statements: readonly string[]): Promise<QueryReply> {
  return execute(place, [], statements)
}

/** Where wrangler keeps local databases, below the folder with all its state. */
const localFiles = 'v3/d1/miniflare-D1DatabaseObject'

/**
 * Runs statements that only read, as `queryDatabase` does. For a local database it reads a copy: a
 * second wrangler process on the same file could make a statement of the running service fail
 * (SQLITE_BUSY), and with it a tick.
 */
export async function readDatabase(place: Place, ...statements: readonly string[]): Promise<QueryReply> {
  if (place.env !== undefined) return queryDatabase(place, ...statements)
  const [folder, copy] = [join('.wrangler/state', localFiles), mkdtempSync(join(tmpdir(), 'tron-wallet-service-'))]
  try {
    mkdirSync(join(copy, localFiles), { recursive: true })
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (name.endsWith('.sqlite')) await copyDatabase(join(folder, name), join(copy, localFiles, name))
    }
    return await execute(place, ['--persist-to', copy], statements)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/**
 * Copies a database while the service may be writing: in its journal mode (WAL), a reader blocks no
 * writer.
 */
async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    // all pages in one step, because a write between two steps would start the copy again
    await backup(source, to, { rate: 1_000_000 })
  } finally {
    source.close()
  }
}

async function execute(place: Place, options: readonly string[], statements: readonly string[]): Promise<QueryReply> {
  const args = [
    'd1',
    'execute',
    place.binding,
    ...databaseOptions(place.env),
    ...options,
    '--json',
    '--command',
    statements.join('; '),
  ]
  const { code, out, output, failure } = await runWrangler(args, queryMsMax)
  if (failure !== null)
    return err({ why: failure, next: 'run "npm ci" if that was not done here, then this command again' })
  const reply = jsonAmong(out, (value) => {
    const { success, data } = replySchema.safeParse(value)
    return success && data.length === statements.length ? data : undefined
  })
  return code === 0 && reply !== undefined
    ? ok(reply.map(({ results }) => results))
    : err(explainRefusal(place, output))
}

/**
 * The options by which wrangler finds the database of an environment ('' is the top level), or that
 * of this machine.
 */
export const databaseOptions = (env: string | undefined) =>
  env === undefined ? ['--local', '--env='] : ['--remote', `--env=${env}`]

/** The pattern of wrangler's message that it may not use the account, and the remedy. */
export const loginAdvice = {
  pattern: /CLOUDFLARE_API_TOKEN|not logged in|Authentication error/i,
  text: 'log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN',
}

/** What to do if a trigger refuses the statement of a command, by the message of the trigger. */
const advice: Readonly<Record<string, string>> = {
  'rescan: blocks above the position are not read yet':
    'wait until the scan has read the last of these blocks ("scanned" in GET /health), and run the command again',
  'correction: finalized must be below the stored one':
    'nothing has to be corrected at that height: name one below "finalized" in GET /health',
  'stored_currency: deposits of the currency are credited':
    'set the decimals in CURRENCIES back to those that are stored, which credited deposits have; if these are wrong, retire the currency',
  'stored_currency: payouts of the currency are open':
    'have each of them paid or cancelled first: they have their amounts by the decimals that are stored',
}

/**
 * Why the database or wrangler refused a statement, and what to do. `output` is that of wrangler.
 */
function explainRefusal(place: Place, output: string): ToolRefusal {
  if (output.includes('no such table')) {
    return { why: noTables, next: `apply the migrations: ${commandIn({ ...place, cell: null }, 'db:migrate')}` }
  }
  if (loginAdvice.pattern.test(output)) return { why: 'wrangler may not use the account', next: loginAdvice.text }
  const [refusal] = /CHECK constraint failed: \w+|\b[a-z_]+: [^:"\n]+(?=: SQLITE_CONSTRAINT)/.exec(output) ?? []
  if (refusal !== undefined) {
    return {
      why: refusal,
      next: advice[refusal] ?? 'nothing was changed: compare what was asked for with what is stored',
    }
  }
  const shown = `npx wrangler d1 execute ${place.binding} ${databaseOptions(place.env).join(' ')} --command 'SELECT 1'`
  return { why: `wrangler cannot use the database; ${lastPrinted(output)}`, next: `run ${shown}, which shows why` }
}

/** Quotes a text as an SQL string, because wrangler runs statements without parameters. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** An SQL expression for the database's own clock, in milliseconds since 1970. */
export const databaseNow = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** Formats a stored time (milliseconds since 1970) as an ISO instant. */
export const timeOf = (ms: DatabaseRow[string] | undefined) => new Date(Number(ms)).toISOString()

/** What commands read of the database of a deployment or of this machine, to compare it. */
export interface StoredData {
  readonly settings: readonly StoredSetting[]
  /** Index of the newest address, or null if none was issued. */
  readonly lastIndex: number | null
  /** The number of the newest migration that was applied whole; null if the database is empty. */
  readonly migration: number | null
}

/** Reads stored data, or fails with the reason. It never writes. */
export type ReadStored = () => Promise<Result<StoredData, ToolRefusal>>

const storedSql = [
  ...[selectSettings, selectCurrencies(sql`1`), selectUserRange].map(toText),
  'SELECT max(derivation_index) AS last FROM address',
  'SELECT number FROM newest_migration',
]

/**
 * Reads the stored data of a deployment or of this machine. The result is empty if the database has
 * no tables.
 */
export async function readStored(place: Place): Promise<Result<StoredData, ToolRefusal>> {
  const reply = await readDatabase(place, ...storedSql)
  if (!reply.ok) return isEmpty(reply.error) ? ok({ settings: [], lastIndex: null, migration: null }) : reply
  const [settings = [], currencies = [], ranges = [], [address] = [], [newest] = []] = reply.value
  return ok({
    // safe: the columns of the statements
    settings: toStoredSettings(
      settings as unknown as Setting[],
      currencies as unknown as CurrencyRow[],
      ranges as unknown as UserRange[],
    ),
    lastIndex: typeof address?.last === 'number' ? address.last : null,
    migration: typeof newest?.number === 'number' ? newest.number : null,
  })
}

/** Reads the names of the migrations that wrangler has applied to a database. */
export async function readApplied(place: Place): Promise<Result<readonly string[], ToolRefusal>> {
  const reply = await readDatabase(place, 'SELECT name FROM d1_migrations ORDER BY id')
  if (!reply.ok) return isEmpty(reply.error) ? ok([]) : reply
  return ok((reply.value[0] ?? []).map(({ name }) => plainText(String(name))))
}

const isEmpty = ({ why }: ToolRefusal) => why === noTables
