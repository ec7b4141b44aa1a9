import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createJournal } from '../../../src/commands/payout/journal.ts'
import { addressFromHex, formatBase58 } from '../../../src/worker/chain/address.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { systemClock } from '../../../src/worker/platform/clock.ts'
import { bundleService } from '../../bench/bundles.ts'
import { type RunningWorkers, startWorkers } from '../../bench/miniflare.ts'
import { type Devnet, startDevnet, temporary } from '../../devnet/chain.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { result } from '../../devnet/support.ts'
import { type CommandEnd, runCommand } from '../../support/command.ts'
import { readMigrations } from '../../support/database-file.ts'
import { signHs256 } from '../../support/tokens.ts'
import { backendSecret, testSecret, testXpub } from '../../support/variables.ts'
import { createDeployment, type TestDeployment } from '../collect/deployment.ts'
import { noLimits, testMnemonic } from '../collect/harness.ts'
import { dieAt } from './deployment.ts'
import { chainId, payoutAddress } from './harness.ts'

const cuys = { TRX: 1, USDT: 2, FALSE: 3, REVERT: 4 } as const
const limits = Object.values(cuys).map((cuy) => ({ cuy, each: '100', perDay: '1000' }))

let devnet: Devnet
let worker: RunningWorkers
let deployment: TestDeployment
let environment: Record<string, string>

/**
 * Starts a chain that executes contracts, and the bundle that a deployment uploads. User 7 gets 500
 * of each currency. Makes a folder for the signer.
 */
beforeAll(async () => {
  const bundle = bundleService()
  devnet = await startDevnet({ ...temporary, behindSeconds: 240 })
  const [returnsFalse, reverts] = [await devnet.deploy('FalseToken'), await devnet.deploy('RevertingToken')]
  await devnet.mine(3)
  deployment = createDeployment({ devnet })
  const settings = {
    CURRENCIES: [
      { cuy: cuys.TRX, symbol: 'TRX', decimals: 6 },
      { cuy: cuys.USDT, symbol: 'USDT', contract: tokenBase58, decimals: 6 },
      { cuy: cuys.FALSE, symbol: 'FALSE', contract: formatBase58(returnsFalse), decimals: 6 },
      { cuy: cuys.REVERT, symbol: 'REVERT', contract: formatBase58(reverts), decimals: 6 },
    ],
    PAYOUTS: { address: payoutAddress, limits },
  }
  environment = {
    CURRENCIES: JSON.stringify(settings.CURRENCIES),
    PAYOUTS: JSON.stringify(settings.PAYOUTS),
    BACKEND_JWT_SECRET: backendSecret,
  }
  writeFileSync(deployment.path('limits.json'), JSON.stringify(limits))
  const owner = { chainId, address: payoutAddress }
  createJournal(deployment.path('journal'), owner, (systemClock.now() - 1_000) as UnixMs)
  const file = deployment.path('empty.sqlite')
  const empty = new DatabaseSync(file)
  for (const sql of readMigrations()) empty.exec(sql)
  empty.close()
  const variables = {
    ...settings,
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: chainId,
    TRON_NODES: [{ rpc: devnet.rpcUrl, api: devnet.apiUrl, ...noLimits }],
    TRON_FIRST_INDEX: 0,
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
  }
  const { script } = await bundle
  const spec = { name: 'wallet', script, database: 'wallet', hasObjects: true, variables }
  worker = await startWorkers([spec], { wallet: file })
  await request('/tron/generate')
  await post('/ledger/entries', {
    entries: Object.values(cuys).map((cuy) => ({ uid: 7, cuy, type: 9, osn: `start-${cuy}`, amt: '500' })),
  })
}, 60_000)
afterAll(async () => {
  await worker.stop()
  await devnet.stop()
  deployment.remove()
})

interface Shown {
  readonly osn: string
  readonly state: string
  readonly reason?: string
  readonly txid?: string
  readonly attempts: number
}

async function request(path: string, init: RequestInit = {}): Promise<readonly Shown[]> {
  const scope = 'ledger:post ledger:pay ledger:read'
  const soon = Math.floor(Date.now() / 1_000) + 600
  const token = path.startsWith('/ledger')
    ? new SignJWT({ scope }).setProtectedHeader({ alg: 'HS256' }).setSubject('shop').setExpirationTime(soon)
    : null
  const secret = new TextEncoder().encode(backendSecret)
  const signed = token === null ? signHs256({ sub: '7', exp: soon }, testSecret) : token.sign(secret)
  const headers = { authorization: `Bearer ${await signed}`, 'content-type': 'application/json' }
  const answer = await fetch(worker.url('wallet') + path, { ...init, headers })
  // safe: the service's own envelope
  const { data, msg } = (await answer.json()) as { data?: { list: Shown[] }; msg: string }
  expect([path, answer.status, msg]).toEqual([path, 200, expect.stringMatching(/^success/)])
  return data?.list ?? []
}
const post = (path: string, body: object) => request(path, { method: 'POST', body: JSON.stringify(body) })

