import { dayMs } from './time.ts'

/** The states of an order (docs/guides/orders.md), in the order in which filters offer them. */
export const orderStates = ['open', 'partly', 'paid', 'expired', 'cancelled'] as const
export type OrderState = (typeof orderStates)[number]

/** Most orders of a user that hold an address at the same time. */
export const ordersHeldMax = 1_000
/** How long an order holds its address after it has ended, in milliseconds: a day. */
export const orderHoldMs = dayMs
