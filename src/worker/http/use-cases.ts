import * as z from 'zod/mini'
import { readCheckpoint } from '../archive/checkpoint.ts'
import type { CurrencyId, EventId, OrderId, PayoutId } from '../common/ids.ts'
import { orderStates } from '../common/order-states.ts'
import { payoutStates } from '../common/payout-states.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { decideDeposits } from '../deposits/decide.ts'
import { ownedDepositItem } from '../deposits/deposit-item.ts'
import { eventItem, eventsMax } from '../events/events.ts'
import { selectEvents } from '../events/store/events.ts'
import type { AppContext, PayoutRules, ReadContext } from '../ledger/context.ts'
import { type Entry, osnCharsMax, osnForm, postedItem, type WriteAmount } from '../ledger/entry.ts'
import { listEntries, listWallets } from '../ledger/list-entries.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { askOrders } from '../orders/ask.ts'
import { cancelOrders } from '../orders/cancel.ts'
import { listOrders } from '../orders/list.ts'
import type { Order, OrderSelection } from '../orders/order.ts'
import { orderItem } from '../orders/order-item.ts'
import { askPayouts } from '../payouts/ask.ts'
import { approvePayouts, cancelPayouts } from '../payouts/decide.ts'
import { listPayouts } from '../payouts/list.ts'
import { type Payout, payoutItem } from '../payouts/payout.ts'
import type { PayoutSelection } from '../payouts/store/lists.ts'
import { jsonAmount } from '../schemas/written.ts'
import type { FollowUp, RequestWriteContext } from '../services.ts'
import type { Backend, Scope } from './auth/authenticate.ts'
import type { Decider, LedgerRoute } from './context.ts'
import {
  addressParam,
  afterParam,
  badInput,
  choiceParam,
  idParam,
  notWithAfter,
  type ParametersOf,
  textParam,
  uidParam,
  wholeNumber,
} from './query.ts'
import { rechargeQuery } from './routes/tron-recharge.ts'
import { flowListQuery, pageRowsMax } from './routes/wallet-flow-list.ts'

const osnExpected = `an osn of at most ${osnCharsMax} printable ASCII characters`
const orderExpected = `a reference of at most ${osnCharsMax} printable ASCII characters`

/** The parameter of a use case that is about one user. */
export const userQuery = z.object({ uid: uidParam() })
const entriesOfUser = z.object({ ...userQuery.shape, ...flowListQuery.shape })
const eventsAfter = z.object({
  after: z.optional(afterParam<EventId>('an event')),
  limit: z.optional(wholeNumber(eventsMax)),
})
const selectedPayouts = z.object({
  uid: z.optional(uidParam()),
  cuy: z.optional(idParam<CurrencyId>()),
  state: z.optional(choiceParam(payoutStates)),
  osn: z.optional(textParam(osnExpected, osnForm, (osn) => osn, osnCharsMax)),
  to: z.optional(addressParam()),
  ...rechargeQuery.shape,
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<PayoutId>()),
  after: z.optional(afterParam<PayoutId>('a payout')),
} satisfies ParametersOf<PayoutSelection>)

/** The parameter that is the reference of an order. */
export const orderParam = () => textParam(orderExpected, osnForm, (order) => order, osnCharsMax)
const selectedOrders = z.object({
  uid: z.optional(uidParam()),
  order: z.optional(orderParam()),
  state: z.optional(choiceParam(orderStates)),
  address: z.optional(addressParam()),
  limit: z.optional(wholeNumber(pageRowsMax)),
  before: z.optional(idParam<OrderId>()),
} satisfies ParametersOf<OrderSelection>)

/**
 * What a route takes from its use case. Over RPC the same holds, except that a Worker that is bound
 * to the service has all scopes.
 */
type Access = Pick<LedgerRoute, 'usersIn' | 'scope' | 'isOfPayouts' | 'isForPeople'>

/** What a use case that cannot write runs. */
export type Reads<Input, Answer> = (context: ReadContext, input: Input) => Promise<Result<Answer, QueryFailure>>

