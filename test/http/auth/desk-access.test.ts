import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { refetchMs } from '../../../src/worker/http/auth/key-set.ts'
import { missingScope, onlyBackends, toAuthProblem, toPersonProblem } from '../../../src/worker/http/errors.ts'
import { ledgerRoutes } from '../../../src/worker/http/routes.ts'
import { payoutsSetting } from '../../payouts/harness.ts'
import { bearer, createIssuer, forgeToken, type Issuer, keySetOf, signHs256, tokenNow } from '../../support/tokens.ts'
import { backendSecret } from '../../support/variables.ts'
import { addressIn, failed, payFinal, postInit, type RunningService, read, startService, trxTo } from '../service.ts'

const origin = 'https://wallet.example'
const keysUrl = 'https://acme.cloudflareaccess.com/cdn-cgi/access/certs'
const audience = '32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228'
const people = {
  'ann@example.com': 'read approve',
  '*@example.com': 'read',
  'bo@other.example': 'read pay',
  'eve@example.com': 'read pay approve',
  'frank@example.com': 'read pay approve',
  'mike@klub.example': 'read',
}
const access = { DESK_ACCESS: { team: 'acme', audience, people }, PAYOUTS: { address: payoutsSetting.address } }

let team: Issuer
let answerKeys: () => Response
let service: RunningService
beforeAll(async () => {
  team = await createIssuer('RS256', 'team-1')
})
beforeEach(async () => {
  answerKeys = () => Response.json({ ...keySetOf(team), public_cert: { kid: 'team-1', cert: '' }, public_certs: [] })
  service = await startService(access, { served: { [keysUrl]: () => answerKeys() } })
})

/** The claims in the token of Cloudflare Access for somebody who has signed in with this email. */
const said = (email: unknown, changes: Record<string, unknown> = {}) => ({
  aud: [audience],
  email,
  exp: tokenNow + 86_400,
  iat: tokenNow - 60,
  nbf: tokenNow - 60,
  iss: 'https://acme.cloudflareaccess.com',
  type: 'app',
  sub: '7335d417-61da-459d-899c-0a01c76a2f94',
  country: 'DE',
  ...changes,
})
const asserted = (assertion: string) => ({ 'cf-access-jwt-assertion': assertion })
const ownPage = { origin, 'sec-fetch-site': 'same-origin' }

const ask = async (email: unknown, path = '/ledger/summary', changes: Record<string, unknown> = {}) =>
  service.fetch(new Request(origin + path, { headers: asserted(await team.sign(said(email, changes))) }))
const act = async (email: string, path: string, body: object, headers: Record<string, string> = ownPage) => {
  const { headers: json, ...init } = postInit(body)
  const all = { ...json, ...headers, ...asserted(await team.sign(said(email))) }
  return service.fetch(new Request(origin + path, { ...init, headers: all }))
}
const unauthorized = failed(401, toAuthProblem('unauthorized').msg)
const reader = async (response: Response) => ((await response.json()) as { data: { reader: unknown } }).data.reader

/**
 * Gives user 7 a balance of 100 USDT, and asks for `count` payouts of 10 USDT each. The payouts get
 * the ids 1, 2, 3 …
 */
