import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeProtectedHeader, type JWK } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTokens } from '../../../src/commands/payout/token.ts'
import { createAuthenticators } from '../../../src/worker/http/auth/authenticate.ts'
import { systemClock } from '../../../src/worker/platform/clock.ts'
import { createLogger } from '../../../src/worker/platform/logger.ts'

const config = { secrets: [], jwksUrl: 'https://issuer.example/jwks.json', issuer: 'us', audience: 'wallet' }
let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'token-'))
  path = join(folder, 'signer.token')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Algorithm = Parameters<typeof crypto.subtle.generateKey>[0]
/**
 * A key pair as WebCrypto exports it, with the members `key_ops` and `ext`, and WebCrypto's names
 * of algorithms.
 */
async function exported(algorithm: Algorithm): Promise<{ readonly own: JWK; readonly published: JWK }> {
  // safe: it is a key pair
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  const [own, published] = [pair.privateKey, pair.publicKey].map((key) => crypto.subtle.exportKey('jwk', key))
  return { own: (await own) as JWK, published: (await published) as JWK }
}
const ed25519 = () => exported({ name: 'Ed25519' })
const p256 = () => exported({ name: 'ECDSA', namedCurve: 'P-256' } as Algorithm)
const rsa = (hash: string) =>
  exported({
    name: 'RSASSA-PKCS1-v1_5',
    hash,
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  } as Algorithm)

/** The backend that the service finds in a token, if these keys are at `BACKEND_JWKS_URL`. */
async function backendOf(token: string, keys: readonly JWK[]) {
  const callers = { secrets: [], jwksUrl: null, issuer: null, audience: null, devUid: null }
  const { backends } = createAuthenticators(callers, config, {
    clock: systemClock,
    logger: createLogger(() => {}),
    fetch: async () => Response.json({ keys }),
    waitUntil: () => {},
  })
  return backends?.(new Request('https://wallet.example/', { headers: { authorization: `Bearer ${token}` } }))
}

describe('the private key of --token', () => {
  it.each([
    ['Ed25519', ed25519, 'EdDSA'],
    ['P-256', p256, 'ES256'],
    ['RSA', () => rsa('SHA-256'), 'RS256'],
  ])('as WebCrypto exports one of %s signs tokens that the service takes', async (_, make, algorithm) => {
    const { own, published } = await make()
    writeFileSync(path, JSON.stringify(own))
    const tokens = await openTokens(path, config, systemClock)
    const token = await tokens()
    expect(decodeProtectedHeader(token).alg).toBe(algorithm)
    const { alg: _alg, ...publishedAsBefore } = published // in older key sets `alg` is the name that tokens have
    expect(await backendOf(token, [{ ...publishedAsBefore, alg: algorithm }])).toEqual({
      ok: true,
      value: { name: 'signer', scopes: ['ledger:sign', 'ledger:read'] },
    })
  })

  it.each([
    ['RSA with SHA-512', () => rsa('SHA-512')],
    ['P-384', () => exported({ name: 'ECDSA', namedCurve: 'P-384' } as Algorithm)],
  ])('of %s is refused, since the service takes none of its tokens', async (_, make) => {
    writeFileSync(path, JSON.stringify((await make()).own))
    await expect(openTokens(path, config, systemClock)).rejects.toThrow('the service takes no token of its kind')
  })

  it('is refused where it is a public one, or no key', async () => {
    const { published } = await ed25519()
    for (const text of [JSON.stringify(published), '{"kty":"OKP"}', '{}', 'a.b']) {
      writeFileSync(path, text)
      await expect(openTokens(path, config, systemClock)).rejects.toThrow('has neither a token nor a private key')
    }
  })
})
