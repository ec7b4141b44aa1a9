/**
 * The account key of the well-known test mnemonic `test … junk` (PROTOCOL.md, Addresses and
 * derivation). Everybody can spend from its addresses.
 */
export const testXpub =
  'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr'
/** Mainnet's USDT contract in Base58Check; `usdtAddress` is the same address as hex digits. */
export const usdtBase58 = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
/** A secret of the minimum length, 32 bytes. */
export const testSecret = '0123456789abcdef0123456789abcdef'

export const backendSecret = 'a secret of the backends, for tests only'

/** Bindings of Durable Objects that throw when they are used. */
const noObjects = {
  getByName: () => {
    throw new Error('no object is bound')
  },
}

/** A complete, valid set of variables and bindings, as a deployment has them. */
export function testVariables(db: D1Database): Record<string, unknown> {
  return {
    DB: db,
    SCANNER: noObjects,
    ENDPOINT: noObjects,
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: '0x2b6653dc',
    TRON_NODES: [
      { rpc: 'https://one.example/jsonrpc', api: 'https://one.example' },
      { rpc: 'https://two.example/jsonrpc', api: 'https://two.example/' },
    ],
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 },
    ],
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
  }
}

/** The extended public keys of accounts 1 and 2 of the test mnemonic. */
export const otherXpubs = [
  'xpub6BuRy7ZmkGfP4LfiwbWSuu7pRCfSbjyB59BHNudeJgwsJUu23Dzmz4fRKh7Bsfo1EgmmCxtCLsat66A3Fe28PGEzwkmiTChdjv5PDhyqh2Q',
  'xpub6BuRy7ZmkGfP6xmEcGc5k7W35XbEhkfLAnGQQZ8ezGEhzr63vMfzfJ6xedxitbbHnCd6nPzNFB5DyPeQs35vgawfbqjdvaCP9f7h18QJET2',
] as const
