import { err, ok, type Result } from '../../common/result.ts'
import { reasonMax } from '../../d1/state-tables.ts'
import { databaseNow, quoted } from '../deploy/database.ts'

/** A repair that an operator can request, with the reason that is stored. Heights are block numbers. */
export type Repair =
  /** The blocks `from` to `to` are read again; both ends are included. */
  | { readonly kind: 'rescan'; readonly from: number; readonly to: number; readonly reason: string }
  /** The finalized height is lowered to `height`; the scan goes on from there. */
  | { readonly kind: 'correction'; readonly height: number; readonly reason: string }
  /** The gap that begins at `from` is read no more. */
  | { readonly kind: 'close'; readonly from: number; readonly reason: string }

/** Values of the command's options, as typed. */
export type RepairOptions = Readonly<Partial<Record<'from' | 'to' | 'finalized' | 'reason', string | undefined>>>

/** Printable characters: the reason is shown in terminals. */
const reasonForm = /^[^\p{C}]+$/u

/** The repair of this kind that the options ask for, or one sentence: what is wrong with them. */
export function parseRepair(kind: Repair['kind'], { reason, ...options }: RepairOptions): Result<Repair, string> {
  if (reason === undefined || reason.trim() === '') return err('--reason is required: it is stored with the repair')
  if (!reasonForm.test(reason) || [...reason].length > reasonMax) {
    return err(`--reason: at most ${reasonMax} printable characters`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !/^\d{1,15}$/.test(value)) return err(`--${name}: a block number`)
  }
  const { from, to, finalized } = options
  if (kind === 'correction') {
    return finalized === undefined ? err('--finalized is required') : ok({ kind, height: Number(finalized), reason })
  }
  if (from === undefined) return err('--from is required')
  if (kind === 'close') return ok({ kind, from: Number(from), reason })
  if (to === undefined) return err('--to is required')
  if (Number(from) > Number(to)) return err('--from must not be above --to')
  return ok({ kind, from: Number(from), to: Number(to), reason })
}

/**
 * The statement that stores the repair. Triggers of the database apply it, and refuse one that is not possible. The time is the
 * database's own.
 */
export function repairSql(repair: Repair): string {
  const reason = quoted(repair.reason)
  switch (repair.kind) {
    case 'correction':
      return `INSERT INTO correction (finalized, reason, created_at) VALUES (${repair.height}, ${reason}, ${databaseNow})`
    case 'rescan':
      return (
        'INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try) ' +
        `VALUES ('request', ${repair.from}, ${repair.to}, ${repair.from}, ${reason}, ${databaseNow}, 0)`
      )
    case 'close':
      return (
        `UPDATE rescan SET closed = ${reason}, finished_at = ${databaseNow} ` +
        `WHERE kind = 'gap' AND finished_at IS NULL AND from_height = ${repair.from} RETURNING to_height`
      )
  }
}
