import { err, ok, type Result } from '../../common/result.ts'
import { reasonMax } from '../../d1/scan-tables.ts'

/** A repair that an operator can request, with the reason that is stored. Heights are block numbers. */
export type Repair =
  /** The blocks `from` to `to` are read again; both ends are included. */
  | { readonly kind: 'rescan'; readonly from: number; readonly to: number; readonly reason: string }
  /** The finalized height is lowered to `height`; the scan goes on from there. */
  | { readonly kind: 'correction'; readonly height: number; readonly reason: string }

/** Values of the command's options, as typed. */
export interface RepairOptions {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly finalized?: string | undefined
  readonly reason?: string | undefined
}

const heightForm = /^\d{1,15}$/
/** Printable characters: the reason is shown in terminals. */
const reasonForm = /^[^\p{C}]+$/u

/** The repair that the options ask for, or one sentence: what is wrong with them. */
export function parseRepair({ from, to, finalized, reason }: RepairOptions): Result<Repair, string> {
  if (reason === undefined || reason.trim() === '') return err('--reason is required: it is stored with the repair')
  if (!reasonForm.test(reason) || [...reason].length > reasonMax) {
    return err(`--reason: at most ${reasonMax} printable characters`)
  }
  const heights = Object.entries({ from, to, finalized }).filter(([, value]) => value !== undefined)
  for (const [name, value] of heights) if (!heightForm.test(String(value))) return err(`--${name}: a block number`)
  if (finalized !== undefined) {
    if (from !== undefined || to !== undefined) return err('either --finalized, or --from and --to')
    return ok({ kind: 'correction', height: Number(finalized), reason })
  }
  if (from === undefined || to === undefined) return err('--from and --to are required')
  if (Number(from) > Number(to)) return err('--from must not be above --to')
  return ok({ kind: 'rescan', from: Number(from), to: Number(to), reason })
}

/**
 * The statement that stores the repair. Triggers of the database apply it, and refuse one that is not possible. The time is the
 * database's own.
 */
export function repairSql(repair: Repair): string {
  const reason = `'${repair.reason.replaceAll("'", "''")}'`
  const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
  if (repair.kind === 'correction') {
    return `INSERT INTO correction (finalized, reason, created_at) VALUES (${repair.height}, ${reason}, ${now})`
  }
  const { from, to } = repair
  return (
    'INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try) ' +
    `VALUES ('request', ${from}, ${to}, ${from}, ${reason}, ${now}, 0)`
  )
}
