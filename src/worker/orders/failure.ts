import type { OrderReason } from '../common/reasons.ts'
import type { QueryFailure } from '../common/result.ts'

/** Why no address could be issued. */
export type IssueFailure = Extract<
  QueryFailure,
  { kind: 'cannot-issue' | 'issuing-off' | 'limited' | 'chain-unavailable' }
>

/**
 * Why a request about orders was refused; nothing is stored. `order` is the number of the order in
 * the request, from 1; `why` is for people.
 */
export type OrderFailure =
  | { readonly kind: 'bad-input'; readonly order?: number; readonly member: string; readonly why: string }
  /** The state of the order, of its currency or of its user does not allow the request now. */
  | { readonly kind: 'conflict'; readonly order: number; readonly reason: OrderReason; readonly why: string }
  /** The user has no order with this reference. */
  | { readonly kind: 'unknown-order'; readonly order: number; readonly why: string }
  | IssueFailure
