import type * as z from 'zod/mini'
import { type Concerned, chooseCell, readUsers, usersOfList } from '../cells/choose.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Invocation } from '../d1/sessions.ts'
import type { Backend, Scope } from '../http/auth/authenticate.ts'
import { withoutNulls } from '../http/body.ts'
import type { ReadUseCase, WriteUseCase } from '../http/use-cases.ts'
import { backendNameExpected, parseBackendName } from '../ledger/entry.ts'
import type { IssueFailure } from '../orders/failure.ts'
import type { Cell, Services } from '../services.ts'
import { readQuery, refuse, runCall, toLedgerError } from './call.ts'
import type { CellOptions, LedgerAnswer, LedgerError, LedgerMethods } from './ledger-methods.ts'

type Method = keyof LedgerMethods
type Shape = Record<string, z.ZodMiniType>

/** Each Worker that is bound to the service has all scopes. */
const scopes: readonly Scope[] = ['ledger:read', 'ledger:post', 'ledger:pay', 'ledger:approve', 'ledger:sign']

const notHere = { kind: 'not-found', why: 'payouts are not configured' } as const satisfies LedgerError

/**
 * Makes the functions that run calls. Of several cells, a call goes to that of the users whom it
 * names, and is refused if its option `cell` is another one. A call without users goes to the cell
 * in this option.
 */
export function createCalls(cells: readonly [Cell, ...Cell[]]) {
  const isOnly = cells.length === 1
  /** Runs `work` in the cell of the users whom `concern` returns. */
  const call = async <T extends object>(
    method: Method,
    options: unknown,
    concern: () => Concerned,
    work: (services: Services, invocation: Invocation) => Promise<Result<T, LedgerError>>,
  ): Promise<LedgerAnswer<T>> => {
    const cell = isOnly ? ok(cells[0]) : chooseCell(cells, concern())
    if (!cell.ok) {
      const { kind, why } = cell.error
      return refuse(kind === 'bad-input' ? { kind, member: 'cell', why } : { kind, reason: 'other-cell', why })
    }
    const { services } = cell.value
    return runCall(services, method, options, (invocation) => work(services, invocation))
  }
  /** Runs a use case that reads. `query` is what its `input` parses, as it was sent. */
  const read = <S extends Shape, T extends object>(
    method: Method,
    useCase: ReadUseCase<S, T>,
    query: object | undefined,
    options?: CellOptions,
    cell: unknown = options?.cell,
  ) => {
    const concern = () => ({ uids: usersOfQuery(useCase, query), cell })
    return call<T>(method, options, concern, async (services, invocation) => {
      if (lacksPayouts(useCase, services)) return err(notHere)
      const input = readQuery(useCase.input, query, services.settings.currencies)
      if (!input.ok) return input
      const found = await services.read(invocation, (context) => useCase.reads(context, input.value))
      return found.ok ? found : err(toLedgerError(found.error))
    })
  }
  /** Runs a use case whose query can also name the cell. */
  const select = <S extends Shape, T extends object>(
    method: Method,
    useCase: ReadUseCase<S, T>,
    query: CellOptions | undefined,
  ) => {
    const { cell, ...others } = query ?? {}
    return read(method, useCase, isOnly ? query : others, undefined, cell)
  }
  /** Runs a use case that may write, in the name of the backend `by`. */
  const write = <T extends object, Failure extends LedgerError | IssueFailure>(
    method: Method,
    useCase: WriteUseCase<Backend, T, Failure>,
    sent: unknown,
    by: unknown,
    options?: CellOptions,
  ) => {
    const concern = () => ({ uids: usersOfSent(useCase, sent), cell: options?.cell })
    return call<T>(method, options, concern, async (services, invocation) => {
      if (lacksPayouts(useCase, services)) return err(notHere)
      const name = parseBackendName(by)
      if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameExpected })
      const sender = { name, scopes }
      const written = await services.write(invocation, useCase.followUp, (context) =>
        useCase.writes(context, withoutNulls(sent), sender),
      )
      return written.ok ? written : err(hasWhy(written.error) ? written.error : toLedgerError(written.error))
    })
  }
  return { call, read, select, write }
}

const lacksPayouts = ({ isOfPayouts }: { readonly isOfPayouts?: true }, { settings }: Services) =>
  isOfPayouts === true && settings.payouts === null

/** Whether a failure has its sentence. One of issuing an address gets it here. */
const hasWhy = (failure: LedgerError | IssueFailure): failure is LedgerError => 'why' in failure

/** The users whom a sent list, or the list in a sent body, names, as `Concerned` has them. */
function usersOfSent(
  { usersIn, member }: Pick<WriteUseCase<Backend, unknown, unknown>, 'usersIn' | 'member'>,
  sent: unknown,
) {
  if (usersIn === null) return []
  const body = sent as { readonly [name: string]: unknown } | null | undefined
  return usersOfList(member === usersIn ? sent : body?.[usersIn])
}

/**
 * The users whom a query names, as `Concerned` has them. A query without the `uid` that it needs is
 * wrong; one that can go without names nobody.
 */
function usersOfQuery<S extends Shape>(
  { usersIn, input }: Pick<ReadUseCase<S, unknown>, 'usersIn' | 'input'>,
  query: { readonly uid?: unknown } | undefined,
): Concerned['uids'] {
  const uid = query?.uid
  const namesNobody = usersIn === null || (uid === undefined && input.shape.uid?.safeParse(uid).success)
  return namesNobody ? [] : readUsers([uid])
}
