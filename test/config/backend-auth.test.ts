import { describe, expect, it } from 'vitest'
import { backendSecret, testSecret } from '../support/variables.ts'
import { configOf, faultsOf } from './parsed.ts'

describe('the keys of backends', () => {
  it('are those that are set, or null', () => {
    const url = 'https://keys.example/backends'
    expect(configOf().backend).toEqual({ secrets: [backendSecret], jwksUrl: null })
    expect(configOf({ BACKEND_JWKS_URL: url }).backend).toEqual({ secrets: [backendSecret], jwksUrl: url })
    expect(configOf({ BACKEND_JWT_SECRET: undefined, BACKEND_JWKS_URL: url }).backend).toEqual({
      secrets: [],
      jwksUrl: url,
    })
    expect(configOf({ BACKEND_JWT_SECRET: undefined }).backend).toBeNull()
    expect(configOf({ BACKEND_JWT_SECRET: '' }).backend).toBeNull()
  })

  it.each([
    ['the secret', { BACKEND_JWT_SECRET: testSecret }, 'BACKEND_JWT_SECRET: another secret than'],
    [
      'the previous secret',
      { AUTH_JWT_SECRET_PREVIOUS: backendSecret },
      'BACKEND_JWT_SECRET: another secret than AUTH_JWT_SECRET and AUTH_JWT_SECRET_PREVIOUS',
    ],
    [
      'the key set',
      { AUTH_JWKS_URL: 'https://keys.example/jwks', BACKEND_JWKS_URL: 'https://keys.example/jwks' },
      'BACKEND_JWKS_URL: another URL than AUTH_JWKS_URL',
    ],
    [
      'the key set in another spelling',
      { AUTH_JWKS_URL: 'https://keys.example/jwks', BACKEND_JWKS_URL: 'https://KEYS.example:443/jwks' },
      'BACKEND_JWKS_URL: another URL than AUTH_JWKS_URL',
    ],
  ])('may not be %s of the callers', (_, changes, fault) => {
    expect(faultsOf(changes)).toEqual([expect.stringContaining(fault)])
  })

  it.each([
    [{ BACKEND_JWT_SECRET: backendSecret.slice(0, 31) }, /^BACKEND_JWT_SECRET: /],
    [{ BACKEND_JWKS_URL: 'http://keys.example/jwks' }, /^BACKEND_JWKS_URL: /],
  ])('are refused where they are %o', (changes, fault) => {
    expect(faultsOf(changes)).toEqual([expect.stringMatching(fault)])
  })
})
