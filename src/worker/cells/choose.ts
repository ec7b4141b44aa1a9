import { reservedUid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import { allUsers, describeUsers, type UserRange } from '../common/user-range.ts'

export interface ChosenBy {
  /** The place of the cell in `CELLS`, from 1. Null if the deployment has only one cell. */
  readonly number: number | null
  readonly users: UserRange
}

/** The message to a caller whose request names users of several cells. */
const otherCells = 'its users are in several cells: send one request for each'

/** The parts of a request by which `chooseCell` finds its cell. */
export interface Concerned {
  /**
   * The users that the request names; null if one of its values is no user. `reservedUid` decides
   * nothing, because each cell has reserved addresses.
   */
  readonly uids: readonly number[] | null
  /** The value of the request's parameter `cell`, as sent; undefined if it has none. */
  readonly cell: unknown
}

/**
 * `bad-input`: `cell` is missing or wrong. `other-cell`: the users are in several cells, or not in
 * `cell`. `why` is for the caller.
 */
export type ChoiceFailure = { readonly kind: 'bad-input' | 'other-cell'; readonly why: string }

/**
 * Parses values of `uid` as a request sent them, texts or numbers; null if one of them is no user.
 */
export function readUsers(values: readonly unknown[]): readonly number[] | null {
  const uids = values.map(Number)
  return uids.every((uid) => Number.isSafeInteger(uid) && uid >= allUsers.from) ? uids : null
}

/**
 * Reads `uid` of each item in a sent list of entries, payouts or orders; null if this is no list,
 * if it is empty, or if a `uid` is no user.
 */
export function usersOfList(list: unknown): readonly number[] | null {
  if (!Array.isArray(list) || list.length === 0) return null
  const uids = list.map((item: unknown) => (item as { readonly uid?: unknown } | null)?.uid)
  return uids.every((uid) => typeof uid === 'number') ? readUsers(uids) : null
}

/**
 * Chooses the cell that answers a request: that of the users whom it names or, if it names no user,
 * the cell that its parameter `cell` names. A request that names neither is refused, because an
 * answer about one cell would look like an answer about all. A request with wrong users goes to the
 * first cell, since every cell refuses it in the same words.
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

/** Finds the cell whose range contains the user; null for a number outside all ranges. */
export function cellOf<C extends ChosenBy>(cells: readonly C[], uid: number): C | null {
  return cells.find(({ users }) => uid >= users.from && uid <= users.to) ?? null
}

/** What `cell` may be, for messages to callers. */
const cellExpected = (cells: readonly ChosenBy[]) => `the number of a cell: ${listCells(cells)}`

/**
 * Lists the cells with their users in one line, for messages:
 * `1 for users 1 to 999, 2 for users from 1000`.
 */
export function listCells(cells: readonly ChosenBy[]): string {
  return cells.map(({ number, users }) => `${number} for ${describeUsers(users)}`).join(', ')
}
