import { issueAddress } from '../addresses/issue-address.ts'
import { formatBase58 } from '../chain/address.ts'
import { formatUnits } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { Invocation } from '../d1/sessions.ts'
import { eventItem, eventsMax, selectEvents } from '../events/events.ts'
import { configurationDiffers, notConfigured, toProblem, toReasonedProblem } from '../http/errors.ts'
import { costFields } from '../http/middleware/every-request.ts'
import { parseParameters } from '../http/query.ts'
import { ledgerEntriesQuery } from '../http/routes/ledger-entries.ts'
import { ledgerEventsQuery } from '../http/routes/ledger-events.ts'
import { ledgerWalletsQuery } from '../http/routes/ledger-wallets.ts'
import { listEntries, listWallets } from '../ledger/entries.ts'
import { backendNameTakes, type Entry, parseBackendName, postedItem } from '../ledger/entry.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { stackOf } from '../platform/logger.ts'
import { createUsage } from '../platform/usage.ts'
import type { Services } from '../services.ts'
import type { LedgerAnswer, LedgerError, LedgerMethods } from './ledger-methods.ts'

/** What the calls of other Workers need. */
export interface LedgerRpcParts {
  readonly services: Services
  /** Whether the configuration has the meaning of the stored data. Otherwise nothing is served. */
  readonly configMatchesData: () => Promise<boolean>
}

/** The methods for other Workers. They take values of any type: the caller's types are not checked at run time. */
export function createLedgerRpc(parts: LedgerRpcParts): LedgerMethods {
  const { services } = parts
  const { currencies, clock } = services.settings
  const call = createCall(parts)
  const readUid = (value: unknown): Result<Uid, LedgerError> => {
    const query = parseParameters(ledgerWalletsQuery, asTexts({ uid: value }), currencies)
    return query.ok ? ok(query.value.uid) : err(toLedgerError(query.error))
  }
  const itemOf = (entry: Entry) => postedItem(entry, currencies, formatUnits)
  return {
    post: (entries, by) =>
      call('post', async (invocation) => {
        const name = parseBackendName(by)
        if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameTakes })
        const posted = await services.write(invocation, (context) => postEntries(context, entries, name, clock.now()))
        if (!posted.ok) return posted
        services.wakeEndpoints()
        return ok({ replayed: posted.value.replayed, entries: posted.value.entries.map(itemOf) })
      }),
    entries: (query) =>
      call('entries', async (invocation) => {
        const request = parseParameters(ledgerEntriesQuery, asTexts(query), currencies)
        if (!request.ok) return err(toLedgerError(request.error))
        const { uid, ...selection } = request.value
        const found = await services.read(invocation, (context) => listEntries(context, uid, selection))
        if (!found.ok) return err(toLedgerError(found.error))
        return ok({ list: found.value.list.map(itemOf), count: found.value.count })
      }),
    events: (after, limit) =>
      call('events', async (invocation) => {
        const query = parseParameters(ledgerEventsQuery, asTexts({ after, limit }), currencies)
        if (!query.ok) return err(toLedgerError(query.error))
        const { after: last = 0, limit: max = eventsMax } = query.value
        const events = await services.read(invocation, ({ db }) => selectEvents(db, last, max))
        return listOf(events.map((event) => eventItem(event, currencies, formatUnits)))
      }),
    wallets: (value) =>
      call('wallets', async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const wallets = await services.read(invocation, (context) => listWallets(context, uid.value))
        return listOf(wallets.map(({ amount, currency: { cuy, scale } }) => ({ amt: formatUnits(amount, scale), cuy })))
      }),
    address: (value, options) =>
      call('address', async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const { fresh = false } = options ?? {}
        if (typeof fresh !== 'boolean') return err({ kind: 'bad-input', member: 'fresh', why: 'true or false' })
        const issued = await services.write(invocation, (context) =>
          issueAddress({ ...context, scanner: services.scanner }, uid.value, { fresh }),
        )
        if (!issued.ok) return err(toLedgerError(issued.error))
        return ok({ id: issued.value.id, address: formatBase58(issued.value.address) })
      }),
  }
}

/** The methods where the configuration is wrong. */
export function createUnconfiguredLedgerRpc(): LedgerMethods {
  const refuse = async () => refused(toConfigurationError(notConfigured))
  return { post: refuse, entries: refuse, events: refuse, wallets: refuse, address: refuse }
}

/** Runs one call: its result is a value, whatever happens, and leaves one line in the log. */
function createCall({ services, configMatchesData }: LedgerRpcParts) {
  const { clock, logger } = services.settings
  return async <T extends object>(
    method: keyof LedgerMethods,
    work: (invocation: Invocation) => Promise<Result<T, LedgerError>>,
  ): Promise<LedgerAnswer<T>> => {
    const startedAt = clock.now()
    const invocation = { usage: createUsage(), bookmark: null, bookmarkAfter: null }
    let outcome: LedgerError['kind'] | 'ok' = 'internal'
    try {
      const result: Result<T, LedgerError> = (await configMatchesData())
        ? await work(invocation)
        : err(toConfigurationError(configurationDiffers))
      outcome = result.ok ? 'ok' : result.error.kind
      return result.ok ? { ok: true, ...result.value } : refused(result.error)
    } catch (thrown) {
      logger.error('rpc-crashed', { method, text: stackOf(thrown) })
      return refused({ kind: 'internal', why: 'internal error' })
    } finally {
      logger.info('rpc', { method, outcome, durationMs: clock.now() - startedAt, ...costFields(invocation.usage) })
    }
  }
}

const listOf = <T>(list: readonly T[]) => ok({ list, count: list.length })
const refused = (error: LedgerError) => ({ ok: false, error }) as const

function toConfigurationError({
  reason,
  msg,
}: typeof notConfigured | typeof configurationDiffers): Extract<LedgerError, { kind: 'not-configured' }> {
  return { kind: 'not-configured', reason, why: msg }
}

function toLedgerError(failure: QueryFailure): LedgerError {
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

/** Parameters as a URL has them: numbers as text. A member that is undefined is absent. */
function asTexts(query: unknown): Readonly<Record<string, unknown>> {
  const members = typeof query === 'object' && query !== null ? Object.entries(query) : []
  return Object.fromEntries(
    members
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
}
