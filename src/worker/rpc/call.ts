import type * as z from 'zod/mini'
import { err, type QueryFailure, type Result } from '../common/result.ts'
import { isDatabaseAway } from '../d1/away.ts'
import type { Invocation } from '../d1/sessions.ts'
import {
  configurationDiffers,
  databaseUnavailable,
  type notConfigured,
  toProblem,
  toReasonedProblem,
} from '../http/errors.ts'
import { costFields } from '../http/middleware/every-request.ts'
import { parseParameters } from '../http/query.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { stackOf } from '../platform/logger.ts'
import { createUsage } from '../platform/usage.ts'
import type { Services } from '../services.ts'
import type { LedgerAnswer, LedgerError, LedgerMethods } from './ledger-methods.ts'

/**
 * Runs one RPC call. It never throws: an exception becomes the error `internal` or, while the
 * database is away, `database-unavailable`. Each call writes one log line. Options that are no
 * plain object are refused, because taken as an object without members they would lose what the
 * caller meant with them.
 */
export async function runCall<T extends object>(
  { settings: { clock, logger }, configMatchesData }: Pick<Services, 'settings' | 'configMatchesData'>,
  method: keyof LedgerMethods,
  options: unknown,
  work: (invocation: Invocation) => Promise<Result<T, LedgerError>>,
): Promise<LedgerAnswer<T>> {
  const startedAt = clock.now()
  const invocation = { usage: createUsage(), bookmark: null, bookmarkAfter: null }
  let outcome: LedgerError['kind'] | 'ok' = 'internal'
  const checked = async () => {
    if (!(await configMatchesData())) return err(toConfigurationError(configurationDiffers))
    return isPlainObject(options ?? {}) ? work(invocation) : err(badOptions)
  }
  try {
    const result: Result<T, LedgerError> = await checked()
    outcome = result.ok ? 'ok' : result.error.kind
    return result.ok ? { ok: true, ...result.value } : refuse(result.error)
  } catch (thrown) {
    const isAway = isDatabaseAway(thrown)
    logger.error(isAway ? 'database-away' : 'rpc-crashed', { method, text: stackOf(thrown) })
    const error: LedgerError = isAway ? toAwayError(databaseUnavailable) : { kind: 'internal', why: 'internal error' }
    outcome = error.kind
    return refuse(error)
  } finally {
    logger.info('rpc', { method, outcome, durationMs: clock.now() - startedAt, ...costFields(invocation.usage) })
  }
}

const badOptions = { kind: 'bad-input', member: 'options', why: 'an object with options' } as const

/**
 * Whether a value is an object that was written with braces, and nothing whose content is elsewhere
 * than in its members, such as a Map.
 */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** The RPC error while the database is away. */
const toAwayError = ({ reason, msg }: typeof databaseUnavailable) =>
  ({ kind: 'database-unavailable', reason, why: msg }) as const

/** The answer to a refused call. */
export const refuse = (error: LedgerError) => ({ ok: false, error }) as const

/** The RPC error of a configuration that is missing, invalid or not that of the stored data. */
export function toConfigurationError({
  reason,
  msg,
}: typeof notConfigured | typeof configurationDiffers): Extract<LedgerError, { kind: 'not-configured' }> {
  return { kind: 'not-configured', reason, why: msg }
}

/** The RPC error of a failed query. `why` is the text that HTTP callers get as `msg`. */
export function toLedgerError(failure: QueryFailure): LedgerError {
  switch (failure.kind) {
    case 'bad-input':
      return { kind: 'bad-input', member: failure.field, why: failure.why }
    case 'not-found':
      return { kind: 'not-found', why: toProblem(failure).msg }
    default: {
      const { reason, msg } = toReasonedProblem(failure)
      return { kind: failure.kind, reason, why: msg }
    }
  }
}

/**
 * Parses an object with parameters. A value that is no object is refused, because taken as an
 * object without parameters it would select everything.
 */
export function readQuery<S extends Record<string, z.ZodMiniType>>(
  schema: z.ZodMiniObject<S>,
  query: unknown,
  currencies: Currencies,
): Result<z.output<z.ZodMiniObject<S>>, LedgerError> {
  if (!isPlainObject(query)) return err({ kind: 'bad-input', member: 'query', why: 'an object with parameters' })
  const parsed = parseParameters(schema, asTexts(query), currencies)
  return parsed.ok ? parsed : err(toLedgerError(parsed.error))
}

/**
 * The parameters as they stand in a URL, with numbers as text. Leaves out members that are
 * undefined.
 */
function asTexts(query: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
}
