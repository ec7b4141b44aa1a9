import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { formatBase58, parseAddress } from '../../../src/worker/chain/address.ts'
import { signerOf, txidOf } from '../../../src/worker/chain/transaction.ts'
import { parseTransaction } from '../../devnet/transaction.ts'
import { listen } from '../../support/loopback.ts'
import { unwrap } from '../collect/harness.ts'

/** A payout as the service's routes show it. */
export interface ScriptedPayout {
  id: number
  uid: number
  cuy: number
  amt: string
  to: string
  osn: string
  state: string
  created_at: string
  attempts: number
  txid?: string | undefined
  proof?: string | undefined
  moved?: readonly object[] | undefined
}

/** The final block at a time in milliseconds; a chain makes a block every three seconds. */
export function blockAt(ms: number): { readonly height: number; readonly hash: string; readonly created_at: string } {
  const height = Math.floor(ms / 3_000)
  const hash = height.toString(16).padStart(16, '0') + height.toString(16).padStart(48, 'a')
  return { height, hash, created_at: new Date(height * 3_000).toISOString() }
}

/** How far the newest final block is behind the clock. */
const finalityMs = 57_000

/**
 * The routes of the service that a signer uses, in memory, as their documentation describes them.
 * `script` lets a test lie, or go back to an older copy. It is outside of the signer, so a double
 * may stand in for it.
 */
export async function startPayoutService(address: string, now: () => number) {
  const script = {
    payouts: [] as ScriptedPayout[],
    /** All transactions that were handed in, in order. */
    received: [] as { readonly id: number; readonly txid: string }[],
    /** The number of transactions in each request of `/signed`. */
    batches: [] as number[],
    headers: [] as (string | undefined)[],
    /** Why payouts are stopped, or null. */
    stopped: null as string | null,
    address,
    head: () => blockAt(now() - finalityMs),
    /** Refusals of what is handed in, by the payout's id. */
    refusals: new Map<number, { readonly code: number; readonly reason: string; readonly why: string }>(),
    /**
     * Called before the service carries out a request (`isDone` is false) and after it. A returned
     * response replaces the usual one.
     */
    onRequest: async (_path: string, _isDone: boolean): Promise<{ status: number; body: string } | undefined> =>
      undefined,
    /** Adds an approved payout, by default of 1 TRX of user 1. */
    ask(content: Partial<ScriptedPayout> & Pick<ScriptedPayout, 'to'>): ScriptedPayout {
      const id = Math.max(0, ...script.payouts.map((one) => one.id)) + 1
      const common = { uid: 1, cuy: 1, amt: '1', osn: `payout-${id}`, state: 'approved', attempts: 0 }
      const payout = { id, ...common, created_at: new Date(now()).toISOString(), ...content }
      script.payouts.push(payout)
      return payout
    },
  }
  const server = await listen(
    createServer((request, response) => {
      script.headers.push(request.headers.authorization)
      const respondTo = async () => {
        const { status, body, headers } = await respond(script, request.url ?? '', await text(request))
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
      }
      respondTo().catch(() => response.destroy())
    }),
  )
  return { ...server, script }
}

type Script = ScriptedService['script']

function take(script: Script, { id, transaction }: { readonly id: number; readonly transaction: string }) {
  const refused = script.refusals.get(id)
  const payout = script.payouts.find((one) => one.id === id)
  const { raw, signatures } = parseTransaction(Buffer.from(transaction, 'hex'))
  script.received.push({ id, txid: raw.txid })
  const refuse = (code: number, why: string) => ({ id, refused: { code, reason: 'test', why } })
  if (refused !== undefined) return { id, refused }
  if (payout === undefined) return refuse(404, 'no such payout')
  const rawData = Buffer.from(raw.rawHex, 'hex')
  const signer = signerOf(rawData, signatures[0] ?? new Uint8Array())
  if (txidOf(rawData) !== raw.txid || signer !== unwrap(parseAddress(script.address)))
    return refuse(422, 'another signer')
  const isSame = payout.txid === raw.txid
  if (payout.state !== 'approved' && !isSame) return refuse(409, `it is ${payout.state}`)
  Object.assign(payout, { state: isSame ? payout.state : 'signed', txid: raw.txid })
  return { id, state: payout.state, txid: raw.txid }
}
function answer(script: Script, path: string, body: string) {
  const url = new URL(path, 'http://service')
  if (url.pathname === '/ledger/payouts/signed') {
    // safe: the signer's own request
    const { signed } = JSON.parse(body) as { signed: { id: number; transaction: string }[] }
    script.batches.push(signed.length)
    return { list: signed.map((one) => take(script, one)), count: signed.length }
  }
  if (url.pathname === '/ledger/payouts/unsigned') {
    const after = Number(url.searchParams.get('after') ?? 0)
    const list = script.payouts.filter(({ state, id }) => state === 'approved' && id > after).slice(0, 100)
    return {
      list: list.map(({ txid: _, ...payout }) => payout),
      count: list.length,
      address: script.address,
      head: script.head(),
    }
  }
  const before = Number(url.searchParams.get('before') ?? Number.MAX_SAFE_INTEGER)
  const older = script.payouts.filter(({ id }) => id < before).toSorted((a, b) => b.id - a.id)
  const list = older.slice(0, Number(url.searchParams.get('limit')))
  return {
    list: list.map((one) => (one.state === 'approved' ? { ...one, txid: undefined } : one)),
    count: older.length,
  }
}
async function respond(script: Script, path: string, body: string) {
  const early = await script.onRequest(path, false)
  if (early !== undefined) return { ...early, headers: {} }
  if (script.stopped !== null && path === '/ledger/payouts/unsigned') {
    const stopped = { code: 409, msg: script.stopped }
    return { status: 409, body: JSON.stringify(stopped), headers: { 'x-reason': 'payouts-stopped' } }
  }
  const data = answer(script, path, body)
  // amounts are JSON numbers
  const reply = JSON.stringify({ code: 200, msg: 'success', data }).replace(/"amt":"([\d.]+)"/g, '"amt":$1')
  const late = await script.onRequest(path, true)
  return { ...(late ?? { status: 200, body: reply }), headers: {} }
}

export type ScriptedService = Awaited<ReturnType<typeof startPayoutService>>

/** An address of another key than the tests' own. */
export const recipient = formatBase58(unwrap(parseAddress('TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH')))
