import { parseArgs } from 'node:util'
import type { CommandOutput } from '../command-output.ts'
import { environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import { openTarget } from '../target.ts'
import { OptionError } from '../tool-error.ts'
import { correctCurrency } from './currency.ts'
import { confirmFee, listFees } from './fee.ts'
import type { Options, Work } from './options.ts'
import { resumePayouts } from './payouts.ts'
import { closeGap, correct, listGaps, rescan } from './repair.ts'
import { reserve } from './reserve.ts'
import { moveEndpoint, replayEvents, showEndpoints } from './webhooks.ts'

const usage = `npm run operate -- <command> --production | --env <name> | --local (this machine)
  rescan --from <block> --to <block> --reason "…"      reads these blocks again
  correct --finalized <block> --reason "…"             lowers a finalized height that was stored wrongly
  gap list                                             shows blocks that were passed over
  gap close --from <block> --reason "…"                ends the attempts to read them
  reserve [--from <index>] --to <index>                these addresses belong to no user: after a restore, or below the first
  currency --cuy <number>                              stores its corrected decimals, before a deposit of it is credited
  payouts resume --txid <txid> --reason "…"             pays out again although no payout names this transaction
  fee list                                             shows the fees that issuers of tokens take
  fee confirm --txid <txid> --reason "…"               the fee that this transaction has set is known: nothing waits for it
  webhooks status                                      shows how far each endpoint is, since when it fails and why
  webhooks replay --endpoint <number> --from <id>      sends it the events from this one on again
  webhooks move --endpoint <number> --from-url-of-key <key>   gives it the position of its earlier URL`

const text = { type: 'string' } as const
/** The options of all commands. */
export const operateOptions = {
  ...placeOptions,
  local: { type: 'boolean', default: false },
  from: text,
  to: text,
  finalized: text,
  reason: text,
  endpoint: text,
  'from-url-of-key': text,
  cuy: text,
  txid: text,
} as const

/** Each command with the options that it takes, and what it does with them. Wrong ones are an `OptionError`. */
const commands: Readonly<Record<string, readonly [takes: readonly (keyof Options)[], (given: Options) => Work]>> = {
  rescan: [['from', 'to', 'reason'], rescan],
  correct: [['finalized', 'reason'], correct],
  'gap list': [[], listGaps],
  'gap close': [['from', 'reason'], closeGap],
  reserve: [['from', 'to'], reserve],
  currency: [['cuy'], correctCurrency],
  'payouts resume': [['txid', 'reason'], resumePayouts],
  'fee list': [[], listFees],
  'fee confirm': [['txid', 'reason'], confirmFee],
  'webhooks status': [[], showEndpoints],
  'webhooks replay': [['endpoint', 'from'], replayEvents],
  'webhooks move': [['endpoint', 'from-url-of-key'], moveEndpoint],
}

/** Runs `npm run operate` with these words and options. Returns the exit code. */
export function runOperate(args: readonly string[], output: CommandOutput): Promise<number> {
  return runTool({ usage, options: Object.keys(operateOptions) }, args, output, async () => {
    const { environment, work } = readCommand(args)
    const print = (text: string) => output.stdout.write(`${text}\n`)
    openTarget(environment, print)
    print(await work(environment))
    return 0
  })
}

/** What the words and options ask for, and where. What is wrong with them is an `OptionError`. */
function readCommand(args: readonly string[]): { readonly environment: string | undefined; readonly work: Work } {
  const parsed = parseArgs({ args: [...args], options: operateOptions, allowPositionals: true })
  const { env, production, local, ...values } = parsed.values
  const command = commands[parsed.positionals.join(' ')]
  if (command === undefined) throw new OptionError('which command?')
  const [takes, prepare] = command
  const unknown = Object.keys(values).find((name) => !takes.some((taken) => taken === name))
  if (unknown !== undefined) throw new OptionError(`this command takes no --${unknown}`)
  const work = prepare(values)
  return { environment: readPlace({ env, production, local }), work }
}

/**
 * A place is always named, this machine too. npm can take one for itself without a trace: `-e nile` before `--` is its `--enjoy-by`, and
 * the command would do its work here.
 */
function readPlace({ local, ...other }: { production: boolean; env: string | undefined; local: boolean }) {
  const environment = environmentOf(other)
  if (local && environment !== undefined) throw new OptionError('either --local, or --production or --env')
  if (!local && environment === undefined) {
    throw new OptionError(
      'on which database? Name it after "--": --production, --env <name>, or --local for this machine',
    )
  }
  return environment
}
