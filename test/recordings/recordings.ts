import type { Address } from '../../src/worker/chain/address.ts'
import type { Result } from '../../src/worker/common/result.ts'
import { parseSingleReply } from '../../src/worker/tron/json-rpc.ts'

/** One HTTP call as it was recorded. Without `path` it is a POST of JSON-RPC to a full node. */
export interface RecordedCall {
  /** Which node or port answered, or when. Absent if the recording needs neither. */
  readonly on?: string
  readonly path?: string
  readonly method?: string
  readonly request?: unknown
  readonly requestText?: string
  /** The HTTP status of the response; 200 if absent. */
  readonly status?: number
  /** The response's body if it is JSON; any other body is in `responseText`. */
  readonly response?: unknown
  readonly responseText?: string
}

const files = import.meta.glob<readonly RecordedCall[]>('./java-tron/**/*.json', { eager: true, import: 'default' })
const recordings: ReadonlyMap<string, readonly RecordedCall[]> = new Map(
  Object.entries(files).map(([path, calls]) => [path.slice('./java-tron/'.length, -'.json'.length), calls]),
)

/** The names of all recordings, or of those in one folder (`blocks/`). */
export function recordingNames(folder = ''): readonly string[] {
  return [...recordings.keys()].filter((name) => name.startsWith(folder))
}

/** The calls of a recording, in the order of its file. */
export function recording(name: string): readonly RecordedCall[] {
  const calls = recordings.get(name)
  if (calls === undefined) throw new Error(`no recording ${name}`)
  return calls
}

/** The JSON-RPC result of the `i`-th call of a recording. */
export function recordedResult(name: string, i = 0): unknown {
  const response = recording(name)[i]?.response
  if (typeof response !== 'object' || response === null || !('result' in response))
    throw new Error(`no result: ${name}`)
  return response.result
}

/**
 * The kind of a reply: a result, a null result, the code of an error, or `not JSON-RPC` if it is no
 * JSON-RPC reply to the call with the id 1.
 */
export function outcomeOf({ response }: RecordedCall): 'result' | 'null' | 'not JSON-RPC' | number {
  const reply = parseSingleReply(response, 1)
  if (!reply.ok) return 'not JSON-RPC'
  if (reply.value.kind === 'error') return reply.value.code
  return reply.value.value === null ? 'null' : 'result'
}

/** The value of a result. Throws the error of a result that is not ok. */
export function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

/** The deposit address of the first user in the recorded payments (test vector 13). */
export const firstUserAddress = 'e2e1a54926527fbb4e4420de4c6bab82beaee24d' as Address // safe: 40 hex digits
/** The token that counts as USDT in the recordings. */
export const recordedToken = '61780dd659f21e9db5e76fcf1f92c2d973f033f3' as Address // safe: 40 hex digits
