import type { CommandOutput } from '../command-output.ts'
import { readTextFile } from '../files.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { OptionError } from '../tool-error.ts'
import type { CellFiles } from './archive-files.ts'
import { checkChain } from './chain-check.ts'
import { readChainRows } from './chain-rows.ts'
import { locate } from './verify.ts'

/** Rows between two lines of progress. */
const progressRows = 100
/** Most rows that are named because the nodes do not show enough of them. */
const namedMax = 20

/**
 * Looks up what the chain must have of verified archives, as the nodes in a file (`--nodes`) say
 * it, and prints what it finds. Returns the exit code: 1 if a line is wrong.
 */
export async function lookUpCells(
  cells: readonly CellFiles[],
  { nodes, from = '0' }: { readonly nodes: string; readonly from?: string | undefined },
  { stdout, stderr }: CommandOutput,
  platform: CommandPlatform,
): Promise<number> {
  if (!/^\d{1,15}$/.test(from)) throw new OptionError('--from: the number of a line')
  if (cells.length > 1 && from !== '0') throw new OptionError('--from: name the folder of one cell')
  const variables = { ...process.env, TRON_NODES: await readTextFile(nodes) }
  for (const { name, segments } of cells) {
    const rows = readChainRows(segments)
    try {
      stdout.write(`${name} in the chain\n`)
      let printed = 0
      const report = await checkChain(rows, Number(from), variables, platform, (done) => {
        if (done < printed + progressRows) return
        printed = done
        stderr.write(`  … ${done} of ${rows.count} looked up\n`)
      })
      const { found, wrong, notShown } = report
      const placeOf = (number: number) => {
        const { file, line } = locate(segments, number)
        return `${file}, line ${line}`
      }
      stdout.write(`  The chain has ${found} credited deposits and paid payouts.\n`)
      if (notShown.length > 0) stdout.write(`  The nodes do not show enough of ${notShown.length}:\n`)
      for (const { number, why } of notShown.slice(0, namedMax)) stdout.write(`    ${placeOf(number)}: ${why}.\n`)
      if (wrong !== null) {
        stdout.write(`  WRONG ${placeOf(wrong.number)}: ${wrong.why}.\n`)
        return 1
      }
    } finally {
      rows.close()
    }
  }
  return 0
}
