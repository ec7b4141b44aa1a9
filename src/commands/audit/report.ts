import type { Rebuilt } from './rebuild.ts'
import type { CellReport } from './verify.ts'

/** Sentences that say what is right, and what could not be checked. */
export function describeReport({ lines, segments, epochs, counts, seal, newer }: CellReport): readonly string[] {
  const { entries, credits, paid, completeTo } = counts
  const open = lines - 1 - completeTo
  return [
    `${lines} lines in ${segments} segments: ${entries} entries, ${credits} credited deposits, ${paid} paid payouts.`,
    ...epochs.map(({ epoch, from, to }) =>
      to < from
        ? `Epoch ${epoch} begins after line ${to}; no line before it has become untrue.`
        : `Epoch ${epoch}: a restore has made lines ${from} to ${to} untrue.`,
    ),
    open === 0 ? 'It is complete.' : `The newest ${open} lines may lack lines that they refer to.`,
    ...describeSeal(lines, seal),
    ...(newer.first === null
      ? []
      : [
          `This version does not know all of ${newer.count} lines, first line ${newer.first.number}: ${newer.first.what}.`,
          'What they add was not checked: use the version of the service that has written them.',
        ]),
  ]
}

function describeSeal(lines: number, { size, isVerified, without, kept }: CellReport['seal']): readonly string[] {
  if (size === 0) return ['It has no checkpoint: nobody outside can tell whether all of it was made anew.']
  return [
    `Checkpoints seal ${size} lines${size < lines ? `, and not the newest ${lines - size}` : ''}.`,
    ...(isVerified ? [] : ['Their signatures were not checked: give --verifier.']),
    ...(without === 0 ? [] : [`${without} segments have no checkpoint of their own.`]),
    ...(kept === 0 ? [] : [`It contains what ${kept} checkpoints that were kept elsewhere are about.`]),
  ]
}

/** Sentences about a database that was rebuilt, and what comes next. */
export function describeRebuilt(file: string, { height, triedAt, rows }: Rebuilt): readonly string[] {
  const { stored_address, stored_flow, stored_transfer, payout } = rows
  return [
    `${file} has ${stored_address} addresses, ${stored_flow} entries, ${stored_transfer} transfers and ${payout} payouts.`,
    height === null || triedAt === null
      ? 'The scan had not begun.'
      : `The scan goes on after block ${height}. The database is as it was at ${new Date(triedAt).toISOString()}.`,
    'Restore it as docs/guides/repair.md says: it is a copy that is as old as that.',
  ]
}
