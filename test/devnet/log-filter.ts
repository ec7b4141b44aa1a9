import { strip0x } from '../support/hex.ts'
import {
  type Heads,
  heightOfTag,
  invalid,
  invalidCall,
  parseHashParameter,
  RpcError,
  requireText,
} from './parameters.ts'

/**
 * The blocks of a filter. A range that starts above the head has no logs; it is not an error (PROTOCOL.md, Log
 * queries).
 */
export type LogBlocks =
  | { readonly kind: 'block'; readonly hash: string }
  | { readonly kind: 'range'; readonly from: number; readonly to: number }
  | { readonly kind: 'above-head' }

/** A parsed filter. Empty sets match everything. */
export interface LogFilter {
  readonly blocks: LogBlocks
  /** 40 hex digits each. */
  readonly addresses: ReadonlySet<string>
  /** By slot, 64 hex digits each. */
  readonly topics: readonly ReadonlySet<string>[]
}

/** The part of a log that a filter compares. */
export interface FilteredLog {
  readonly address: string
  readonly topics: readonly string[]
}

const rangeBlocksMax = 5_000
const listEntriesMax = 1_000
const topicSlotsMax = 4
/** More logs in one response are an error. */
const logsMax = 10_000
const filterFields = new Set(['fromBlock', 'toBlock', 'blockHash', 'address', 'topics'])

/** The parameter of `eth_getLogs`, checked as java-tron does (`LogFilter`, `LogFilterWrapper`). */
export function parseLogFilter(value: unknown, heads: Heads): LogFilter {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCall()
  const given = value as Record<string, unknown> // an object, by the check above
  if (Object.keys(given).some((key) => !filterFields.has(key))) throw invalidCall()
  const addresses = parseAddresses(given.address ?? null)
  const topics = parseTopics(given.topics ?? null)
  return { blocks: parseBlocks(given, heads), addresses, topics }
}

/** Whether a log matches the filter. A log with fewer topics than the filter has slots does not match. */
export function matches(filter: LogFilter, log: FilteredLog): boolean {
  if (filter.addresses.size > 0 && !filter.addresses.has(strip0x(log.address))) return false
  if (log.topics.length < filter.topics.length) return false
  return filter.topics.every((slot, i) => slot.size === 0 || slot.has(strip0x(log.topics[i] ?? '')))
}

/** Throws the node's error for a response with too many logs. */
export function requireFewLogs(count: number): void {
  if (count > logsMax) throw new RpcError(-32005, `query returned more than ${logsMax} results`)
}

function parseBlocks(given: Record<string, unknown>, heads: Heads): LogBlocks {
  const { fromBlock = null, toBlock = null, blockHash = null } = given
  if (blockHash !== null) {
    if (fromBlock !== null || toBlock !== null) {
      throw invalid('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
    }
    return { kind: 'block', hash: parseHashParameter(blockHash) }
  }
  const to = toBlock === null ? Number.MAX_SAFE_INTEGER : parseRangeHeight(toBlock, heads)
  const from = fromBlock === null ? Math.min(to, heads.latest) : parseRangeHeight(fromBlock, heads)
  if (from > to) throw invalid('please verify: fromBlock <= toBlock')
  const capped = Math.min(to, heads.latest)
  if (capped - from > rangeBlocksMax) throw invalid(`exceed max block range: ${rangeBlocksMax}`)
  return from > heads.latest ? { kind: 'above-head' } : { kind: 'range', from, to: capped }
}

/** Decimal digits without `0x` are not a height here, unlike in block methods. */
function parseRangeHeight(value: unknown, heads: Heads): number {
  const given = requireText(value)
  const tagged = heightOfTag(given, heads)
  if (tagged !== null) return tagged
  if (!/^0x[0-9a-f]{1,13}$/i.test(given)) throw invalid('Incorrect hex syntax')
  return Number(given)
}

function parseAddresses(value: unknown): ReadonlySet<string> {
  if (value === null) return new Set()
  if (!Array.isArray(value)) {
    const address = requireText(value)
    return new Set([digits(address, 40) ?? fail(`invalid address: ${address}`)])
  }
  if (value.length > listEntriesMax) throw invalid(`exceed max addresses: ${listEntriesMax}`)
  return new Set(value.map((entry, i) => digits(entry, 40) ?? fail(`invalid address at index ${i}: ${entry}`)))
}

function parseTopics(value: unknown): readonly ReadonlySet<string>[] {
  if (value === null) return []
  if (!Array.isArray(value)) throw invalidCall()
  if (value.length > topicSlotsMax) throw invalid(`topics size should be <= ${topicSlotsMax}`)
  return value.map((slot: unknown) => {
    if (slot === null) return new Set<string>()
    const entries: readonly unknown[] = Array.isArray(slot) ? slot : [slot]
    if (entries.length > listEntriesMax) throw invalid(`exceed max topics: ${listEntriesMax}`)
    return new Set(entries.map((entry) => digits(entry, 64) ?? fail(`invalid topic(s): ${String(entry)}`)))
  })
}

function digits(value: unknown, length: number): string | null {
  if (typeof value !== 'string') return null
  const hex = strip0x(value).toLowerCase()
  return hex.length === length && /^[0-9a-f]+$/.test(hex) ? hex : null
}

function fail(message: string): never {
  throw invalid(message)
}
