import type { JWTPayload } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Address, formatBase58 } from '../../src/addresses/address.ts'
import { balanceQuery, flowListQuery, generateQuery, osnCharsMax, rechargeQuery } from '../../src/http/params.ts'
import { addressOf } from '../support/chain-builder.ts'
import { testSecret } from '../support/configured.ts'
import { assemble, bearer, encode, signHs256, signWithBytes, tokenNow } from '../support/tokens.ts'
import { addressIn, payFinal, type RunningService, startService, usdtTo, wholeOf } from './service.ts'

// One service for the whole table: no attack may change anything for the next one, and the end checks that.
let service: RunningService
let before: unknown
/** What another caller, 8, has. */
let theirs: { readonly address: Address; readonly txid: string }
/** A transaction that pays nobody here. */
let strangers: string

const tables = ['address', 'wallet', 'flow', 'deposit', 'pending', 'movement']
const contents = async () =>
  Promise.all(tables.map(async (table) => (await service.db.prepare(`SELECT * FROM ${table}`).all()).results))

const from = { iss: 'https://issuer.example', aud: 'wallet' }
const tokenOf = (uid: number, changes: JWTPayload = {}) =>
  signHs256({ sub: String(uid), exp: tokenNow + 86_400, ...from, ...changes }, testSecret)
const get = async (path: string, headers: Record<string, string> = {}, uid = 7) =>
  service.get(path, null, { headers: { ...bearer(await tokenOf(uid)), ...headers } })

beforeAll(async () => {
  service = await startService({ DEV_UID: '8', AUTH_ISSUER: from.iss, AUTH_AUDIENCE: from.aud })
  const mine = await addressIn(await get('/tron/generate'))
  const address = await addressIn(await get('/tron/generate', {}, 8))
  const [, txid = '', other = ''] = payFinal(
    service,
    usdtTo(mine, 25_000_000n),
    usdtTo(address, 31_000_000n),
    usdtTo(addressOf(77), 31_000_000n),
  )
  theirs = { address, txid }
  strangers = other
  await service.tick()
  before = await contents()
  service.lines.length = 0
})

const nobody = { status: 401, text: '{"code":401,"msg":"a valid bearer token is required"}' }
const bad = (field: string, takes: string) => ({
  status: 400,
  text: JSON.stringify({ code: 400, msg: `${field}: ${takes}` }),
})
const myWallets = '{"code":200,"msg":"success","data":{"list":[{"amt":0,"cuy":1},{"amt":25,"cuy":2}],"count":2}}'
const noEntries = '{"code":200,"msg":"success","data":{"list":[],"count":0}}'

const whole = 'a whole number from 1 to 9007199254740991'
const instant = 'an instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
const currency = 'one of 1 (TRX), 2 (USDT), given at most once'
/** Every parameter of every route, and what is said of a bad value. */
const parameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/tron/generate': { fresh: 'one of 0, 1', format: 'one of base58, number, hex' },
  '/tron/balance': { cuy: currency, address: 'an address of 34 characters, T first' },
  '/tron/recharge': { txid: '64 hex digits, 0x allowed in front' },
  '/wallet/flow/list': {
    page: whole,
    limit: 'a whole number from 1 to 100',
    before: whole,
    cuy: currency,
    wid: whole,
    type: 'one of 1, 2, 3, 4, 5, 9',
    osn: `a serial reference or txid of at most ${osnCharsMax} plain characters`,
    from: instant,
    to: instant,
  },
}
const everyParameter = Object.entries(parameters).flatMap(([path, takes]) =>
  Object.entries(takes).map(([name, what]): [string, string, string] => [path, name, what]),
)

