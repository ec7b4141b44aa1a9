import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatBase58 } from '../../../src/chain/address.ts'
import type { UnixMs } from '../../../src/common/time.ts'
import { type Config, parseConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { platformBindings } from '../../../src/tools/configuration.ts'
import { openNodes } from '../../../src/tools/nodes.ts'
import { createJournal, openJournal } from '../../../src/tools/payout/journal.ts'
import { parseLimits } from '../../../src/tools/payout/limits.ts'
import { keepSigning } from '../../../src/tools/payout/run.ts'
import { openService } from '../../../src/tools/payout/service.ts'
import type { Signer } from '../../../src/tools/payout/signer.ts'
import { openTokens } from '../../../src/tools/payout/token.ts'
import { bundleService } from '../../bench/bundles.ts'
import { type RunningWorkers, startWorkers } from '../../bench/miniflare.ts'
import { type Devnet, startDevnet, temporary } from '../../devnet/chain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { result } from '../../devnet/support.ts'
import { readMigrations } from '../../support/sqlite-d1.ts'
import { backendSecret, testSecret, testXpub } from '../../support/variables.ts'
import { noLimits, unwrap } from '../collect/harness.ts'
import { chainId, payoutAddress, payoutKey } from './harness.ts'

const cuys = { TRX: 1, USDT: 2, FALSE: 3, REVERT: 4 } as const

let folder = ''
let devnet: Devnet
let worker: RunningWorkers
let variables: Record<string, unknown>
let config: Config
const now = systemClock.now

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'payouts-'))
  devnet = await startDevnet({ ...temporary, behindSeconds: 120 })
  const [returnsFalse, reverts] = [await devnet.deploy('FalseToken'), await devnet.deploy('RevertingToken')]
  await devnet.mine(3)
  variables = {
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: chainId,
    TRON_NODES: [{ rpc: devnet.rpcUrl, api: devnet.apiUrl, ...noLimits }],
    TRON_FIRST_INDEX: 0,
    CURRENCIES: [
      { cuy: cuys.TRX, symbol: 'TRX', decimals: 6 },
      { cuy: cuys.USDT, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
      { cuy: cuys.FALSE, symbol: 'FALSE', contract: formatBase58(returnsFalse), decimals: 6 },
      { cuy: cuys.REVERT, symbol: 'REVERT', contract: formatBase58(reverts), decimals: 6 },
    ],
    PAYOUTS: {
      address: payoutAddress,
      limits: Object.values(cuys).map((cuy) => ({ cuy, each: '100', perDay: '1000' })),
    },
    SCAN_EVERY_SECONDS: 10,
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
  }
  config = unwrap(parseConfig({ ...variables, ...platformBindings }))
  const file = join(folder, 'empty.sqlite')
  mkdirSync(folder, { recursive: true })
  const empty = new DatabaseSync(file)
  for (const sql of readMigrations()) empty.exec(sql)
  empty.close()
  const { script } = await bundleService()
  const spec = { name: 'wallet', script, database: 'wallet', hasObjects: true, variables }
  worker = await startWorkers([spec], { wallet: file })
  await post('/ledger/entries', 'ledger:post', {
    entries: Object.values(cuys).map((cuy) => ({ uid: 7, cuy, type: 9, osn: `start-${cuy}`, amt: '500' })),
  })
  createJournal(join(folder, 'journal'), { chainId, address: payoutAddress }, (now() - 1_000) as UnixMs)
})
afterAll(async () => {
  await worker?.stop()
  await devnet?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function request(path: string, scope: string, init: RequestInit = {}, subject = 'shop') {
  const token = new SignJWT({ scope }).setProtectedHeader({ alg: 'HS256' }).setSubject(subject).setExpirationTime('10m')
  const authorization = `Bearer ${await token.sign(new TextEncoder().encode(backendSecret))}`
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(worker.url('wallet') + path, { ...init, headers })
  const { data, msg } = (await answer.json()) as { data?: { list: Shown[] }; msg: string } // the service's envelope
  if (data === undefined) throw new Error(`${answer.status} ${msg}`)
  return data.list
}
interface Shown {
  readonly id: number
  readonly state: string
  readonly reason?: string
  readonly txid?: string
  readonly attempts: number
  readonly expires_at?: string
}
const post = (path: string, scope: string, body: object, subject?: string) =>
  request(path, scope, { method: 'POST', body: JSON.stringify(body) }, subject)

/** Asks for a payout, and returns its key. */
async function ask(cuy: number, amt: string, to: string): Promise<string> {
  const osn = `order-${crypto.randomUUID()}`
  await post('/ledger/payouts', 'ledger:pay', { payouts: [{ uid: 7, cuy, amt, to, osn }] })
  return osn
}
const shown = async (osn: string): Promise<Shown> => {
  const [payout] = await request(`/ledger/payouts?osn=${osn}`, 'ledger:read')
  if (payout === undefined) throw new Error('it was asked for')
  return payout
}

const lines: string[] = []
/** Lets the signer run, as a process of its own would, until `done`, while the chain makes blocks. */
async function runUntil(done: () => Promise<boolean>, changes: Partial<Signer> = {}): Promise<void> {
  const abort = new AbortController()
  const journal = openJournal(join(folder, 'journal'), { chainId, address: payoutAddress })
  const { currencies } = config
  const limits = Object.values(cuys).map((cuy) => ({ cuy, each: '100', perDay: '1000' }))
  const signer: Signer = {
    settings: { chainId, currencies, address: payoutKey.address, feeLimit: 100_000_000n },
    limits: parseLimits(JSON.stringify(limits), currencies),
    backendKeys: null,
    minutes: 15,
    key: payoutKey,
    journal,
    clock: { now },
    gone: new Set(),
    ...changes,
  }
  const sleep = (_ms: number, until?: AbortSignal) => systemClock.sleep(200, until)
  const clock = { ...systemClock, now, sleep }
  const token = await openTokens(undefined, { secrets: [backendSecret], jwksUrl: null, issuer: null, audience: null })
  const nodes = openNodes(config, { clock, fetch, signal: abort.signal })
  const service = openService(worker.url('wallet'), token, fetch)
  const print = (line: string) => void lines.push(line)
  const running = keepSigning({ signer, service, nodes, clock, print }, abort.signal)
  for (let i = 0; i < 40 && !(await done()); i += 1) {
    await devnet.mine()
    await worker.cron('wallet')
    await systemClock.sleep(300)
  }
  abort.abort()
  await running
  journal.close()
}
const isIn =
  (osn: string, ...states: readonly string[]) =>
  async () =>
    states.includes((await shown(osn)).state)

async function balance(address: string, currency: 'TRX' | 'USDT'): Promise<bigint> {
  const { parseAddress } = await import('../../../src/chain/address.ts')
  const hex = unwrap(parseAddress(address))
  return BigInt(
    currency === 'TRX'
      ? await result<string>(devnet, 'eth_getBalance', `0x${hex}`, 'latest')
      : await result<string>(
          devnet,
          'eth_call',
          { to: `0x${devnet.tokenAddress}`, data: `0x70a08231${hex.padStart(64, '0')}` },
          'latest',
        ),
  )
}
/** An address that did not exist before. */
let used = 0
const fresh = () => formatBase58((++used).toString(16).padStart(40, 'b') as typeof payoutKey.address)

describe('a payout on a chain that executes', () => {
  it('of a token without energy is stuck: nothing was paid', async () => {
    await devnet.pay({ to: payoutAddress, amount: '2', currency: 'TRX' })
    await devnet.pay({ to: payoutAddress, amount: '100', currency: 'USDT' })
    await devnet.mine(3)
    const to = fresh()
    const osn = await ask(cuys.USDT, '10', to)
    await runUntil(isIn(osn, 'paid', 'stuck'))
    expect(await shown(osn)).toMatchObject({ state: 'stuck', reason: 'failed', attempts: 1 })
    expect(await balance(to, 'USDT')).toBe(0n)
  })

  it('of TRX and of a token arrive, at addresses that did not exist', async () => {
    await devnet.pay({ to: payoutAddress, amount: '1000', currency: 'TRX' })
    await devnet.mine(3)
    const [first, second] = [fresh(), fresh()]
    const [trx, usdt] = [await ask(cuys.TRX, '1.5', first), await ask(cuys.USDT, '25', second)]
    await runUntil(async () => (await isIn(trx, 'paid')()) && (await isIn(usdt, 'paid')()))
    expect([await balance(first, 'TRX'), await balance(second, 'USDT')]).toEqual([1_500_000n, 25_000_000n])
    expect(lines.filter((line) => line.includes(`signed: 1.5 TRX to ${first}`))).toHaveLength(1)
  })

  it('of a token that returns false, or that reverts, is stuck', async () => {
    const [lies, reverts] = [await ask(cuys.FALSE, '10', fresh()), await ask(cuys.REVERT, '10', fresh())]
    await runUntil(async () => (await isIn(lies, 'stuck')()) && (await isIn(reverts, 'stuck')()))
    if (process.env.DBG) console.error(lines, await shown(lies), worker.warnings)
    expect(await shown(lies)).toMatchObject({ reason: 'other', attempts: 1 })
    expect(await shown(reverts)).toMatchObject({ reason: 'failed', attempts: 1 })
  })
})
