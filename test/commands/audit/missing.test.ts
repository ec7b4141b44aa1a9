import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runAudit } from '../../../src/commands/audit/command.ts'
import { runMissing } from '../../../src/commands/audit/missing-command.ts'
import { archiveKey } from '../../../src/worker/archive/archive-object.ts'
import type { ArchiveBucket } from '../../../src/worker/archive/bucket.ts'
import { createEndpointObject, createScannerObject, createService } from '../../../src/worker/compose.ts'
import { testSealKey } from '../../archive/seal-key.ts'
import { payoutAddress } from '../../pages/payout-fixture.ts'
import { withSessions } from '../../simulation/database.ts'
import { callCommand } from '../../support/command.ts'
import { listen } from '../../support/loopback.ts'
import { createMemoryHost } from '../../support/memory-host.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../../support/tokens.ts'
import { backendSecret, testSecret } from '../../support/variables.ts'
import { bindingsFor, type CollectChain, startCollectChain } from '../collect/harness.ts'
import { platformAt } from '../collect/whole-service.ts'
import { createLocalDatabase, databaseFileIn, installQuickWrangler, type LocalDatabase } from '../local-database.ts'

let chain: CollectChain
let miniflare: Miniflare
let bucket: ArchiveBucket & Pick<R2Bucket, 'list'>
let old: LocalDatabase
let restored: LocalDatabase
const archive = mkdtempSync(join(tmpdir(), 'missing-'))
const scannerHost = createMemoryHost()
const archiveHost = createMemoryHost()
const lines: string[] = []
let skippedMs = 0

beforeAll(async () => {
  chain = await startCollectChain()
  const options = { modules: true, script: 'export default {}', compatibilityDate: '2026-11-01', r2Buckets: ['BUCKET'] }
  miniflare = new Miniflare(convertV4MiniflareOptions({ ...options, host: '127.0.0.1', port: 0, cf: false }))
  bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as typeof bucket // safe: the same methods
  old = createLocalDatabase()
  restored = createLocalDatabase({ hasTables: false })
}, 60_000)
afterAll(async () => {
  for (const database of [old, restored]) database.remove()
  rmSync(archive, { recursive: true, force: true })
  await miniflare.dispose()
  await chain.stop()
})

/** The whole service with its archive, on the chain, over the local database in a folder. */
async function deploy({ folder }: LocalDatabase, variables: Record<string, unknown> = {}) {
  const platform = platformAt(() => skippedMs, lines)
  const { sqlite, connect } = openSqliteD1(databaseFileIn(folder))
  const chainBindings = bindingsFor(chain.devnet)
  const [trx, usdt] = chainBindings.CURRENCIES as readonly object[] // safe: its two currencies
  const bindings: Record<string, unknown> = {
    ...chainBindings,
    CURRENCIES: [{ ...trx, reviewFrom: '50' }, usdt],
    PAYOUTS: { address: payoutAddress },
    ARCHIVE: 'BUCKET',
    BUCKET: bucket,
    SEAL_KEY: testSealKey,
    DB: withSessions(connect(async (work) => work())),
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
    ...variables,
  }
  const scanner = createScannerObject(platform, bindings, scannerHost)
  const writer = createEndpointObject(platform, bindings, archiveHost, archiveKey)
  const service = createService(platform)
  Object.assign(bindings, { SCANNER: { getByName: () => scanner } })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const headers = request.headers as Record<string, string> // safe: each once
    const init = {
      method: request.method ?? '',
      headers,
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    }
    const answer = await service.fetch(new Request(`https://wallet.example${request.url}`, init), bindings)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  const { url, close } = await listen(server)
  const token = (sub: string, secret: string, scope?: string) =>
    signHs256(
      { sub, exp: Math.floor(platform.clock.now() / 1_000) + 600, ...(scope === undefined ? {} : { scope }) },
      secret,
    )
  const send = async (path: string, bearerToken: string, body?: object) => {
    const headers = { ...bearer(bearerToken), 'content-type': 'application/json' }
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(url + path, { headers, ...post })
    // safe: the service's own reply
    return (await response.json()) as { readonly code: number; readonly data: Readonly<Record<string, unknown>> }
  }
  const as = async (name: string, path: string, body?: object) => {
    const answer = await send(
      path,
      await token(name, backendSecret, 'ledger:read ledger:post ledger:pay ledger:approve'),
      body,
    )
    expect([path, answer.code, answer]).toEqual([path, 200, answer])
    return answer.data
  }
  return {
    url,
    tick: () => scanner.alarm(),
    as,
    address: async (uid: number) => (await send('/tron/generate', await token(`${uid}`, testSecret))).data.address,
    post: (...entries: readonly object[]) => as('shop', '/ledger/entries', { entries }),
    async archive() {
      archiveHost.values.set('key', archiveKey)
      await writer.alarm()
      await copyBucket()
    },
    async close() {
      await close()
      sqlite.close()
    },
  }
}

