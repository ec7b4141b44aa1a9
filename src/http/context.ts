import type { BalanceQuestion } from '../addresses/read-balance.ts'
import type { Health } from '../scan/health.ts'
import type { RechargeReport } from '../scan/check-now.ts'
import type { TransactionReport } from '../scan/check-transaction.ts'
import type { CorsOrigins } from '../config/config.ts'
import type { Address } from '../addresses/address.ts'
import type { Amount } from '../ledger/amount.ts'
import type { Txid } from '../chain/block.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { QueryFailure } from '../chain/failure.ts'
import type { Uid } from '../ledger/entry.ts'
import type { Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { FlowFilter, FlowList, FlowPage } from '../ledger/ledger-store.ts'
import type { Log } from '../platform/logger.ts'
import type { Usage } from '../platform/usage.ts'
import type { Authenticate } from './auth/authenticate.ts'
import type { Reply } from './envelope.ts'
import type { Admit, RateClass } from './middleware/rate-limit.ts'

type Asked<T> = Promise<Result<T, QueryFailure>>

/** One request on its way: what is known of it, and what it has cost so far. */
export interface Visit {
  readonly requestId: string
  /** The path of a route, or `unknown`: never what a caller wrote. */
  readonly route: string
  readonly startedAt: UnixMs
  /** Headers that the answer has because of the request, whatever the answer is. */
  readonly headers: Readonly<Record<string, string>>
  readonly usage: Usage
  /** Up to where of the database's history the caller has seen, as it says itself, or null. */
  bookmark: string | null
  /** Up to where it has seen with this answer, or null where the answer is not of the database. */
  bookmarkAfter: string | null
  /** How long the answer took; 0 until it is there. */
  durationMs: number
}

/** The use cases, each with its own parts already in it. */
interface UseCases {
  generateAddress(
    uid: Uid,
    wanted: { readonly fresh: boolean },
    visit: Visit,
  ): Asked<{ readonly id: number; readonly address: Address }>
  /** In chain units: the currency's `decimals`. */
  readBalance(uid: Uid, question: BalanceQuestion, visit: Visit): Asked<bigint>
  recharge(uid: Uid, visit: Visit): Asked<RechargeReport>
  rechargeTransaction(uid: Uid, txid: Txid, visit: Visit): Asked<TransactionReport>
  listWallets(uid: Uid, visit: Visit): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]>
  listFlows(uid: Uid, filter: FlowFilter, page: FlowPage, visit: Visit): Promise<FlowList>
  readHealth(visit: Visit): Promise<Health>
}

/** What is known of a request once it is answered. */
export interface Answered {
  readonly visit: Visit
  readonly method: string
  readonly status: number
}

/** What every answer needs, even the one that says that nothing is configured. */
export interface FrameParts {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** A new request's id, unguessable and short. */
  readonly requestId: () => string
  /** A new request's costs: none. */
  readonly createUsage: () => Usage
  readonly cors: CorsOrigins | null
  /** Told of every answer. */
  readonly observe: (answered: Answered) => void
}

/** What the HTTP layer is made of. */
export interface Parts extends FrameParts, UseCases {
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly currencies: Currencies
}

/** One route for callers: reads its query, asks one use case, words the answer. */
export interface Route {
  readonly path: string
  /** Which of the caller's limits a request counts against. */
  readonly rateClass: (url: string) => RateClass
  readonly answer: (parts: Parts, uid: Uid, url: string, visit: Visit) => Promise<Reply>
}
