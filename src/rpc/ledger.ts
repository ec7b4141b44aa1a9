import { issueAddress } from '../addresses/issue-address.ts'
import { formatBase58 } from '../chain/address.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import { eventItem } from '../events/event-item.ts'
import { eventsMax } from '../events/event-store.ts'
import { notConfigured, toProblem } from '../http/errors.ts'
import { parseParameters } from '../http/query.ts'
import { readLedgerEntriesQuery } from '../http/routes/ledger-entries/query.ts'
import { ledgerEventsQuery } from '../http/routes/ledger-events/query.ts'
import { ledgerWalletsQuery } from '../http/routes/ledger-wallets/query.ts'
import { formatUnits } from '../common/amount.ts'
import { backendNameTakes, parseBackendName } from '../ledger/entry.ts'
import { postedItem } from '../ledger/entry-item.ts'
import { listEntries } from '../ledger/list-entries.ts'
import { listWallets } from '../ledger/list-wallets.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { stackOf } from '../platform/logger.ts'
import { createUsage, usageFields } from '../platform/usage.ts'
import type { Invocation, Services } from '../services.ts'
import type { LedgerAnswer, LedgerError, LedgerMethods } from './ledger-methods.ts'

/** What the calls of other Workers need. */
export interface LedgerRpcParts {
  readonly services: Services
  /** Whether the configuration has the meaning of the stored data. Otherwise nothing is served. */
  readonly hasStoredMeaning: () => Promise<boolean>
}

/** The methods for other Workers. They take values of any type: the caller's types are not checked at run time. */
export function createLedgerRpc(parts: LedgerRpcParts): LedgerMethods {
  const { services } = parts
  const { currencies, clock } = services.settings
  const call = createCall(parts)
  return {
    post: (entries, by) =>
      call('post', async (invocation) => {
        const name = parseBackendName(by)
        if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameTakes })
        const posted = await services.write(invocation, (stores) => postEntries(stores, entries, name, clock.now()))
        if (!posted.ok) return posted
        const { replayed } = posted.value
        return ok({
          replayed,
          entries: posted.value.entries.map((entry) => postedItem(entry, currencies, formatUnits)),
        })
      }),
    entries: (query) =>
      call('entries', async (invocation) => {
        const request = readLedgerEntriesQuery(asTexts(query), currencies)
        if (!request.ok) return err(toLedgerError(request.error))
        const { uid, ...selection } = request.value
        const found = await services.read(invocation, (stores) => listEntries(stores, uid, selection))
        if (!found.ok) return err(toLedgerError(found.error))
        const { list, count } = found.value
        return ok({ list: list.map((entry) => postedItem(entry, currencies, formatUnits)), count })
      }),
    events: (after, limit) =>
      call('events', async (invocation) => {
        const query = parseParameters(ledgerEventsQuery, asTexts({ after, limit }))
        if (!query.ok) return err(toLedgerError(query.error))
        const { after: last = 0, limit: max = eventsMax } = query.value
        const events = await services.read(invocation, (stores) => stores.events.after(last, max))
        const list = events.map((event) => eventItem(event, currencies, formatUnits))
        return ok({ list, count: list.length })
      }),
    wallets: (value) =>
      call('wallets', async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const wallets = await services.read(invocation, (stores) => listWallets(stores, uid.value))
        const list = wallets.map(({ amount, currency: { cuy, scale } }) => ({ amt: formatUnits(amount, scale), cuy }))
        return ok({ list, count: list.length })
      }),
    address: (value, options) =>
      call('address', async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const fresh = options?.fresh === true
        const issued = await services.write(invocation, (stores) =>
          issueAddress({ ...stores, ...services.chains(invocation) }, uid.value, { fresh }),
        )
        if (!issued.ok) return err(toLedgerError(issued.error))
        return ok({ id: issued.value.id, address: formatBase58(issued.value.address) })
      }),
  }
}

/** The methods where the configuration is wrong. */
export function createUnconfiguredLedgerRpc(): LedgerMethods {
  const refuse = async () => refused({ kind: 'not-configured', why: notConfigured.msg })
  return { post: refuse, entries: refuse, events: refuse, wallets: refuse, address: refuse }
}

/** Runs one call: its result is a value, whatever happens, and leaves one line in the log. */
function createCall({ services, hasStoredMeaning }: LedgerRpcParts) {
  const { clock, logger } = services.settings
  return async <T extends object>(
    method: keyof LedgerMethods,
    work: (invocation: Invocation) => Promise<Result<T, LedgerError>>,
  ): Promise<LedgerAnswer<T>> => {
    const startedAt = clock.now()
    const invocation = { usage: createUsage(), bookmark: null, bookmarkAfter: null }
    let outcome: LedgerError['kind'] | 'ok' = 'internal'
    try {
      const result: Result<T, LedgerError> = (await hasStoredMeaning())
        ? await work(invocation)
        : err({ kind: 'not-configured', why: notConfigured.msg })
      outcome = result.ok ? 'ok' : result.error.kind
      return result.ok ? { ok: true, ...result.value } : refused(result.error)
    } catch (thrown) {
      logger.error('rpc-crashed', { method, text: stackOf(thrown) })
      return refused({ kind: 'internal', why: 'internal error' })
    } finally {
      logger.info('rpc', { method, outcome, durationMs: clock.now() - startedAt, ...usageFields(invocation.usage) })
    }
  }
}

const refused = (error: LedgerError) => ({ ok: false, error }) as const

function toLedgerError(failure: QueryFailure): LedgerError {
  return failure.kind === 'bad-input'
    ? { kind: 'bad-input', member: failure.field, why: failure.why }
    : { kind: failure.kind, why: toProblem(failure).msg }
}

function readUid(value: unknown): Result<Uid, LedgerError> {
  const query = parseParameters(ledgerWalletsQuery, asTexts({ uid: value }))
  return query.ok ? ok(query.value.uid) : err(toLedgerError(query.error))
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
