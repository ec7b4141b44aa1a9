import { issueAddress } from '../addresses/issue-address.ts'
import { formatBase58 } from '../chain/address.ts'
import { formatUnits } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import { decideDeposits } from '../deposits/decide.ts'
import { ownedDepositItem } from '../deposits/deposit-item.ts'
import { eventItem, eventsMax } from '../events/events.ts'
import { selectEvents } from '../events/store/events.ts'
import { withoutNulls } from '../http/body.ts'
import { notConfigured } from '../http/errors.ts'
import { ledgerEntriesQuery } from '../http/routes/ledger-entries.ts'
import { ledgerEventsQuery } from '../http/routes/ledger-events.ts'
import { ledgerWalletsQuery } from '../http/routes/ledger-wallets.ts'
import { backendNameExpected, type Entry, parseBackendName, postedItem } from '../ledger/entry.ts'
import { listEntries, listWallets } from '../ledger/list-entries.ts'
import { postEntries } from '../ledger/post-entries.ts'
import type { Services } from '../services.ts'
import { createCall, readQuery, refuse, toConfigurationError, toLedgerError } from './call.ts'
import type { LedgerError, LedgerMethods } from './ledger-methods.ts'
import { createPayoutMethods } from './payouts.ts'

/** Makes the methods for other Workers. They accept values of any type, because the caller's types are not checked at run time. */
export function createLedgerRpc(services: Services): LedgerMethods {
  const { currencies, clock } = services.settings
  const call = createCall(services)
  const readUid = (value: unknown): Result<Uid, LedgerError> => {
    const query = readQuery(ledgerWalletsQuery, { uid: value }, currencies)
    return query.ok ? ok(query.value.uid) : query
  }
  const itemOf = (entry: Entry) => postedItem(entry, currencies, formatUnits)
  return {
    post: (entries, by, options) =>
      call('post', options, async (invocation) => {
        const name = parseBackendName(by)
        if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameExpected })
        const posted = await services.write(invocation, 'wake', (context) =>
          postEntries(context, withoutNulls(entries), name, clock.now()),
        )
        if (!posted.ok) return posted
        return ok({ replayed: posted.value.replayed, entries: posted.value.entries.map(itemOf) })
      }),
    decideDeposits: (deposits, by, options) =>
      call('decideDeposits', options, async (invocation) => {
        const name = parseBackendName(by)
        if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameExpected })
        const decided = await services.write(invocation, 'wake', (context) => decideDeposits(context, deposits, name))
        if (!decided.ok) return decided
        const items = decided.value.deposits.map((one) => ownedDepositItem(one, currencies, formatUnits))
        return ok({ replayed: decided.value.replayed, deposits: items })
      }),
    entries: (query) =>
      call('entries', undefined, async (invocation) => {
        const request = readQuery(ledgerEntriesQuery, query, currencies)
        if (!request.ok) return request
        const { uid, ...selection } = request.value
        const found = await services.read(invocation, (context) => listEntries(context, uid, selection))
        if (!found.ok) return err(toLedgerError(found.error))
        return ok({ list: found.value.list.map(itemOf), count: found.value.count })
      }),
    events: (after, limit, options) =>
      call('events', options, async (invocation) => {
        const query = readQuery(ledgerEventsQuery, { after, limit }, currencies)
        if (!query.ok) return query
        const { after: last = 0, limit: max = eventsMax } = query.value
        const events = await services.read(invocation, ({ db }) => selectEvents(db, last, max))
        return listOf(events.map((event) => eventItem(event, currencies, formatUnits)))
      }),
    wallets: (value, options) =>
      call('wallets', options, async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const wallets = await services.read(invocation, (context) => listWallets(context, uid.value))
        return listOf(wallets.map(({ amount, currency: { cuy, scale } }) => ({ amt: formatUnits(amount, scale), cuy })))
      }),
    address: (value, options) =>
      call('address', options, async (invocation) => {
        const uid = readUid(value)
        if (!uid.ok) return uid
        const { fresh = false } = options ?? {}
        if (typeof fresh !== 'boolean') return err({ kind: 'bad-input', member: 'fresh', why: 'true or false' })
        const issued = await services.write(invocation, 'nothing', (context) =>
          issueAddress({ ...context, scanner: services.scanner }, uid.value, { fresh }),
        )
        if (!issued.ok) return err(toLedgerError(issued.error))
        return ok({ id: issued.value.id, address: formatBase58(issued.value.address) })
      }),
    ...createPayoutMethods(services, call),
  }
}

/** Makes the methods for an invalid configuration: each of them answers `not-configured`. */
export function createUnconfiguredLedgerRpc(): LedgerMethods {
  const all = async () => refuse(toConfigurationError(notConfigured))
  const payouts = { payouts: all, askPayouts: all, approvePayouts: all, cancelPayouts: all }
  return { post: all, decideDeposits: all, entries: all, events: all, wallets: all, address: all, ...payouts }
}

const listOf = <T>(list: readonly T[]) => ok({ list, count: list.length })
