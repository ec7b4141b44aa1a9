/** An error response of anvil: the text and, for a revert, the returned bytes. */
export class EvmError extends Error {
  readonly data: string | null

  constructor(message: string, data: string | null) {
    super(message)
    this.data = data
  }
}

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
  readonly error?: { readonly message: string; readonly data?: unknown }
}

/**
 * A client of the anvil at `url`, whose replies are trusted: this project starts it. `onCommand`
 * says that this anvil makes no block by itself.
 */
export function connectEvm(url: string, onCommand: boolean): Evm {
  let lastId = 0
  const post = async (body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.json()
  }
  const request = ([method, params]: EvmCall) => ({ jsonrpc: '2.0', id: ++lastId, method, params })
  const sendAll: Send = async (calls) => {
    if (calls.length === 0) return []
    const replies = (await post(calls.map(request))) as Reply[] // trusted: see `connectEvm`
    return replies.sort((a, b) => a.id - b.id).map(unwrap)
  }
  const send = onCommand ? recalling(sendAll) : sendAll
  const batch = async <T>(calls: readonly EvmCall[]) => (await send(calls)) as T[] // trusted: see `connectEvm`
  return {
    // one call has one result
    call: async <T>(method: string, ...params: readonly unknown[]) => (await batch<T>([[method, params]]))[0] as T,
    batch,
  }
}

function unwrap(reply: Reply): unknown {
  if (reply.error === undefined) return reply.result
  const { message, data } = reply.error
  throw new EvmError(message, typeof data === 'string' ? data : null)
}

/** Sends calls in one request, and returns their results in order. */
type Send = (calls: readonly EvmCall[]) => Promise<readonly unknown[]>

const isRead = ([method]: EvmCall) => /^(eth_(get|call|blockNumber)|debug_)/.test(method)
/**
 * Whether a call asks for the block at a height. Once it has returned one, only a rollback can
 * change the result.
 */
const isOfBlock = ([method, [at]]: EvmCall) => method.startsWith('eth_getBlock') && /^0x/.test(String(at))

/**
 * Keeps the results of a chain that makes blocks on command only, because tests ask it the same
 * things many times. A call that changes the chain removes the kept results about its state; only a
 * rollback removes those about a block at a height.
 */
function recalling(send: Send): Send {
  const ofBlocks = new Map<string, unknown>()
  const ofState = new Map<string, unknown>()
  let changes = 0
  const forget = (calls: readonly EvmCall[]) => {
    changes += 1
    ofState.clear()
    if (calls.some(([method]) => method === 'anvil_rollback')) ofBlocks.clear()
  }
  const change: Send = async (calls) => {
    forget(calls)
    try {
      return await send(calls)
    } finally {
      forget(calls) // a read during the change may have seen the state before or after the change
    }
  }
  const read: Send = async (calls) => {
    const known = calls.map((call) => {
      const key = JSON.stringify(call)
      return { call, key, result: ofBlocks.get(key) ?? ofState.get(key) }
    })
    const missing = known.filter(({ result }) => result === undefined)
    const before = changes
    const results = await send(missing.map(({ call }) => call))
    for (const [index, one] of missing.entries()) {
      one.result = results[index]
      if (changes === before) (isOfBlock(one.call) && one.result !== null ? ofBlocks : ofState).set(one.key, one.result)
    }
    return known.map(({ result }) => result)
  }
  return (calls) => (calls.every(isRead) ? read(calls) : change(calls))
}
