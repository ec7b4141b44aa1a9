import { err, type Result } from '../../common/result.ts'

/** A backend's token that is valid for more than this many seconds from now on is refused. */
export const backendTokenSecondsMax = 3600

/**
 * The faults of a token whose signature is valid, each with the sentence that its holder gets in
 * `WWW-Authenticate` (RFC 6750, 3.1).
 */
export const tokenFaults = {
  expired: 'the token has expired',
  'not-valid-yet': 'the token is not valid yet: its nbf is in the future',
  'lives-too-long': `the token is valid for more than ${backendTokenSecondsMax} s: its exp is too far ahead`,
  exp: 'exp must be a number of seconds since 1970',
  nbf: 'nbf must be a number of seconds since 1970',
  iss: 'iss is not the configured issuer',
  aud: 'aud does not name the configured audience',
  uid: 'sub must be a user id: a JSON string of decimal digits without a leading zero',
  name: 'sub must be the name of a backend: 1 to 64 letters, digits, dots, underscores and hyphens',
  scope: 'scope must be a text of words separated by spaces',
  'backend-token': "this is a backend's token, and this route takes a caller's",
  'caller-token': "this is a caller's token, and this route takes a backend's",
} as const

export type TokenFault = keyof typeof tokenFaults

/** A token with a valid signature that is refused because of its claims. */
export interface FaultyToken {
  readonly fault: TokenFault
}

/** The error for a token whose signature is valid, but whose claims are not. */
export const faulty = (fault: TokenFault): Result<never, FaultyToken> => err({ fault })
