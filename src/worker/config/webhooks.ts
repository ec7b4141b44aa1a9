import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { base64 } from '@scure/base'
import * as z from 'zod/mini'
import { webhookTypes } from '../common/event-types.ts'
import type { EndpointKey } from '../common/ids.ts'
import type { WebhookEndpoint } from '../webhooks/store/endpoint-state.ts'
import { entryOf, listOf, optional, parsedBy, text, url } from './schemas.ts'

/**
 * The most webhook endpoints of a deployment, limited because each post of ledger entries wakes one
 * Durable Object for each endpoint.
 */
const endpointsMax = 10

const typesExpected = `types of events: ${webhookTypes.join(', ')}`
const endpointEntry = entryOf({
  url,
  secretVar: text('the name of the variable with the secret'),
  types: z.optional(z.array(z.enum(webhookTypes, typesExpected), typesExpected).check(z.minLength(1, typesExpected))),
})

const secretExpected =
  'the name of a secret that is set: whsec_ and 24 to 64 bytes in base64, or two of them with a space between'

/** Parses `WEBHOOKS` with the variables that `secretVar` names, so its input is all bindings. */
export const endpointsSchema = parsedBy(
  z.looseObject({ WEBHOOKS: optional(listOf(endpointEntry, endpointsMax)) }),
  ({ WEBHOOKS: entries, ...bindings }, refuse) => {
    const webhooks = (entries ?? []).map((entry, i): WebhookEndpoint => {
      const secrets = parseSecrets(bindings[entry.secretVar])
      if (secrets === null) return refuse(secretExpected, 'WEBHOOKS', i, 'secretVar')
      const types = entry.types === undefined ? null : new Set(entry.types)
      return Object.freeze({ key: keyOf(entry.url), number: i + 1, url: entry.url, secrets, types })
    })
    if (new Set(webhooks.map(({ key }) => key)).size < webhooks.length) {
      refuse('duplicate endpoint: the same URL is listed twice', 'WEBHOOKS')
    }
    return Object.freeze(webhooks)
  },
)

/**
 * Parses one secret, or two while a secret is being replaced, separated by a space. Each has 24 to
 * 64 bytes (Standard Webhooks). Null for any other value.
 */
function parseSecrets(value: unknown): readonly string[] | null {
  const secrets = typeof value === 'string' ? value.split(' ') : []
  return secrets.length >= 1 && secrets.length <= 2 && secrets.every(isSecret) ? secrets : null
}

function isSecret(secret: string): boolean {
  if (!secret.startsWith('whsec_')) return false
  try {
    const { length } = base64.decode(secret.slice('whsec_'.length))
    return length >= 24 && length <= 64
  } catch {
    return false // `decode` throws if the text is not base64
  }
}

function keyOf(endpoint: string): EndpointKey {
  return bytesToHex(sha256(utf8ToBytes(new URL(endpoint).href))) as EndpointKey // safe: a SHA-256 as hex
}
