import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import { entryOf, hasRepeats, hostAndPortOf, integerFrom, listOf, optional, parsedBy, text, url } from './schemas.ts'

/**
 * One entry of `TRON_NODES`, with its key. Its URLs and its key never reach a user or a log line.
 */
export interface NodeConfig {
  /**
   * The node's name in storage (of its counts and health): a hash of its URLs with `{key}` in place
   * of the key. So a new key does not change it.
   */
  readonly id: string
  /** The operator's name for the node; null if it has none. */
  readonly name: string | null
  /** The host of the JSON-RPC URL, without a port. */
  readonly host: string
  readonly rpc: NodeServiceConfig
  /** The HTTP API. Its URL has no slash at the end, because paths are appended to it. */
  readonly api: NodeServiceConfig
  /**
   * The most requests in any second (`perSecond`) and in any 24 hours (`perDay`), for both services
   * of the node together.
   */
  readonly perSecond: number
  readonly perDay: number
}

/**
 * One of the two services of a node, JSON-RPC or HTTP API. Both the URL and the header's value are
 * secret, because either may contain the key.
 */
interface NodeServiceConfig {
  readonly url: string
  /**
   * The header with the key that is sent with each request; null if the URL contains the key, or if
   * there is none.
   */
  readonly keyHeader: { readonly name: string; readonly value: string } | null
}

const nodesMax = 10 // more do not make a quorum safer, only slower
const quorumByDefault = 2

// What a free TronGrid key allows (PROTOCOL.md, Rate limits and gateways).
const perSecondByDefault = 15
const perDayByDefault = 100_000

/** Stands for the key in a configured URL. */
const placeholder = '{key}'
const keyHeaderByDefault = 'TRON-PRO-API-KEY'

const nameExpected = 'a name of 1 to 40 printable characters, without a space at its ends'
/**
 * 1 to 40 letters, marks, digits, punctuation marks, symbols and inner spaces, but no character
 * that is invisible by default.
 */
const namePattern = /^(?! )(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{P}\p{S} ]){1,40}(?<! )$/u

