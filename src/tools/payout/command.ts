import { createTerminal, type TerminalStreams } from '../signing/terminal.ts'
import { ToolError } from '../tool-error.ts'
import { readCommand, refuseSwallowed } from './options.ts'
import { readCommandSettings } from './settings.ts'

const usage = `npm run payout -- run --limits <limits.json> [--service https://…] [--token <file>] [signing] [--production | --env <name>]
npm run payout -- fetch [--service https://…] [--token <file>] [--out payouts.json] [--production | --env <name>]
npm run payout -- sign <payouts.json> --limits <limits.json> [--out signed.json] [--beside-network] [signing] [--production | --env <name>]
npm run payout -- submit <signed.json> [--service https://…] [--token <file>] [--production | --env <name>]
  signing: [--journal <file>] [--new-journal] [--backend-keys <jwks.json>] [--minutes n] [--path m/…] [--again <txid>] [--stdin]`

/** The streams of a process, or those of a test. */
interface CommandStreams {
  readonly stdin: TerminalStreams['input']
  readonly stdout: TerminalStreams['output']
  readonly stderr: TerminalStreams['questions']
}

/** Runs `npm run payout` with these words and options. Returns the exit code. `stopsInOrder` lets Ctrl-C abort its signal. */
export async function runPayout(
  args: readonly string[],
  { stdin, stdout, stderr }: CommandStreams,
  stopsInOrder: () => AbortSignal,
): Promise<number> {
  try {
    refuseSwallowed(args, process.env)
    const given = readCommand(args)
    if (given !== null) {
      const { command, file, values } = given
      const terminal = createTerminal({ input: stdin, output: stdout, questions: stderr }, values.stdin)
      const settings = readCommandSettings(values)
      terminal.print(settings.summary)
      // Each command loads its own code only: `sign` loads nothing that asks a service or nodes.
      switch (command) {
        case 'run':
          return await (await import('./run.ts')).runRun(values, settings, terminal, stopsInOrder)
        case 'fetch':
          return await (await import('./remote.ts')).runFetch(values, settings, terminal)
        case 'sign':
          return await (await import('./sign.ts')).runSign(values, file, settings, terminal)
        case 'submit':
          return await (await import('./remote.ts')).runSubmit(values, file, settings, terminal)
      }
    }
  } catch (error) {
    if (error instanceof ToolError) {
      stderr.write(`Stopped: ${error.message}.\n`)
      return 1
    }
    if (!(error instanceof TypeError) || !String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS'))
      throw error
    stderr.write(`${error.message}\n`)
  }
  stderr.write(`${usage}\n`)
  return 2
}
