import { readerOf } from '../kit/read.ts'
import { ordersShape } from '../shapes.ts'

/** An order of a user, from `GET /ledger/orders`: see `schemas/order.ts`. */
export type DeskOrder = ReturnType<typeof readDeskOrders>['list'][number]

/** Reads the data of `GET /ledger/orders`. */
export const readDeskOrders = readerOf(ordersShape)