/** Copies what the folder lacks of the bucket, as a person does. */
async function copyBucket() {
  for (const { key } of (await bucket.list()).objects) {
    const path = join(archive, key)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, (await (await bucket.get(key))?.text()) ?? '')
  }
}

type Deployment = Awaited<ReturnType<typeof deploy>>

/** Moves time on, makes blocks, and scans. */
async function pass(service: Deployment) {
  skippedMs += 5_000
  await chain.devnet.advance(5)
  await chain.devnet.mine(4)
  await service.tick()
}

const transfer = (from: number, to: number, amt: string, osn: string) => [
  { uid: from, cuy: 2, type: 3, osn, amt: `-${amt}` },
  { uid: to, cuy: 2, type: 3, osn, amt },
]

async function balances(service: Deployment) {
  const lists = [7, 8, 9].map(async (uid) => {
    const { list } = await service.as('shop', `/ledger/wallets?uid=${uid}`)
    return (list as readonly { cuy: number; amt: number }[]).map(({ cuy, amt }) => [uid, cuy, amt])
  })
  return (await Promise.all(lists)).flat().filter(([, , amt]) => amt !== 0)
}

/** Runs the command on the restored copy. Returns its exit code, and all but its first line. */
async function missing(service: Deployment, ...options: readonly string[]) {
  const environment = {
    ...installQuickWrangler(restored.folder),
    BACKEND_JWT_SECRET: backendSecret,
    TRON_CHAIN_ID: '0x6465766e',
  }
  const args = ['missing', archive, '--local', '--service', service.url, ...options]
  const { code, all } = await callCommand(runMissing, args, { cwd: restored.folder, environment })
  return { code, lines: all.trimEnd().split('\n').slice(1) }
}

/** Lines of the output without names: the number of the archive's line, and the txid. */
const named = (list: readonly string[], begins: string) =>
  list
    .filter((line) => line.startsWith(`  ${begins}`))
    .map((line) =>
      line.replace(/^ {2}(missing, line \d+|put back|refused): /, '').replaceAll(/[0-9a-f]{64}/g, '<txid>'),
    )

