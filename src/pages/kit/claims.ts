import { type Members, parseExact, readMembers } from './read.ts'

/** What a token says, null where it says nothing. Only to be shown and compared: the service alone can check a token. */
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