/** A use case that cannot write. `input` parses what it gets. */
export interface ReadUseCase<Shape extends Record<string, z.ZodMiniType>, Answer> extends Access {
  readonly input: z.ZodMiniObject<Shape>
  readonly reads: Reads<z.output<z.ZodMiniObject<Shape>>, Answer>
}

/** A use case that may write. It gets what was sent without a check. `By` is who may send it. */
export interface WriteUseCase<By extends Decider, Answer, Failure> extends Access {
  /**
   * The only member of the JSON body, whose value the use case gets. Null: it gets the whole body.
   */
  readonly member: string | null
  readonly followUp: FollowUp
  readonly writes: (context: RequestWriteContext, sent: unknown, by: By) => Promise<Result<Answer, Failure>>
}

/**
 * What each row of `createUseCases` is. A row says itself of which type its input or its sender is.
 */
type Row =
  | (Access & { readonly input: z.ZodMiniObject; readonly reads: Reads<never, unknown> })
  | WriteUseCase<never, unknown, unknown>

/**
 * `PAYOUTS` of the cell. Throws without it, which is a bug: nothing that `isOfPayouts` is run in a
 * cell without them.
 */
export function payoutRulesOf({ payouts }: Pick<AppContext, 'payouts'>): PayoutRules {
  if (payouts === null) throw new Error('a use case of payouts without PAYOUTS')
  return payouts
}

/**
 * What backends can ask for over HTTP and over RPC: a row for each use case. `write` writes the
 * amounts of the answers. HTTP has further routes, which RPC does not have.
 */
export const createUseCases = <A>(write: WriteAmount<A>) => ({
  ...ofLedger(write),
  ...ofOrders(write),
  ...ofPayouts(write),
})

function ofLedger<A>(write: WriteAmount<A>) {
  const entries = (list: readonly Entry[], { currencies }: AppContext) =>
    list.map((entry) => postedItem(entry, currencies, write))
  return {
    post: {
      usersIn: 'entries',
      scope: () => 'ledger:post',
      member: 'entries',
      followUp: 'wake',
      async writes(context, sent, by: Backend) {
        const posted = await postEntries(context, sent, by.name, context.clock.now())
        if (!posted.ok) return posted
        return ok({ ...listed(entries(posted.value.entries, context)), replayed: posted.value.replayed })
      },
    },
    entries: {
      usersIn: 'uid',
      scope: () => 'ledger:read',
      input: entriesOfUser,
      async reads(context, { uid, ...selection }: z.output<typeof entriesOfUser>) {
        const found = await listEntries(context, uid, selection)
        if (!found.ok) return found
        return ok({ list: entries(found.value.list, context), count: found.value.count })
      },
    },
    events: {
      usersIn: null,
      scope: () => 'ledger:read',
      input: eventsAfter,
      async reads({ db, currencies }, { after = 0, limit = eventsMax }: z.output<typeof eventsAfter>) {
        const events = await selectEvents(db, after, limit)
        return ok(listed(events.map((event) => eventItem(event, currencies, write))))
      },
    },
    checkpoint: {
      usersIn: null,
      scope: () => 'ledger:read',
      input: z.object({}),
      reads: ({ db }) => readCheckpoint(db),
    },
    wallets: {
      usersIn: 'uid',
      scope: () => 'ledger:read',
      input: userQuery,
      async reads(context, { uid }: z.output<typeof userQuery>) {
        const wallets = await listWallets(context, uid)
        return ok(
          listed(wallets.map(({ amount, currency }) => ({ amt: write(amount, currency.scale), cuy: currency.cuy }))),
        )
      },
    },
    decideDeposits: {
      usersIn: null,
      scope: () => 'ledger:approve',
      isForPeople: true,
      member: 'deposits',
      followUp: 'wake',
      async writes(context, sent, by: Decider) {
        const decided = await decideDeposits(context, sent, by.name)
        if (!decided.ok) return decided
        const items = decided.value.deposits.map((one) => ownedDepositItem(one, context.currencies, write))
        return ok({ ...listed(items), replayed: decided.value.replayed })
      },
    },
  } as const satisfies Record<string, Row>
}

