import { parseArgs } from 'node:util'
import { err, type Result } from '../../common/result.ts'
import type { CommandOutput } from '../command-output.ts'
import { environmentOf } from '../configuration.ts'
import { correctCurrency, parseCurrencyId } from './currency.ts'
import { applyRepair, listGaps, parseRepair, type Repair, type RepairOptions } from './repair.ts'
import { parseReservedRange, reserve } from './reserve.ts'
import { parseWebhookCommand, runWebhookCommand, type WebhookOptions } from './webhooks.ts'

const usage = `npm run operate -- <command> [--production | --env <name>]
  rescan --from <block> --to <block> --reason "…"      reads these blocks again
  correct --finalized <block> --reason "…"             lowers a finalized height that was stored wrongly
  gap list                                             shows blocks that were passed over
  gap close --from <block> --reason "…"                ends the attempts to read them
  reserve [--from <index>] --to <index>                these addresses belong to no user: after a restore, or below the first
  currency --cuy <number>                              stores its corrected decimals, before a deposit of it is credited
  webhooks status                                      shows how far each endpoint is, since when it fails and why
  webhooks replay --endpoint <number> --from <id>      sends it the events from this one on again
  webhooks move --endpoint <number> --from-url-of-key <key>   it goes on where its earlier URL was`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  ...{ from: text, to: text, finalized: text, reason: text, endpoint: text, 'from-url-of-key': text },
  ...{ cuy: text, env: text, production: flag },
} as const

type Values = RepairOptions & WebhookOptions & { readonly cuy?: string | undefined }
/** What a command does in an environment, or one sentence: what is wrong with its options. */
type Prepare = (values: Values) => Result<(env: string | undefined) => Promise<Result<string, string>>, string>

const prepare =
  <T>(
    parse: (values: Values) => Result<T, string>,
    run: (wanted: T, env: string | undefined) => Promise<Result<string, string>>,
  ): Prepare =>
  (values) => {
    const wanted = parse(values)
    return wanted.ok ? { ok: true, value: (env) => run(wanted.value, env) } : wanted
  }
const repair = (kind: Repair['kind']) => prepare((values) => parseRepair(kind, values), applyRepair)
const webhooks = (word: string) => prepare((values) => parseWebhookCommand(word, values), runWebhookCommand)

/** Each command with the options that it takes. */
const commands: Readonly<Record<string, readonly [takes: readonly (keyof Values)[], Prepare]>> = {
  rescan: [['from', 'to', 'reason'], repair('rescan')],
  correct: [['finalized', 'reason'], repair('correction')],
  'gap list': [[], () => ({ ok: true, value: listGaps })],
  'gap close': [['from', 'reason'], repair('close')],
  reserve: [['from', 'to'], prepare(parseReservedRange, reserve)],
  currency: [['cuy'], prepare(parseCurrencyId, correctCurrency)],
  'webhooks status': [[], webhooks('status')],
  'webhooks replay': [['endpoint', 'from'], webhooks('replay')],
  'webhooks move': [['endpoint', 'from-url-of-key'], webhooks('move')],
}

/** Runs `npm run operate` with these words and options. Returns the exit code. */
export async function runOperate(args: readonly string[], { stdout, stderr }: CommandOutput): Promise<number> {
  const work = readCommand(args)
  if (!work.ok) {
    stderr.write(`${work.error}\n${usage}\n`)
    return 2
  }
  const result = await work.value()
  if (result.ok) stdout.write(`${result.value}\n`)
  else stderr.write(`Stopped: ${result.error}.\n`)
  return result.ok ? 0 : 1
}

/** What the words and options ask for, or one sentence: what is wrong with them. */
function readCommand(args: readonly string[]): Result<() => Promise<Result<string, string>>, string> {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
    const { env, production, ...values } = parsed.values
    const command = commands[parsed.positionals.join(' ')]
    if (command === undefined) return err('which command?')
    const [takes, prepared] = command
    const unknown = Object.keys(values).find((name) => !takes.some((one) => one === name))
    if (unknown !== undefined) return err(`this command takes no --${unknown}`)
    const place = environmentOf({ production, env })
    const work = prepared(values)
    return work.ok ? { ok: true, value: () => work.value(place) } : work
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}
