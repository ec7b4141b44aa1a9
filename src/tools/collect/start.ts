/**
 * `npm run collect -- plan | sign | send`: moves what the deposit addresses hold to one address. `plan` and `send` use the
 * network and no key, `sign` a key and no network. Exit codes: 0, 1 (stopped, or not everything was done), 2 (wrong options).
 */
import { createTerminal } from '../keys/terminal.ts'
import { ToolError } from '../tool-error.ts'
import { parseOptions } from './command-line.ts'

const usage = `npm run collect -- plan --to <T…> [--currency USDT,TRX] [--min 20 | USDT=20,TRX=5] [--trx-price 0.3]
    [--gas delegate|transfer] [--gas-from <T…>] [--from-index a] [--to-index b] [--hours 12] [--out plan.json]
    [--production | --env <name>] [--scan] [--account n]
npm run collect -- sign <plan.json> [--to <T…>] [--out signed.json] [--stdin]
npm run collect -- send <signed.json> [--production | --env <name>]`

const abort = new AbortController()

try {
  const code = await run(process.argv.slice(2))
  process.stdout.write('', () => process.exit(code)) // although timers of answered requests are still running
} catch (error) {
  if (!(error instanceof ToolError)) throw error
  process.stderr.write(`Stopped: ${error.message}.\n`, () => process.exit(1))
}

async function run(args: readonly string[]): Promise<number> {
  const { stdin: input, stdout: output, stderr: questions } = process
  try {
    const { values, positionals } = parseOptions(args)
    const [command, file, ...rest] = positionals
    const terminal = createTerminal({ input, output, questions }, values.stdin)
    // Signing has no request that must not be cut off: there Ctrl-C ends it at once. Elsewhere a second one does.
    if (command !== 'sign') process.once('SIGINT', stopInOrder)
    // Each command loads its own code only: nothing that asks nodes is loaded where the mnemonic is typed.
    if (command === 'plan' && file === undefined) {
      const { runPlan } = await import('./plan-command.ts')
      return await runPlan(values, terminal, abort.signal)
    }
    if (command === 'sign' && file !== undefined && rest.length === 0) {
      const { runSign } = await import('./sign.ts')
      return await runSign(values, file, terminal)
    }
    if (command === 'send' && file !== undefined && rest.length === 0) {
      const { runSend } = await import('./send.ts')
      return await runSend(values, file, terminal, abort.signal)
    }
  } catch (error) {
    if (!(error instanceof TypeError) || !String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS'))
      throw error
    questions.write(`${error.message}\n`)
  }
  questions.write(`${usage}\n`)
  return 2
}

function stopInOrder(): void {
  process.stderr.write('\nStopping after the present request …\n')
  abort.abort()
}
