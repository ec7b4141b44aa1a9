import { compactVerify, importJWK, type JWK } from 'jose'
import * as z from 'zod/mini'
import { parseJson } from '../../worker/common/result.ts'
import { findOtherMember, proofAlgorithms, readProof } from '../../worker/payouts/proof.ts'
import { ToolError } from '../tool-error.ts'
import type { ShownPayout } from './payout.ts'

const publicKey = z.looseObject({ kty: z.enum(['OKP', 'EC']) }).check(z.refine((key) => !('d' in key)))
const keySet = z.object({ keys: z.array(publicKey).check(z.minLength(1)) })

/** The public keys with which backends sign the payouts that they ask for. */
export type BackendKeys = readonly JWK[]

/**
 * Parses a file of public keys (a JWKS). Throws a `ToolError` if it has another form or contains a
 * private key.
 */
export function parseBackendKeys(text: string): BackendKeys {
  const parsed = keySet.safeParse(parseJson(text))
  if (parsed.success) return parsed.data.keys // `importJWK` checks the other members
  throw new ToolError(
    'the file of --backend-keys is no JWKS of public keys alone',
    'write one such as { "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "…" }] }, without a private key',
  )
}

/** Why no known backend has signed exactly this payout, or null. */
export async function findProofFault(payout: ShownPayout, keys: BackendKeys): Promise<string | null> {
  if (payout.proof === undefined) return 'it has no proof of a backend'
  const proven = readProof(payout.proof)
  if (!proven.ok) return `its proof is not ${proven.error}`
  for (const key of keys) {
    if (!(await isBy(payout.proof, key))) continue
    return findOtherMember(proven.value, payout) === null ? null : 'its proof is of another payout'
  }
  return 'its proof is by no key of --backend-keys'
}

/** Whether a proof is signed by this key. */
async function isBy(proof: string, key: JWK): Promise<boolean> {
  try {
    const imported = await importJWK(key, key.kty === 'OKP' ? 'EdDSA' : 'ES256')
    await compactVerify(proof, imported, { algorithms: [...proofAlgorithms] })
    return true
  } catch {
    return false // the key is of another kind, or did not sign
  }
}
