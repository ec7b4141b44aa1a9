/**
 * `npm run reserve -- --to <index>`: stores every address up to this index that the database does not have, for no caller. After a
 * restore it keeps the service from issuing an address again that was issued after the copy. Without `--production` or
 * `--env <name>` it is the local database's. Exit codes: 0 stored, 1 refused, 2 wrong options.
 */
import { parseArgs } from 'node:util'
import { indexMax, parseExtendedPublicKey } from '../addresses/derive.ts'
import { err, ok, type Result } from '../common/result.ts'
import { runWrangler } from '../deploy/run-wrangler.ts'
import { readConfiguration } from '../doctor/read-configuration.ts'
import { readStored } from '../doctor/read-stored.ts'
import { databaseOf } from './database-place.ts'
import { reserveSql } from './reserve-sql.ts'

const usage = 'npm run reserve -- --to <index> [--production | --env <name>]'
/** Most indices of one call: more are probably a mistake. */
const reservedMax = 100_000

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (!options.ok) {
    process.stderr.write(`${options.error}\n${usage}\n`)
    return 2
  }
  const reserved = await reserve(options.value.to, options.value.env)
  if (reserved.ok) process.stdout.write(`${reserved.value}\n`)
  else process.stderr.write(`Nothing is changed: ${reserved.error}\n`)
  return reserved.ok ? 0 : 1
}

async function reserve(to: number, env: string | undefined): Promise<Result<string, string>> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return source
  const key = parseExtendedPublicKey(String(source.value.values.TRON_XPUB ?? ''))
  if (!key.ok) return err(`TRON_XPUB: ${key.error}`)
  const stored = await readStored(env)
  if (!stored.ok) return stored
  const { lastIndex } = stored.value
  if (lastIndex === null) return err('the database has no address: set TRON_FIRST_INDEX instead')
  if (to <= lastIndex) return err(`index ${to} is stored already; the newest is ${lastIndex}`)
  if (to - lastIndex > reservedMax) return err(`more than ${reservedMax} indices; the newest is ${lastIndex}`)
  for (const sql of reserveSql(key.value, lastIndex + 1, to)) {
    const { code, output } = await runWrangler(['d1', 'execute', 'DB', ...databaseOf(env), '--command', sql], {
      isShown: false,
    })
    if (code !== 0) return err(output.trim() || 'wrangler did not start. Run "npm ci" first.')
  }
  return ok(`The indices ${lastIndex + 1} to ${to} are reserved: the next address is that of ${to + 1}.`)
}

function readOptions(args: string[]): Result<{ readonly to: number; readonly env: string | undefined }, string> {
  try {
    const text = { type: 'string' } as const
    const { to, env, production } = parseArgs({
      args,
      options: { to: text, env: text, production: { type: 'boolean' } },
    }).values
    if (production && env !== undefined) return err('either --env or --production')
    if (to === undefined || !/^\d{1,10}$/.test(to) || Number(to) > indexMax) return err('--to: an index')
    return ok({ to: Number(to), env: production ? '' : env })
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}
