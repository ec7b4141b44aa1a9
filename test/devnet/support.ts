import type { Devnet } from './chain.ts'
import type { PayRequest } from './control.ts'

export interface RpcResponse {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
}

export interface ApiTransaction {
  readonly ret: readonly { readonly contractRet: string }[]
  readonly txID: string
  readonly signature: readonly string[]
  readonly raw_data: {
    readonly contract: readonly { readonly type: string; readonly parameter: { readonly value: object } }[]
  }
  readonly raw_data_hex: string
}

export interface ApiBlock {
  readonly blockID: string
  readonly block_header: {
    readonly raw_data: { readonly number: number; readonly parentHash: string; readonly timestamp: number }
  }
  readonly transactions?: readonly ApiTransaction[]
}

/**
 * The first deposit address of the tests' extended public key (PROTOCOL.md, Addresses and
 * derivation).
 */
export const depositBase58 = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
/** The address `depositBase58` as 40 hex digits. */
export const depositHex = 'e2e1a54926527fbb4e4420de4c6bab82beaee24d'

/** Sends a body unchanged to a node's JSON-RPC. */
export async function postRpc(
  devnet: Devnet,
  body: string,
): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(devnet.rpcUrl, { method: 'POST', body })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** The whole response to one call. */
export async function rpc(devnet: Devnet, method: string, ...params: readonly unknown[]): Promise<RpcResponse> {
  const { text } = await postRpc(devnet, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return JSON.parse(text) as RpcResponse // the tests compare every part that they use
}

/** The result of one call, in the shape that the caller expects. An error response throws. */
export async function result<T>(devnet: Devnet, method: string, ...params: readonly unknown[]): Promise<T> {
  const response = await rpc(devnet, method, ...params)
  if (response.error !== undefined) throw new Error(response.error.message)
  return response.result as T // the caller's test is about this shape
}

/** The reply of the HTTP API to a request. */
export async function postApi(devnet: Devnet, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${devnet.apiUrl}/wallet/${path}`, { method: 'POST', body: JSON.stringify(body) })
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`) // the HTTP API replies 200 to errors, too
  return (await response.json()) as Record<string, unknown> // the tests compare every part that they use
}

/** The blocks from `startNum` to `endNum` − 1, as the HTTP API shows them. */
export async function blocksOf(devnet: Devnet, startNum: number, endNum: number): Promise<readonly ApiBlock[]> {
  // the tests compare every part that they use
  return ((await postApi(devnet, 'getblockbylimitnext', { startNum, endNum })).block ?? []) as ApiBlock[]
}

/** A mined transaction as the HTTP API shows it in its block. */
export async function minedTransaction(devnet: Devnet, txid: string): Promise<ApiTransaction> {
  const { blockNumber } = await result<{ blockNumber: string }>(devnet, 'eth_getTransactionByHash', txid)
  const [block] = await blocksOf(devnet, Number(blockNumber), Number(blockNumber) + 1)
  const found = block?.transactions?.find(({ txID }) => txID === txid)
  if (found === undefined) throw new Error(`${txid} is in no block`)
  return found
}

/**
 * Pays an amount of each currency to the deposit address in one block and makes it final. The
 * values are the txids.
 */
export async function payAllCurrencies(
  devnet: Devnet,
  amount = '2.5',
): Promise<{ trx: string; usdt: string; trc10: string }> {
  const pay = async (currency: PayRequest['currency']) =>
    (await devnet.pay({ to: depositBase58, amount, currency })).txid
  const txids = { trx: await pay('TRX'), usdt: await pay('USDT'), trc10: await pay('TRC10') }
  await devnet.mine(3)
  return txids
}
