import { parseArgs } from 'node:util'
import type { CommandOutput } from '../command-output.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { runTool } from '../run-tool.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { listArchives } from './archive-files.ts'
import { auditOptionNames, verifyOptions } from './options.ts'
import { describeReport } from './report.ts'
import { readSeals } from './seals.ts'
import { isFault } from './segment.ts'
import { type VerifyProgress, verifyCell } from './verify.ts'

const usage = `npm run audit -- verify <folder> [--verifier <key>]… [--checkpoint <file>]…
    [--nodes <file> [--from <line>]]
npm run audit -- rebuild <folder> <file> (writes the database of an archive; it has its own options)
npm run audit -- missing <folder> (names what a restored database lacks; it has its own options)
  verify    checks an archive: a folder with a copy of the bucket, or with one cell of it
    --verifier    the key that verifies its checkpoints, in one line; each one, in their order, if it was replaced
    --checkpoint  a checkpoint that was kept elsewhere: the archive must contain what it is about
    --nodes       a file with TRON_NODES: looks up each credited deposit and paid payout in the chain
    --from        the number of the line from which on it looks them up`

/** Lines between two lines of progress. */
const progressLines = 100_000

/** Runs `npm run audit` with these words and options. Returns its exit code. */
export function runAudit(
  args: readonly string[],
  output: CommandOutput,
  platform: CommandPlatform | null = null, // null: without the network
): Promise<number> {
  return runTool({ usage, options: auditOptionNames }, args, output, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options: verifyOptions, allowPositionals: true })
    const [name, folder, ...others] = positionals
    if (name !== 'verify' || folder === undefined || others.length > 0)
      throw new OptionError('which command and folder?')
    const code = verifyFolder(folder, values, output)
    const { nodes, from } = values
    if (from !== undefined && nodes === undefined) throw new OptionError('--from: only with --nodes')
    if (code !== 0 || nodes === undefined || platform === null) return code
    const { lookUpCells } = await import('./chain-command.ts') // it loads more than the other checks may take
    return lookUpCells(listArchives(folder), { nodes, from }, output, platform)
  })
}

function verifyFolder(
  folder: string,
  { verifier, checkpoint }: { readonly verifier: readonly string[]; readonly checkpoint: readonly string[] },
  output: CommandOutput,
): number {
  const cells = listArchives(folder)
  const seals = readSeals(verifier, checkpoint)
  const origins = new Set<string>()
  let isRight = true
  for (const files of cells) {
    output.stdout.write(`${files.name}\n`)
    const found = verifyCell(files, seals, createVerifyProgress(output))
    isRight &&= !isFault(found)
    if (isFault(found)) {
      output.stdout.write(`  WRONG ${found.file}${found.line === null ? '' : `, line ${found.line}`}: ${found.why}.\n`)
      continue
    }
    origins.add(found.origin)
    for (const line of describeReport(found)) output.stdout.write(`  ${line}\n`)
  }
  const named = [...seals.keys.keys(), ...seals.kept.map(({ checkpoint: { origin } }) => origin)]
  const other = isRight ? named.find((origin) => !origins.has(origin)) : undefined
  if (other !== undefined) throw new ToolError(`${folder} has no archive of ${other}`, 'name the folder with all cells')
  output.stdout.write(isRight ? 'Nothing is wrong.\n' : 'This archive is not what the service has written.\n')
  return isRight ? 0 : 1
}

/** Prints how far a long check is, on the stream that is not its result. */
export function createVerifyProgress({ stderr }: CommandOutput): VerifyProgress {
  let printed = 0
  return (lines, segments, total) => {
    if (lines < printed + progressLines || segments === total) return
    printed = lines
    stderr.write(`  … ${lines} lines, segment ${segments} of ${total}\n`)
  }
}
