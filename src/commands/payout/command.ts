import { formatBase58 } from '../../worker/chain/address.ts'
import { requireKnownNode } from '../node-program.ts'
import { environmentOf } from '../place.ts'
import { runTool } from '../run-tool.ts'
import type { CommandParts, CommandStreams } from '../signing/command-parts.ts'
import { createTerminal, type Terminal } from '../signing/terminal.ts'
import { openTarget } from '../target.ts'
import type { Target, TargetReader } from '../target-apart.ts'
import { orRefuse } from '../tool-error.ts'
import { payoutOptions, readCommand } from './options.ts'
import { parseSettings } from './settings.ts'

const usage = `npm run payout -- run --limits <limits.json> [--service https://…] [--token <file>] [signing] [where]
npm run payout -- fetch [--service https://…] [--token <file>] [--out payouts.json] [--again <txid>] [where]
npm run payout -- sign <payouts.json> --limits <limits.json> [--out signed.json] [--beside-network] [signing] [where]
npm run payout -- submit <signed.json> [--service https://…] [--token <file>] [where]
  signing: [--journal <file>] [--new-journal] [--backend-keys <jwks.json>] [--minutes n] [--path m/…]
           [--again <txid | uid:cuy:osn>] [--stdin]
  where:   [--production | --env <name>] [--cell <number>]`

/** Runs `npm run payout` with these words and options. Returns the exit code. */
export function runPayout(
  args: readonly string[],
  { stdin, stdout, stderr }: CommandStreams,
  { stopsInOrder, readTarget, ...platform }: CommandParts,
): Promise<number> {
  return runTool({ usage, options: Object.keys(payoutOptions) }, args, { stderr }, async () => {
    const { command, file, values } = readCommand(args)
    const terminal = createTerminal({ input: stdin, output: stdout, questions: stderr }, values.stdin)
    const env = environmentOf(values)
    const isSigner = command === 'run' || command === 'sign'
    const source = isSigner
      ? await openSource(env, values.cell, terminal, readTarget)
      : openTarget(env, values.cell, terminal.print)
    const settings = parseSettings(source)
    terminal.print(`Payouts from ${formatBase58(settings.settings.address)}.`)
    // Each command loads only its own code. `sign` loads no code that talks to a service or to
    // nodes.
    switch (command) {
      case 'run':
        return (await import('./run.ts')).runRun(values, settings, terminal, platform, stopsInOrder)
      case 'fetch':
        return (await import('./remote.ts')).runFetch(values, settings, terminal, platform)
      case 'sign':
        return (await import('./sign.ts')).runSignPayouts(values, file, settings, terminal, platform)
      case 'submit':
        return (await import('./remote.ts')).runSubmit(values, file, settings, terminal, platform)
    }
  })
}

/**
 * Reads the configuration for `run` and `sign`, and prints the first line. Wrangler must not be
 * loaded here, where a mnemonic is typed (`target-apart.ts`).
 */
async function openSource(
  env: string | undefined,
  cell: string | undefined,
  { print }: Terminal,
  readTarget: TargetReader,
): Promise<Target> {
  requireKnownNode()
  const target = orRefuse(await readTarget(env, cell))
  print(target.line)
  return target
}