it('names what a restored copy lacks, and puts it back until all balances are those before', async () => {
  let service = await deploy(old)
  await service.tick()
  await service.address(7)
  await service.address(8)
  await chain.deposit([0, '25', 'USDT'])
  await chain.deposit([0, '60', 'TRX'])
  await pass(service)
  await service.post(...transfer(7, 8, '2', 'early'))
  const order = (uid: number, reference: string, more: object = {}) => ({
    uid,
    cuy: 2,
    amt: '5',
    order: reference,
    ...more,
  })
  await service.as('shop', '/ledger/orders', { orders: [order(7, 'KEPT')] })
  await service.archive()
  const from = new DatabaseSync(databaseFileIn(old.folder))
  mkdirSync(dirname(databaseFileIn(restored.folder)), { recursive: true })
  from.exec(`VACUUM INTO '${databaseFileIn(restored.folder)}'`)
  from.close()

  // what happens after the copy is lost with the old database
  await service.address(9)
  await service.as('shop', '/ledger/orders', { orders: [order(9, 'PAID it', { take: true }), order(7, 'OFF')] })
  await service.as('support', '/ledger/orders/cancel', { orders: [{ uid: 7, order: 'OFF' }], why: 'no; more' })
  await service.as('shop', '/ledger/orders/cancel', { orders: [{ uid: 7, order: 'KEPT' }] })
  // the chain begins an hour ago, and an order counts what blocks after it have
  await chain.devnet.advance(Math.ceil((Date.now() + skippedMs - (await chain.headMs())) / 1_000))
  await chain.deposit([3, '10', 'USDT'])
  await chain.deposit([1, '4', 'USDT'])
  await chain.deposit([4, '5', 'USDT'])
  await pass(service)
  await service.post(...transfer(9, 8, '6', "late; it's"))
  await service.post({ uid: 8, cuy: 2, type: 4, osn: 'bill', amt: '-2', mark: 'BEGIN TRANSACTION' })
  const held = (await service.as('shop', '/ledger/deposits?state=held')).list as readonly {
    txid: string
    position: number
  }[]
  const [{ txid, position } = { txid: '', position: 0 }] = held
  const decision = { deposits: [{ txid, position, decision: 'credit', why: 'known' }] }
  await service.as('anna', '/ledger/deposits/decide', decision)
  const payouts = { payouts: [{ uid: 8, cuy: 2, amt: '1', to: 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4', osn: 'out' }] }
  await service.as('shop', '/ledger/payouts', payouts)
  await service.archive()
  const before = await balances(service)
  expect(before).toEqual([
    [7, 1, 60],
    [7, 2, 23],
    [8, 2, 9],
    [9, 2, 4],
  ])
  await service.close()

  // the restored copy goes on: it credits what came to the addresses that it knows
  service = await deploy(restored, { ISSUE_ADDRESSES: 'off' })
  await service.tick()
  const found = await missing(service)
  const expected = [
    `address ${chain.depositAt(3)} (index 3) of user 9`,
    `address ${chain.depositAt(4)} (index 4) of user 9`,
    `address ${chain.depositAt(5)} (index 5) of user 7`,
    'order PAID it of user 9, 5 of currency 2, paid (--put-back does it)',
    'order OFF of user 7, 5 of currency 2, cancelled (--put-back does it)',
    'order KEPT of user 7, 5 of currency 2, cancelled (--put-back does it)',
    'decision to credit deposit <txid> 0 by anna (--put-back does it)',
    'entry PAID it of user 9, type 4, -5 of currency 2 (it comes with its order)',
    `entry late; it's of user 9, type 3, -6 of currency 2 (--put-back does it)`,
    `entry late; it's of user 8, type 3, 6 of currency 2 (--put-back does it)`,
    'entry bill of user 8, type 4, -2 of currency 2 (--put-back does it)',
    'entry out of user 8, type 2, -1 of currency 2 (it comes with its payout)',
    'deposit <txid> 0 of user 9, 10 of currency 2',
    'deposit <txid> 0 of user 9, 5 of currency 2',
    'deposit <txid> 0 of user 7, 60 of currency 1',
    'payout out of user 8, 1 of currency 2, waiting',
  ]
  const begin = (list: readonly string[]) => list.map((line, i) => line.slice(0, expected[i]?.length))
  expect([found.code, begin(named(found.lines, 'missing'))]).toEqual([1, expected])
  // the same once the service has begun a new epoch
  await service.archive()
  expect(named((await missing(service)).lines, 'missing')).toEqual(named(found.lines, 'missing'))

  const first = await missing(service, '--put-back')
  expect(first.code).toBe(1)
  expect(named(first.lines, 'refused')).toEqual([expect.stringContaining(`entry late; it's of user 9`)])
  const [, printed = ''] = /npm run operate -- (rescan .+)/.exec(first.lines.join('\n')) ?? []
  expect((await restored.operateWith({}, ...printed.replaceAll('"', '').split(' '))).code).toBe(0)
  await pass(service)

  const second = await missing(service, '--put-back')
  expect(named(second.lines, 'put back').map((line) => line.slice(0, 16))).toEqual([
    `entry late; it's`,
    `entry late; it's`,
  ])
  expect(named(second.lines, 'missing').map((line) => line.slice(0, 10))).toEqual(['entry out ', 'payout out'])

  const rows = () =>
    restored.rows(`SELECT (SELECT count(*) FROM stored_flow) AS entries,
    (SELECT group_concat(id || ' ' || uid || ' ' || issued_height) FROM stored_address) AS addresses,
    (SELECT group_concat(reference || ' ' || state || ' ' || taken) FROM payment_order) AS orders,
    (SELECT count(*) FROM decision) AS decisions, (SELECT id FROM last_event) AS event`)
  const stored = rows()
  const third = await missing(service, '--put-back')
  expect(named(third.lines, 'put back')).toEqual([])
  expect(rows()).toEqual(stored)
  expect(stored).toMatchObject([{ orders: 'KEPT cancelled 0,PAID it paid 1,OFF cancelled 0' }])

  // a payout is asked for again by whoever decides it
  await service.as('shop', '/ledger/payouts', payouts)
  expect(await missing(service)).toMatchObject({ code: 0, lines: expect.arrayContaining(['Nothing is missing.']) })
  expect(await balances(service)).toEqual(before)

  // each has the address that it had, and the archive goes on
  await service.close()
  service = await deploy(restored)
  expect([await service.address(9), await service.address(10)]).toEqual([chain.depositAt(3), chain.depositAt(6)])
  await service.archive()
  const { code, all } = await callCommand((args, streams) => runAudit(args, streams), ['verify', archive])
  expect([code, all]).toEqual([0, expect.stringContaining('a restore has made lines')])
  await service.close()
}, 180_000)
