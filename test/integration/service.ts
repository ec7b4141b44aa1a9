import { abortAllDurableObjects, createScheduledController, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { HDKey } from '@scure/bip32'
import { inject } from 'vitest'
import { parseAddress } from '../../src/worker/chain/address.ts'
import worker, { type Scanner } from '../../src/worker/index.ts'
import { freshDatabase, resetObjects } from '../support/database.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { testSecret } from '../support/variables.ts'

export interface ServiceResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /**
   * The parsed body. A number of more than 15 digits is exact only in `text`, the body as it came.
   */
  readonly body: { readonly code: number; readonly msg: string; readonly data?: never }
}

/**
 * The service as it is deployed, with real objects and an empty database, on the local chain. Its
 * scan begins at the chain's present height.
 */
export interface DevnetService {
  /** A GET request with a valid token of the user. */
  get(path: string, uid: number): Promise<ServiceResponse>
  /** Issues a deposit address to the user; `query` is appended to the path. */
  addressOf(uid: number, query?: string): Promise<string>
  /** Runs the cron handler as the platform does each minute: it wakes the scanner. */
  cron(): Promise<void>
  /**
   * A scanner object, by default the Worker's. Another name is a second instance that scans the
   * same chain.
   */
  scanner(name?: string): DurableObjectStub<Scanner>
  /** When the scanner's alarm is due, in milliseconds since 1970; 0 if no alarm is set. */
  nextAlarm(): Promise<number>
  /**
   * Ends all Durable Objects, as the platform may at any time. Their memory is lost; their storage
   * and alarms stay.
   */
  evict(): Promise<void>
  /** Sends a transfer that no block contains yet; returns its txid. */
  pay(to: string, amount: string, currency: 'TRX' | 'USDT' | 'TRC10'): Promise<string>
  /**
   * Calls a function of the test token (test/devnet/token) as its owner. `words` are the arguments:
   * addresses and numbers. Returns the txid.
   */
  callToken(selector: string, words: readonly (string | number)[], how?: TokenCall): Promise<string>
  /** Makes blocks: by default three, so that transactions sent before this call are final. */
  mine(blocks?: number): Promise<void>
  /**
   * Sends a transaction of any contract type. Its parameters are `more`, and `to` under the name
   * `party`, such as `to_address`. Returns its txid.
   */
  sendSynthetic(type: string, to: string, party: string, more: Readonly<Record<string, unknown>>): Promise<string>
  /** How many requests the node has received so far. */
  nodeRequests(): Promise<number>
  /** The events that the webhook endpoint has received, in order. */
  events(): Promise<readonly { readonly type: string; readonly data: object }[]>
}

/**
 * How a contract is called: `value` is the TRX sent along, in sun (0 by default), and `fails` the
 * result that the call shall have.
 */
interface TokenCall {
  readonly value?: string
  readonly fails?: 'OUT_OF_ENERGY'
}

/** The block of a sent transaction, and the two after it that make it final. */
const finalBlocks = 3

const tokenOwner = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const objects = env as unknown as { readonly SCANNER: DurableObjectNamespace<Scanner> } // safe: wrangler.toml binds it

