import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { deriveAddress } from '../../src/addresses/derive.ts'
import { formatBase58 } from '../../src/chain/address.ts'
import { parseConfig } from '../../src/config/config.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { testSecret, testVariables, usdtBase58 } from '../support/variables.ts'

const parse = (changes: Record<string, unknown> = {}) => parseConfig({ ...testVariables(env.DB), ...changes })

const value = (changes: Record<string, unknown> = {}) => {
  const parsed = parse(changes)
  if (!parsed.ok) throw new Error(parsed.error.join('; '))
  return parsed.value
}

const faults = (changes: Record<string, unknown>) => {
  const parsed = parse(changes)
  return parsed.ok ? [] : parsed.error
}

/** The variable and member that a fault names. */
const placeOf = (fault: string) => fault.slice(0, fault.indexOf(':'))

const usdt = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 }

describe('the operator’s addresses', () => {
  it.each([[[usdtBase58]], [JSON.stringify([usdtBase58])]])('can be %j', (list) => {
    expect([...value({ OPERATOR_ADDRESSES: list }).operators]).toEqual([usdtAddress])
  })

  it.each([[[]], [['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u']], ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t']])(
    'are refused where they are %j',
    (list) => {
      expect(faults({ OPERATOR_ADDRESSES: list })).toEqual([expect.stringMatching(/^OPERATOR_ADDRESSES/)])
    },
  )
})

describe('the configuration', () => {
  it('is typed, complete and frozen', () => {
    const config = value()
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.auth)).toBe(true)
    expect(config.chainId).toBe('0x2b6653dc')
    expect(config.startBlock).toBeNull()
    expect(config.operators.size).toBe(0)
    expect(formatBase58(deriveAddress(config.extendedPublicKey, 0))).toBe('TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6')
    expect(config.currencies.list.map(({ symbol, scale, minDeposit }) => ({ symbol, scale, minDeposit }))).toEqual([
      { symbol: 'TRX', scale: 6, minDeposit: 0n },
      { symbol: 'USDT', scale: 6, minDeposit: 0n },
    ])
    expect(config.auth).toEqual({
      keys: { secrets: [testSecret], jwksUrl: null },
      issuer: null,
      audience: null,
      devUid: null,
    })
  })

  it('accepts lists as arrays and as JSON text', () => {
    const variables = testVariables(env.DB)
    const text = value({
      TRON_NODES: JSON.stringify(variables.TRON_NODES),
      CURRENCIES: JSON.stringify(variables.CURRENCIES),
    })
    expect(text.nodes).toEqual(value().nodes)
    expect(text.currencies.list).toEqual(value().currencies.list)
  })

  it('has a quorum of two by default, and of one where only one node is configured', () => {
    expect(value().quorum).toBe(2)
    expect(value({ TRON_NODES: [{ rpc: 'https://one.example/jsonrpc' }] }).quorum).toBe(1)
    expect(value({ TRON_QUORUM: '1' }).quorum).toBe(1)
  })

  it('reads the key of a node from the variable that keyVar names', () => {
    const nodes = [{ rpc: 'https://one.example/jsonrpc', keyVar: 'GRID_KEY' }]
    expect(value({ TRON_NODES: nodes, GRID_KEY: 'k' }).nodes[0]?.key).toBe('k')
  })

  it.each([
    ['another path', 'https://one.example/a/jsonrpc', 'https://one.example/b/jsonrpc'],
    ['another case', 'https://one.example/jsonrpc', 'https://ONE.example/jsonrpc'],
    ['the default port', 'https://one.example/jsonrpc', 'https://one.example:443/jsonrpc'],
    ['a trailing dot', 'https://one.example:8545', 'https://one.example.:8545'],
    ['userinfo', 'https://one.example', 'https://user:password@one.example'],
    ['another scheme', 'http://127.0.0.1:443', 'https://127.0.0.1'],
    ['another spelling of an IP address', 'http://127.0.0.1:1', 'http://127.1:1'],
  ])('refuses two nodes of one host, with %s', (_, first, second) => {
    expect(faults({ TRON_NODES: [{ rpc: first }, { rpc: second }] }).map(placeOf)).toEqual(['TRON_NODES'])
  })

  it('accepts two ports of one host as two nodes', () => {
    const nodes = [{ rpc: 'http://127.0.0.1:1' }, { rpc: 'http://127.0.0.1:2' }]
    expect(value({ TRON_NODES: nodes }).nodes).toHaveLength(2)
  })

  it('accepts a scale below the decimals of a token and reads a minimum in whole units', () => {
    const [currency] = value({ CURRENCIES: [{ ...usdt, decimals: 18, minDeposit: '1.5' }] }).currencies.list
    expect(currency).toMatchObject({ decimals: 18, scale: 6, minDeposit: 1_500_000_000_000_000_000n })
  })

  it('has both kinds of token keys, and the previous secret beside the present one', () => {
    const previous = testSecret.replace('0', '9')
    const set = { AUTH_JWT_SECRET_PREVIOUS: previous, AUTH_JWKS_URL: 'https://keys.example/jwks' }
    expect(value(set).auth.keys).toEqual({ secrets: [testSecret, previous], jwksUrl: 'https://keys.example/jwks' })
  })

  it('has no CORS and no rate limits where none are set', () => {
    expect(value().cors).toBeNull()
    expect(value({ CORS_ORIGINS: '' }).cors).toBeNull()
    expect(value().rateLimits).toEqual({ lists: null, nodes: null, allNodes: null, ledger: null })
  })

  it.each([['*'], [['*']], ['["*"]']])('allows all origins: %o', (origins) => {
    expect(value({ CORS_ORIGINS: origins }).cors).toBe('*')
  })

  it.each([
    ['https://shop.example,http://localhost:3000'],
    [' https://shop.example , http://localhost:3000 '],
    ['["https://shop.example","http://localhost:3000"]'],
    [['https://shop.example', 'http://localhost:3000']],
  ])('allows the origins that are listed: %o', (origins) => {
    expect(value({ CORS_ORIGINS: origins }).cors).toEqual(new Set(['https://shop.example', 'http://localhost:3000']))
  })

  it.each([
    ['DB', { DB: undefined }],
    ['TRON_XPUB', { TRON_XPUB: undefined }],
    ['TRON_XPUB', { TRON_XPUB: '' }],
    ['TRON_XPUB', { TRON_XPUB: 'xpub123' }],
    ['TRON_CHAIN_ID', { TRON_CHAIN_ID: '728126428' }],
    ['TRON_CHAIN_ID', { TRON_CHAIN_ID: undefined }],
    ['TRON_NODES', { TRON_NODES: undefined }],
    ['TRON_NODES', { TRON_NODES: '{' }],
    ['TRON_NODES', { TRON_NODES: [] }],
    ['TRON_NODES.0.rpc', { TRON_NODES: [{ rpc: 'ftp://one.example' }] }],
    ['TRON_NODES.0.rpc', { TRON_NODES: [{ rpc: 'http://one.example/jsonrpc' }] }],
    ['TRON_NODES', { TRON_NODES: [{ rpc: 'https://one.example' }, { rpc: 'https://one.example' }] }],
    ['TRON_NODES', { TRON_NODES: Array.from({ length: 11 }, (_, i) => ({ rpc: `https://n${i}.example` })) }],
    ['TRON_QUORUM', { TRON_QUORUM: '0' }],
    ['TRON_QUORUM', { TRON_QUORUM: '3' }],
    ['TRON_QUORUM', { TRON_QUORUM: 'two' }],
    ['TRON_START_BLOCK', { TRON_START_BLOCK: '0' }],
    ['TRON_START_BLOCK', { TRON_START_BLOCK: '1.5' }],
    ['TRON_START_BLOCK', { TRON_START_BLOCK: '-1' }],
    ['TRON_FIRST_INDEX', { TRON_FIRST_INDEX: '-1' }],
    ['TRON_FIRST_INDEX', { TRON_FIRST_INDEX: '2147483648' }],
    ['CURRENCIES', { CURRENCIES: undefined }],
    ['CURRENCIES', { CURRENCIES: [usdt, { ...usdt, cuy: 3 }] }],
    ['CURRENCIES', { CURRENCIES: [usdt, { cuy: 2, symbol: 'TRX', decimals: 6 }] }],
    ['CURRENCIES', { CURRENCIES: Array.from({ length: 51 }, () => usdt) }],
    ['CURRENCIES.0.cuy', { CURRENCIES: [{ ...usdt, cuy: 0 }] }],
    ['CURRENCIES.0.contract', { CURRENCIES: [{ ...usdt, contract: `${usdtBase58.slice(0, -1)}u` }] }],
    ['CURRENCIES.0.decimals', { CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 18 }] }],
    ['CURRENCIES.0.decimals', { CURRENCIES: [{ ...usdt, decimals: 37 }] }],
    ['CURRENCIES.0.scale', { CURRENCIES: [{ ...usdt, scale: 9 }] }],
    ['CURRENCIES.0.scale', { CURRENCIES: [{ ...usdt, decimals: 2, scale: 3 }] }],
    ['CURRENCIES.0.minDeposit', { CURRENCIES: [{ ...usdt, minDeposit: 1.5 }] }],
    ['CURRENCIES.0.minDeposit', { CURRENCIES: [{ ...usdt, minDeposit: '0.0000001' }] }],
    ['CURRENCIES.0.minDeposit', { CURRENCIES: [{ ...usdt, minDeposit: '-1' }] }],
    ['AUTH_JWT_SECRET', { AUTH_JWT_SECRET: testSecret.slice(1) }],
    ['AUTH_JWKS_URL', { AUTH_JWT_SECRET: undefined, AUTH_JWKS_URL: 'http://keys.example/jwks' }],
    ['AUTH_JWT_SECRET_PREVIOUS', { AUTH_JWT_SECRET_PREVIOUS: testSecret.slice(1) }],
    ['AUTH_JWT_SECRET_PREVIOUS', { AUTH_JWT_SECRET: undefined, AUTH_JWT_SECRET_PREVIOUS: testSecret }],
    ['RATE_LEDGER', { RATE_LEDGER: {} }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'shop.example' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://shop.example/' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://Shop.example' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://*.example' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'http://shop.example' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'null' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: '*,https://shop.example' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://shop.example,' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: '[' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: [] }],
    ['CORS_ORIGINS.0', { CORS_ORIGINS: [7] }],
    ['CORS_ORIGINS', { CORS_ORIGINS: true }],
    ['CORS_ORIGINS', { CORS_ORIGINS: Array.from({ length: 51 }, (_, i) => `https://s${i}.example`) }],
    ['RATE_LISTS', { RATE_LISTS: '600' }],
    ['RATE_NODES', { RATE_NODES: {} }],
    ['DEV_UID', { DEV_UID: '0' }],
    ['DEV_UID', { DEV_UID: '9007199254740992' }],
  ])('names %s where its value is wrong: %o', (name, changes) => {
    expect(faults(changes).map(placeOf)).toEqual([name])
  })

  it('names every wrong value at once', () => {
    const names = faults({
      TRON_XPUB: 'x',
      TRON_CHAIN_ID: 'x',
      CURRENCIES: 'x',
      TRON_NODES: 'x',
      AUTH_JWT_SECRET: 'x',
      DEV_UID: 'x',
    })
    expect(names.map(placeOf)).toEqual([
      'TRON_XPUB',
      'TRON_CHAIN_ID',
      'CURRENCIES',
      'TRON_NODES',
      'AUTH_JWT_SECRET',
      'DEV_UID',
    ])
  })

  it('compares variables although others have faults', () => {
    const nodes = [{ rpc: 'https://one.example' }, { rpc: 'https://two.example', keyVar: 'GRID_KEY' }]
    const jwks = { AUTH_JWKS_URL: 'https://keys.example/jwks', AUTH_ISSUER: 7 }
    const names = faults({ TRON_CHAIN_ID: 'x', TRON_NODES: nodes, TRON_QUORUM: '3', ...jwks }).map(placeOf)
    expect(names).toEqual(['TRON_CHAIN_ID', 'TRON_QUORUM', 'TRON_NODES.1.keyVar', 'AUTH_ISSUER'])
  })

  it.each([
    [{ DB: {} }, 'DB: the D1 database binding is missing'],
    [{ TRON_XPUB: 'x' }, "TRON_XPUB: an extended public key (xpub…) of m/44'/195'/n' or m/44'/195'/n'/0"],
    [{ TRON_CHAIN_ID: 'x' }, 'TRON_CHAIN_ID: a chain id such as 0x2b6653dc'],
    [{ TRON_NODES: '[]' }, 'TRON_NODES: an array of 1 to 10 entries, or its JSON text'],
    [{ TRON_NODES: [{ rpc: 'x' }] }, 'TRON_NODES.0.rpc: an https URL (http only for a loopback host)'],
    [
      { TRON_NODES: [{ rpc: 'https://one.example' }, { rpc: 'https://one.example' }] },
      'TRON_NODES: duplicate node: two nodes of one host are one node',
    ],
    [
      { TRON_NODES: [{ rpc: 'https://one.example', keyVar: '' }] },
      'TRON_NODES.0.keyVar: the name of the variable with the key',
    ],
    [
      { TRON_NODES: [{ rpc: 'https://one.example', keyVar: 'GRID_KEY' }] },
      'TRON_NODES.0.keyVar: the name of a variable or secret that is set',
    ],
    [{ TRON_QUORUM: '3' }, 'TRON_QUORUM: at most the number of nodes in TRON_NODES (2)'],
    [{ TRON_START_BLOCK: '-1' }, 'TRON_START_BLOCK: a whole number from 1 to 9007199254740991'],
    [
      { CURRENCIES: [usdt, { ...usdt, symbol: '' }] },
      'CURRENCIES.1.symbol: a symbol of 1 to 20 letters, digits, "_", "." or "-"',
    ],
    [
      { CURRENCIES: [{ ...usdt, contract: 'x' }] },
      'CURRENCIES.0.contract: the Tron address of a contract (34 characters, starts with T)',
    ],
    [{ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 18 }] }, 'CURRENCIES.0.decimals: 6 for TRX (no contract)'],
    [{ CURRENCIES: [{ ...usdt, decimals: 2, scale: 3 }] }, 'CURRENCIES.0.scale: at most the decimals of the currency'],
    [{ CURRENCIES: [{ ...usdt, minDeposit: 1.5 }] }, 'CURRENCIES.0.minDeposit: a decimal as text, such as "1.5"'],
    [{ CURRENCIES: [{ ...usdt, minDeposit: 'x' }] }, 'CURRENCIES.0.minDeposit: a decimal of at most 6 places, as text'],
    [
      { CURRENCIES: [usdt, { cuy: 2, symbol: 'TRX', decimals: 6 }] },
      'CURRENCIES: duplicate currency: the same cuy is listed twice',
    ],
    [
      { CURRENCIES: [usdt, { ...usdt, cuy: 3 }] },
      'CURRENCIES: duplicate currency: the same contract (or TRX) is listed twice',
    ],
    [{ AUTH_JWT_SECRET: 'x' }, 'AUTH_JWT_SECRET: a text of at least 32 bytes'],
    [
      { AUTH_JWT_SECRET: undefined, AUTH_JWT_SECRET_PREVIOUS: testSecret },
      'AUTH_JWT_SECRET_PREVIOUS: set only beside AUTH_JWT_SECRET',
    ],
    [{ AUTH_ISSUER: 7 }, 'AUTH_ISSUER: the name of the issuer'],
    [{ AUTH_AUDIENCE: 7 }, 'AUTH_AUDIENCE: the name of the audience'],
    [
      { CORS_ORIGINS: 'x' },
      'CORS_ORIGINS: "*", or at most 50 origins such as https://shop.example, separated by commas or as an array',
    ],
    [{ RATE_LISTS: '600' }, 'RATE_LISTS: a rate-limit binding'],
  ])('describes what the variable takes: %o', (changes, message) => {
    expect(faults(changes)).toEqual([message])
  })

  it.each([
    ['xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi'],
    ['4646464646464646464646464646464646464646464646464646464646464646'],
    ['test test test test test test test test test test test junk'],
  ])('refuses private key material without repeating it: %s', (secret) => {
    const [fault] = faults({ TRON_XPUB: secret })
    expect(fault).toContain('private key material is never accepted')
    expect(fault).not.toContain(secret)
  })
})
