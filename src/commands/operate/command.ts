import { parseArgs } from 'node:util'
import { cellOption, environmentOf, placeOptions } from '../place.ts'
import { runTool } from '../run-tool.ts'
import type { CommandStreams } from '../signing/command-parts.ts'
import { openTarget } from '../target.ts'
import { OptionError } from '../tool-error.ts'
import { correctCurrency } from './currency.ts'
import { confirmFee, listFees } from './fee.ts'
import type { Options, PersonParts, Work } from './options.ts'
import { makeDeskToken, prepareApproval, prepareCancellation, prepareDecision } from './people.ts'
import { closeGap, correct, listGaps, rescan } from './repair.ts'
import { reserve } from './reserve.ts'
import { resumePayouts } from './resume-payouts.ts'
import { moveEndpoint, replayEvents, showEndpoints } from './webhooks.ts'

const usage = `npm run operate -- <command> --production | --env <name> | --local (this machine)
    [--cell <number>, where there are several]
  rescan --from <block> --to <block> --reason "…"      reads these blocks again
  correct --finalized <block> --reason "…"             lowers a finalized height that was stored wrongly
  gap list                                             shows blocks that were passed over
  gap close --from <block> --reason "…"                ends the attempts to read them
  reserve [--from <index>] --to <index>                no user's addresses: after a restore, or below the first
  currency --cuy <number>                              stores its corrected decimals, before a deposit of it is credited
  payouts resume --txid <txid> --reason "…"            pays out again although no payout names this transaction
  payouts approve <id…> --name <name>                  approves payouts that another name has asked for; a stuck one
                                                       with --attempts and the number that it shows
  payouts cancel <id…> --name <name> --reason "…"      cancels payouts: their money goes back
  deposits decide <txid> <position> credit|refuse --name <name> --reason "…"
                                                       decides a deposit that is held for review
  desk-token --name <name> --scope read,approve,pay    makes a token for the desk, for an hour
  fee list                                             shows the fees that issuers of tokens take
  fee confirm --txid <txid> --reason "…"               the fee that it has set is known: nothing waits for it
  webhooks status                                      shows how far each endpoint is, since when it fails and why
  webhooks replay --endpoint <number> --from <id>      sends it the events from this one on again
  webhooks move --endpoint <number> --from-url-of-key <key>   gives it the position of its earlier URL
Who approves, cancels, decides or makes a token needs BACKEND_JWT_SECRET: of the file that the doctor reads, of another
one (--secret <file>), or typed (--stdin: from the input). They ask the service at --service <URL>, on this machine that
of "npm start". --moved: what has left is known.`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
/** The options of all commands together. Each command takes some of them (`commands`). */
export const operateOptions = {
  ...placeOptions,
  ...cellOption,
  local: { type: 'boolean', default: false },
  from: text,
  to: text,
  finalized: text,
  reason: text,
  endpoint: text,
  'from-url-of-key': text,
  cuy: text,
  txid: text,
  name: text,
  scope: text,
  secret: text,
  service: text,
  attempts: text,
  moved: flag,
  stdin: flag,
} as const

/**
 * What a command accepts, and what it does. `prepare` throws an `OptionError` for wrong words or
 * options, before anything is read or changed.
 */
interface Command {
  readonly takes: readonly (keyof Options)[]
  readonly takesWords?: true
  readonly prepare: (given: Options, words: readonly string[], parts: PersonParts) => Work
}

const asSomebody = ['name', 'secret', 'stdin', 'service'] as const

const commands: Readonly<Record<string, Command>> = {
  rescan: { takes: ['from', 'to', 'reason'], prepare: rescan },
  correct: { takes: ['finalized', 'reason'], prepare: correct },
  'gap list': { takes: [], prepare: listGaps },
  'gap close': { takes: ['from', 'reason'], prepare: closeGap },
  reserve: { takes: ['from', 'to'], prepare: reserve },
  currency: { takes: ['cuy'], prepare: correctCurrency },
  'payouts resume': { takes: ['txid', 'reason'], prepare: resumePayouts },
  'payouts approve': { takes: [...asSomebody, 'moved', 'attempts'], takesWords: true, prepare: prepareApproval },
  'payouts cancel': { takes: [...asSomebody, 'reason', 'moved'], takesWords: true, prepare: prepareCancellation },
  'deposits decide': { takes: [...asSomebody, 'reason'], takesWords: true, prepare: prepareDecision },
  'desk-token': { takes: [...asSomebody, 'scope'], prepare: makeDeskToken },
  'fee list': { takes: [], prepare: listFees },
  'fee confirm': { takes: ['txid', 'reason'], prepare: confirmFee },
  'webhooks status': { takes: [], prepare: showEndpoints },
  'webhooks replay': { takes: ['endpoint', 'from'], prepare: replayEvents },
  'webhooks move': { takes: ['endpoint', 'from-url-of-key'], prepare: moveEndpoint },
}

/** Runs `npm run operate` with these words and options. Returns the exit code. */
export function runOperate(
  args: readonly string[],
  { stdin, stdout, stderr }: CommandStreams,
  { clock }: Pick<PersonParts, 'clock'>,
): Promise<number> {
  return runTool({ usage, options: Object.keys(operateOptions) }, args, { stderr }, async () => {
    const streams = { input: stdin, output: stdout, questions: stderr }
    const { environment, cell, work } = readCommand(args, { streams, clock })
    const print = (text: string) => stdout.write(`${text}\n`)
    print(await work(openTarget(environment, cell, print)))
    return 0
  })
}

/**
 * Turns words and options into the work to do and the deployment to do it in. Throws an
 * `OptionError` if a word or option is wrong.
 */
function readCommand(
  args: readonly string[],
  parts: PersonParts,
): { readonly environment: string | undefined; readonly cell: string | undefined; readonly work: Work } {
  const parsed = parseArgs({ args: [...args], options: operateOptions, allowPositionals: true })
  const { env, production, local, cell, ...values } = parsed.values
  const named = [2, 1].map((count) => parsed.positionals.slice(0, count))
  const name = named.find((words) => Object.hasOwn(commands, words.join(' '))) ?? []
  const command = commands[name.join(' ')]
  const words = parsed.positionals.slice(name.length)
  if (command === undefined || (words.length > 0 && command.takesWords !== true))
    throw new OptionError('which command?')
  const { takes, prepare } = command
  const unknown = Object.keys(values).find((name) => !takes.some((taken) => taken === name))
  if (unknown !== undefined) throw new OptionError(`this command takes no --${unknown}`)
  const work = prepare(values, words, parts)
  return { environment: readEnvironment({ env, production, local }), cell, work }
}

/**
 * Returns the named environment; undefined for `--local`. The place must always be named, even this
 * machine: npm can take an option without a trace. It reads `-e nile` before `--` as its own
 * `--enjoy-by`, and without this rule the command would then run on this machine.
 */
export function readEnvironment({ local, ...other }: { production: boolean; env: string | undefined; local: boolean }) {
  const environment = environmentOf(other)
  if (local && environment !== undefined) throw new OptionError('either --local, or --production or --env')
  if (!local && environment === undefined) {
    throw new OptionError(
      'on which database? Name it after "--": --production, --env <name>, or --local for this machine',
    )
  }
  return environment
}
