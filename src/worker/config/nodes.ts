import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import { entryOf, hasRepeats, hostAndPortOf, integerFrom, listOf, optional, parsedBy, text, url } from './schemas.ts'

/** One Tron node. Its URLs and keys never reach a user or a log line. */
export interface NodeConfig {
  /** The node's id in storage: a hash of its URLs as configured, with `{key}` in place of the key. */
  readonly id: string
  /** The operator's name for it, or null. */
  readonly name: string | null
  /** The host name of its JSON-RPC, without a port. */
  readonly host: string
  readonly rpc: NodeServiceConfig
  /** The HTTP API. Its URL has no slash at the end, because paths are appended to it. */
  readonly api: NodeServiceConfig
  /** Most requests in any second, and in any 24 hours, for both services of the node together. */
  readonly perSecond: number
  readonly perDay: number
}

/** One of the two services of a node. URL and header value are secret: one of them contains the key. */
interface NodeServiceConfig {
  readonly url: string
  /** The header that is sent with each request, or null. */
  readonly keyHeader: { readonly name: string; readonly value: string } | null
}

const nodesMax = 10 // more do not make a quorum safer, only slower
const quorumByDefault = 2

// The limits of a free TronGrid key (PROTOCOL.md, Rate limits and gateways).
const perSecondByDefault = 15
const perDayByDefault = 100_000

/** Stands for the key in a configured URL. */
const placeholder = '{key}'
const keyHeaderByDefault = 'TRON-PRO-API-KEY'

const nameExpected = 'a name of 1 to 40 printable characters, without a space at its ends'
/** Visible letters, marks, digits, punctuation, symbols and spaces. */
const namePattern = /^(?! )(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{P}\p{S} ]){1,40}(?<! )$/u

const headerExpected = 'the name of a header that can carry a key, such as x-api-key or authorization'
const headerPattern = /^[\w!#$%&'*+.^`|~-]{1,100}$/
/** Headers that the Fetch standard reserves for the platform, and headers that describe the content. With the key in one of these no request arrives. */
const takenHeaders =
  /^(accept|accept-charset|accept-encoding|access-control-.*|connection|content-.*|cookie2?|date|dnt|expect|host|keep-alive|origin|proxy-.*|referer|sec-.*|set-cookie|te|trailer|transfer-encoding|upgrade|via|x-http-method.*|x-method-override)$/i

const keyExpected =
  'the name of a secret of 1 to 4096 printable ASCII characters, without a space at its ends: it is sent in a header or a URL'
const isNodeKey = (key: unknown): key is string => typeof key === 'string' && /^(?! )[ -~]{1,4096}(?<! )$/.test(key)

/** A key in the host name would be shown, and would make two nodes out of one. A fragment is never sent. */
const nodeUrl = parsedBy(url, (value, refuse) => {
  const { host, hash } = new URL(value)
  const isMisplaced = /[{}]/.test(host + hash) || /[{}]/.test(value.replaceAll(placeholder, ''))
  return isMisplaced ? refuse(`a URL with ${placeholder} in its path or query, if at all, and no other braces`) : value
})

const nodeEntry = entryOf({
  rpc: nodeUrl,
  // Paths are appended to this URL.
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

/** A configured node. Its key and the way in which the key is sent must both be given, or neither. */
const keyedEntry = parsedBy(nodeEntry, (entry, refuse) => {
  const withKey = [entry.rpc, entry.api].filter((one) => one.includes(placeholder)).length
  if (entry.keyVar === undefined && withKey > 0) return refuse(`set, since a URL has ${placeholder}`, 'keyVar')
  if (entry.keyVar === undefined && entry.keyHeader !== undefined) return refuse('set, since keyHeader is', 'keyVar')
  if (entry.keyHeader !== undefined && withKey === 2) {
    return refuse(`not set, since both URLs have ${placeholder}: nothing would be sent in it`, 'keyHeader')
  }
  return entry
})

/** Parses the nodes, together with the variables that contain their keys. */
export const nodesSchema = parsedBy(
  z.looseObject({ TRON_NODES: listOf(keyedEntry, nodesMax), TRON_QUORUM: optional(integerFrom(1, nodesMax)) }),
  ({ TRON_NODES: entries, TRON_QUORUM: quorum, ...bindings }, refuse) => {
    // Each node's host counts once, because both its services may have the same host.
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
 * Puts the key where a URL has `{key}`. A URL without `{key}` gets the key in the header, unless the node's other URL has `{key}` and no header is configured:
 * then this URL may belong to another provider.
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
