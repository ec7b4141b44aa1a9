import { describe, expect, it } from 'vitest'
import { deriveAddress } from '../../src/worker/addresses/derive.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { testSecret, testVariables, usdtBase58 } from '../support/variables.ts'
import { configOf, faultsOf, placeOf } from './parsed.ts'

/** The rule that faults of secrets and names of issuers state. */
const bare = 'without a space, line end or byte order mark around it'
const usdt = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 }
const one = { rpc: 'https://one.example/jsonrpc', api: 'https://one.example' }

describe('the operator’s addresses', () => {
  it.each([[[usdtBase58]], [JSON.stringify([usdtBase58])]])('can be %j', (list) => {
    expect([...configOf({ OPERATOR_ADDRESSES: list }).operators]).toEqual([usdtAddress])
  })
})

describe('the configuration', () => {
  it('is typed, complete and frozen', () => {
    const config = configOf()
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.auth)).toBe(true)
    expect(config).toMatchObject({ chainId: '0x2b6653dc', startBlock: null, firstIndex: null, cors: null })
    expect(config).toMatchObject({ network: 'Tron', pageOrigins: [], pageBrand: null, files: null })
    expect(config.rateLimits).toEqual({ lists: null, nodes: null, ledger: null })
    expect(config.operators.size).toBe(0)
    expect(formatBase58(deriveAddress(config.extendedPublicKey, 0))).toBe('TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6')
    expect(config.currencies.list.map(({ symbol, scale, minDeposit }) => ({ symbol, scale, minDeposit }))).toEqual([
      { symbol: 'TRX', scale: 6, minDeposit: 0n },
      { symbol: 'USDT', scale: 6, minDeposit: 0n },
    ])
    expect(config.auth).toEqual({ secrets: [testSecret], jwksUrl: null, issuer: null, audience: null, devUid: null })
  })

  it('accepts lists as arrays and as JSON text', () => {
    const { TRON_NODES, CURRENCIES } = testVariables({} as D1Database) // safe: only the two lists are used
    const text = configOf({ TRON_NODES: JSON.stringify(TRON_NODES), CURRENCIES: JSON.stringify(CURRENCIES) })
    expect(text.nodes).toEqual(configOf().nodes)
    expect(text.currencies.list).toEqual(configOf().currencies.list)
  })

  it('has a quorum of two by default, and of one where only one node is configured', () => {
    expect(configOf().quorum).toBe(2)
    expect(configOf({ TRON_NODES: [one] }).quorum).toBe(1)
    expect(configOf({ TRON_QUORUM: '1' }).quorum).toBe(1)
  })

  it('accepts a scale below the decimals of a token and reads a minimum in whole units', () => {
    const [currency] = configOf({ CURRENCIES: [{ ...usdt, decimals: 18, minDeposit: '1.5' }] }).currencies.list
    expect(currency).toMatchObject({ decimals: 18, scale: 6, minDeposit: 1_500_000_000_000_000_000n })
  })

  it('reads from which deposit on a person looks first: none where it is not set, and every one from 0', () => {
    const reviewed = ['0', '10000.5', undefined].map((reviewFrom) => ({ ...usdt, reviewFrom }))
    const found = reviewed.map((one) => configOf({ CURRENCIES: [one] }).currencies.list[0]?.reviewFrom)
    expect(found).toEqual([0n, 10_000_500_000n, null])
  })

  it('has both kinds of token keys, and the previous secret beside the present one', () => {
    const previous = testSecret.replace('0', '9')
    const set = { AUTH_JWT_SECRET_PREVIOUS: previous, AUTH_JWKS_URL: 'https://keys.example/jwks' }
    expect(configOf(set).auth).toMatchObject({
      secrets: [testSecret, previous],
      jwksUrl: 'https://keys.example/jwks',
    })
  })

  it.each([['*'], [['*']], ['["*"]']])('allows all origins: %o', (origins) => {
    expect(configOf({ CORS_ORIGINS: origins }).cors).toBe('*')
  })

  it.each([
    ['https://shop.example,http://localhost:3000'],
    [' https://shop.example , http://localhost:3000 '],
    ['["https://shop.example","http://localhost:3000"]'],
    [['https://shop.example', 'http://localhost:3000']],
  ])('allows the origins that are listed: %o', (origins) => {
    const listed = ['https://shop.example', 'http://localhost:3000']
    expect(configOf({ CORS_ORIGINS: origins }).cors).toEqual(new Set(listed))
    expect(configOf({ PAGE_ORIGINS: origins }).pageOrigins).toEqual(listed)
  })

  it.each([
    [{ name: 'Shop' }, { name: 'Shop', color: null, logo: null }],
    ['{"name":"商店","color":"#635BFF"}', { name: '商店', color: '#635bff', logo: null }],
    [{ name: 'Shop', logo: 'data:image/png;base64,iVBORw0KGgo=' }, { logo: 'data:image/png;base64,iVBORw0KGgo=' }],
    [{ name: 'Shop', logo: 'data:image/svg+xml;utf8,%3Csvg%3E' }, { logo: 'data:image/svg+xml;utf8,%3Csvg%3E' }],
    [{ name: 'Shop', logo: logoOf(20 * 1024) }, { logo: logoOf(20 * 1024) }],
  ])('has a brand for the page: %o', (given, brand) => {
    expect(configOf({ PAGE_BRAND: given }).pageBrand).toMatchObject(brand)
  })

  it('opens no wallet from the page, unless one is named', () => {
    expect(configOf({}).pageWallet).toBeNull()
    expect(configOf({ PAGE_WALLET: 'trust' }).pageWallet).toBe('trust')
  })

  it('keeps the order in which currencies are configured, beside that of their numbers', () => {
    const { list, offered } = configOf({ CURRENCIES: [usdt, { cuy: 1, symbol: 'TRX', decimals: 6 }] }).currencies
    expect([list.map(({ cuy }) => cuy), offered.map(({ cuy }) => cuy)]).toEqual([
      [1, 2],
      [2, 1],
    ])
  })

  it('names a currency by its symbol where it has no name', () => {
    const list = [
      { ...usdt, name: 'Tether USD' },
      { cuy: 1, symbol: 'TRX', decimals: 6 },
    ]
    expect(configOf({ CURRENCIES: list }).currencies.list.map(({ name }) => name)).toEqual(['TRX', 'Tether USD'])
  })
})

