import { parseArgs } from 'node:util'
import type { CommandOutput } from '../command-output.ts'
import { environmentOf } from '../configuration.ts'
import { ToolError } from '../tool-error.ts'
import { correctCurrency } from './currency.ts'
import { confirmFee, listFees } from './fee.ts'
import type { Options, Work } from './options.ts'
import { closeGap, correct, listGaps, rescan } from './repair.ts'
import { reserve } from './reserve.ts'
import { moveEndpoint, replayEvents, showEndpoints } from './webhooks.ts'

const usage = `npm run operate -- <command> [--production | --env <name>]
  rescan --from <block> --to <block> --reason "…"      reads these blocks again
  correct --finalized <block> --reason "…"             lowers a finalized height that was stored wrongly
  gap list                                             shows blocks that were passed over
  gap close --from <block> --reason "…"                ends the attempts to read them
  reserve [--from <index>] --to <index>                these addresses belong to no user: after a restore, or below the first
  currency --cuy <number>                              stores its corrected decimals, before a deposit of it is credited
  fee list                                             shows the fees that issuers of tokens take
  fee confirm --txid <txid> --reason "…"               the fee that this transaction has set is known: nothing waits for it
  webhooks status                                      shows how far each endpoint is, since when it fails and why
  webhooks replay --endpoint <number> --from <id>      sends it the events from this one on again
  webhooks move --endpoint <number> --from-url-of-key <key>   gives it the position of its earlier URL`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const options = {
  from: text,
  to: text,
  finalized: text,
  reason: text,
  endpoint: text,
  'from-url-of-key': text,
  cuy: text,
  txid: text,
  env: text,
  production: flag,
} as const

/** Each command with the options that it takes, and what it does with them. Wrong ones are a `ToolError`. */
const commands: Readonly<Record<string, readonly [takes: readonly (keyof Options)[], (given: Options) => Work]>> = {
  rescan: [['from', 'to', 'reason'], rescan],
  correct: [['finalized', 'reason'], correct],
  'gap list': [[], listGaps],
  'gap close': [['from', 'reason'], closeGap],
  reserve: [['from', 'to'], reserve],
  currency: [['cuy'], correctCurrency],
  'fee list': [[], listFees],
  'fee confirm': [['txid', 'reason'], confirmFee],
  'webhooks status': [[], showEndpoints],
  'webhooks replay': [['endpoint', 'from'], replayEvents],
  'webhooks move': [['endpoint', 'from-url-of-key'], moveEndpoint],
}

/** Runs `npm run operate` with these words and options. Returns the exit code. */
export async function runOperate(args: readonly string[], { stdout, stderr }: CommandOutput): Promise<number> {
  let work: () => Promise<string>
  try {
    work = readCommand(args)
  } catch (error) {
    stderr.write(`${error instanceof Error ? error.message : 'unknown option'}\n${usage}\n`)
    return 2
  }
  try {
    stdout.write(`${await work()}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    stderr.write(`Stopped: ${error.message}.\n`)
    return 1
  }
}

/** What the words and options ask for. What is wrong with them is the message of an error. */
function readCommand(args: readonly string[]): () => Promise<string> {
  const parsed = parseArgs({ args: [...args], options, allowPositionals: true })
  const { env, production, ...values } = parsed.values
  const command = commands[parsed.positionals.join(' ')]
  if (command === undefined) throw new ToolError('which command?')
  const [takes, prepare] = command
  const unknown = Object.keys(values).find((name) => !takes.some((taken) => taken === name))
  if (unknown !== undefined) throw new ToolError(`this command takes no --${unknown}`)
  const environment = environmentOf({ production, env })
  const work = prepare(values)
  return () => work(environment)
}
