/**
 * `npm run reserve -- --to <index>`: stores every address up to this index that the database does not have, for no caller. After a
 * restore it keeps the service from issuing an address again that was issued after the copy. Without `--production` or
 * `--env <name>` it is the local database's. Exit codes: 0 stored, 1 refused, 2 wrong options.
 */
import { indexMax, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { readConfiguration } from '../doctor/read-configuration.ts'
import { readStored } from '../doctor/read-stored.ts'
import { type CommandOptions, executeSql, explainFailure, runCommand } from './command.ts'
import { reserveSql } from './reserve-sql.ts'

const usage = 'npm run reserve -- --to <index> [--production | --env <name>]'
/** Most indices of one call: more are probably a mistake. */
const reservedMax = 100_000

process.exitCode = await runCommand({ usage, options: ['to'], parse, run: reserve }, process.argv.slice(2))

function parse({ values: { to = '' } }: CommandOptions): Result<number, string> {
  return /^\d{1,10}$/.test(to) && Number(to) <= indexMax ? ok(Number(to)) : err('--to: an index')
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
    const ended = await executeSql(env, sql)
    if (ended.code !== 0) return err(explainFailure(ended))
  }
  return ok(`The indices ${lastIndex + 1} to ${to} are reserved: the next address is that of ${to + 1}.`)
}
