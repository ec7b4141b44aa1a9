import { createScheduledController } from 'cloudflare:test'
import { HDKey } from '@scure/bip32'
import { inject } from 'vitest'
import worker from '../../src/index.ts'
import { testSecret } from '../support/configured.ts'
import { freshDatabase } from '../support/database.ts'
import { bearer, signHs256 } from '../support/tokens.ts'

/** A whole answer. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, for members whose digits don't matter. */
  readonly body: { readonly code: number; readonly msg: string; readonly data?: never }
}

/** The exported Worker on an empty database, on the local chain, from its present height on. */
export interface OnChain {
  /** A GET by a caller with a real token. */
  get(path: string, uid: number): Promise<Answer>
  /** A caller's new deposit address. */
  addressOf(uid: number, query?: string): Promise<string>
  /** The cron handler, as the platform calls it. */
  tick(): Promise<void>
  /** Sends one transfer; it is in no block yet. */
  pay(to: string, amount: string, currency: 'TRX' | 'USDT' | 'TRC10'): Promise<string>
  /** Makes blocks, by default enough to make the first of them final. */
  mine(blocks?: number): Promise<void>
  /** Any other control of the chain (test/devnet/chain.ts); answers the txid. */
  control(verb: 'inject' | 'send', body: Record<string, unknown>): Promise<string>
  /** The same database and chain under other variables: a deployment that was configured anew. */
  with(changes: Record<string, unknown>): Pick<OnChain, 'get' | 'tick'>
}

/** Blocks that make what was sent final: its own, and two on top. */
export const finalBlocks = 3

/** Starts it. `changes` are variables beside or in place of the usual ones. */
export async function startOnChain(changes: Record<string, unknown> = {}): Promise<OnChain> {
  const db = await freshDatabase()
  const { rpcUrl, apiUrl, token } = inject('devnet')
  const post = async (verb: string, body: Record<string, unknown>): Promise<{ txid: string; finalized: number }> => {
    const response = await fetch(`${apiUrl}/devnet/${verb}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`the chain refused ${verb}: ${await response.text()}`)
    return response.json()
  }
  const { finalized } = await post('mine', { blocks: finalBlocks })
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
    ...changes,
  }
  const under = (bindings: Record<string, unknown>) => ({
    get: (path: string, uid: number) => ask(bindings, path, uid),
    tick: () => worker.scheduled(createScheduledController(), bindings),
  })
  const { get, tick } = under(bindings)
  return {
    get,
    tick,
    with: (changed) => under({ ...bindings, ...changed }),
    async addressOf(uid, query = '') {
      const { text } = await get(`/tron/generate${query}`, uid)
      const address = /"address":"(T\w{33})"/.exec(text)?.[1]
      if (address === undefined) throw new Error(`no address: ${text}`)
      return address
    },
    pay: async (to, amount, currency) => (await post('pay', { to, amount, currency })).txid,
    mine: async (blocks = finalBlocks) => {
      await post('mine', { blocks })
    },
    control: async (verb, body) => (await post(verb, body)).txid,
  }
}

async function ask(bindings: Record<string, unknown>, path: string, uid: number): Promise<Answer> {
  const signed = await signHs256({ sub: String(uid), exp: Math.floor(Date.now() / 1000) + 600 }, testSecret)
  const response = await worker.fetch(request(path, bearer(signed)), bindings)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

function request(path: string, headers: Record<string, string>) {
  // safe: a Request that a test makes lacks only what the platform's edge adds (`cf`), which the service doesn't read
  return new Request(`https://wallet.example${path}`, { headers }) as unknown as Parameters<typeof worker.fetch>[0]
}

/** The chain outlives a test, so each test's addresses are its own: an account that nobody else has. */
function newAccountKey(): string {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  return HDKey.fromMasterSeed(seed).derive("m/44'/195'/0'").publicExtendedKey
}