function ofOrders<A>(write: WriteAmount<A>) {
  const orders = (list: readonly Order[], { currencies }: AppContext) =>
    list.map((order) => orderItem(order, currencies, write))
  return {
    orders: {
      usersIn: 'uid',
      scope: () => 'ledger:read',
      input: selectedOrders,
      async reads(context, selection: z.output<typeof selectedOrders>) {
        const { list, count } = await listOrders(context, selection)
        return ok({ list: orders(list, context), count })
      },
    },
    askOrders: {
      usersIn: 'orders',
      scope: () => 'ledger:post',
      member: 'orders',
      followUp: 'expect-payment', // their addresses are given to who pays; no event is stored
      async writes(context, sent, by: Backend) {
        const asked = await askOrders(context, sent, by.name, context.clock.now())
        if (!asked.ok) return asked
        return ok({ ...listed(orders(asked.value.orders, context)), replayed: asked.value.replayed })
      },
    },
    cancelOrders: {
      usersIn: 'orders',
      scope: () => 'ledger:post',
      member: null,
      followUp: 'wake',
      async writes(context, sent, by: Backend) {
        const cancelled = await cancelOrders(context, sent, by.name)
        return cancelled.ok ? ok(listed(orders(cancelled.value, context))) : cancelled
      },
    },
  } as const satisfies Record<string, Row>
}

function ofPayouts<A>(write: WriteAmount<A>) {
  const payouts = (list: readonly Payout[], { currencies }: AppContext) =>
    list.map((payout) => payoutItem(payout, currencies, write))
  return {
    payouts: {
      usersIn: 'uid',
      scope: () => 'ledger:read',
      isOfPayouts: true,
      input: selectedPayouts,
      async reads(context, selection: z.output<typeof selectedPayouts>) {
        if (selection.before !== undefined && selection.after !== undefined) {
          return err(badInput('before', notWithAfter))
        }
        const { list, count } = await listPayouts(context, selection)
        return ok({ list: payouts(list, context), count })
      },
    },
    askPayouts: {
      usersIn: 'payouts',
      scope: () => 'ledger:pay',
      isOfPayouts: true,
      member: 'payouts',
      followUp: 'note-and-wake',
      async writes(context, sent, by: Backend) {
        const parts = { ...context, payouts: payoutRulesOf(context) }
        const asked = await askPayouts(parts, sent, by.name, context.clock.now())
        if (!asked.ok) return asked
        return ok({ ...listed(payouts(asked.value.payouts, context)), replayed: asked.value.replayed })
      },
    },
    approvePayouts: {
      usersIn: null,
      scope: () => 'ledger:approve',
      isOfPayouts: true,
      isForPeople: true,
      member: null,
      followUp: 'note-and-wake',
      async writes(context, sent, by: Decider) {
        const { address } = payoutRulesOf(context)
        const approved = await approvePayouts({ ...context, address }, sent, by.name)
        return approved.ok ? ok(listed(payouts(approved.value, context))) : approved
      },
    },
    cancelPayouts: {
      usersIn: null,
      scope: () => ['ledger:pay', 'ledger:approve'],
      isOfPayouts: true,
      isForPeople: true,
      member: null,
      followUp: 'note-and-wake',
      async writes(context, sent, { name, scopes }: Decider) {
        const { address } = payoutRulesOf(context)
        const mayApprove = scopes.includes('ledger:approve' satisfies Scope)
        const cancelled = await cancelPayouts({ ...context, address, mayApprove }, sent, name)
        return cancelled.ok ? ok(listed(payouts(cancelled.value, context))) : cancelled
      },
    },
  } as const satisfies Record<string, Row>
}

const listed = <T>(list: readonly T[]) => ({ list, count: list.length })

/** The use cases as HTTP answers them: amounts are JSON numbers with all digits. */
export const useCases = createUseCases(jsonAmount)
