import { strip } from './hex.ts'

/** A JSON-RPC method: how many parameters it takes, exactly (-1: any), and what it answers. */
export interface Method {
  readonly parameters: number
  run(params: readonly unknown[]): Promise<unknown>
}

/** An error answer. `data` is `"{}"` for what a method itself refuses; the transport's own errors have none. */
export class RpcError extends Error {
  readonly code: number
  readonly data: string | null

  constructor(code: number, message: string, data: string | null = '{}') {
    super(message)
    this.code = code
    this.data = data
  }
}

/** -32602, which most refusals are. */
export function invalid(message: string): RpcError {
  return new RpcError(-32602, message)
}

/** A wrong number of parameters or one of the wrong JSON type: refused before the method is entered. */
export function invalidCall(): RpcError {
  return new RpcError(-32602, 'method parameters invalid', null)
}

const heightMax = 2n ** 63n - 1n

/** What a parameter that must be a JSON string holds. */
export function text(value: unknown): string {
  if (typeof value !== 'string') throw invalidCall()
  return value
}

/** What a parameter that must be `true` or `false` holds. */
export function flag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalidCall()
  return value
}

/**
 * An address of a state method as 40 hex digits: 20 bytes, or 21 with 41 in front; `0x` may be missing.
 * Base58 is refused with the hex decoder's own text.
 */
export function stateAddress(value: unknown): string {
  const digits = strip(text(value)).toLowerCase()
  if (!/^[0-9a-f]*$/.test(digits)) {
    throw invalid('exception decoding Hex string: invalid characters encountered in Hex string')
  }
  if (digits.length === 40) return digits
  if (digits.length === 42 && digits.startsWith('41')) return digits.slice(2)
  throw invalid('invalid address hash value')
}

/** State methods answer for `latest` and for nothing else. */
export function requireLatest(value: unknown): void {
  const tag = text(value).toLowerCase()
  if (tag === 'latest') return
  if (['earliest', 'pending', 'finalized', 'safe'].includes(tag)) {
    throw invalid('TAG [earliest | pending | finalized | safe] not supported')
  }
  if (/^(0x[0-9a-f]+|\d+)$/.test(tag)) throw invalid('QUANTITY not supported, just support TAG as latest')
  throw invalid('invalid block number')
}

/** The newest height, and the newest that is final. */
export interface Tips {
  readonly latest: number
  readonly finalized: number
}

/** A tag's height, or null where `value` is no tag. `pending` and `safe` are refused by name. */
export function tagHeight(value: string, tips: Tips): number | null {
  switch (value.toLowerCase()) {
    case 'latest':
      return tips.latest
    case 'earliest':
      return 0
    case 'finalized':
      return tips.finalized
    case 'pending':
      throw invalid('TAG pending not supported')
    case 'safe':
      throw invalid('TAG safe not supported')
    default:
      return null
  }
}

/** A height of a block method: a tag, `0x` hex, or digits without `0x`, which are decimal. */
export function blockHeight(value: unknown, tips: Tips): number {
  const given = text(value)
  const tagged = tagHeight(given, tips)
  if (tagged !== null) return tagged
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(given) || BigInt(given) > heightMax) throw invalid('invalid block number')
  return Number(BigInt(given))
}

/** A block or transaction hash as 64 hex digits; `0x` may be missing. */
export function hash32(value: unknown): string {
  const digits = strip(text(value)).toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digits)) throw invalid('invalid hash value')
  return digits
}

/** A place in a block: `0x` hex. */
export function position(value: unknown): number {
  const given = text(value)
  if (!/^0x[0-9a-f]{1,8}$/i.test(given)) throw invalid('invalid index value')
  return Number(given)
}
