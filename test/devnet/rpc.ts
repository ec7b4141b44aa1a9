/** The transport of a node's JSON-RPC: batches, ids and errors as java-tron has them (PROTOCOL.md, Batches and ids). */

/** A JSON-RPC method: its exact number of parameters, and its result. */
export interface Method {
  readonly parameters: number
  run(params: readonly unknown[]): Promise<unknown>
}

/** An error response. `data` is `"{}"` in errors of a method; errors of the transport have none. */
export class RpcError extends Error {
  readonly code: number
  readonly data: string | null

  constructor(code: number, message: string, data: string | null = '{}') {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Error -32602, the most frequent one. */
export function invalid(message: string): RpcError {
  return new RpcError(-32602, message)
}

/** The error for a wrong number of parameters or a parameter of the wrong JSON type. The method does not run. */
export function invalidCall(): RpcError {
  return new RpcError(-32602, 'method parameters invalid', null)
}

const batchMax = 100
const invalidRequest = () => new RpcError(-32600, 'invalid request', null)

/** The response body to a request's body. RPC errors are responses; only a fault of this server throws. */
export async function handleRpc(body: string, methods: ReadonlyMap<string, Method>): Promise<string> {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return failure('null', new RpcError(-32700, 'JSON parse error', null)) // the id is the text 'null'
  }
  if (!Array.isArray(request)) return handleOne(request, methods)
  if (request.length === 0) return '[]'
  if (request.length > batchMax) {
    const message = `Batch size ${request.length} exceeds the limit of ${batchMax}`
    return failure('null', new RpcError(-32005, message, null))
  }
  const responses: string[] = []
  for (const one of request) responses.push(await handleOne(one, methods)) // one after the other, as java-tron does
  return `[${responses.join(',')}]`
}

async function handleOne(request: unknown, methods: ReadonlyMap<string, Method>): Promise<string> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return failure('null', invalidRequest())
  }
  const { id = null, method: name, params = [] } = request as Record<string, unknown> // an object, by the check above
  if (typeof name !== 'string') return failure(id, invalidRequest())
  try {
    const method = methods.get(name)
    if (method === undefined) throw new RpcError(-32601, 'method not found', null)
    if (!Array.isArray(params) || params.length !== method.parameters) throw invalidCall()
    return JSON.stringify({ jsonrpc: '2.0', id, result: await method.run(params) })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return failure(id, error)
  }
}

function failure(id: unknown, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === null ? {} : { data }) } })
}
