import type { PersonName } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { DeskAccess, PersonScope } from '../../config/desk.ts'
import { parsePersonName } from '../../ledger/entry.ts'
import { authorizationCharsMax } from './authenticate.ts'
import { createKeySet, type KeySetParts } from './key-set.ts'
import { checkWithKeySet, verifyWith } from './verify-token.ts'

/**
 * The header in which Cloudflare Access names the person who sends a request, by a signed JWT:
 * anybody could send an unsigned name.
 */
const assertionHeader = 'cf-access-jwt-assertion'

/** A person who has signed in to the desk, with the rights that `DESK_ACCESS` gives. */
export interface Person {
  readonly name: PersonName
  readonly scopes: readonly PersonScope[]
}

/**
 * Why a person is refused. `unauthorized`: the assertion is not valid. `keys-unavailable`:
 * Cloudflare's keys could not be fetched. `not-listed`: the assertion is valid, but `DESK_ACCESS`
 * does not list the e-mail address. `not-own-page`: the browser sends the request for a page of
 * another origin.
 */
export type PersonFailure = 'unauthorized' | 'keys-unavailable' | 'not-listed' | 'not-own-page'

export type AuthenticatePerson = (request: Request) => Promise<Result<Person, PersonFailure>>

/**
 * Whether to authenticate a request as a person: it has an assertion of Cloudflare Access, and no
 * token, which would count instead.
 */
export function hasAssertion({ headers }: Request): boolean {
  return headers.has(assertionHeader) && !headers.has('authorization')
}

/**
 * Authenticates people by the assertion of Cloudflare Access. Cloudflare adds it to every request
 * with its cookie, and browsers send that cookie for pages of other origins, too. So a request that
 * changes something must come from a page of the service's own origin.
 */
export function createPersonAuthenticator(access: DeskAccess, parts: KeySetParts): AuthenticatePerson {
  const check = checkWithKeySet(createKeySet(access.keysUrl, parts), ['RS256'])
  const { issuer, audience, people } = access
  const claims = { issuer, audience, requiredClaims: ['exp', 'email'] }
  return async (request) => {
    if (acts(request) && !isOfOwnPage(request)) return err('not-own-page')
    const assertion = request.headers.get(assertionHeader) ?? ''
    if (assertion.length > authorizationCharsMax) return err('unauthorized')
    const verified = await verifyWith(check, assertion, claims, parts)
    if (!verified.ok) return err(verified.error === 'keys-unavailable' ? 'keys-unavailable' : 'unauthorized')
    const name = parsePersonName(verified.value.email)
    if (name === null) return err('unauthorized')
    const scopes = people.get(name) ?? people.get(`*${name.slice(name.indexOf('@'))}`)
    return scopes === undefined ? err('not-listed') : ok({ name, scopes })
  }
}

const acts = ({ method }: Request) => method !== 'GET' && method !== 'HEAD'

/**
 * Whether a request comes from a page of this origin. Browsers say so in two headers of each POST,
 * which no page can set.
 */
function isOfOwnPage({ headers, url }: Request): boolean {
  const site = headers.get('sec-fetch-site') ?? 'same-origin' // older browsers send none
  return headers.get('origin') === new URL(url).origin && site === 'same-origin'
}
