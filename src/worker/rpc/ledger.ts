import { issueAddress } from '../addresses/issue-address.ts'
import { readUsers } from '../cells/choose.ts'
import { formatBase58 } from '../chain/address.ts'
import { formatUnits } from '../common/amount.ts'
import { err, ok } from '../common/result.ts'
import { notConfigured } from '../http/errors.ts'
import { createUseCases, userQuery } from '../http/use-cases.ts'
import type { Cell } from '../services.ts'
import { readQuery, refuse, toConfigurationError, toLedgerError } from './call.ts'
import { createCalls } from './calls.ts'
import type { CellOptions, LedgerMethods } from './ledger-methods.ts'

/** The use cases as RPC answers them: amounts are texts. */
const useCases = createUseCases(formatUnits)

/**
 * Makes the methods for other Workers. They accept values of any type, because the caller's types
 * are not checked at run time.
 */
export function createLedgerRpc(cells: readonly [Cell, ...Cell[]]): LedgerMethods {
  const { call, read, select, write } = createCalls(cells)
  return {
    async post(entries, by, options) {
      const posted = await write('post', useCases.post, entries, by, options)
      return posted.ok ? { ok: true, replayed: posted.replayed, entries: posted.list } : posted
    },
    async decideDeposits(deposits, by, options) {
      const decided = await write('decideDeposits', useCases.decideDeposits, deposits, by, options)
      return decided.ok ? { ok: true, replayed: decided.replayed, deposits: decided.list } : decided
    },
    entries: (query) => select('entries', useCases.entries, query),
    events: (after, limit, options) => read('events', useCases.events, { after, limit }, options),
    checkpoint: (options) => read('checkpoint', useCases.checkpoint, {}, options),
    wallets: (uid, options) => read('wallets', useCases.wallets, { uid }, options),
    address: (uid, options) => {
      const concern = () => ({ uids: readUsers([uid]), cell: options?.cell })
      return call('address', options, concern, async (services, invocation) => {
        const user = readQuery(userQuery, { uid }, services.settings.currencies)
        if (!user.ok) return user
        const { fresh = false } = options ?? {}
        if (typeof fresh !== 'boolean') return err({ kind: 'bad-input', member: 'fresh', why: 'true or false' })
        const issued = await services.write(invocation, 'expect-payment', (context) =>
          issueAddress(context, user.value.uid, { fresh }),
        )
        if (!issued.ok) return err(toLedgerError(issued.error))
        return ok({ id: issued.value.id, address: formatBase58(issued.value.address) })
      })
    },
    orders: (query) => select('orders', useCases.orders, query),
    askOrders: (orders, by, options) => write('askOrders', useCases.askOrders, orders, by, options),
    cancelOrders: (orders, by, options) =>
      write('cancelOrders', useCases.cancelOrders, bodyOf(options, { orders }), by, options),
    payouts: (query) => select('payouts', useCases.payouts, query),
    askPayouts: (payouts, by, options) => write('askPayouts', useCases.askPayouts, payouts, by, options),
    approvePayouts: (ids, by, options) =>
      write('approvePayouts', useCases.approvePayouts, bodyOf(options, { ids }), by, options),
    cancelPayouts: (ids, why, by, options) =>
      write('cancelPayouts', useCases.cancelPayouts, bodyOf(options, { ids, why }), by, options),
  }
}

/** Makes the methods for an invalid configuration: each of them answers `not-configured`. */
export function createUnconfiguredLedgerRpc(): LedgerMethods {
  const all = async () => refuse(toConfigurationError(notConfigured))
  const orders = { orders: all, askOrders: all, cancelOrders: all }
  const payouts = { payouts: all, askPayouts: all, approvePayouts: all, cancelPayouts: all }
  return {
    post: all,
    decideDeposits: all,
    entries: all,
    events: all,
    checkpoint: all,
    wallets: all,
    address: all,
    ...orders,
    ...payouts,
  }
}

/**
 * The body of the HTTP route for the same step. `cell` is no part of it: it only chooses a
 * database, and a deployment with one database ignores it.
 */
function bodyOf(options: CellOptions | undefined, members: object): unknown {
  const { cell: _, ...others } = options ?? {}
  return { ...others, ...members }
}
