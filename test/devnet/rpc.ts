import { methodNotFound } from './methods.ts'
import { invalidCall, type Method, RpcError } from './rules.ts'

const batchMax = 100

/**
 * The answer to a request's body: the JSON text to send, `''` where a real node sends nothing. Every error is an answer;
 * only a fault of our own throws.
 */
export async function answerRpc(body: string, methods: ReadonlyMap<string, Method>): Promise<string> {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return JSON.stringify(failure('null', new RpcError(-32700, 'JSON parse error', null))) // the id is that text
  }
  if (!Array.isArray(request)) return toBody(await answerOne(request, methods))
  if (request.length === 0) return JSON.stringify(failure('null', invalidRequest()))
  if (request.length > batchMax) {
    const message = `Batch size ${request.length} exceeds the limit of ${batchMax}`
    return JSON.stringify(failure('null', new RpcError(-32005, message, null)))
  }
  const answers: unknown[] = []
  for (const one of request) {
    const answer = await answerOne(one, methods) // one after the other, as java-tron does
    if (answer !== null) answers.push(answer)
  }
  return answers.length === 0 ? '' : JSON.stringify(answers)
}

/** One request's answer, or null for a notification. */
async function answerOne(request: unknown, methods: ReadonlyMap<string, Method>): Promise<unknown> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return failure('null', invalidRequest())
  }
  const { id = null, method, params = [] } = request as Record<string, unknown> // an object, by the lines above
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
  const counts = given !== null && given.length === method.parameters
  if (!counts && method.parameters !== -1) throw invalidCall()
  return method.run(given ?? [])
}

function failure(id: unknown, { code, message, data }: RpcError): unknown {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === null ? {} : { data }) } }
}

function invalidRequest(): RpcError {
  return new RpcError(-32600, 'invalid request', null)
}

function toBody(answer: unknown): string {
  return answer === null ? '' : JSON.stringify(answer)
}
