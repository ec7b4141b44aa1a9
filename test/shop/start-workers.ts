import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { bundleService } from '../bench/bundles.ts'
import { type RunningWorkers, startWorkers } from '../bench/miniflare.ts'
import { readMigrations } from '../support/database-file.ts'
import { agreedDecimals } from '../support/payouts.ts'
import { root } from '../support/project.ts'
import { backendSecret, testSecret, testXpub, usdtBase58 } from '../support/variables.ts'

const folder = `${root}.wrangler/shop`

/** The shop needs no bundling, because it imports nothing but types. */
const shop = stripTypeScriptTypes(readFileSync(`${root}test/shop/shop.ts`, 'utf8'))
/**
 * A Worker that calls any method of the entrypoint: a request's body is a list with the method's
 * name and its parameters.
 */
const office = `export default {
  async fetch(request, { LEDGER }) {
    const [method, ...parameters] = await request.json()
    return Response.json(await LEDGER[method](...parameters))
  },
}`

/**
 * Starts the service with these endpoints for events, and two Workers that bind its entrypoint
 * `Ledger`, in one Miniflare, over an empty database.
 */
export async function startShopWorkers(hooks: readonly string[]): Promise<RunningWorkers> {
  const service = await bundleService()
  const ledger = { LEDGER: { worker: 'tron-wallet', exportName: 'Ledger' } }
  return startWorkers(
    [
      {
        name: 'tron-wallet',
        script: service.script,
        database: 'wallet',
        hasObjects: true,
        variables: { ...variables, WEBHOOKS: hooks.map((url) => ({ url, secretVar: 'HOOK' })) },
      },
      { name: 'shop', script: shop, database: null, services: ledger },
      { name: 'office', script: office, database: null, services: ledger },
    ],
    { wallet: emptyDatabase() },
  )
}

/**
 * Parses `PAYOUTS` as the guide to payouts shows it. This TOML differs from JSON only in its signs
 * of equality and its last commas.
 */
function payoutsOfGuide(): unknown {
  const page = readFileSync(`${root}docs/guides/payouts.md`, 'utf8')
  const [, block = ''] = /\[vars\.PAYOUTS\]\n([\s\S]*?)```/.exec(page) ?? []
  const members = block
    .trim()
    .replaceAll(/(\w+) = /g, '"$1": ')
    .replace(/,\n\]/, ']')
  return JSON.parse(`{${members.replaceAll(/\n(?=")/g, ',')}}`)
}

const variables = {
  TRON_XPUB: testXpub,
  TRON_CHAIN_ID: '0x2b6653dc',
  // nothing is there: no test of the shop needs the chain
  TRON_NODES: [{ rpc: 'http://127.0.0.1:1', api: 'http://127.0.0.1:1' }],
  CURRENCIES: [
    { cuy: 1, symbol: 'TRX', decimals: 6 },
    { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6, reviewFrom: '1000' },
  ],
  PAYOUTS: payoutsOfGuide(),
  AUTH_JWT_SECRET: testSecret,
  BACKEND_JWT_SECRET: backendSecret,
  HOOK: `whsec_${btoa('s'.repeat(32))}`,
}

/** The path of a database with all migrations. */
function emptyDatabase(): string {
  const path = `${folder}/wallet.sqlite`
  mkdirSync(folder, { recursive: true })
  rmSync(path, { force: true })
  const db = new DatabaseSync(path)
  for (const sql of readMigrations()) db.exec(sql)
  db.exec(agreedDecimals())
  db.close()
  return path
}
