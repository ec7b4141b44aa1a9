import { reservedUid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import { allUsers, describeUsers, type UserRange } from '../common/user-range.ts'

/** The parts of a cell by which it is chosen. */
export interface ChosenBy {
  /** Null if there is only one. */
  readonly number: number | null
  readonly users: UserRange
}

/** Why a request about users of several cells is refused. */
export const otherCells = 'its users are in several cells: send one request for each'

/** The facts in a request that say which cell it concerns. */
export interface Concerned {
  /** The users that it names; null if it names something else as one. `reservedUid` names no cell: each cell has reserved addresses. */
  readonly uids: readonly number[] | null
  /** The value of `cell`, as sent; undefined without one. */
  readonly cell: unknown
}

/** Why no cell is chosen: `cell` is missing or wrong, or the users are in several cells. `why` is for the caller. */
export type ChoiceFailure = { readonly kind: 'bad-input' | 'other-cell'; readonly why: string }

/** Reads the users of a request from values as they were sent; null if one of them is no user. */
export function readUsers(values: readonly unknown[]): readonly number[] | null {
  const uids = values.map(Number)
  return uids.every((uid) => Number.isSafeInteger(uid) && uid >= allUsers.from) ? uids : null
}

/** Reads the users of sent entries or payouts; null if the list is none, is empty, or names something else as a user. */
export function usersOfList(list: unknown): readonly number[] | null {
  if (!Array.isArray(list) || list.length === 0) return null
  const uids = list.map((item: unknown) => (item as { readonly uid?: unknown } | null)?.uid)
  return uids.every((uid) => typeof uid === 'number') ? readUsers(uids) : null
}

/**
 * Chooses the cell of a request: that of its users, else that of `cell`. A request that names neither has no cell, because an answer about one of several would
 * look like one about all. A request with wrong users has any cell, since each refuses it in the same words.
 */
export function chooseCell<C extends ChosenBy>(
  cells: readonly C[],
  { uids, cell }: Concerned,
): Result<C, ChoiceFailure> {
  const known = (uids ?? []).filter((uid) => uid !== reservedUid)
  const byUser = new Set(known.flatMap((uid) => cellOf(cells, uid) ?? []))
  const [chosen, ...others] = byUser
  if (others.length > 0) return err({ kind: 'other-cell', why: otherCells })
  const named = cell === undefined ? null : (cells.find(({ number }) => String(number) === String(cell)) ?? null)
  if (cell !== undefined && named === null) return err({ kind: 'bad-input', why: cellExpected(cells) })
  if (chosen === undefined) {
    const any = named ?? (uids === null ? cells[0] : undefined)
    return any === undefined ? err({ kind: 'bad-input', why: cellExpected(cells) }) : ok(any)
  }
  if (named === null || named === chosen) return ok(chosen)
  return err({ kind: 'other-cell', why: `its users are in cell ${chosen.number}, not in cell ${named.number}` })
}

/** The cell of a user; null for a number that is no user. */
export function cellOf<C extends ChosenBy>(cells: readonly C[], uid: number): C | null {
  return cells.find(({ users }) => uid >= users.from && uid <= users.to) ?? null
}

/** The form of `cell`, for messages. */
const cellExpected = (cells: readonly ChosenBy[]) => `the number of a cell: ${listCells(cells)}`

/** The cells with their users, for messages. */
export function listCells(cells: readonly ChosenBy[]): string {
  return cells.map(({ number, users }) => `${number} for ${describeUsers(users)}`).join(', ')
}
