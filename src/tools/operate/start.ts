/**
 * `npm run operate -- <command>`: what an operator can ask of stored data, and change in it. Without `--production` or
 * `--env <name>` it is the local database's. Exit codes: 0 done, 1 refused, 2 wrong options.
 */
import { parseArgs } from 'node:util'
import { err, ok, type Result } from '../../common/result.ts'
import { applyRepair, listGaps } from './repair.ts'
import { parseRepair, type Repair, type RepairOptions } from './repair-sql.ts'
import { parseReservedIndex, reserve } from './reserve.ts'
import { parseWebhookCommand, runWebhookCommand, type WebhookOptions } from './webhooks.ts'

const usage = `npm run operate -- <command> [--production | --env <name>]
  rescan --from <block> --to <block> --reason "…"      reads these blocks again
  correct --finalized <block> --reason "…"             lowers a finalized height that was stored wrongly
  gap list                                             shows blocks that were passed over
  gap close --from <block> --reason "…"                ends the attempts to read them
  reserve --to <index>                                 after a restore: these addresses belong to no user
  webhooks status                                      shows how far each endpoint is, since when it fails and why
  webhooks replay --endpoint <number> --from <id>      sends it the events from this one on again
  webhooks move --endpoint <number> --from-url-of-key <key>   it goes on where its earlier URL was`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  ...{ from: text, to: text, finalized: text, reason: text, endpoint: text, 'from-url-of-key': text },
  ...{ env: text, production: flag },
} as const

type Values = RepairOptions & WebhookOptions
/** What a command does in an environment, once its options are known to be right. */
type Work = (env: string | undefined) => Promise<Result<string, string>>
interface Command {
  /** The options that it takes. */
  readonly takes: readonly (keyof Values)[]
  readonly prepare: (values: Values) => Result<Work, string>
}

const repairing = (kind: Repair['kind'], ...takes: Command['takes']): Command => ({
  takes: [...takes, 'reason'],
  prepare: (values) => prepared(parseRepair(kind, values), applyRepair),
})
const aboutWebhooks = (word: string, ...takes: Command['takes']): Command => ({
  takes,
  prepare: (values) => prepared(parseWebhookCommand(word, values), runWebhookCommand),
})

const commands: ReadonlyMap<string, Command> = new Map([
  ['rescan', repairing('rescan', 'from', 'to')],
  ['correct', repairing('correction', 'finalized')],
  ['gap list', { takes: [], prepare: () => ok(listGaps) }],
  ['gap close', repairing('close', 'from')],
  ['reserve', { takes: ['to'], prepare: ({ to }) => prepared(parseReservedIndex(to), reserve) }],
  ['webhooks status', aboutWebhooks('status')],
  ['webhooks replay', aboutWebhooks('replay', 'endpoint', 'from')],
  ['webhooks move', aboutWebhooks('move', 'endpoint', 'from-url-of-key')],
])

process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  const work = prepare(args)
  if (!work.ok) {
    process.stderr.write(`${work.error}\n${usage}\n`)
    return 2
  }
  const result = await work.value()
  if (result.ok) process.stdout.write(`${result.value}\n`)
  else process.stderr.write(`Stopped: ${result.error}.\n`)
  return result.ok ? 0 : 1
}

/** What the words and options ask for, or one sentence: what is wrong with them. */
function prepare(args: readonly string[]): Result<() => Promise<Result<string, string>>, string> {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
    const { env, production, ...values } = parsed.values
    const command = commands.get(parsed.positionals.join(' '))
    if (command === undefined) return err('which command?')
    if (production && env !== undefined) return err('either --env or --production')
    const given = Object.keys(values) as (keyof Values)[] // safe: the options without these two
    const unknown = given.find((name) => !command.takes.includes(name))
    if (unknown !== undefined) return err(`this command takes no --${unknown}`)
    const work = command.prepare(values)
    return work.ok ? ok(() => work.value(production ? '' : env)) : work
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}

function prepared<T>(
  wanted: Result<T, string>,
  run: (wanted: T, env: string | undefined) => Promise<Result<string, string>>,
): Result<Work, string> {
  return wanted.ok ? ok((env) => run(wanted.value, env)) : wanted
}