/** Asks for payouts of user 7, each with its `osn`. */
const ask = (...payouts: readonly (readonly [osn: string, cuy: number, amt: string, to: string])[]) =>
  post('/ledger/payouts', { payouts: payouts.map(([osn, cuy, amt, to]) => ({ uid: 7, osn, cuy, amt, to })) })

/** Makes blocks until all these payouts are paid or stuck. Returns them by `osn`. */
async function concluded(...names: readonly string[]): Promise<Readonly<Record<string, Shown>>> {
  for (;;) {
    const list = (await request('/ledger/payouts')).filter(({ osn }) => names.includes(osn))
    if (list.every(({ state }) => state === 'paid' || state === 'stuck'))
      return Object.fromEntries(list.map((one) => [one.osn, one]))
    if (list.every(({ state }) => state !== 'approved')) {
      await devnet.mine()
      await request('/tron/recharge')
    }
    await systemClock.sleep(100)
  }
}

/** A signer in its own process. */
interface RunningSigner {
  readonly child: Promise<ChildProcess>
  readonly ended: Promise<CommandEnd>
}
function startSigner(preload = ''): RunningSigner {
  const { promise: child, resolve: onStart } = Promise.withResolvers<ChildProcess>()
  const args = ['run', '--limits', 'limits.json', '--journal', 'journal', '--service', worker.url('wallet'), '--stdin']
  const ended = runCommand('src/commands/payout/start.ts', args, {
    cwd: deployment.folder,
    environment,
    input: `${testMnemonic}\n`,
    preload,
    onStart,
  })
  return { child, ended }
}

const journal = () =>
  readFileSync(deployment.path('journal'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as { readonly osn: string; readonly txid: string })

/** An address that has no account yet. */
const freshAccount = (digit: string) => {
  const account = addressFromHex(digit.repeat(40))
  if (account === null) throw new Error('40 hex digits')
  return { account, address: formatBase58(account) }
}
const trxOf = async ({ account }: ReturnType<typeof freshAccount>) =>
  BigInt(await result<string>(devnet, 'eth_getBalance', `0x${account}`, 'latest'))
const usdtOf = async ({ account }: ReturnType<typeof freshAccount>) => {
  const call = { to: `0x${devnet.tokenAddress}`, data: `0x70a08231${account.padStart(64, '0')}` }
  return BigInt(await result<string>(devnet, 'eth_call', call, 'latest'))
}

it('payouts on a chain that executes are paid once or stuck with what happened, though the signer was killed', async () => {
  const [poor, first, second, third] = ['a', 'b', 'c', 'd'].map(freshAccount)
  if (poor === undefined || first === undefined || second === undefined || third === undefined) throw new Error('four')
  await devnet.pay({ to: payoutAddress, amount: '2', currency: 'TRX' })
  await devnet.pay({ to: payoutAddress, amount: '100', currency: 'USDT' })
  await devnet.mine(3)
  await request('/tron/recharge') // so that the scan asks for the token's decimals

  await ask(['without-energy', cuys.USDT, '10', poor.address])
  const killed = startSigner(dieAt('fsyncSync', 1, 'after'))
  expect((await killed.ended).code).toBe(-1)
  const [signed] = journal()
  expect(await request('/ledger/payouts')).toMatchObject([{ state: 'approved', attempts: 0 }])

  const signer = startSigner()
  expect(await concluded('without-energy')).toMatchObject({
    'without-energy': { state: 'stuck', reason: 'failed', attempts: 1, txid: signed?.txid },
  })
  expect(await usdtOf(poor)).toBe(0n)

  await devnet.pay({ to: payoutAddress, amount: '1000', currency: 'TRX' })
  await devnet.mine()
  await ask(
    ['trx', cuys.TRX, '1.5', first.address],
    ['usdt', cuys.USDT, '25', second.address],
    ['returns-false', cuys.FALSE, '10', third.address],
    ['reverts', cuys.REVERT, '10', third.address],
  )
  const ends = await concluded('trx', 'usdt', 'returns-false', 'reverts')
  expect(ends).toMatchObject({
    trx: { state: 'paid', attempts: 0 },
    usdt: { state: 'paid', attempts: 0 },
    'returns-false': { state: 'stuck', reason: 'other', attempts: 1 },
    reverts: { state: 'stuck', reason: 'failed', attempts: 1 },
  })
  expect([await trxOf(first), await usdtOf(second)]).toEqual([1_500_000n, 25_000_000n])

  ;(await signer.child).kill('SIGINT')
  const { code, out } = await signer.ended
  expect([code, out]).toEqual([0, expect.stringContaining('handed in again: 10 USDT')])
  expect(journal().map(({ osn }) => osn)).toEqual(['without-energy', 'trx', 'usdt', 'returns-false', 'reverts'])
}, 120_000)