/** Starts the service. `changes` add to the usual variables or replace them. */
export async function startDevnetService(changes: Record<string, unknown> = {}): Promise<DevnetService> {
  await resetObjects()
  await freshDatabase()
  const { rpcUrl, apiUrl, token, receiverUrl, webhookSecret } = inject('devnet')
  const { finalized } = await control('mine', { blocks: finalBlocks })
  const hookUrl = `${receiverUrl}/${crypto.randomUUID()}`
  // The Durable Objects share the environment of the test. Each object reads it when it starts.
  Object.assign(env, {
    TRON_XPUB: newAccountKey(),
    TRON_CHAIN_ID: '0x6465766e',
    TRON_NODES: [{ rpc: rpcUrl, api: apiUrl, perSecond: 1_000, perDay: 10_000_000 }],
    TRON_START_BLOCK: String(finalized),
    CURRENCIES: [
      { cuy: 1, symbol: 'TRX', decimals: 6 },
      { cuy: 2, symbol: 'USDT', contract: token, decimals: 6 },
    ],
    WEBHOOKS: [{ url: hookUrl, secretVar: 'WEBHOOK_SECRET' }],
    WEBHOOK_SECRET: webhookSecret,
    AUTH_JWT_SECRET: testSecret,
    SCAN_EVERY_SECONDS: 60,
    RATE_NODES: null, // no rate limiter: a test asks more often in a minute than the limiter allows a user
    ...changes,
  })
  // Removes the alarm and the storage that the scanner of the last test has left.
  await abortAllDurableObjects()
  await runInDurableObject(objects.SCANNER.getByName('scanner'), async (_, { storage }) => {
    await storage.deleteAlarm()
    await storage.deleteAll()
  })
  await abortAllDurableObjects()
  // a copy, because the Worker keeps the configuration that it has parsed for each bindings object
  const bindings: Record<string, unknown> = { ...env }
  const get = (path: string, uid: number) => request(bindings, path, uid)
  return {
    get,
    async addressOf(uid, query = '') {
      const { text } = await get(`/tron/generate${query}`, uid)
      const address = /"address":"(T\w{33})"/.exec(text)?.[1]
      if (address === undefined) throw new Error(`no address: ${text}`)
      return address
    },
    cron: () => worker.scheduled(createScheduledController(), bindings),
    scanner: (name = 'scanner') => objects.SCANNER.getByName(name),
    nextAlarm: () =>
      runInDurableObject(
        objects.SCANNER.getByName('scanner'),
        async (_, { storage }) => (await storage.getAlarm()) ?? 0,
      ),
    evict: () => abortAllDurableObjects(),
    pay: async (to, amount, currency) => (await control('pay', { to, amount, currency })).txid,
    async callToken(selector, words, how = {}) {
      const data = selector + words.map(encodeWord).join('')
      return (await control('send', { from: tokenOwner, to: token, data, ...how })).txid
    },
    mine: async (blocks = finalBlocks) => {
      await control('mine', { blocks })
    },
    sendSynthetic: async (type, to, party, more) =>
      (await control('synthetic', { type, value: { [party]: `41${hexOf(to)}`, ...more } })).txid,
    nodeRequests: async () => (await control('info', {})).requests,
    events: async () => (await fetch(`${hookUrl}/received`, { method: 'POST' })).json(),
  }
}

/**
 * An argument of a contract's function as a 32-byte word: an address in Base58Check, or a number.
 */
function encodeWord(value: string | number): string {
  return (typeof value === 'number' ? value.toString(16) : hexOf(value)).padStart(64, '0')
}

function hexOf(base58: string): string {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`${base58} is no address`)
  return parsed.value
}

async function control(
  name: 'pay' | 'mine' | 'synthetic' | 'send' | 'info',
  body: Readonly<Record<string, unknown>>,
): Promise<{ txid: string; finalized: number; requests: number }> {
  const { apiUrl } = inject('devnet')
  const response = await fetch(`${apiUrl}/devnet/${name}`, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`the local chain refused ${name}: ${await response.text()}`)
  return response.json()
}

async function request(bindings: Record<string, unknown>, path: string, uid: number): Promise<ServiceResponse> {
  const token = await signHs256({ sub: String(uid), exp: Math.floor(Date.now() / 1000) + 600 }, testSecret)
  // safe: the Request lacks only `cf`, which the platform adds and the service does not read
  const get = new Request(`https://wallet.example${path}`, { headers: bearer(token) }) as unknown as Parameters<
    typeof worker.fetch
  >[0]
  const response = await worker.fetch(get, bindings)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

/**
 * The extended public key of a random account. The tests share one chain, so each test needs
 * addresses that no other test uses.
 */
function newAccountKey(): string {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  return HDKey.fromMasterSeed(seed).derive("m/44'/195'/0'").publicExtendedKey
}
