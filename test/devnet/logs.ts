import { strip } from './hex.ts'
import { hash32, invalid, invalidCall, RpcError, type Tips, tagHeight, text } from './rules.ts'

/** Where the asked-for logs are. Nothing, where the range begins above the head: an empty answer, not an error. */
export type LogPlace =
  | { readonly kind: 'block'; readonly hash: string }
  | { readonly kind: 'range'; readonly from: number; readonly to: number }
  | { readonly kind: 'above-head' }

/** A filter as the node understood it. Empty sets match everything. */
export interface LogFilter {
  readonly place: LogPlace
  /** 40 hex digits each. */
  readonly addresses: ReadonlySet<string>
  /** By slot, 64 hex digits each. */
  readonly topics: readonly ReadonlySet<string>[]
}

/** As much of a log as a filter looks at. */
export interface FilteredLog {
  readonly address: string
  readonly topics: readonly string[]
}

const rangeBlocksMax = 5_000
const listEntriesMax = 1_000
const topicSlotsMax = 4
/** More logs than this in one answer are an error. */
const logsMax = 10_000
const known = new Set(['fromBlock', 'toBlock', 'blockHash', 'address', 'topics'])

/** The parameter of `eth_getLogs`, by the node's rules (java-tron `LogFilter`, `LogFilterWrapper`). */
export function parseLogFilter(value: unknown, tips: Tips): LogFilter {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCall()
  const given = value as Record<string, unknown> // an object, by the line above
  if (Object.keys(given).some((key) => !known.has(key))) throw invalidCall()
  const addresses = parseAddresses(given.address ?? null)
  const topics = parseTopics(given.topics ?? null)
  return { place: parsePlace(given, tips), addresses, topics }
}

/** Whether the filter lets a log through. A log with fewer topics than the filter has slots does not match. */
export function matches(filter: LogFilter, log: FilteredLog): boolean {
  if (filter.addresses.size > 0 && !filter.addresses.has(strip(log.address))) return false
  if (log.topics.length < filter.topics.length) return false
  return filter.topics.every((slot, i) => slot.size === 0 || slot.has(strip(log.topics[i] ?? '')))
}

/** Refuses an answer that a node would not give. */
export function requireFewLogs(count: number): void {
  if (count > logsMax) throw new RpcError(-32005, `query returned more than ${logsMax} results`)
}

function parsePlace(given: Record<string, unknown>, tips: Tips): LogPlace {
  const { fromBlock = null, toBlock = null, blockHash = null } = given
  if (blockHash !== null) {
    if (fromBlock !== null || toBlock !== null) {
      throw invalid('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
    }
    return { kind: 'block', hash: hash32(blockHash) }
  }
  const to = toBlock === null ? Number.MAX_SAFE_INTEGER : rangeEnd(toBlock, tips)
  const from = fromBlock === null ? Math.min(to, tips.latest) : rangeEnd(fromBlock, tips)
  if (from > to) throw invalid('please verify: fromBlock <= toBlock')
  const capped = Math.min(to, tips.latest)
  if (capped - from > rangeBlocksMax) throw invalid(`exceed max block range: ${rangeBlocksMax}`)
  return from > tips.latest ? { kind: 'above-head' } : { kind: 'range', from, to: capped }
}

/** Unlike in block methods, digits without `0x` are no height here. */
function rangeEnd(value: unknown, tips: Tips): number {
  const given = text(value)
  const tagged = tagHeight(given, tips)
  if (tagged !== null) return tagged
  if (!/^0x[0-9a-f]{1,13}$/i.test(given)) throw invalid('Incorrect hex syntax')
  return Number(given)
}

function parseAddresses(value: unknown): ReadonlySet<string> {
  if (value === null) return new Set()
  if (!Array.isArray(value)) {
    const address = text(value)
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
  const hex = strip(value).toLowerCase()
  return hex.length === length && /^[0-9a-f]+$/.test(hex) ? hex : null
}

function fail(message: string): never {
  throw invalid(message)
}
