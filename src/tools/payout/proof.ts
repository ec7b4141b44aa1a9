import { compactVerify, importJWK, type JWK } from 'jose'
import * as z from 'zod/mini'
import { parseJson } from '../../common/result.ts'
import { ToolError } from '../tool-error.ts'
import { parseAmountsAsText, type ShownPayout } from './payout.ts'

const algorithms = ['EdDSA', 'ES256']
const publicKey = z.looseObject({ kty: z.enum(['OKP', 'EC']) }).check(z.refine((key) => !('d' in key)))
const keySet = z.object({ keys: z.array(publicKey).check(z.minLength(1)) })
/** What a backend signs, and nothing else. */
const proofSchema = z.strictObject({ uid: z.int(), cuy: z.int(), amt: z.string(), to: z.string(), osn: z.string() })

/** The public keys of backends. */
export type BackendKeys = readonly JWK[]

/** Parses a file of public keys (a JWKS). */
export function parseBackendKeys(text: string): BackendKeys {
  const parsed = keySet.safeParse(parseJson(text))
  if (parsed.success) return parsed.data.keys // `importJWK` checks the rest
  throw new ToolError(
    'the file of --backend-keys is no JWKS of public keys alone',
    'write one such as { "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "…" }] }, without a private key',
  )
}

/** Why no backend is known to have asked for exactly this payout, or null. */
export async function findProofFault(payout: ShownPayout, keys: BackendKeys): Promise<string | null> {
  if (payout.proof === undefined) return 'it has no proof of a backend'
  for (const key of keys) {
    const signed = proofSchema.safeParse(await readProof(payout.proof, key))
    if (!signed.success) continue
    const { uid, cuy, amt, to, osn } = signed.data
    const isSame =
      uid === payout.uid &&
      cuy === payout.cuy &&
      osn === payout.osn &&
      to === payout.to &&
      plain(amt) === plain(payout.amt)
    return isSame ? null : 'its proof is of another payout'
  }
  return 'its proof is by no key of --backend-keys, or has another form'
}

/** What is signed, or undefined if it is not by this key. */
async function readProof(proof: string, key: JWK): Promise<unknown> {
  try {
    const { payload } = await compactVerify(proof, await importJWK(key, key.kty === 'OKP' ? 'EdDSA' : 'ES256'), {
      algorithms,
    })
    return parseAmountsAsText(new TextDecoder().decode(payload))
  } catch {
    return undefined // of another kind of key, by another key, or no JWS
  }
}

/** An amount without zeros at its end. */
const plain = (amount: string) => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount)
