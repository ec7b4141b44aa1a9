import { describe, expect, it } from 'vitest'
import { backendSecret, testSecret } from '../support/variables.ts'
import { configOf, faultsOf } from './parsed.ts'

const url = 'https://keys.example/jwks'
const bare = 'without a space, line end or byte order mark around it'

describe('the keys of backends', () => {
  const backend = { secrets: [backendSecret], jwksUrl: null, issuer: null, audience: null }
  const previous = backendSecret.replace('a', 'b')

  it.each([
    [{}, backend],
    [{ BACKEND_JWKS_URL: url }, { ...backend, jwksUrl: url }],
    [
      { BACKEND_JWT_SECRET: undefined, BACKEND_JWKS_URL: url },
      { ...backend, secrets: [], jwksUrl: url },
    ],
    [{ BACKEND_JWT_SECRET_PREVIOUS: previous }, { ...backend, secrets: [backendSecret, previous] }],
    [
      { BACKEND_ISSUER: 'issuer', BACKEND_AUDIENCE: 'ledger' },
      { ...backend, issuer: 'issuer', audience: 'ledger' },
    ],
    [{ BACKEND_JWT_SECRET: undefined, BACKEND_ISSUER: 'issuer' }, null],
    [{ BACKEND_JWT_SECRET: '' }, null],
  ])('with %j are %j', (changes, keys) => {
    expect(configOf(changes).backend).toEqual(keys)
  })

  it.each([
    ['the secret', { BACKEND_JWT_SECRET: testSecret }, 'BACKEND_JWT_SECRET'],
    ['the previous secret', { AUTH_JWT_SECRET_PREVIOUS: backendSecret }, 'BACKEND_JWT_SECRET'],
    ['the secret, as their previous one', { BACKEND_JWT_SECRET_PREVIOUS: testSecret }, 'BACKEND_JWT_SECRET_PREVIOUS'],
  ])('may not be %s of the callers', (_, changes, variable) => {
    expect(faultsOf(changes)).toEqual([`${variable}: another secret than those of callers`])
  })

  it.each([
    ['the same text', url],
    ['another query', `${url}?x=1`],
    ['another fragment', `${url}#x`],
    ['another case of the host', 'https://KEYS.example/jwks'],
    ['the default port', 'https://keys.example:443/jwks'],
    ['a trailing dot of the host', 'https://keys.example./jwks'],
    ['a trailing slash', `${url}/`],
    ['an encoded letter', 'https://keys.example/%6awks'],
    ['a detour', 'https://keys.example/x/../jwks'],
  ])('may not be the key set of the callers, compared by host, port and path: with %s', (_, other) => {
    const fault = 'BACKEND_JWKS_URL: another host, port or path than AUTH_JWKS_URL'
    expect(faultsOf({ AUTH_JWKS_URL: url, BACKEND_JWKS_URL: other })).toEqual([fault])
    expect(faultsOf({ AUTH_JWKS_URL: other, BACKEND_JWKS_URL: url })).toEqual([fault])
  })

  it.each(['https://keys.example/backends', 'https://keys.example:8443/jwks', 'https://other.example/jwks'])(
    'may be a key set at another path, port or host: %s',
    (other) => {
      expect(faultsOf({ AUTH_JWKS_URL: url, BACKEND_JWKS_URL: other })).toEqual([])
    },
  )

  it.each([
    [{ BACKEND_JWT_SECRET: backendSecret.slice(0, 31) }, `BACKEND_JWT_SECRET: a text of at least 32 bytes, ${bare}`],
    [{ BACKEND_JWT_SECRET_PREVIOUS: 'x' }, `BACKEND_JWT_SECRET_PREVIOUS: a text of at least 32 bytes, ${bare}`],
    [
      { BACKEND_JWT_SECRET: undefined, BACKEND_JWT_SECRET_PREVIOUS: previous },
      'BACKEND_JWT_SECRET_PREVIOUS: set only beside BACKEND_JWT_SECRET',
    ],
    [{ BACKEND_JWKS_URL: 'http://keys.example/jwks' }, expect.stringMatching(/^BACKEND_JWKS_URL: /)],
    [{ BACKEND_ISSUER: 7 }, `BACKEND_ISSUER: the name of the issuer, ${bare}`],
    [{ BACKEND_AUDIENCE: 7 }, `BACKEND_AUDIENCE: the name of the audience, ${bare}`],
  ])('are refused where they are %j', (changes, fault) => {
    expect(faultsOf(changes)).toEqual([fault])
  })
})
