import type { OrderState } from '../../../worker/common/order-states.ts'
import type { InAnyLanguage } from '../../kit/texts.ts'

/** The desk's texts about orders, in English. Part of `enDesk`. */
export const enOrders = {
  orders: 'Orders',
  order: 'Order',
  ordersOf: (n: string) => `Orders: ${n}`,
  orderStates: {
    open: 'Waits for the payment',
    partly: 'Paid in part',
    paid: 'Paid',
    expired: 'Expired',
    cancelled: 'Cancelled',
  } satisfies Readonly<Record<OrderState, string>>,

  paidFrom: (amount: string) => `Paid from ${amount} on`,
  orderAddress: 'To be paid to',
  stepArrived: 'Arrived',
  arrivedNone: 'Nothing was seen at its address',
  arrivedSums: (credited: string, seen: string) => `${credited} credited, ${seen} seen and not credited yet`,
  orderMissing: (amount: string) => `${amount} is missing`,
  orderMissingNone: 'Nothing is missing: it is paid as soon as what has arrived is credited',
  orderHolds: (left: string, time: string) => `It holds for ${left}, until ${time}`,
  orderExpired: (time: string) => `It has expired: ${time}`,
  orderStillCounts: (left: string, time: string) => `What comes within ${left}, until ${time}, still counts`,
  orderHeldNoMore: 'What comes now counts for no order, and is in the balance of the user',
  orderPaid: (credited: string, time: string) => `${credited}, ${time}`,
  orderLate: 'By a block after its end',
  orderSurplus: (amount: string) => `${amount} more than asked: it is in the balance`,
  orderTaken: 'An entry has taken the money from the balance',
  orderCancelled: 'The backend has cancelled it. What still comes is in the balance of the user, and does not count',

  sayOrderWaits: (amount: string, address: string, time: string) =>
    `For this order ${amount} is missing. Please send it to ${address} by ${time}.`,
  sayOrderComes: (amount: string) =>
    `${amount} has arrived for this order and is being credited. Please send nothing more.`,
  sayOrderPaid: (amount: string) => `${amount} has arrived: this order is paid.`,
  sayOrderExpired: 'This order has expired. Please send nothing more, and ask the shop for a new order.',
  sayOrderExpiredPartly: (amount: string) =>
    `This order has expired. ${amount} has arrived and is in your balance. Please send nothing more before you have asked the shop.`,
  sayOrderCancelled: 'This order is cancelled. Please send nothing. What you have sent is in your balance.',
} as const

/** The texts about orders, in any language. */
export type OrderTexts = InAnyLanguage<typeof enOrders>
