import type { MiddlewareHandler } from 'hono'
import { type Concerned, chooseCell, readUsers, usersOfList } from '../../cells/choose.ts'
import type { Cell } from '../../services.ts'
import type { Authenticate } from '../auth/authenticate.ts'
import { readJsonBody } from '../body.ts'
import type { Env, LedgerRoute, RequestContext } from '../context.ts'
import { failure } from '../envelope.ts'
import { CellError, toCellProblem, unknownPath } from '../errors.ts'

/** Chooses the cell of a user's request: the database that has the user whom the token names. */
export function inCellOfCaller(cells: readonly Cell[]): MiddlewareHandler<Env> {
  return inCell(cells, async (c) => ({ uids: [c.get('uid')], cell: undefined }))
}

/**
 * Chooses the cell of a backend's request: that of the users whom it names where its route looks
 * for them. If it names none, it is the cell whose number is the parameter `cell`.
 */
export function inCellOfBackend(
  cells: readonly Cell[],
  { usersIn }: Pick<LedgerRoute, 'usersIn'>,
): MiddlewareHandler<Env> {
  return inCell(cells, async ({ req }) => {
    const { searchParams } = new URL(req.url)
    const [cell, ...more] = searchParams.getAll('cell')
    return { uids: await usersOf(req.raw, searchParams, usersIn), cell: more.length > 0 ? null : cell }
  })
}

/**
 * For routes that need no token. A request with a user's token gets the cell of that user; a
 * request without a valid token concerns all cells.
 */
export function inCellOfToken(cells: readonly Cell[], authenticate: Authenticate): MiddlewareHandler<Env> {
  const choose = inCellOfCaller(cells)
  return async (c, next) => {
    const caller = c.req.raw.headers.has('authorization') ? await authenticate(c.req.raw) : null
    if (caller?.ok !== true) return next()
    c.set('uid', caller.value)
    return choose(c, next)
  }
}

/**
 * Runs `work` in each cell, all at once. Throws what the first cell throws that fails, as a
 * `CellError` if there are several.
 */
export async function inEachCell<T>(cells: readonly Cell[], work: (cell: Cell) => Promise<T>): Promise<readonly T[]> {
  return await Promise.all(
    cells.map(async (cell) => {
      try {
        return await work(cell)
      } catch (thrown) {
        throw cells.length > 1 && cell.number !== null ? new CellError(cell.number, thrown) : thrown
      }
    }),
  )
}

/** Answers 404 on a route about payouts if the chosen cell has no payouts. */
export const hasPayouts: MiddlewareHandler<Env> = async (c, next) =>
  c.env.services.settings.payouts === null ? failure(unknownPath) : next()

function inCell(cells: readonly Cell[], concernOf: (c: RequestContext) => Promise<Concerned>): MiddlewareHandler<Env> {
  return async (c, next) => {
    const chosen = chooseCell(cells, await concernOf(c))
    if (!chosen.ok) return failure(toCellProblem(chosen.error))
    c.env = { services: chosen.value.services, cells: [chosen.value] }
    return next()
  }
}

/**
 * The users that a request names; null if one of them, or the body that should name them, is wrong:
 * then every cell refuses it in the same words.
 */
async function usersOf(
  request: Request,
  parameters: URLSearchParams,
  usersIn: LedgerRoute['usersIn'],
): Promise<readonly number[] | null> {
  if (usersIn === null) return []
  if (usersIn === 'uid') return readUsers(parameters.getAll('uid'))
  const body = await readJsonBody(request.clone())
  if (!body.ok || typeof body.value !== 'object' || body.value === null) return null
  return usersOfList((body.value as { readonly [member: string]: unknown })[usersIn])
}
