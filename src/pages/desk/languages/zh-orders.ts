import type { OrderTexts } from './en-orders.ts'

export const zhOrders: OrderTexts = {
  orders: '订单',
  order: '订单',
  ordersOf: (n) => `订单：${n} 个`,
  orderStates: {
    open: '待付款',
    partly: '部分付款',
    paid: '已付款',
    expired: '已过期',
    cancelled: '已取消',
  },

  paidFrom: (amount) => `到账 ${amount} 即视为已付款`,
  orderAddress: '付款地址',
  stepArrived: '到账',
  arrivedNone: '其地址上没有发现任何转账',
  arrivedSums: (credited, seen) => `已入账 ${credited}，已发现但未入账 ${seen}`,
  orderMissing: (amount) => `还差 ${amount}`,
  orderMissingNone: '不缺款：已到账的资金入账后即为已付款',
  orderHolds: (left, time) => `还有 ${left}，截止 ${time}`,
  orderExpired: (time) => `已过期：${time}`,
  orderStillCounts: (left, time) => `${left}内（截止 ${time}）到账仍计入`,
  orderHeldNoMore: '现在到账的资金不计入任何订单，而是计入用户余额',
  orderPaid: (credited, time) => `${credited}，${time}`,
  orderLate: '付款区块晚于截止时间',
  orderSurplus: (amount) => `多付 ${amount}，已计入余额`,
  orderTaken: '已由一笔记录从余额中扣款',
  orderCancelled: '后端已取消此订单。之后到账的资金计入用户余额，不计入订单',

  sayOrderWaits: (amount, address, time) => `此订单还差 ${amount}，请在 ${time} 前转到 ${address}。`,
  sayOrderComes: (amount) => `此订单已到账 ${amount}，正在入账，请不要再转账。`,
  sayOrderPaid: (amount) => `已到账 ${amount}，此订单已付款。`,
  sayOrderExpired: '此订单已过期，请不要再转账，并向商家索取新的订单。',
  sayOrderExpiredPartly: (amount) => `此订单已过期。已到账的 ${amount} 在您的余额中。在联系商家之前，请不要再转账。`,
  sayOrderCancelled: '此订单已取消，请不要转账。您已转出的资金在您的余额中。',
}
