/** The parameters of JSON-RPC methods, read as java-tron reads them, with its error messages (PROTOCOL.md, Errors). */
import { strip0x } from '../support/hex.ts'

/** A JSON-RPC method: its exact number of parameters (-1: any number), and its result. */
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

const heightMax = 2n ** 63n - 1n

/** A parameter that must be a JSON string. */
export function requireText(value: unknown): string {
  if (typeof value !== 'string') throw invalidCall()
  return value
}

/** A parameter that must be `true` or `false`. */
export function requireBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalidCall()
  return value
}

/**
 * The address parameter of a state method as 40 hex digits: 20 bytes, or 21 bytes that start with 41; `0x` is optional.
 * Base58 is refused with the hex decoder's own message.
 */
export function parseStateAddress(value: unknown): string {
  const digits = strip0x(requireText(value)).toLowerCase()
  if (!/^[0-9a-f]*$/.test(digits)) {
    throw invalid('exception decoding Hex string: invalid characters encountered in Hex string')
  }
  if (digits.length === 40) return digits
  if (digits.length === 42 && digits.startsWith('41')) return digits.slice(2)
  throw invalid('invalid address hash value')
}

/** Refuses any state but `latest` (PROTOCOL.md, Block tags). */
export function requireLatest(value: unknown): void {
  const tag = requireText(value).toLowerCase()
  if (tag === 'latest') return
  if (['earliest', 'pending', 'finalized', 'safe'].includes(tag)) {
    throw invalid('TAG [earliest | pending | finalized | safe] not supported')
  }
  if (/^(0x[0-9a-f]+|\d+)$/.test(tag)) throw invalid('QUANTITY not supported, just support TAG as latest')
  throw invalid('invalid block number')
}

/** The newest height, and the newest final height. */
export interface Heads {
  readonly latest: number
  readonly finalized: number
}

/** The height of a tag, or null if `value` is not a tag. `pending` and `safe` are refused by name. */
export function heightOfTag(value: string, heads: Heads): number | null {
  switch (value.toLowerCase()) {
    case 'latest':
      return heads.latest
    case 'earliest':
      return 0
    case 'finalized':
      return heads.finalized
    case 'pending':
      throw invalid('TAG pending not supported')
    case 'safe':
      throw invalid('TAG safe not supported')
    default:
      return null
  }
}

/** The height parameter of a block method: a tag, `0x` hex, or decimal digits without `0x`. */
export function parseHeight(value: unknown, heads: Heads): number {
  const given = requireText(value)
  const tagged = heightOfTag(given, heads)
  if (tagged !== null) return tagged
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(given) || BigInt(given) > heightMax) throw invalid('invalid block number')
  return Number(BigInt(given))
}

/** A block or transaction hash as 64 hex digits; `0x` is optional. */
export function parseHashParameter(value: unknown): string {
  const digits = strip0x(requireText(value)).toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digits)) throw invalid('invalid hash value')
  return digits
}

/** An index in a block: `0x` hex. */
export function parseIndex(value: unknown): number {
  const given = requireText(value)
  if (!/^0x[0-9a-f]{1,8}$/i.test(given)) throw invalid('invalid index value')
  return Number(given)
}
