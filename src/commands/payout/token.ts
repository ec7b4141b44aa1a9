import { importJWK, type JWK, SignJWT } from 'jose'
import { parseJson } from '../../worker/common/result.ts'
import type { TokenConfig } from '../../worker/config/auth.ts'
import type { Clock } from '../../worker/platform/clock.ts'
import { readTextFile } from '../files.ts'
import { ToolError } from '../tool-error.ts'

/** The scopes of a signer: to sign, and to read the payouts with which it compares its journal. */
const signerScope = 'ledger:sign ledger:read'
const backendName = 'signer'
const lifetimeMs = 300_000
const jwsForm = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Returns the token for one request. A token may expire soon, so each request asks for the token
 * anew.
 */
export type SignerTokens = () => Promise<string>

/**
 * Makes the signer's tokens. `path` is a file with a token, or with a private key (a JWK) whose
 * public key is at `BACKEND_JWKS_URL`. A token is read anew for each request, because its maker may
 * replace it. Without a file, tokens are signed with `BACKEND_JWT_SECRET` of the configuration.
 */
export async function openTokens(
  path: string | undefined,
  config: TokenConfig,
  clock: Pick<Clock, 'now'>,
): Promise<SignerTokens> {
  if (path === undefined) {
    const [secret] = config.secrets
    if (secret !== undefined) return () => signed(config, clock, 'HS256', new TextEncoder().encode(secret))
    throw new ToolError(
      'there is no BACKEND_JWT_SECRET here',
      'name a file with a token or a private key (a JWK) with --token',
    )
  }
  const text = await readTextFile(path)
  if (jwsForm.test(text.trim())) return () => readToken(path)
  const { alg, ...jwk } = Object(parseJson(text)) as JWK // `importJWK` checks it
  if (jwk.kty === undefined || jwk.d === undefined) throw noKey(path)
  const algorithm = algorithmOf(jwk)
  if (algorithm === null || (alg !== undefined && alg !== algorithm && newerName.get(algorithm) !== alg)) {
    throw new ToolError(
      `${path} has a key of ${alg ?? jwk.crv ?? jwk.kty}, and the service takes no token of its kind`,
      'make one of Ed25519, or of P-256 (ES256) or RSA (RS256), and name its file with --token',
    )
  }
  const key = await importJWK(jwk, algorithm).catch(() => null)
  if (key === null) throw noKey(path)
  return () => signed(config, clock, algorithm, key, jwk.kid)
}

const noKey = (path: string) =>
  new ToolError(`${path} has neither a token nor a private key (a JWK)`, 'name another file with --token')

/**
 * The algorithm with which a key signs tokens; null if the service accepts none for such a key.
 * Older versions of the service know Ed25519 only as `EdDSA`.
 */
function algorithmOf({ kty, crv }: JWK): 'EdDSA' | 'ES256' | 'RS256' | null {
  if (kty === 'RSA') return 'RS256'
  if (crv === 'Ed25519') return 'EdDSA'
  return crv === 'P-256' ? 'ES256' : null
}
/**
 * By the name of an algorithm: its newer name (RFC 9864), with which WebCrypto exports an Ed25519
 * key.
 */
const newerName: ReadonlyMap<string, string> = new Map([['EdDSA', 'Ed25519']])

async function readToken(path: string): Promise<string> {
  const token = (await readTextFile(path)).trim()
  if (jwsForm.test(token)) return token
  // The file may contain a secret, so it is not printed.
  throw new ToolError(`${path} has no token any more`, 'write one there, then run it again')
}

function signed(
  { issuer, audience }: TokenConfig,
  clock: Pick<Clock, 'now'>,
  alg: string,
  key: Parameters<SignJWT['sign']>[0],
  kid?: string,
): Promise<string> {
  const token = new SignJWT({ scope: signerScope }).setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
  if (issuer !== null) token.setIssuer(issuer)
  if (audience !== null) token.setAudience(audience)
  return token
    .setSubject(backendName)
    .setExpirationTime(new Date(clock.now() + lifetimeMs))
    .sign(key)
}
