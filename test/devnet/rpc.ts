import { methodNotFound } from './methods.ts'
import { invalidCall, type Method, RpcError } from './parameters.ts'

const batchMax = 100

/**
 * The response body to a request's body, `''` where a real node sends an empty one. RPC errors are responses; only a
 * fault of this server throws (PROTOCOL.md, Batches and ids).
 */
export async function handleRpc(body: string, methods: ReadonlyMap<string, Method>): Promise<string> {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return JSON.stringify(failure('null', new RpcError(-32700, 'JSON parse error', null))) // the id is the text 'null'
  }
  if (!Array.isArray(request)) return toBody(await handleOne(request, methods))
  if (request.length === 0) return JSON.stringify(failure('null', invalidRequest()))
  if (request.length > batchMax) {
    const message = `Batch size ${request.length} exceeds the limit of ${batchMax}`
    return JSON.stringify(failure('null', new RpcError(-32005, message, null)))
  }
  const responses: unknown[] = []
  for (const one of request) {
    const response = await handleOne(one, methods) // one after the other, as java-tron does
    if (response !== null) responses.push(response)
  }
  return responses.length === 0 ? '' : JSON.stringify(responses)
}

/** The response to one request, or null for a notification. */
async function handleOne(request: unknown, methods: ReadonlyMap<string, Method>): Promise<unknown> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return failure('null', invalidRequest())
  }
  const { id = null, method, params = [] } = request as Record<string, unknown> // an object, by the checks above
  if (typeof method !== 'string') return failure(id, invalidRequest())
  try {
    if (typeof params !== 'object' || params === null) throw new RpcError(-32603, 'Internal error', null)
    const result = await run(methods.get(method), params)
    return id === null ? null : { jsonrpc: '2.0', id, result }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return failure(id, error)
  }
}

async function run(method: Method | undefined, params: object): Promise<unknown> {
  if (method === undefined) throw methodNotFound()
  const given: readonly unknown[] | null = Array.isArray(params) ? params : null
  const hasRightCount = given?.length === method.parameters
  if (!hasRightCount && method.parameters !== -1) throw invalidCall()
  return method.run(given ?? [])
}

function failure(id: unknown, { code, message, data }: RpcError): unknown {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === null ? {} : { data }) } }
}

function invalidRequest(): RpcError {
  return new RpcError(-32600, 'invalid request', null)
}

function toBody(response: unknown): string {
  return response === null ? '' : JSON.stringify(response)
}
