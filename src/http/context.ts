import type { Address } from '../addresses/address.ts'
import type { BalanceQuery } from '../addresses/read-balance.ts'
import type { Txid } from '../chain/block.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import type { Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { CorsOrigins } from '../config/config.ts'
import type { Amount } from '../ledger/amount.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'
import type { FlowFilter, FlowList, FlowPage } from '../ledger/ledger-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Usage } from '../platform/usage.ts'
import type { CheckNowReport } from '../scan/check-now.ts'
import type { TransactionReport } from '../scan/check-transaction.ts'
import type { ScanHealth } from '../scan/health.ts'
import type { Authenticate } from './auth/authenticate.ts'
import type { ApiResponse } from './envelope.ts'
import type { RateClass, RateLimiter } from './middleware/rate-limit.ts'

type Asked<T> = Promise<Result<T, QueryFailure>>

/** One request on its way: what is known of it, and what it has cost so far. */
export interface RequestContext {
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
    visit: RequestContext,
  ): Asked<{ readonly id: number; readonly address: Address }>
  /** In chain units: the currency's `decimals`. */
  readBalance(uid: Uid, question: BalanceQuery, visit: RequestContext): Asked<bigint>
  recharge(uid: Uid, visit: RequestContext): Asked<CheckNowReport>
  rechargeTransaction(uid: Uid, txid: Txid, visit: RequestContext): Asked<TransactionReport>
  listWallets(
    uid: Uid,
    visit: RequestContext,
  ): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]>
  listFlows(uid: Uid, filter: FlowFilter, page: FlowPage, visit: RequestContext): Promise<FlowList>
  readHealth(visit: RequestContext): Promise<ScanHealth>
}

/** What is known of a request once it is answered. */
export interface CompletedRequest {
  readonly visit: RequestContext
  readonly method: string
  readonly status: number
}

/** What every answer needs, even the one that says that nothing is configured. */
export interface FrameParts {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** A new request's id, unguessable and short. */
  readonly requestId: () => string
  /** A new request's costs: none. */
  readonly createUsage: () => Usage
  readonly cors: CorsOrigins | null
  /** Told of every answer. */
  readonly observe: (answered: CompletedRequest) => void
}

/** What the HTTP layer is made of. */
export interface HttpParts extends FrameParts, UseCases {
  readonly authenticate: Authenticate
  readonly admit: RateLimiter
  readonly currencies: Currencies
}

/** One route for callers: reads its query, asks one use case, words the answer. */
export interface CallerRoute {
  readonly path: string
  /** Which of the caller's limits a request counts against. */
  readonly rateClass: (url: string) => RateClass
  readonly answer: (parts: HttpParts, uid: Uid, url: string, visit: RequestContext) => Promise<ApiResponse>
}
