import * as z from 'zod/mini'
import { parseJson } from '../common/result.ts'
import { parsePersonName } from '../ledger/entry.ts'
import type { TokenConfig } from './auth.ts'
import { optional, parsedBy, placeOf, type Refuse, text } from './schemas.ts'

/** The rights of a person at the desk, as `DESK_ACCESS` writes them, each with the scope of a backend's token that gives the same right. */
const scopeOf = { read: 'ledger:read', approve: 'ledger:approve', pay: 'ledger:pay' } as const
/** A scope that a person can have. */
export type PersonScope = (typeof scopeOf)[keyof typeof scopeOf]

/** The people who sign in to the desk through Cloudflare Access (`DESK_ACCESS`). */
export interface DeskAccess {
  /** The required `iss` of an assertion. */
  readonly issuer: string
  /** The URL of the team's public keys. */
  readonly keysUrl: string
  /** The required `aud` of an assertion. */
  readonly audience: string
  /** The rights of people, by e-mail address in lower case, or by `*@` and a domain. */
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
    const who = address.toLowerCase()
    const scopes = scopesIn(words)
    if (!isPerson(who) || found.has(who) || scopes === null) return refuse(peopleExpected)
    found.set(who, scopes)
  }
  return found.size >= 1 && found.size <= peopleMax ? found : refuse(peopleExpected)
})

/** An e-mail address, or `*@` and a domain for everybody there. */
const isPerson = (who: string) => parsePersonName(who.replace(/^\*@/, 'anybody@')) !== null && !who.startsWith('*@*')

/** Parses rights separated by spaces into scopes; null for any other text. */
function scopesIn(words: string): readonly PersonScope[] | null {
  const known = new Map<string, PersonScope>(Object.entries(scopeOf))
  const scopes = words.split(' ').map((word) => known.get(word) ?? null)
  return scopes.every((one) => one !== null) ? [...new Set(scopes)] : null
}

/** `DESK_ACCESS`: an object, or its JSON text. */
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

/** Refuses keys that would verify both people and tokens, because one could then stand for the other. */
export function refuseSharedTeamKeys(access: DeskAccess | null, doors: Doors, refuse: Refuse): void {
  for (const [name, { jwksUrl }] of Object.entries(doors)) {
    if (access === null || jwksUrl === null || placeOf(jwksUrl) !== placeOf(access.keysUrl)) continue
    refuse('another host, port or path than the keys of the team of DESK_ACCESS', name)
  }
}

/** The two kinds of token, by the variable with the URL of their keys. */
type Doors = Readonly<Record<'AUTH_JWKS_URL' | 'BACKEND_JWKS_URL', TokenConfig>>
