/**
 * `npm run rescan -- --from H --to H --reason "…"`: the next ticks read these blocks again. `npm run rescan -- --finalized H
 * --reason "…"`: a finalized height that was stored wrongly is lowered to H, and the scan goes on from there. Without
 * `--production` or `--env <name>` it is the local database's. Exit codes: 0 stored, 1 refused, 2 wrong options.
 */
import { parseArgs } from 'node:util'
import { err, ok, type Result } from '../common/result.ts'
import { runWrangler } from '../deploy/run-wrangler.ts'
import { databaseOf } from './database-place.ts'
import { parseRepair, type Repair, repairSql } from './repair-sql.ts'

const usage = `npm run rescan -- --from <block> --to <block> --reason "…" [--production | --env <name>]
npm run rescan -- --finalized <block> --reason "…" [--production | --env <name>]`

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (!options.ok) {
    process.stderr.write(`${options.error}\n${usage}\n`)
    return 2
  }
  const { place, repair } = options.value
  const { code, output } = await runWrangler(['d1', 'execute', 'DB', ...place, '--command', repairSql(repair)], {
    isShown: false,
  })
  if (code === 0) {
    process.stdout.write(`${describe(repair)}\n`)
    return 0
  }
  process.stderr.write(`Nothing is changed: ${reasonIn(output)}\n`)
  return 1
}

/** Wrangler's options for the database, and the repair. */
function readOptions(args: string[]): Result<{ readonly place: readonly string[]; readonly repair: Repair }, string> {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const options = { from: text, to: text, finalized: text, reason: text, env: text, production: flag }
    const { env, production, ...values } = parseArgs({ args, options }).values
    if (production && env !== undefined) return err('either --env or --production')
    const repair = parseRepair(values)
    if (!repair.ok) return repair
    return ok({ place: databaseOf(production ? '' : env), repair: repair.value })
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}

function describe(repair: Repair): string {
  return repair.kind === 'rescan'
    ? `The next ticks read the blocks ${repair.from} to ${repair.to} again.`
    : `The finalized height is ${repair.height} now. The scan goes on from there with the next tick.`
}

/** The refusal of the database in wrangler's output, or a hint. */
function reasonIn(output: string): string {
  const refusal = /(?:rescan|correction): [^:\n]+|CHECK constraint failed: \w+/.exec(output)?.[0]
  return refusal ?? (output === '' ? 'wrangler did not start. Run "npm ci" first.' : output.trim())
}
