import type { BalanceQuestion } from '../app/read-balance.ts'
import type { Health } from '../app/read-health.ts'
import type { RechargeReport } from '../app/recharge.ts'
import type { TransactionReport } from '../app/recharge-transaction.ts'
import type { Address } from '../domain/address.ts'
import type { Amount } from '../domain/amount.ts'
import type { Txid } from '../domain/block.ts'
import type { Currencies, Currency } from '../domain/currency.ts'
import type { QueryFailure } from '../domain/failure.ts'
import type { Uid } from '../domain/flow.ts'
import type { Result } from '../domain/result.ts'
import type { Clock } from '../ports/clock.ts'
import type { FlowFilter, FlowList, FlowPage } from '../ports/ledger.ts'
import type { Log } from '../ports/log.ts'
import type { Authenticate } from './auth.ts'
import type { Reply } from './envelope.ts'

type Asked<T> = Promise<Result<T, QueryFailure>>

/** The use cases, each with its own parts already in it. */
interface UseCases {
  generateAddress(
    uid: Uid,
    wanted: { readonly fresh: boolean },
  ): Asked<{ readonly id: number; readonly address: Address }>
  /** In chain units: the currency's `decimals`. */
  readBalance(uid: Uid, question: BalanceQuestion): Asked<bigint>
  recharge(uid: Uid): Asked<RechargeReport>
  rechargeTransaction(uid: Uid, txid: Txid): Asked<TransactionReport>
  listWallets(uid: Uid): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]>
  listFlows(uid: Uid, filter: FlowFilter, page: FlowPage): Promise<FlowList>
  readHealth(): Promise<Health>
}

/** What is known of a request once it is answered. */
export interface Answered {
  readonly requestId: string
  /** The path of a route, or `unknown`: never what a caller wrote. */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
}

/** What every answer needs, even the one that says that nothing is configured. */
export interface FrameParts {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** A new request's id, unguessable and short. */
  readonly requestId: () => string
  /** Told of every answer. */
  readonly observe: (answered: Answered) => void
}

/** What the HTTP layer is made of. */
export interface Parts extends FrameParts, UseCases {
  readonly authenticate: Authenticate
  readonly currencies: Currencies
}

/** One route for callers: reads its query, asks one use case, words the answer. */
export interface Route {
  readonly path: string
  readonly answer: (parts: Parts, uid: Uid, url: string) => Promise<Reply>
}
