import * as z from 'zod/mini'
import { parseJson } from '../common/result.ts'
import { parsePersonName } from '../ledger/entry.ts'
import type { TokenConfig } from './auth.ts'
import { optional, parsedBy, placeOf, type Refuse, text } from './schemas.ts'

/**
 * The words for a person's rights in `DESK_ACCESS`, each with the scope that gives a backend's
 * token the same right.
 */
const scopeOf = { read: 'ledger:read', approve: 'ledger:approve', pay: 'ledger:pay' } as const
export type PersonScope = (typeof scopeOf)[keyof typeof scopeOf]

/**
 * `DESK_ACCESS`: the people who may sign in to the desk through Cloudflare Access, and what their
 * assertions (Access's JWTs) must have.
 */
export interface DeskAccess {
  /** The `iss` that an assertion must have. */
  readonly issuer: string
  /** The URL of the public keys with which Cloudflare signs the assertions of the team. */
  readonly keysUrl: string
  /** The `aud` that an assertion must have. */
  readonly audience: string
  /**
   * The rights by e-mail address in lower case; `*@` and a domain stands for everybody with an
   * address there.
   */
  readonly people: ReadonlyMap<string, readonly PersonScope[]>
}

const peopleMax = 200
const teamExpected = 'the name of the team: the first label of <team>.cloudflareaccess.com'
const audienceExpected = 'the audience tag (AUD) of the Access application, 1 to 200 characters'
const peopleExpected = `an object of 1 to ${peopleMax} e-mail addresses, or *@ and a domain, each once with words of read, approve and pay`
const accessExpected = 'an object with team, audience and people, or its JSON text'

const people = parsedBy(z.record(z.string(), z.string(peopleExpected), peopleExpected), (given, refuse) => {
  const found = new Map<string, readonly PersonScope[]>()
  for (const [address, words] of Object.entries(given)) {
    const who = parsePersonName(address) // an asterisk is a local part, too
    const scopes = scopesIn(words)
    if (who === null || found.has(who) || scopes === null) return refuse(peopleExpected)
    found.set(who, scopes)
  }
  return found.size >= 1 && found.size <= peopleMax ? found : refuse(peopleExpected)
})

/**
 * Parses words for rights, separated by one space each, into scopes without repetition; null if one
 * of them is no right.
 */
function scopesIn(words: string): readonly PersonScope[] | null {
  const known = new Map<string, PersonScope>(Object.entries(scopeOf))
  const scopes = words.split(' ').map((word) => known.get(word) ?? null)
  return scopes.every((one) => one !== null) ? [...new Set(scopes)] : null
}

/** Parses `DESK_ACCESS`, an object or its JSON text; null if it is not set. */
export const deskAccessSchema = optional(
  parsedBy(
    z.pipe(
      z.transform((value): unknown => (typeof value === 'string' ? parseJson(value) : value)),
      z.strictObject(
        {
          team: text(teamExpected).check(z.regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, teamExpected)),
          audience: text(audienceExpected).check(z.maxLength(200, audienceExpected)),
          people,
        },
        accessExpected,
      ),
    ),
    ({ team, audience, people }): DeskAccess => {
      const issuer = `https://${team}.cloudflareaccess.com`
      return Object.freeze({ issuer, keysUrl: `${issuer}/cdn-cgi/access/certs`, audience, people })
    },
  ),
)

/**
 * Refuses a configuration in which tokens of users or backends are verified with the keys of
 * Access: an assertion would pass as such a token.
 */
export function refuseSharedTeamKeys(access: DeskAccess | null, doors: Doors, refuse: Refuse): void {
  for (const [name, { jwksUrl }] of Object.entries(doors)) {
    if (access === null || jwksUrl === null || placeOf(jwksUrl) !== placeOf(access.keysUrl)) continue
    refuse('another host, port or path than the keys of the team of DESK_ACCESS', name)
  }
}

/**
 * How tokens of users and of backends are verified, by the variable that has the URL of the keys.
 */
type Doors = Readonly<Record<'AUTH_JWKS_URL' | 'BACKEND_JWKS_URL', TokenConfig>>
