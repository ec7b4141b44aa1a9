import * as z from 'zod/mini'
import { parseJson } from '../../common/parse-json.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { StoredSetting } from '../../ledger/stored-setting.ts'
import { runWrangler } from '../deploy/run-wrangler.ts'

/** What the database of a deployment, or of this machine, has stored. */
export interface StoredData {
  readonly settings: readonly StoredSetting[]
  /** Index of the newest address, or null where none was issued. */
  readonly lastIndex: number | null
}

/** Reads stored data, or one sentence: why it could not be read. It never writes. */
export type ReadStored = () => Promise<Result<StoredData, string>>

const nothing: StoredData = { settings: [], lastIndex: null }

const isUsed = ['wallet', 'pending', 'deposit']
  .map(
    (table) => `EXISTS (SELECT 1 FROM ${table} WHERE cuy = CAST(substr(name, length('CURRENCIES.') + 1) AS INTEGER))`,
  )
  .join(' OR ')

/** Two statements, so two results. */
const command = `SELECT name, value, name NOT GLOB 'CURRENCIES.*' OR ${isUsed} AS used FROM stored_setting;
SELECT max(derivation_index) AS last FROM address`

const replySchema = z.tuple([
  z.object({ results: z.array(z.object({ name: z.string(), value: z.string(), used: z.number() })) }),
  z.object({ results: z.tuple([z.object({ last: z.nullable(z.number()) })]) }),
])
const refusalSchema = z.object({ error: z.object({ text: z.string() }) })

/** Reads the database of an environment by wrangler ('' is the top level), or that of this machine where it is undefined. */
export async function readStored(env: string | undefined): Promise<Result<StoredData, string>> {
  const place = env === undefined ? ['--local'] : ['--remote', `--env=${env}`]
  const args = ['d1', 'execute', 'DB', ...place, '--json', '--command', command]
  const { code, out } = await runWrangler(args, { isShown: false })
  if (code === null) return err('wrangler did not start; run "npm ci", then "npm run doctor"')
  const value = parseJson(out)
  const refusal = refusalSchema.safeParse(value)
  if (refusal.success) return explain(refusal.data.error.text)
  const reply = replySchema.safeParse(value)
  if (!reply.success) return err('the answer of wrangler cannot be read')
  const [settings, addresses] = reply.data
  return ok({
    settings: settings.results.map(({ name, value, used }) => ({ name, value, used: used === 1 })),
    lastIndex: addresses.results[0].last,
  })
}

/** A database without tables has nothing stored. The text of wrangler can be long: known ones get a short one. */
function explain(text: string): Result<StoredData, string> {
  if (text.includes('no such table')) return ok(nothing)
  if (/CLOUDFLARE_API_TOKEN|not logged in|Authentication error/i.test(text)) {
    return err('log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN')
  }
  return err('wrangler cannot read the database')
}