/** Values that no parameter takes, as they stand in a URL. */
const hostileValues: readonly [what: string, value: string][] = [
  ['nothing', ''],
  ['a NUL', '1%00'],
  ['a line end', '1%0d%0aset-cookie:x=1'],
  ['half a UTF-8 letter', '%c3'],
  ['a right-to-left mark', '%e2%80%ae1'],
  ['an emoji', '%f0%9f%92%b0'],
  ['a letter beyond ASCII', '%ef%bc%91'],
  ['far too much', '9'.repeat(1_500)],
]
/** Values that are hostile to what takes plain text as well: there they are searched for, and match nothing. */
const injections: readonly [what: string, value: string][] = [
  ['SQL that is always true', `1' OR '1'='1`],
  ['SQL that deletes', '1; DROP TABLE flow; --'],
  ['SQL that joins', '1) UNION SELECT * FROM address --'],
  ['a wildcard', '%'],
  ['an object', '{"$gt":""}'],
  ['a template', '#{7*7}'],
  ['a path', '../../etc/passwd'],
  ['a script', '<script>alert(1)</script>'],
  ['a prototype', '__proto__'],
]

describe('every parameter', () => {
  test('is in the table', () => {
    const schemas = {
      '/tron/generate': generateQuery,
      '/tron/balance': balanceQuery,
      '/tron/recharge': rechargeQuery,
      '/wallet/flow/list': flowListQuery,
    }
    const names = Object.entries(schemas).map(([path, { shape }]) => [path, Object.keys(shape)])
    expect(Object.entries(parameters).map(([path, takes]) => [path, Object.keys(takes)])).toEqual(names)
  })

  const cells = everyParameter.flatMap(([path, name, takes]) =>
    hostileValues.map(([what, value]): [string, string, string, string, string] => [path, name, what, value, takes]),
  )
  test.each(cells)('%s: %s with %s is 400 and says what it takes', async (path, name, _what, value, takes) => {
    expect(await wholeOf(await get(`${path}?${name}=${value}`))).toEqual(bad(name, takes))
  })

  const injected = everyParameter.flatMap(([path, name, takes]) =>
    injections.map(([what, value]): [string, string, string, string, string] => [path, name, what, value, takes]),
  )
  test.each(injected)('%s: %s with %s does nothing', async (path, name, _what, value, takes) => {
    const answer = await wholeOf(await get(`${path}?${name}=${encodeURIComponent(value)}`))
    expect(answer).toEqual(name === 'osn' ? { status: 200, text: noEntries } : bad(name, takes))
  })

  test.each(everyParameter)('%s: %s given twice is 400', async (path, name, takes) => {
    const once = takes === currency ? takes : `${takes}, given once`
    expect(await wholeOf(await get(`${path}?${name}=1&${name}=1`))).toEqual(bad(name, once))
    expect(await wholeOf(await get(`${path}?${name}=1&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`))).toEqual(
      bad(name, once),
    )
  })

  test.each([
    'uid=8',
    'sub=8',
    'user=8',
    'wallet=8',
    'DEV_UID=8',
    'limit[]=1',
    '__proto__=1',
    'constructor=1',
    '=',
    '&&',
    '?',
  ])('that is not one is ignored: %s', async (query) => {
    expect(await wholeOf(await get(`/wallet/list?${query}`))).toEqual({ status: 200, text: myWallets })
  })
})

describe('what belongs to another caller', () => {
  test('is there for them', async () => {
    const { text } = await wholeOf(await get(`/wallet/flow/list?wid=2&osn=${theirs.txid}`, {}, 8))
    expect(text).toContain(`"osn":"${theirs.txid}:0","type":1,"cuy":2,"amt":31,`)
  })

  test.each([
    ['their address', () => `/tron/balance?address=${formatBase58(theirs.address)}`, 404, 'no such address'],
    ['a stranger’s address', () => `/tron/balance?address=${formatBase58(addressOf(77))}`, 404, 'no such address'],
    ['their deposit', () => `/tron/recharge?txid=${theirs.txid}`, 422, 'it holds no transfer to one of your addresses'],
    [
      'a stranger’s payment',
      () => `/tron/recharge?txid=${strangers}`,
      422,
      'it holds no transfer to one of your addresses',
    ],
  ])('reads as what belongs to nobody: %s', async (_what, path, code, msg) => {
    expect(await wholeOf(await get(path()))).toEqual({ status: code, text: JSON.stringify({ code, msg }) })
  })

  test.each([
    ['their wallet', () => 'wid=2'],
    ['a wallet of nobody', () => 'wid=999'],
    ['their entry’s reference', () => `osn=${theirs.txid}:0`],
    ['their transaction', () => `osn=${theirs.txid}`],
    ['their wallet and type', () => 'wid=2&type=1&cuy=2'],
  ])('is no entry: %s', async (_what, query) => {
    expect(await wholeOf(await get(`/wallet/flow/list?${query()}`))).toEqual({ status: 200, text: noEntries })
  })
})

