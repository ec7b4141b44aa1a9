import { type Members, parseExact, readMembers } from './read.ts'

/**
 * Reads the claims of a token, or null. They are only shown and compared: only the service can
 * verify a token.
 */
export function claimsOf(token: string | null): Members | null {
  try {
    const payload = (token ?? '').split('.')[1] ?? ''
    const bytes = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
    return readMembers(parseExact(text))
  } catch {
    return null
  }
}
