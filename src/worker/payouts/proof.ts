import { base64url, decodeProtectedHeader } from 'jose'
import * as z from 'zod/mini'
import { parseAmountsAsText } from '../common/amount.ts'
import { err, ok, type Result } from '../common/result.ts'
import { proofCharsMax } from '../d1/payout-tables.ts'

// What a backend has signed of a payout. Asking and the signer read it here: what one of them refuses, the other does not take.

/** The members of a payout that a proof is of. */
export interface ProvenPayout {
  readonly uid: number
  readonly cuy: number
  /** Whole units: a decimal, perhaps with zeros at its end. */
  readonly amt: string
  readonly to: string
  readonly osn: string
}

/** The algorithms of proofs. The second one is the first one's newer name, for the keys of today (RFC 9864). */
export const proofAlgorithms = ['EdDSA', 'Ed25519', 'ES256'] as const
/** The form of a compact JWS. */
export const proofForm = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Bytes of a signature of each algorithm: two numbers of 32 bytes, never DER. */
const signatureBytes = 64

/** What a proof takes to be one. */
export const proofTakes = `a compact JWS (${proofAlgorithms.join(', ')}) of at most ${proofCharsMax} characters`
const membersTake =
  'a JWS of exactly uid, cuy, amt, to and osn, as the payout has them, amt a decimal without exponent, sign or zeros before it'

const shape = z.strictObject({
  uid: z.int(),
  cuy: z.int(),
  amt: z.string().check(z.regex(/^(?:0|[1-9]\d*)(?:\.\d+)?$/)),
  to: z.string(),
  osn: z.string(),
})

/** Reads a proof without its keys; the error says what it must be. Who signed it is the signer's to check: the service has no key. */
export function readProof(text: string): Result<ProvenPayout, string> {
  const parts = proofForm.test(text) && text.length <= proofCharsMax ? partsOf(text) : null
  if (parts === null) return err(proofTakes)
  if (parts.signature.length !== signatureBytes) {
    return err(`a JWS with a signature of ${signatureBytes} bytes, not of ${parts.signature.length}`)
  }
  const proven = shape.safeParse(parts.payload)
  return proven.success ? ok(proven.data) : err(membersTake)
}

/** The first member by which a proof is of another payout, or null. */
export function findOtherMember(proven: ProvenPayout, payout: ProvenPayout): keyof ProvenPayout | null {
  const members = ['uid', 'cuy', 'to', 'osn'] as const
  const other = members.find((name) => proven[name] !== payout[name])
  return other ?? (plain(proven.amt) === plain(payout.amt) ? null : 'amt')
}

/**
 * Whether two proofs, or none, are of the same payout: the signature is not compared, since one key makes many of the same content, and
 * neither are the digits of an amount.
 */
export function sameProof(one: string | null, other: string | null): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  const [first, second] = [readProof(one), readProof(other)]
  return first.ok && second.ok && findOtherMember(first.value, second.value) === null
}

/** The decoded parts of a compact JWS that anybody can verify, or null. A payload that is no JSON is undefined. */
function partsOf(text: string): { readonly payload: unknown; readonly signature: Uint8Array } | null {
  const [, payload = '', signature = ''] = text.split('.')
  try {
    const { alg, crit, b64 } = decodeProtectedHeader(text)
    const isKnown = proofAlgorithms.some((name) => name === alg) && crit === undefined && b64 === undefined
    return isKnown ? { payload: readPayload(payload), signature: base64url.decode(signature) } : null
  } catch {
    return null // the library throws on what it cannot decode
  }
}

function readPayload(part: string): unknown {
  try {
    return parseAmountsAsText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(base64url.decode(part)))
  } catch {
    return undefined
  }
}

/** An amount without zeros at its end. */
const plain = (amount: string) => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount)
