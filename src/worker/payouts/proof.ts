import { base64url, decodeProtectedHeader } from 'jose'
import * as z from 'zod/mini'
import { parseAmountsAsText } from '../common/amount.ts'
import { err, ok, type Result } from '../common/result.ts'
import { proofCharsMax } from '../d1/payout-tables.ts'

// The proof of a payout: a backend's signature over its members. The request and the signer both
// parse it here, so they accept the same proofs.

/** The members of a payout that a proof signs. */
export interface ProvenPayout {
  readonly uid: number
  readonly cuy: number
  /** A decimal number of whole units; zeros at its end do not matter. */
  readonly amt: string
  readonly to: string
  readonly osn: string
}

/**
 * The signature algorithms of proofs. `Ed25519` is the newer name of `EdDSA` with such keys (RFC
 * 9864).
 */
export const proofAlgorithms = ['EdDSA', 'Ed25519', 'ES256'] as const
/** A compact JWS: three parts in base64url with points between them. */
export const proofForm = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** Bytes of a signature, the same for each algorithm: two numbers of 32 bytes, never DER. */
const signatureBytes = 64

/** The form of a proof, for messages. */
export const proofExpected = `a compact JWS (${proofAlgorithms.join(', ')}) of at most ${proofCharsMax} characters`
const membersExpected =
  'a JWS of exactly uid, cuy, amt, to and osn, as the payout has them, amt a decimal without exponent, sign or zeros before it'

const shape = z.strictObject({
  uid: z.int(),
  cuy: z.int(),
  amt: z.string().check(z.regex(/^(?:0|[1-9]\d*)(?:\.\d+)?$/)),
  to: z.string(),
  osn: z.string(),
})

/**
 * Parses a proof without verifying its signature, because the service has no key: the signer
 * verifies it. The error says what the proof must be.
 */
export function readProof(text: string): Result<ProvenPayout, string> {
  const parts = proofForm.test(text) && text.length <= proofCharsMax ? partsOf(text) : null
  if (parts === null) return err(proofExpected)
  if (parts.signature.length !== signatureBytes) {
    return err(`a JWS with a signature of ${signatureBytes} bytes, not of ${parts.signature.length}`)
  }
  const proven = shape.safeParse(parts.payload)
  return proven.success ? ok(proven.data) : err(membersExpected)
}

/** The first member whose value in a proof is not that of the payout, or null. */
export function findOtherMember(proven: ProvenPayout, payout: ProvenPayout): keyof ProvenPayout | null {
  const members = ['uid', 'cuy', 'to', 'osn'] as const
  const other = members.find((name) => proven[name] !== payout[name])
  return other ?? (plain(proven.amt) === plain(payout.amt) ? null : 'amt')
}

/**
 * Whether two proofs sign the same payout; true also if both are absent. Signatures are not
 * compared, because one key makes many for the same content, and amounts are compared as numbers.
 */
export function sameProof(proof: string | null, other: string | null): boolean {
  if (proof === other) return true
  if (proof === null || other === null) return false
  const [first, second] = [readProof(proof), readProof(other)]
  return first.ok && second.ok && findOtherMember(first.value, second.value) === null
}

/**
 * The decoded parts of a compact JWS, or null if the text is not one that can be verified.
 * `payload` is undefined if it is not JSON.
 */
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

/** Removes the zeros at the end of a decimal, so that equal amounts have equal texts. */
const plain = (amount: string) => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount)
