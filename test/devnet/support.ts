import type { Devnet } from './chain.ts'

/** What a JSON-RPC call answered. */
export interface RpcReply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
}

/** The address of vector 13 in the fact sheet: a deposit address as the service would derive it. */
export const depositBase58 = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
/** The same, 40 hex digits. */
export const depositHex = 'e2e1a54926527fbb4e4420de4c6bab82beaee24d'

/** Sends a body as it is to a node's JSON-RPC. */
export async function post(
  devnet: Devnet,
  body: string,
): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(devnet.rpcUrl, { method: 'POST', body })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** One call's whole answer. */
export async function rpc(devnet: Devnet, method: string, ...params: readonly unknown[]): Promise<RpcReply> {
  const { text } = await post(devnet, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return JSON.parse(text) as RpcReply // the tests compare every part of it that they use
}

/** A call's result, which the caller knows the shape of. */
export async function result<T>(devnet: Devnet, method: string, ...params: readonly unknown[]): Promise<T> {
  const reply = await rpc(devnet, method, ...params)
  if (reply.error !== undefined) throw new Error(reply.error.message)
  return reply.result as T // the caller's test is about this shape
}

/** A transaction as the HTTP API gives it, `{}` where it knows none. */
export async function byId(devnet: Devnet, value: string): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ value })
  const response = await fetch(`${devnet.apiUrl}/wallet/gettransactionbyid`, { method: 'POST', body })
  return (await response.json()) as Record<string, unknown> // as above
}
