import { parseArgs } from 'node:util'
import type { Clock } from '../../worker/platform/clock.ts'
import type { CommandOutput } from '../command-output.ts'
import { runTool } from '../run-tool.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { type CellFiles, listArchives } from './archive-files.ts'
import { createVerifyProgress } from './command.ts'
import { auditOptionNames, sealOptions } from './options.ts'
import { rebuildCell } from './rebuild.ts'
import { describeRebuilt, describeReport } from './report.ts'
import { readSeals, type Seals } from './seals.ts'
import { type ArchiveFault, isFault } from './segment.ts'
import { type CellReport, demandAllKnown, verifyCell } from './verify.ts'

const usage = `npm run audit -- rebuild <folder> <file.sql> [--verifier <key>]… [--checkpoint <file>]…
  checks the archive of one cell, and writes the database that it is of into a new file
    --verifier    the key that verifies its checkpoints, in one line
    --checkpoint  a checkpoint that was kept elsewhere: the archive must contain what it is about`

/** Runs `npm run audit -- rebuild` with these words and options. Returns its exit code. */
export function runRebuild(
  args: readonly string[],
  output: CommandOutput,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): Promise<number> {
  return runTool({ usage, options: auditOptionNames }, args, output, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options: sealOptions, allowPositionals: true })
    const [, folder, file, ...others] = positionals
    if (folder === undefined || file === undefined || others.length > 0) throw new OptionError('which folder and file?')
    const files = findCell(folder)
    const seals = readSeals(values.verifier, values.checkpoint)
    const lines = rebuildFiles(files, file, seals, output, clock.now())
    for (const line of isFault(lines) ? [describeFault(lines), 'Nothing is rebuilt.'] : lines)
      output.stdout.write(`${line}\n`)
    return isFault(lines) ? 1 : 0
  })
}

function findCell(folder: string): CellFiles {
  const [files, ...others] = listArchives(folder)
  if (files !== undefined && others.length === 0) return files
  throw new ToolError(`${folder} has several cells`, 'name the folder of one of them: each has a database of its own')
}

/** Verifies an archive, and writes its database at this time. Returns sentences, or a fault. */
function rebuildFiles(
  files: CellFiles,
  path: string,
  seals: Seals,
  output: CommandOutput,
  at: number,
): readonly string[] | ArchiveFault {
  const found: CellReport | ArchiveFault = verifyCell(files, seals, createVerifyProgress(output))
  if (isFault(found)) return found
  demandAllKnown(found)
  const { completeTo } = found.counts
  if (completeTo < 0) {
    throw new ToolError(
      'the archive is complete nowhere: it was still being copied from the database',
      'take a copy of the bucket that is newer',
    )
  }
  const rebuilt = rebuildCell(files, completeTo, path, at)
  return isFault(rebuilt) ? rebuilt : [...describeReport(found), ...describeRebuilt(path, rebuilt)]
}

const describeFault = ({ file, line, why }: ArchiveFault) =>
  `WRONG ${file}${line === null ? '' : `, line ${line}`}: ${why}.`
