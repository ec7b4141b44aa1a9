/** The USDT deposit of the examples. All values here are those of the chain that the replaying test builds. */
export const usdtTxid = 'abb9f1fb506a53f9b34c1494ec31341c51b680ae34f92ea694835b8099e686ba'
/** The TRX deposit of the examples. */
export const trxTxid = '2624f452ae15842a43db87b3bc951bbb00d3f2b802da47424392e13a87d26450'
/** The caller's first address in the examples. */
export const depositAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
