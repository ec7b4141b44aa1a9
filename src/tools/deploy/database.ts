import * as z from 'zod/mini'
import { parseJson } from '../../common/parse-json.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { runWrangler } from './run-wrangler.ts'

/** Why a database that no migration was applied to has no rows. */
export const noTables = 'the database has no tables yet: apply the migrations'

/** A row of a result, by the names of its columns. Who reads it knows its statement. */
export type DatabaseRow = Readonly<Record<string, string | number | null>>

const rowSchema = z.record(z.string(), z.nullable(z.union([z.string(), z.number()])))
const replySchema = z.array(z.object({ results: z.array(rowSchema) }))

/**
 * Runs statements, separated by semicolons, on the database of an environment by wrangler ('' is the top level), or on that of this
 * machine where it is undefined. Returns the rows of each statement. The error is one sentence.
 */
export async function queryDatabase(
  env: string | undefined,
  ...statements: readonly string[]
): Promise<Result<readonly (readonly DatabaseRow[])[], string>> {
  const place = env === undefined ? ['--local', '--env='] : ['--remote', `--env=${env}`]
  const args = ['d1', 'execute', 'DB', ...place, '--json', '--command', statements.join('; ')]
  const { code, out, output } = await runWrangler(args, { isShown: false })
  if (code === null) return err('wrangler did not start: run "npm ci" first')
  const reply = replySchema.safeParse(parseJson(out.slice(Math.max(0, out.search(/^[[{]/m))))) // lines can come before it
  const isWhole = code === 0 && reply.success && reply.data.length === statements.length
  return isWhole ? ok(reply.data.map(({ results }) => results)) : err(explainRefusal(output))
}

/** A text as SQL. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The clock of the database, in milliseconds. */
export const databaseNow = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** A stored time, for people. */
export const timeOf = (ms: DatabaseRow[string] | undefined) => new Date(Number(ms)).toISOString()

/** The sentence of a trigger or a CHECK, or what is known of wrangler's own errors. */
function explainRefusal(output: string): string {
  if (output.includes('no such table')) return noTables
  if (/CLOUDFLARE_API_TOKEN|not logged in|Authentication error/i.test(output)) {
    return 'log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN'
  }
  const [refusal] = /CHECK constraint failed: \w+|\b[a-z_]+: [^:"\n]+(?=: SQLITE_CONSTRAINT)/.exec(output) ?? []
  return refusal ?? 'wrangler cannot use the database: "npx wrangler d1 execute DB" shows why'
}
