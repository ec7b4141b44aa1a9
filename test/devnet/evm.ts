/** An error response of anvil: Ethereum's code, the text and, for a revert, the returned bytes. */
export class EvmError extends Error {
  readonly code: number
  readonly data: string | null

  constructor(code: number, message: string, data: string | null) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** One JSON-RPC call. */
export type EvmCall = readonly [method: string, params: readonly unknown[]]

/** A client of the EVM chain behind the Tron server. */
export interface Evm {
  /** The result of one call; an error response throws `EvmError`. */
  call<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** The results of many calls in one HTTP request, in the order of the calls. */
  batch<T>(calls: readonly EvmCall[]): Promise<T[]>
}

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A client of the anvil at `url`. Its replies are trusted, because this project starts it. */
export function connectEvm(url: string): Evm {
  let lastId = 0
  const post = async (body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.json()
  }
  const request = ([method, params]: EvmCall) => ({ jsonrpc: '2.0', id: ++lastId, method, params })
  return {
    async call<T>(method: string, ...params: readonly unknown[]) {
      return unwrap((await post(request([method, params]))) as Reply) as T // trusted, as above
    },
    async batch<T>(calls: readonly EvmCall[]) {
      if (calls.length === 0) return []
      const replies = (await post(calls.map(request))) as Reply[] // trusted, as above
      return replies.sort((a, b) => a.id - b.id).map((reply) => unwrap(reply) as T)
    },
  }
}

function unwrap(reply: Reply): unknown {
  if (reply.error === undefined) return reply.result
  const { code, message, data } = reply.error
  throw new EvmError(code, message, typeof data === 'string' ? data : null)
}