function logoOf(length: number): string {
  return 'data:image/webp;base64,'.padEnd(length, 'A')
}

const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const nodeAt = (i: number) => ({ rpc: `https://n${i}.example`, api: `https://n${i}.example` })
const aUrl = 'an https URL without user and password (http only for a loopback host)'
const pageOrigins = 'at most 50 origins such as https://shop.example, separated by commas or as an array'
const origins = `"*", or ${pageOrigins}`
const list = (max: number) => `an array of 1 to ${max} entries, or its JSON text`
const objects = 'the Durable Object binding is missing'

describe('a wrong value', () => {
  it.each<[place: string, takes: string, ...values: unknown[]]>([
    ['DB', 'the D1 database binding is missing', undefined, {}],
    ['SCANNER', objects, undefined, {}, { get: () => null }],
    ['ENDPOINT', objects, undefined, null, 'scanner'],
    ['TRON_XPUB', "an extended public key (xpub…) of m/44'/195'/n' or m/44'/195'/n'/0", undefined, '', 'xpub123'],
    ['TRON_CHAIN_ID', 'a chain id such as 0x2b6653dc', undefined, '728126428', 'x'],
    ['TRON_NODES', list(10), undefined, '{', [], '[]', many(11, nodeAt)],
    ['TRON_NODES.0.rpc', aUrl, [{ ...one, rpc: 'ftp://one.example' }], [{ ...one, rpc: 'http://one.example' }]],
    ['TRON_NODES.0.api', aUrl, [{ rpc: one.rpc }], [{ ...one, api: '' }], [{ ...one, api: 'http://one.example' }]],
    ['TRON_NODES.0.api', aUrl, [{ ...one, api: 'https://user@one.example' }]],
    [
      'TRON_NODES.0.api',
      'a base URL without a query',
      ...['?key=1', '#x'].map((end) => [{ ...one, api: one.api + end }]),
    ],
    ['TRON_NODES.0.keyVar', 'the name of the variable with the key', [{ ...one, keyVar: '' }]],
    ['TRON_NODES.0.keyVar', 'the name of a variable or secret that is set', [{ ...one, keyVar: 'GRID_KEY' }]],
    ...[0, -1, 1.5, 'many', null].flatMap((limit): [string, string, unknown][] => [
      ['TRON_NODES.0.perSecond', 'a whole number from 1 to 100000', [{ ...one, perSecond: limit }]],
      ['TRON_NODES.0.perDay', 'a whole number from 1 to 1000000000', [{ ...one, perDay: limit }]],
    ]),
    ['TRON_QUORUM', 'a whole number from 1 to 10', '0', 'two'],
    ['TRON_QUORUM', 'at most the number of nodes in TRON_NODES (2)', '3'],
    ['TRON_START_BLOCK', 'a whole number from 1 to 9007199254740991', '0', '1.5', '-1'],
    ['ISSUE_ADDRESSES', '"on" or "off"', 'no', 1],
    ['TRON_FIRST_INDEX', 'a whole number from 0 to 2147483647', '-1', '2147483648'],
    ['OPERATOR_ADDRESSES', list(100), [], 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['OPERATOR_ADDRESSES.0', 'a Tron address (34 characters, starts with T)', [`${usdtBase58.slice(0, -1)}u`]],
    ['CURRENCIES', list(50), undefined, many(51, () => usdt)],
    ['CURRENCIES', 'duplicate currency: the same contract (or TRX) is listed twice', [usdt, { ...usdt, cuy: 3 }]],
    ['CURRENCIES', 'duplicate currency: the same cuy is listed twice', [usdt, { cuy: 2, symbol: 'TRX', decimals: 6 }]],
    [
      ...([
        'CURRENCIES.0',
        'only cuy, symbol, name, contract, decimals, scale, minDeposit, reviewFrom, retired',
      ] as const),
      ...[{ mindeposit: '10' }, { retire: true }].map((misspelled) => [{ ...usdt, ...misspelled }]),
    ],
    [
      'TRON_NODES.0',
      'only rpc, api, name, keyVar, keyHeader, perSecond, perDay',
      [{ ...one, keyvar: 'GRID_KEY' }],
      [null],
    ],
    ['CURRENCIES.0.cuy', 'a whole number from 1 to 1000000', [{ ...usdt, cuy: 0 }]],
    ['CURRENCIES.1.symbol', 'a symbol of 1 to 20 letters, digits, "_", "." or "-"', [usdt, { ...usdt, symbol: '' }]],
    [
      'CURRENCIES.0.contract',
      'the Tron address of a contract (34 characters, starts with T)',
      [{ ...usdt, contract: 'x' }],
      [{ ...usdt, contract: `${usdtBase58.slice(0, -1)}u` }],
    ],
    ...['', 'x'.repeat(41), 'a\u202eb', 'a\nb', 7].map((name): [string, string, unknown] => [
      ...(['CURRENCIES.0.name', 'a name of 1 to 40 characters'] as const),
      [{ ...usdt, name }],
    ]),
    ['CURRENCIES.0.decimals', '6 for TRX (no contract)', [{ cuy: 1, symbol: 'TRX', decimals: 18 }]],
    ['CURRENCIES.0.decimals', 'a whole number from 0 to 36', [{ ...usdt, decimals: 37 }]],
    ['CURRENCIES.0.scale', 'a whole number from 0 to 8', [{ ...usdt, scale: 9 }]],
    ['CURRENCIES.0.scale', 'at most the decimals of the currency', [{ ...usdt, decimals: 2, scale: 3 }]],
    ['CURRENCIES.0.minDeposit', 'a decimal as text, such as "1.5"', [{ ...usdt, minDeposit: 1.5 }]],
    ['CURRENCIES.0.reviewFrom', 'a decimal as text, such as "10000"', [{ ...usdt, reviewFrom: 10_000 }]],
    [
      'CURRENCIES.0.reviewFrom',
      'a decimal of at most 6 places, as text',
      ...['x', '', '0.0000001', '-1'].map((reviewFrom) => [{ ...usdt, reviewFrom }]),
    ],
    [
      'CURRENCIES.0.minDeposit',
      'a decimal of at most 6 places, as text',
      ...['x', '0.0000001', '-1'].map((minDeposit) => [{ ...usdt, minDeposit }]),
    ],
    ['AUTH_JWT_SECRET', `a text of at least 32 bytes, ${bare}`, 'x', testSecret.slice(1)],
    ['AUTH_JWT_SECRET_PREVIOUS', `a text of at least 32 bytes, ${bare}`, testSecret.slice(1)],
    ['AUTH_JWKS_URL', aUrl, 'http://keys.example/jwks', 'https://:password@keys.example/jwks'],
    ['AUTH_ISSUER', `the name of the issuer, ${bare}`, 7],
    ['AUTH_AUDIENCE', `the name of the audience, ${bare}`, 7],
    ['DEV_UID', 'a whole number from 1 to 9007199254740990', '0', '9007199254740991', '9007199254740992'],
    ['RATE_LISTS', 'a rate-limit binding', '600'],
    ['RATE_NODES', 'a rate-limit binding', {}],
    ['RATE_LEDGER', 'a rate-limit binding', {}],
    ...[
      'shop.example',
      'https://shop.example/',
      'https://Shop.example',
      'https://*.example',
      'http://shop.example',
    ].map((value): [string, string, string] => ['CORS_ORIGINS', origins, value]),
    ['CORS_ORIGINS', origins, 'null', '*,https://shop.example', 'https://shop.example,', '[', [], true],
    ['CORS_ORIGINS', origins, many(51, (i) => `https://s${i}.example`)],
    ['CORS_ORIGINS.0', origins, [7]],
    [
      'PAGE_ORIGINS',
      pageOrigins,
      '*',
      ['*'],
      'null',
      'https://shop.example,*',
      'https://shop.example/',
      'http://shop.example',
    ],
    ['PAGE_ORIGINS', pageOrigins, "https://a.example;script-src'unsafe-inline'", 'https://*.example', [], true],
    ['PAGE_BRAND', 'only name, color, logo', '{', 'Shop', [], 7, { name: 'Shop', colour: '#2757d6' }],
    ...[undefined, '', 'x'.repeat(41), 'a\u202eb', 7].map((name): [string, string, unknown] => [
      ...(['PAGE_BRAND.name', 'a name of 1 to 40 characters'] as const),
      { name },
    ]),
    ...[
      ...['red', '#27d', '#2757d6;', 7], // not six hex digits
      ...['#51b13e', '#7a7a7a'], // too little contrast with white
      ...['#0b3d91', '#000000'], // too little contrast with the dark page
    ].map((color): [string, string, unknown] => [
      'PAGE_BRAND.color',
      'a colour such as #2757d6, with a contrast of at least 4.5:1 with white and of 3:1 with the dark page (#101413)',
      { name: 'Shop', color },
    ]),
    ...[
      ...['https://shop.example/logo.png', 'data:text/html,x', 'data:image/gif;base64,AA', 'data:image/png;base64,"x'],
      ...['data:image/svg+xml,<svg>', logoOf(20 * 1024 + 1), 7],
    ].map((logo): [string, string, unknown] => [
      'PAGE_BRAND.logo',
      'a data URL of at most 20480 characters: PNG, JPEG, WebP or SVG',
      { name: 'Shop', logo },
    ]),
    ['PAGE_WALLET', '"trust"', 'tronlink', 'Trust', true, ['trust']],
    ['ASSETS', 'the binding of the static files', '.assets', {}],
  ])('of %s is named, with what it takes: %s', (place, takes, ...values) => {
    const [variable = ''] = place.split('.')
    for (const value of values) expect(faultsOf({ [variable]: value })).toEqual([`${place}: ${takes}`])
  })

  const names = { ISSUER: 'https://issuer.example', AUDIENCE: 'wallet' }
  const texts = ['AUTH', 'BACKEND'].flatMap((door) =>
    Object.entries({ JWT_SECRET: 's'.repeat(64), JWT_SECRET_PREVIOUS: 'p'.repeat(64), ...names }).map(
      ([name, value]) => [`${door}_${name}`, `${door[0]}${value}`] as const,
    ),
  )
  it.each(texts)('is what a file or command has left around %s', (variable, value) => {
    expect(faultsOf({ [variable]: value })).toEqual([])
    for (const edge of ['\n', '\r\n', ' ', '\t', '\u00a0', '\ufeff']) {
      for (const edged of [value + edge, edge + value]) {
        expect([edge, faultsOf({ [variable]: edged })]).toEqual([
          edge,
          [expect.stringMatching(`^${variable}: [^:]*, ${bare}$`)],
        ])
      }
    }
    expect(faultsOf({ [variable]: `${value} ${value}` })).toEqual([])
  })

  it('is the previous secret without a present one', () => {
    const alone = { AUTH_JWT_SECRET: undefined, AUTH_JWT_SECRET_PREVIOUS: testSecret }
    expect(faultsOf(alone)).toEqual(['AUTH_JWT_SECRET_PREVIOUS: set only beside AUTH_JWT_SECRET'])
  })

  it('is named with all others, and variables are compared although others have faults', () => {
    const names = ['TRON_XPUB', 'TRON_CHAIN_ID', 'CURRENCIES', 'TRON_NODES', 'AUTH_JWT_SECRET', 'DEV_UID']
    expect(faultsOf(Object.fromEntries(names.map((name) => [name, 'x']))).map(placeOf)).toEqual(names)
    const nodes = [one, { ...nodeAt(2), keyVar: 'GRID_KEY' }]
    const jwks = { AUTH_JWKS_URL: 'https://keys.example/jwks', AUTH_ISSUER: 7 }
    const compared = faultsOf({ TRON_CHAIN_ID: 'x', TRON_NODES: nodes, TRON_QUORUM: '3', ...jwks }).map(placeOf)
    expect(compared).toEqual(['TRON_CHAIN_ID', 'TRON_QUORUM', 'TRON_NODES.1.keyVar', 'AUTH_ISSUER'])
  })

  it.each([
    ['xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi'],
    ['4646464646464646464646464646464646464646464646464646464646464646'],
    ['test test test test test test test test test test test junk'],
  ])('that is a private key is refused without repeating it: %s', (secret) => {
    const [fault] = faultsOf({ TRON_XPUB: secret })
    expect(fault).toContain('private key material is never accepted')
    expect(fault).not.toContain(secret)
  })
})
