import type { RunningService } from '../http/service.ts'

/**
 * Sets the clock of a service to two seconds after the newest block. The chain of tests is of long
 * ago, and an order counts what is in blocks made after it.
 */
export function followChain({ clock, chain }: Pick<RunningService, 'clock' | 'chain'>): void {
  clock.seconds = chain.tip().timeMs / 1000 + 2
}

/** An order of 25 USDT from user 7, as a backend asks for it. */
export const tea = { uid: 7, cuy: 2, amt: '25', order: 'tea-1042' }

/** The members of an order in answers, in their order. */
export const orderMembers = [
  ...['id', 'uid', 'cuy', 'amt', 'at_least', 'order', 'address', 'state', 'seen', 'credited', 'late', 'taken', 'until'],
  ...['return', 'mark', 'by', 'created_at', 'paid_at', 'deposits'],
]
