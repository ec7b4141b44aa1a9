import { afterAll, beforeAll, expect } from 'vitest'
import { toAuthProblem } from '../../../src/http/errors.ts'
import { bearer, signHs256, tokenNow } from '../../support/tokens.ts'
import { testSecret } from '../../support/variables.ts'
import { addressIn, payFinal, type RunningService, startService, usdtTo } from '../service.ts'

/** The issuer and audience of valid tokens. */
const issued = { iss: 'https://issuer.example', aud: 'wallet' }

/** Callers 7 and 8, who both have a deposit, on one service for all attacks of a file. */
export interface HostileHarness {
  readonly service: RunningService
  /** The response to caller 7, or to another one. */
  get(path: string, headers?: Record<string, string>, uid?: number): Promise<Response>
  /** The response to caller 7, or to a backend where the path is for backends. */
  ask(path: string): Promise<Response>
  /** A valid token of a caller. */
  tokenOf(uid: number): Promise<string>
}

const tokenOf = (uid: number) => signHs256({ sub: String(uid), exp: tokenNow + 86_400, ...issued }, testSecret)

async function start(): Promise<HostileHarness> {
  const service = await startService({ DEV_UID: '8', AUTH_ISSUER: issued.iss, AUTH_AUDIENCE: issued.aud })
  const get: HostileHarness['get'] = async (path, headers = {}, uid = 7) =>
    service.get(path, null, { headers: { ...bearer(await tokenOf(uid)), ...headers } })
  const own = await addressIn(await get('/tron/generate'))
  payFinal(service, usdtTo(own, 25_000_000n), usdtTo(await addressIn(await get('/tron/generate', {}, 8)), 31_000_000n))
  await service.tick()
  const ask = (path: string) => (path.startsWith('/ledger/') ? service.ledger(path) : get(path))
  return { service, get, ask, tokenOf }
}

/**
 * Starts one service for all tests of a file. After them nothing has crashed, there is no alarm, and every table is as it
 * was before.
 */
export function underAttack(): () => HostileHarness {
  let harness: HostileHarness
  let before: unknown
  beforeAll(async () => {
    harness = await start()
    before = await contentsOf(harness.service.db)
    harness.service.lines.length = 0
  })
  afterAll(async () => {
    const events = harness.service.lines.map((line) => JSON.parse(line)).map(({ event, alarm }) => event ?? alarm)
    expect(events.length).toBeGreaterThan(0)
    expect(events.filter((event) => event !== 'request')).toEqual([])
    expect(await contentsOf(harness.service.db)).toEqual(before)
  })
  return () => harness
}

async function contentsOf(db: D1Database): Promise<unknown> {
  const tables = await db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all<{ name: string }>()
  const names = tables.results.map(({ name }) => name).filter((name) => !/^(_|sqlite|d1)/.test(name))
  expect(names.length).toBeGreaterThan(5)
  return Promise.all(names.map(async (name) => [name, (await db.prepare(`SELECT * FROM "${name}"`).all()).results]))
}

/** The response to a request without a valid token. */
export const unauthorized = {
  status: 401,
  text: JSON.stringify({ code: 401, msg: toAuthProblem('unauthorized').msg }),
}
/** The wallets of caller 7, as text. */
export const ownWallets =
  '{"code":200,"msg":"success","data":{"list":[{"amt":0,"cuy":1},{"amt":25,"cuy":2}],"count":2}}'
/** A list of no entries, as text. */
export const noEntries = '{"code":200,"msg":"success","data":{"list":[],"count":0}}'
