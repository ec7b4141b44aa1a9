/**
 * `npm run rescan -- --from H --to H --reason "…"`: the next ticks read these blocks again. `npm run rescan -- --finalized H
 * --reason "…"`: a finalized height that was stored wrongly is lowered to H, and the scan goes on from there. Without
 * `--production` or `--env <name>` it is the local database's. Exit codes: 0 stored, 1 refused, 2 wrong options.
 */
import { err, ok } from '../../common/result.ts'
import { executeSql, explainFailure, runCommand } from './command.ts'
import { parseRepair, type Repair, repairSql } from './repair-sql.ts'

const usage = `npm run rescan -- --from <block> --to <block> --reason "…" [--production | --env <name>]
npm run rescan -- --finalized <block> --reason "…" [--production | --env <name>]`

const rescan = {
  usage,
  options: ['from', 'to', 'finalized', 'reason'],
  parse: ({ values }: { readonly values: Parameters<typeof parseRepair>[0] }) => parseRepair(values),
  async run(repair: Repair, env: string | undefined) {
    const ended = await executeSql(env, repairSql(repair))
    if (ended.code === 0) return ok(describe(repair))
    const refusal = /(?:rescan|correction): [^:"\n]+|CHECK constraint failed: \w+/.exec(ended.output)?.[0]
    return err(refusal ?? explainFailure(ended))
  },
}

process.exitCode = await runCommand(rescan, process.argv.slice(2))

function describe(repair: Repair): string {
  return repair.kind === 'rescan'
    ? `The next ticks read the blocks ${repair.from} to ${repair.to} again.`
    : `The finalized height is ${repair.height} now. The scan goes on from there with the next tick.`
}
