/** The account xpub of the public test mnemonic `test … junk` (fact sheet, section 13). It guards nothing. */
export const testXpub =
  'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr'
/** Mainnet's USDT. */
export const usdtContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
/** A secret of exactly the shortest length allowed. */
export const testSecret = '0123456789abcdef0123456789abcdef'

/** A whole, valid set of variables, as a deployment has them; `DB` is the caller's. */
export function testVariables(db: D1Database): Record<string, unknown> {
  return {
    DB: db,
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x2b6653dc',
    TRON_NODES: [
      { rpc: 'https://one.example/jsonrpc', api: 'https://one.example' },
      { rpc: 'https://two.example/jsonrpc', api: 'https://two.example/' },
    ],
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: usdtContract, decimals: 6 },
    ],
    AUTH_JWT_SECRET: testSecret,
  }
}
