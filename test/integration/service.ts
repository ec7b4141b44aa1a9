import { createExecutionContext, createScheduledController } from 'cloudflare:test'
import { HDKey } from '@scure/bip32'
import { inject } from 'vitest'
import worker from '../../src/index.ts'
import { freshDatabase } from '../support/database.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { testSecret } from '../support/variables.ts'

/** A whole response of the service. */
export interface ServiceResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body. Numbers of more than 15 digits are exact only in `text`. */
  readonly body: { readonly code: number; readonly msg: string; readonly data?: never }
}

/** The deployed Worker with an empty database on the local chain. Its scan starts at the current height. */
export interface DevnetService {
  /** A GET request with a real token of a user. */
  get(path: string, uid: number): Promise<ServiceResponse>
  /** A new deposit address of a user. */
  addressOf(uid: number, query?: string): Promise<string>
  /** Calls the cron handler as the platform does. */
  tick(): Promise<void>
  /** Sends one transfer, which is in no block yet; returns its txid. */
  pay(to: string, amount: string, currency: 'TRX' | 'USDT' | 'TRC10'): Promise<string>
  /** Makes blocks, by default enough to make the first one final. */
  mine(blocks?: number): Promise<void>
  /** Sends a synthetic transaction (test/devnet/chain.ts); returns its txid. */
  sendSynthetic(transaction: { readonly type: string; readonly to: string; readonly amount: string }): Promise<string>
  /** The same database and chain with other variables, as after a change of the configuration. */
  with(changes: Record<string, unknown>): Pick<DevnetService, 'get' | 'tick'>
}

/** The number of blocks that make a sent transaction final: its own block and two more. */
export const finalBlocks = 3

/** Starts the service. `changes` add to the usual variables or replace them. */
export async function startDevnetService(changes: Record<string, unknown> = {}): Promise<DevnetService> {
  const db = await freshDatabase()
  const { rpcUrl, apiUrl, token } = inject('devnet')
  const { finalized } = await control('mine', { blocks: finalBlocks })
  const bindings = {
    DB: db,
    TRON_XPUB: newAccountKey(),
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: [{ rpc: rpcUrl, api: apiUrl }],
    TRON_START_BLOCK: String(finalized),
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: token, decimals: 6 },
    ],
    AUTH_JWT_SECRET: testSecret,
    SCAN_EVERY_SECONDS: 60,
    ...changes,
  }
  const withBindings = (bindings: Record<string, unknown>) => ({
    get: (path: string, uid: number) => request(bindings, path, uid),
    tick: () => worker.scheduled(createScheduledController(), bindings, createExecutionContext()),
  })
  const { get, tick } = withBindings(bindings)
  return {
    get,
    tick,
    with: (changed) => withBindings({ ...bindings, ...changed }),
    async addressOf(uid, query = '') {
      const { text } = await get(`/tron/generate${query}`, uid)
      const address = /"address":"(T\w{33})"/.exec(text)?.[1]
      if (address === undefined) throw new Error(`no address: ${text}`)
      return address
    },
    pay: async (to, amount, currency) => (await control('pay', { to, amount, currency })).txid,
    mine: async (blocks = finalBlocks) => {
      await control('mine', { blocks })
    },
    sendSynthetic: async (transaction) => (await control('synthetic', transaction)).txid,
  }
}

async function control(
  name: 'pay' | 'mine' | 'synthetic',
  body: Readonly<Record<string, unknown>>,
): Promise<{ txid: string; finalized: number }> {
  const { apiUrl } = inject('devnet')
  const response = await fetch(`${apiUrl}/devnet/${name}`, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`the local chain refused ${name}: ${await response.text()}`)
  return response.json()
}

async function request(bindings: Record<string, unknown>, path: string, uid: number): Promise<ServiceResponse> {
  const token = await signHs256({ sub: String(uid), exp: Math.floor(Date.now() / 1000) + 600 }, testSecret)
  // safe: a Request of a test lacks only `cf`, which the platform adds and the service does not read
  const get = new Request(`https://wallet.example${path}`, { headers: bearer(token) }) as unknown as Parameters<
    typeof worker.fetch
  >[0]
  const response = await worker.fetch(get, bindings)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

/** A random account's extended public key: the tests share one chain, so each needs addresses of its own. */
function newAccountKey(): string {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  return HDKey.fromMasterSeed(seed).derive("m/44'/195'/0'").publicExtendedKey
}
