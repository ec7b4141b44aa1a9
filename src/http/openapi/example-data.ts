/** The USDT deposit of the examples. All values here are those of the chain that the replaying test builds. */
export const usdtTxid = 'abb9f1fb506a53f9b34c1494ec31341c51b680ae34f92ea694835b8099e686ba'
/** The TRX deposit of the examples. */
export const trxTxid = '2624f452ae15842a43db87b3bc951bbb00d3f2b802da47424392e13a87d26450'
/** The caller's first address in the examples. */
export const depositAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

/** An entry that a backend has posted. */
export const paidEntry = {
  id: 3,
  uid: 7,
  wid: 2,
  osn: 'order-1001',
  type: 4,
  cuy: 2,
  amt: -2.5,
  balance: 22.5,
  mark: 'two cups',
  created_at: '2026-09-21T14:14:20.417Z',
  by: 'shop',
} as const
