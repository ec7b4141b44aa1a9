import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toAuthProblem } from '../../src/worker/http/errors.ts'
import { documentedOperations } from '../../src/worker/http/openapi/document.ts'
import { payoutsSetting } from '../payouts/harness.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { testSecret } from '../support/variables.ts'
import { addressIn, payFinal, type RunningService, startService, usdtTo, wholeOf } from './service.ts'

// All attacks go to one service, in which callers 7 and 8 have a deposit each. At the end nothing
// may have crashed, no alarm may be raised, and every table must be as it was before.

/** The issuer and the audience that tokens must name. */
const issued = { iss: 'https://issuer.example', aud: 'wallet' }
const tokenOf = (uid: number) => signHs256({ sub: String(uid), exp: tokenNow + 86_400, ...issued }, testSecret)

let service: RunningService
let before: unknown

/** A request of caller 7, or of the caller `uid`. */
const get = async (path: string, headers: Record<string, string> = {}, uid = 7) =>
  service.get(path, null, { headers: { ...bearer(await tokenOf(uid)), ...headers } })
/** A request of caller 7; for a path under `/ledger/` that of a backend. */
const ask = (path: string) => (path.startsWith('/ledger/') ? service.ledger(path) : get(path))

beforeAll(async () => {
  service = await startService({
    PAYOUTS: payoutsSetting,
    DEV_UID: '8',
    AUTH_ISSUER: issued.iss,
    AUTH_AUDIENCE: issued.aud,
  })
  const own = await addressIn(await get('/tron/generate'))
  payFinal(service, usdtTo(own, 25_000_000n), usdtTo(await addressIn(await get('/tron/generate', {}, 8)), 31_000_000n))
  await service.tick()
  before = await contentsOf(service.db)
  service.lines.length = 0
})

afterAll(async () => {
  const events = service.lines.map((line) => JSON.parse(line)).map(({ event, alarm }) => event ?? alarm)
  expect(events.length).toBeGreaterThan(0)
  expect(events.filter((event) => event !== 'request')).toEqual([])
  expect(await contentsOf(service.db)).toEqual(before)
})

async function contentsOf(db: D1Database): Promise<unknown> {
  const tables = await db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all<{ name: string }>()
  const names = tables.results.map(({ name }) => name).filter((name) => !/^(_|sqlite|d1)/.test(name))
  expect(names.length).toBeGreaterThan(5)
  return Promise.all(names.map(async (name) => [name, (await db.prepare(`SELECT * FROM "${name}"`).all()).results]))
}

/** The response to every request without a valid token. */
const unauthorized = {
  status: 401,
  text: JSON.stringify({ code: 401, msg: toAuthProblem('unauthorized').msg }),
}
/** The response to caller 7 at `/wallet/list`. */
const ownWallets = '{"code":200,"msg":"success","data":{"list":[{"amt":0,"cuy":1},{"amt":25,"cuy":2}],"count":2}}'
/** The response of a list without items. */
const noEntries = '{"code":200,"msg":"success","data":{"list":[],"count":0}}'

/** Each parameter of each route, with its path. */
const parameters = documentedOperations().flatMap(({ path, operation }) =>
  Object.keys(operation.query?.shape ?? {}).map((name): [string, string] => [path, name]),
)

/**
 * The URL of a route with this query. The routes for backends also need a user, and a search needs
 * how something begins.
 */
const urlOf = (path: string, name: string, query: string) => {
  const [user, begin] = [path.startsWith('/ledger/') && name !== 'uid', name === 'end']
  return `${path}?${user ? 'uid=7&' : ''}${begin ? 'begin=TWer2Y&' : ''}${query}`
}

/** Values, percent-encoded, that every parameter must refuse. */
const hostileValues: readonly [what: string, value: string][] = [
  ['no characters', ''],
  ['a NUL', '1%00'],
  ['a line end', '1%0d%0aset-cookie:x=1'],
  ['an incomplete UTF-8 sequence', '%c3'],
  ['a right-to-left mark', '%e2%80%ae1'],
  ['an emoji', '%f0%9f%92%b0'],
  ['a letter beyond ASCII', '%ef%bc%91'],
  ['1,500 digits', '9'.repeat(1_500)],
]
/** Values that only parameters for free text accept, and that match no row. */
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

describe('a parameter', () => {
  /** Expects a 400 that names the parameter. */
  const expectRefused = async (response: Response, name: string) => {
    expect(await response.json()).toEqual({ code: 400, msg: expect.stringMatching(`^${name}: `) })
    expect(response.status).toBe(400)
  }

  const cells = parameters.flatMap(([path, name]) =>
    hostileValues.map(([what, value]): [string, string, string, string] => [path, name, what, value]),
  )
  test.each(cells)('%s: %s with %s is refused', async (path, name, _what, value) => {
    await expectRefused(await ask(urlOf(path, name, `${name}=${value}`)), name)
  })

  const injected = parameters.flatMap(([path, name]) =>
    injections.map(([what, value]): [string, string, string, string] => [path, name, what, value]),
  )
  test.each(injected)('%s: %s with %s does nothing', async (path, name, _what, value) => {
    const response = await ask(urlOf(path, name, `${name}=${encodeURIComponent(value)}`))
    if (name !== 'osn' && name !== 'order') await expectRefused(response, name)
    else expect(await wholeOf(response)).toEqual({ status: 200, text: noEntries })
  })

  test.each(parameters)('%s: %s given twice is refused', async (path, name) => {
    await expectRefused(await ask(urlOf(path, name, `${name}=1&${name}=1`)), name)
    const encoded = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    await expectRefused(await ask(urlOf(path, name, `${name}=1&${encoded}=1`)), name)
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
  ])('that the route does not have is ignored: %s', async (query) => {
    expect(await wholeOf(await get(`/wallet/list?${query}`))).toEqual({ status: 200, text: ownWallets })
  })
})

describe('a header', () => {
  test.each<[what: string, headers: Record<string, string>]>([
    ['another caller by name', { 'x-user-id': '8', 'x-uid': '8', 'x-auth-request-user': '8', 'x-remote-user': '8' }],
    ['another host', { host: 'localhost', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }],
    ['another path', { 'x-original-url': '/tron/generate?fresh=1', 'x-rewrite-url': '/tron/generate?fresh=1' }],
    ['another method', { 'x-http-method-override': 'DELETE', 'x-method-override': 'POST' }],
    ['a cookie', { cookie: 'session=8; uid=8; authorization=Bearer x' }],
    ['another client address', { 'x-forwarded-for': '127.0.0.1', 'cf-connecting-ip': '127.0.0.1', 'x-real-ip': '::1' }],
    [
      'a part of the body',
      { range: 'bytes=0-3', 'if-none-match': '*', 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    ],
    ['a media type', { accept: 'application/xml;q=1', 'accept-language': '../..', 'accept-charset': 'utf-7' }],
    ['another type of body', { 'content-type': 'application/json; charset=utf-7' }],
    ['another origin', { origin: 'https://evil.example', referer: 'https://evil.example/' }],
    ['200 other headers', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-h${i}`, 'x'.repeat(100)]))],
  ])('changes nothing: %s', async (_what, headers) => {
    const response = await get('/wallet/list', headers)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(await wholeOf(response)).toEqual({ status: 200, text: ownWallets })
  })

  test.each(['access_token', 'token', 'jwt', 'authorization'])(
    'is the only place of a token, not ?%s',
    async (name) => {
      const token = await tokenOf(7)
      expect(await wholeOf(await service.get(`/wallet/list?${name}=${token}`, null))).toEqual(unauthorized)
    },
  )
})