async function askForPayouts(count = 1): Promise<void> {
  await service.get('/tron/generate')
  await service.tick() // the tick asks nodes for the decimals of USDT, without which no payout is accepted
  await service.post([{ uid: 7, cuy: 2, type: 9, osn: 'start', amt: '100' }])
  const payouts = Array.from({ length: count }, (_, index) => {
    return { uid: 7, cuy: 2, amt: '10', to: 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4', osn: `payout-${index + 1}` }
  })
  expect((await service.send('/ledger/payouts', { payouts })).status).toBe(200)
}

describe('a person who has signed in by Cloudflare Access', () => {
  test.each([
    // the rule for her address wins over that for her domain
    ['ann@example.com', 'ann@example.com', ['ledger:read', 'ledger:approve']],
    ['Ann@Example.COM', 'ann@example.com', ['ledger:read', 'ledger:approve']],
    ['cid@example.com', 'cid@example.com', ['ledger:read']],
    ['bo@other.example', 'bo@other.example', ['ledger:read', 'ledger:pay']],
  ])('is known by %s', async (email, name, scopes) => {
    const response = await ask(email)
    expect(response.status).toBe(200)
    expect(await reader(response)).toEqual({ name, scopes })
  })

  test.each([
    ['of another domain', 'ann@other.example'],
    ['of a domain below', 'ann@desk.example.com'],
    ['of a domain that ends like it', 'ann@notexample.com'],
    ['that begins like one', 'ann@example.com.evil.example'],
  ])('sees nothing with an address %s', async (_, email) => {
    expect(await read(await ask(email))).toEqual(failed(403, toPersonProblem('not-listed').msg))
  })

  test.each<[string, unknown, Record<string, unknown>]>([
    ['has expired', 'ann@example.com', { exp: tokenNow - 1 }],
    ['has no end', 'ann@example.com', { exp: undefined }],
    ['is not valid yet', 'ann@example.com', { nbf: tokenNow + 60 }],
    ['is for another application', 'ann@example.com', { aud: ['another'] }],
    ['is for no application', 'ann@example.com', { aud: undefined }],
    ['is of another team', 'ann@example.com', { iss: 'https://other.cloudflareaccess.com' }],
    ['has no issuer', 'ann@example.com', { iss: undefined }],
    ['is that of a service, not of a person', undefined, { common_name: 'ann@example.com', sub: '' }],
    ['has no text as the address', ['ann@example.com'], {}],
    ['has two addresses in one', 'ann@example.com,eve@example.com', {}],
    ['has a name that is no address', 'shop', {}],
    ['has a line end after the address', 'ann@example.com\n', {}],
    ['has a letter that becomes one of the list in lower case', 'fran\u212A@example.com', {}],
    ['has such a letter in the domain', 'mike@\u212Alub.example', {}],
  ])('sees nothing where the assertion %s', async (_, email, changes) => {
    expect(await read(await ask(email, '/ledger/summary', changes))).toEqual(unauthorized)
  })

  test('sees nothing where the assertion is signed by anything but a key of the team', async () => {
    const stranger = await createIssuer('RS256', 'team-1')
    const [unknown, curve] = [await createIssuer('RS256', 'team-2'), await createIssuer('ES256', 'team-1')]
    const claims = said('ann@example.com')
    const wrong = [
      await stranger.sign(claims),
      await unknown.sign(claims),
      await curve.sign(claims),
      await signHs256(claims, backendSecret, { kid: 'team-1' }),
      forgeToken({ alg: 'none' }, claims),
      forgeToken({ alg: 'RS256', kid: 'team-1' }, claims, 'x'),
      forgeToken({ alg: 'RS256', kid: 'team-1', crit: ['x'], x: 1 }, claims, (await team.sign(claims)).split('.')[2]),
      `${await team.sign(claims)}, ${await team.sign(claims)}`,
      'x'.repeat(9_000),
      '',
    ]
    for (const assertion of wrong) {
      const response = await service.fetch(new Request(`${origin}/ledger/summary`, { headers: asserted(assertion) }))
      expect(response.status, assertion.slice(0, 40)).toBe(401)
    }
    expect((await service.fetch(new Request(`${origin}/ledger/summary`))).status).toBe(401)
  })

  test('sees nothing where the keys of the team cannot be fetched, and is known once they are', async () => {
    const good = answerKeys
    for (const answer of [() => new Response(null, { status: 503 }), () => new Response('{}')]) {
      answerKeys = answer
      const response = await ask('ann@example.com')
      expect([response.status, response.headers.get('x-reason')]).toEqual([503, 'keys-unavailable'])
      service.clock.seconds += 60
    }
    answerKeys = good
    expect((await ask('ann@example.com')).status).toBe(200)
  })

  test('is known by a key that the team has put in place of one under the same name', async () => {
    expect((await ask('ann@example.com')).status).toBe(200)
    const before = team
    team = await createIssuer('RS256', 'team-1')
    service.clock.seconds += refetchMs / 1000
    expect((await ask('ann@example.com')).status).toBe(200)
    const withdrawn = asserted(await before.sign(said('ann@example.com')))
    expect((await service.fetch(new Request(`${origin}/ledger/summary`, { headers: withdrawn }))).status).toBe(401)
  })

  test.each([
    [5, 200],
    [6, 401],
  ])('is known with an nbf %i s ahead: %i', async (ahead, status) => {
    expect((await ask('ann@example.com', '/ledger/summary', { nbf: tokenNow + ahead })).status).toBe(status)
  })

  test('is nobody from the second of exp on', async () => {
    for (const [left, status] of [
      [1, 200],
      [0, 401],
    ] as const) {
      expect((await ask('ann@example.com', '/ledger/summary', { exp: tokenNow + left })).status).toBe(status)
    }
  })

  test('is nobody without DESK_ACCESS, and where a token is given as well the token counts', async () => {
    const closed = service.with({ DESK_ACCESS: undefined })
    const headers = asserted(await team.sign(said('ann@example.com')))
    const path = `${origin}/ledger/summary`
    expect((await closed.fetch(new Request(path, { headers }))).status).toBe(401)
    const token = await signHs256({ sub: 'shop', exp: tokenNow + 600, scope: 'ledger:read' }, backendSecret)
    const both = await service.fetch(new Request(path, { headers: { ...headers, ...bearer(token) } }))
    expect(await reader(both)).toEqual({ name: 'shop', scopes: ['ledger:read'] })
    const wrong = await service.fetch(new Request(path, { headers: { ...headers, ...bearer('a.b.c') } }))
    expect(wrong.status).toBe(401)
  })

  test('has the desk also where no backend has a key', async () => {
    const keyless = service.with({ BACKEND_JWT_SECRET: undefined })
    const headers = asserted(await team.sign(said('ann@example.com')))
    expect((await keyless.fetch(new Request(`${origin}/ledger/summary`, { headers }))).status).toBe(200)
    expect((await keyless.ledger('/ledger/summary')).status).toBe(401)
  })
})

describe('two people', () => {
  test('do what one of them may not: one asks to cancel, the other approves, each under the own name', async () => {
    await askForPayouts(3)
    const refused = await act('bo@other.example', '/ledger/payouts/approve', { ids: [1] })
    expect(await read(refused)).toEqual(failed(403, missingScope(['ledger:approve']).msg))
    const approved = await act('ann@example.com', '/ledger/payouts/approve', { ids: [1] })
    expect(await read(approved)).toMatchObject({
      status: 200,
      body: { data: { list: [{ state: 'approved', by: 'shop', approved_by: 'ann@example.com' }] } },
    })
    const cancelled = await act('bo@other.example', '/ledger/payouts/cancel', { ids: [2], why: 'a second thought' })
    expect(await read(cancelled)).toMatchObject({ status: 200, body: { data: { list: [{ state: 'cancelled' }] } } })
    const by = `SELECT cancelled_by, (SELECT posted_by FROM flow WHERE osn = 'payout-2' AND type = 5) FROM payout WHERE id = 2`
    expect(await service.db.prepare(by).raw()).toEqual([['bo@other.example', 'shop']])
    expect((await act('cid@example.com', '/ledger/payouts/cancel', { ids: [3], why: 'x' })).status).toBe(403)
  })

  test('ask for nothing, sign nothing and post nothing, whatever they may', async () => {
    await askForPayouts()
    const posts = ledgerRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path)
    const open = ['/ledger/deposits/decide', '/ledger/payouts/approve', '/ledger/payouts/cancel']
    expect(posts.filter((path) => !open.includes(path))).toHaveLength(5)
    for (const path of posts) {
      const { status, body } = await read(await act('eve@example.com', path, { ids: [] }))
      if (open.includes(path)) expect(status, path).toBe(400)
      else expect({ path, status, body }).toEqual({ path, ...failed(403, onlyBackends.msg) })
    }
    // a GET request of a person never issues an address
    expect((await ask('eve@example.com', '/ledger/address?uid=99')).status).toBe(404)
  })

  test.each<[string, Record<string, string>]>([
    ['without an origin', { 'sec-fetch-site': 'same-origin' }],
    ['from another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['from another site that names this origin', { origin, 'sec-fetch-site': 'cross-site' }],
    ['from a host beside it', { origin: 'https://shop.wallet.example', 'sec-fetch-site': 'same-site' }],
    ['from the same host without TLS', { origin: 'http://wallet.example', 'sec-fetch-site': 'same-site' }],
    ['from a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('do nothing by a request %s', async (_, headers) => {
    await askForPayouts()
    const response = await act('ann@example.com', '/ledger/payouts/approve', { ids: [1] }, headers)
    expect(await read(response)).toEqual(failed(403, toPersonProblem('not-own-page').msg))
    expect(await service.db.prepare('SELECT state FROM payout').raw()).toEqual([['waiting']])
  })
})

test('a person decides about a deposit that waits for a look, under the own name', async () => {
  const currency = { cuy: 1, symbol: 'TRX', decimals: 6, reviewFrom: '0' }
  service = await startService({ ...access, CURRENCIES: [currency] }, { served: { [keysUrl]: () => answerKeys() } })
  const [txid = ''] = payFinal(service, trxTo(await addressIn(await service.get('/tron/generate')), 5_000_000n))
  await service.get('/tron/recharge')
  const deposits = [{ txid, position: 0, decision: 'credit', why: 'looked at' }]
  const decided = { decision: 'credit', why: 'looked at', by: 'ann@example.com' }
  expect(await read(await act('ann@example.com', '/ledger/deposits/decide', { deposits }))).toMatchObject({
    status: 200,
    body: { data: { list: [{ state: 'credited', decided }] } },
  })
  expect((await act('bo@other.example', '/ledger/deposits/decide', { deposits })).status).toBe(403)
})