const headerExpected = 'the name of a header that can carry a key, such as x-api-key or authorization'
const headerPattern = /^[\w!#$%&'*+.^`|~-]{1,100}$/
/**
 * Headers that the Fetch standard reserves for the platform, or that describe the content. With the
 * key in one of them every request would fail.
 */
const takenHeaders =
  /^(accept|accept-charset|accept-encoding|access-control-.*|connection|content-.*|cookie2?|date|dnt|expect|host|keep-alive|origin|proxy-.*|referer|sec-.*|set-cookie|te|trailer|transfer-encoding|upgrade|via|x-http-method.*|x-method-override)$/i

const keyExpected =
  'the name of a secret of 1 to 4096 printable ASCII characters, without a space at its ends: it is sent in a header or a URL'
const isNodeKey = (key: unknown): key is string => typeof key === 'string' && /^(?! )[ -~]{1,4096}(?<! )$/.test(key)

/**
 * The URL of a node, with `{key}` only in the path or the query. A key in the host name would be
 * shown to people and make one node look like two. A key in the fragment would never be sent.
 */
const nodeUrl = parsedBy(url, (value, refuse) => {
  const { host, hash } = new URL(value)
  const isMisplaced = /[{}]/.test(host + hash) || /[{}]/.test(value.replaceAll(placeholder, ''))
  return isMisplaced ? refuse(`a URL with ${placeholder} in its path or query, if at all, and no other braces`) : value
})

const nodeEntry = entryOf({
  rpc: nodeUrl,
  // Paths such as /wallet/getnowblock are appended to this URL.
  api: parsedBy(nodeUrl, (value, refuse) =>
    /[?#]/.test(value) ? refuse('a base URL without a query') : value.replace(/\/+$/, ''),
  ),
  name: z.optional(z.string(nameExpected).check(z.regex(namePattern, nameExpected))),
  keyVar: z.optional(text('the name of the variable with the key')),
  keyHeader: z.optional(
    z.string(headerExpected).check(
      z.regex(headerPattern, headerExpected),
      z.refine((name) => !takenHeaders.test(name), headerExpected),
    ),
  ),
  perSecond: z.optional(integerFrom(1, 100_000)),
  perDay: z.optional(integerFrom(1, 1_000_000_000)),
})
type NodeEntry = z.infer<typeof nodeEntry>

/**
 * An entry of `TRON_NODES`. Refuses an entry that says how a key is sent but names no key, or whose
 * `keyHeader` would never be sent.
 */
const keyedEntry = parsedBy(nodeEntry, (entry, refuse) => {
  const withKey = [entry.rpc, entry.api].filter((one) => one.includes(placeholder)).length
  if (entry.keyVar === undefined && withKey > 0) return refuse(`set, since a URL has ${placeholder}`, 'keyVar')
  if (entry.keyVar === undefined && entry.keyHeader !== undefined) return refuse('set, since keyHeader is', 'keyVar')
  if (entry.keyHeader !== undefined && withKey === 2) {
    return refuse(`not set, since both URLs have ${placeholder}: nothing would be sent in it`, 'keyHeader')
  }
  return entry
})

/**
 * Parses `TRON_NODES` and `TRON_QUORUM` with the variables that `keyVar` names, so its input is all
 * bindings.
 */
export const nodesSchema = parsedBy(
  z.looseObject({ TRON_NODES: listOf(keyedEntry, nodesMax), TRON_QUORUM: optional(integerFrom(1, nodesMax)) }),
  ({ TRON_NODES: entries, TRON_QUORUM: quorum, ...bindings }, refuse) => {
    // The two services of one node may have the same host and port; services of two nodes may not.
    if (hasRepeats(entries.flatMap(({ rpc, api }) => [...new Set([hostAndPortOf(rpc), hostAndPortOf(api)])]))) {
      refuse('duplicate node: two nodes with one host, by rpc or by api, are one node', 'TRON_NODES')
    }
    if (hasRepeats(entries.flatMap(({ name }) => name ?? []))) {
      refuse('duplicate name: two nodes have the same one', 'TRON_NODES')
    }
    if (quorum !== null && quorum > entries.length) {
      refuse(`at most the number of nodes in TRON_NODES (${entries.length})`, 'TRON_QUORUM')
    }
    const nodes = entries.map((entry, i) => {
      if (entry.keyVar === undefined) return toNode(entry, null)
      const key = bindings[entry.keyVar]
      if (isNodeKey(key)) return toNode(entry, key)
      const isSet = typeof key === 'string' && key !== ''
      return refuse(isSet ? keyExpected : 'the name of a variable or secret that is set', 'TRON_NODES', i, 'keyVar')
    })
    return { nodes: Object.freeze(nodes), quorum: quorum ?? Math.min(quorumByDefault, nodes.length) }
  },
)

/**
 * Puts the key into the URLs that contain `{key}`. For a URL without `{key}` the key is sent in a
 * header: `keyHeader`, or `TRON-PRO-API-KEY` if neither URL contains `{key}`. If only one URL
 * contains it and no `keyHeader` is configured, the other URL gets no key: it may belong to another
 * provider.
 */
function toNode(entry: NodeEntry, key: string | null): NodeConfig {
  const { rpc, api, keyHeader, name = null, perSecond = perSecondByDefault, perDay = perDayByDefault } = entry
  const isInUrl = [rpc, api].some((one) => one.includes(placeholder))
  const header = keyHeader ?? (isInUrl ? null : keyHeaderByDefault)
  const serviceOf = (template: string): NodeServiceConfig => {
    if (key === null) return { url: template, keyHeader: null }
    if (template.includes(placeholder))
      return { url: template.replaceAll(placeholder, encodeURIComponent(key)), keyHeader: null }
    return { url: template, keyHeader: header === null ? null : { name: header, value: key } }
  }
  return Object.freeze({
    id: bytesToHex(sha256(utf8ToBytes(`${rpc}\n${api}`))).slice(0, 16),
    name,
    host: new URL(rpc).hostname,
    rpc: Object.freeze(serviceOf(rpc)),
    api: Object.freeze(serviceOf(api)),
    perSecond,
    perDay,
  })
}