describe('headers', () => {
  test.each<[what: string, headers: Record<string, string>]>([
    ['another caller by name', { 'x-user-id': '8', 'x-uid': '8', 'x-auth-request-user': '8', 'x-remote-user': '8' }],
    ['another host', { host: 'localhost', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }],
    ['another path', { 'x-original-url': '/tron/generate?fresh=1', 'x-rewrite-url': '/tron/generate?fresh=1' }],
    ['another method', { 'x-http-method-override': 'DELETE', 'x-method-override': 'POST' }],
    ['a cookie', { cookie: 'session=8; uid=8; authorization=Bearer x' }],
    [
      'an address to come from',
      { 'x-forwarded-for': '127.0.0.1', 'cf-connecting-ip': '127.0.0.1', 'x-real-ip': '::1' },
    ],
    [
      'a part of the body',
      { range: 'bytes=0-3', 'if-none-match': '*', 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    ],
    ['a media type', { accept: 'application/xml;q=1', 'accept-language': '../..', 'accept-charset': 'utf-7' }],
    ['a type of body', { 'content-type': 'application/json; charset=utf-7' }],
    ['another origin', { origin: 'https://evil.example', referer: 'https://evil.example/' }],
    ['a great many', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-h${i}`, 'x'.repeat(100)]))],
  ])('change nothing where they name %s', async (_what, headers) => {
    const answer = await get('/wallet/list', headers)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await wholeOf(answer)).toEqual({ status: 200, text: myWallets })
  })

  test.each<[what: string, headers: Record<string, string>]>([
    [
      'a loopback host for DEV_UID',
      { host: 'localhost', 'x-forwarded-host': '127.0.0.1', forwarded: 'host=localhost' },
    ],
    ['a name and a password', { authorization: `Basic ${encode('8:8')}` }],
    ['a cookie in place of a token', { cookie: 'authorization=Bearer x' }],
    ['a token elsewhere', { 'x-authorization': 'Bearer x', 'proxy-authorization': 'Bearer x', 'x-access-token': 'x' }],
  ])('let nobody in: %s', async (_what, headers) => {
    const answer = await service.get('/wallet/list', null, { headers })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(await wholeOf(answer)).toEqual(nobody)
  })

  test.each(['<script>', '../../x', 'a b', 'x'.repeat(65), '{}', '%0d%0a'])(
    'never come back in an answer: x-request-id %s',
    async (id) => {
      const answer = await get('/wallet/list', { 'x-request-id': id })
      expect(answer.headers.get('x-request-id')).toMatch(/^name-\d+$/)
      expect((await wholeOf(answer)).text).toBe(myWallets)
    },
  )

  test.each(['access_token', 'token', 'jwt', 'authorization'])(
    'are the only place of a token, not ?%s',
    async (name) => {
      const token = await tokenOf(7)
      expect(await wholeOf(await service.get(`/wallet/list?${name}=${token}`, null))).toEqual(nobody)
    },
  )
})

describe('tokens', () => {
  test('that are good let their caller in', async () => {
    expect(await wholeOf(await get('/wallet/list'))).toEqual({ status: 200, text: myWallets })
  })

  const claims = { sub: '8', exp: tokenNow + 86_400, ...from }
  const key = new TextEncoder().encode(testSecret)
  const signed = (header: unknown, what: unknown = claims) => signWithBytes(header, what, key)
  const hs256 = { alg: 'HS256' }

  test.each<[what: string, make: () => string | Promise<string>]>([
    ['no algorithm', () => assemble({ alg: 'none' }, claims)],
    ['no algorithm, with a signature', () => signed({ alg: 'none' })],
    ['no algorithm, oddly written', () => signed({ alg: 'nOnE' })],
    ['an algorithm that is missing', () => signed({ typ: 'JWT' })],
    ['an asymmetric algorithm, signed with the secret', () => signed({ alg: 'RS256' })],
    ['another hash', () => signHs256(claims, testSecret.repeat(2), { alg: 'HS512' })],
    ['an encrypted token', () => signed({ alg: 'dir', enc: 'A256GCM' })],
    ['another secret', () => signHs256(claims, `${testSecret}x`)],
    ['an empty secret’s signature', () => signWithBytes(hs256, claims, new Uint8Array(1))],
    [
      'a key in its header',
      () => signHs256(claims, 'x'.repeat(32), { jwk: { kty: 'oct', k: encode('x'.repeat(32)) } }),
    ],
    ['a key at a URL in its header', () => signHs256(claims, 'x'.repeat(32), { jku: 'https://evil.example/keys' })],
    ['a key id that is a path', () => signHs256(claims, 'x'.repeat(32), { kid: '../../dev/null' })],
    ['a key id that is SQL', () => signHs256(claims, 'x'.repeat(32), { kid: `x' UNION SELECT 'x` })],
    ['a demand that nobody knows', () => signed({ ...hs256, crit: ['exp2'], exp2: 1 })],
    ['no issuer', () => signed(hs256, { ...claims, iss: undefined })],
    ['another issuer', () => signed(hs256, { ...claims, iss: 'https://evil.example' })],
    ['an issuer in a list', () => signed(hs256, { ...claims, iss: [from.iss] })],
    ['no audience', () => signed(hs256, { ...claims, aud: undefined })],
    ['another audience', () => signed(hs256, { ...claims, aud: ['shop', 'Wallet'] })],
    ['its time over', () => signed(hs256, { ...claims, exp: tokenNow - 1 })],
    ['no end', () => signed(hs256, { ...claims, exp: undefined })],
    ['an end that is no number', () => signed(hs256, { ...claims, exp: 'never' })],
    [
      'an end beyond all numbers',
      async () => (await signed(hs256, claims)).replace(/\.[^.]+\./, `.${encode('{"sub":"8","exp":1e999}')}.`),
    ],
    ['its time not come', () => signed(hs256, { ...claims, nbf: tokenNow + 3_600 })],
    ['no subject', () => signed(hs256, { ...claims, sub: undefined })],
    ['a number as its subject', () => signed(hs256, { ...claims, sub: 8 })],
    ['two subjects in a list', () => signed(hs256, { ...claims, sub: ['7', '8'] })],
    ['subject 0', () => signed(hs256, { ...claims, sub: '0' })],
    ['subject -8', () => signed(hs256, { ...claims, sub: '-8' })],
    ['subject 08', () => signed(hs256, { ...claims, sub: '08' })],
    ['subject 8.0', () => signed(hs256, { ...claims, sub: '8.0' })],
    ['subject 2^53', () => signed(hs256, { ...claims, sub: '9007199254740992' })],
    ['a subject of SQL', () => signed(hs256, { ...claims, sub: '8 OR 1=1' })],
    ['a subject of full-width digits', () => signed(hs256, { ...claims, sub: '８' })],
    ['10,000 characters', () => signed(hs256, { ...claims, pad: 'x'.repeat(10_000) })],
    ['a million characters', () => 'a'.repeat(1_000_000)],
    ['claims of a thousand levels', () => signed(hs256, JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`))],
    ['claims that are no JSON', async () => (await signed(hs256)).replace(/\.[^.]+\./, `.${encode('{')}.`)],
    [
      'a signature of another token',
      async () => `${assemble(hs256, claims)}${(await signed(hs256, { ...claims, sub: '7' })).split('.')[2]}`,
    ],
    ['a signature cut short', async () => (await signed(hs256)).slice(0, -4)],
    ['five parts', () => 'a.b.c.d.e'],
  ])('with %s let nobody in, in the same words', async (_what, make) => {
    const answer = await service.get('/wallet/list', null, { headers: bearer(await make()) })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(await wholeOf(answer)).toEqual(nobody)
  })
})

describe('after all of that', () => {
  test('nothing has crashed, nothing alarmed, and every table is as it was', async () => {
    const events = service.lines.map((line) => JSON.parse(line)).map(({ event, alarm }) => event ?? alarm)
    expect(events.length).toBeGreaterThan(300)
    expect(events.filter((event) => event !== 'request')).toEqual([])
    expect(await contents()).toEqual(before)
  })
})
