import * as z from 'zod/mini'
import { entryTypes } from '../common/ids.ts'
import * as schemas from './parts.ts'
import type { WithAmounts } from './written.ts'

/** A ledger entry as backends see it. `A` is the type of an amount. */
export type PostedItem<A> = WithAmounts<z.output<ReturnType<typeof postedFlow>>, A>

/** The schema of a ledger entry as its user sees it. */
export const flow = () =>
  schemas.object('Flow', () => ({
    id: schemas.idSchema('The entry. Newer entries have higher ids.'),
    uid: schemas.idSchema('The caller.'),
    wid: schemas.idSchema('The wallet: one per user and currency.'),
    osn: schemas.textSchema(
      'The order serial reference, unique per type and wallet. A recharge has its txid for TRX, and `txid:k` for a token, ' +
        'where k is the position of the log among the logs of the transaction, and `txid:i<k>` for TRX that a contract sent.',
    ),
    type: schemas.described(
      z.literal(Object.values(entryTypes)),
      '1 recharge, 2 withdraw, 3 transfer between wallets, 4 payment, 5 refund, 9 adjustment by an operator.',
    ),
    cuy: schemas.idSchema('The currency.'),
    amt: schemas.amountSchema('The change of the balance, signed, in whole units: entries can be summed.'),
    balance: schemas.amountSchema('The balance of the wallet after the entry.'),
    mark: schemas.textSchema('A remark for people.'),
    created_at: schemas.instantSchema(),
  }))

/** The schema of a ledger entry as backends see it: with the name of the backend that posted it. */
export const postedFlow = () =>
  schemas.component('PostedFlow', () =>
    z.extend(flow(), {
      by: schemas.textSchema('The name of the backend that posted the entry; empty for a recharge.'),
    }),
  )

/** The word for an entry of a statement, which says more than its type. */
export type StatementWord = z.output<ReturnType<typeof statementWord>>

const statementWord = () =>
  schemas.described(
    z.enum([
      ...(['deposit', 'withdrawal', 'payout', 'fee', 'payout-refund'] as const),
      ...(['transfer', 'payment', 'order', 'refund', 'adjustment'] as const),
    ]),
    'What it was, in a word: more than `type` says. A payout makes an entry `payout`, one `fee` where it has a fee, and `payout-refund` ' +
      'if it is cancelled. `order`: an order has taken its payment.',
  )

const reasons = () => ({
  what: statementWord(),
  to: z.exactOptional(schemas.textSchema('The recipient of the payout.', /^T\w{33}$/)),
  txid: z.exactOptional(schemas.textSchema('The transaction of the deposit, or the newest one of the payout.')),
})

/** The schema of an entry of a statement as its user sees it. */
export const statementFlow = () => schemas.component('StatementFlow', () => z.extend(flow(), reasons()))

/** The schema of an entry of a statement as backends see it. */
export const postedStatementFlow = () =>
  schemas.component('PostedStatementFlow', () => z.extend(postedFlow(), reasons()))

/** The schema of a wallet: the balance of a user in a currency. */
export const wallet = () =>
  schemas.object('Wallet', () => ({
    amt: schemas.amountSchema('The balance, in whole units: exact decimal digits, never an exponent.'),
    cuy: schemas.idSchema('The currency: 1 is TRX and 2 is USDT as shipped.'),
  }))

const balance = () =>
  schemas.object('StatementBalance', () => ({
    cuy: schemas.idSchema('The currency.'),
    opening: schemas.amountSchema('What was there before the period.'),
    closing: schemas.amountSchema('What is there at `until`: `opening` and all entries of the period add up to it.'),
  }))

/** The schemas of the members of a statement. `item` makes the schema of its entries. */
export const statementMembers = <Item extends z.ZodMiniType>(item: () => Item) => ({
  from: schemas.described(z.iso.datetime({ precision: 3 }), 'The first instant of the period.'),
  to: schemas.described(z.iso.datetime({ precision: 3 }), 'The first instant after the period.'),
  until: schemas.described(
    z.iso.datetime({ precision: 3 }),
    'Until when the statement says what there was: `to` or, while the period is running, now.',
  ),
  balances: schemas.described(z.array(balance()), 'One for each currency, in the order of the configuration.'),
  list: z.array(item()),
  count: schemas.countSchema('The number of entries of the period, on all pages.'),
})
