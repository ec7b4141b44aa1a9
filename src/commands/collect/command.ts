import { runTool } from '../run-tool.ts'
import type { CommandParts, CommandStreams } from '../signing/command-parts.ts'
import { createTerminal } from '../signing/terminal.ts'
import { OptionError } from '../tool-error.ts'
import { collectOptions, findIgnored, parseOptions } from './command-line.ts'

const usage = `npm run collect -- plan --to <T…> [--currency USDT,TRX] [--min 20 | USDT=20,TRX=5] [--trx-price 0.3]
    [--gas delegate|transfer] [--gas-from <T…>] [--from-index a] [--to-index b] [--hours 12] [--out plan.json]
    [--production | --env <name>] [--cell <number>] [--scan] [--account n]
npm run collect -- sign <plan.json> [--to <T…>] [--out signed.json] [--stdin]
    [--production | --env <name>] [--cell <number>]
npm run collect -- send <signed.json> [--production | --env <name>] [--cell <number>]`

/** Runs `npm run collect` with the words and options `args`. Returns the exit code. */
export function runCollect(
  args: readonly string[],
  { stdin, stdout, stderr }: CommandStreams,
  { stopsInOrder, readTarget, ...platform }: CommandParts,
): Promise<number> {
  return runTool({ usage, options: Object.keys(collectOptions) }, args, { stderr }, async () => {
    const { values, positionals } = parseOptions(args)
    const [command = '', file, ...rest] = positionals
    const ignored = findIgnored(command, values)
    if (ignored !== undefined) throw new OptionError(`${command} takes no --${ignored}`)
    const terminal = createTerminal({ input: stdin, output: stdout, questions: stderr }, values.stdin)
    // Each command loads only its own code. `sign`, which reads the mnemonic, loads no code that
    // talks to nodes.
    if (command === 'plan' && file === undefined) {
      const { runPlan } = await import('./plan-command.ts')
      return await runPlan(values, terminal, { ...platform, signal: stopsInOrder() })
    }
    // Ctrl-C ends `sign` at once, because it sends no request. `plan` and `send` end at once only
    // at a second Ctrl-C.
    if (command === 'sign' && file !== undefined && rest.length === 0) {
      const { runSign } = await import('./sign.ts')
      return await runSign(values, file, terminal, readTarget)
    }
    if (command === 'send' && file !== undefined && rest.length === 0) {
      const { runSend } = await import('./send.ts')
      return await runSend(values, file, terminal, { ...platform, signal: stopsInOrder() })
    }
    throw new OptionError('which command?')
  })
}
