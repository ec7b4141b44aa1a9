import { claimsOf } from './claims.ts'
import { isThisMachine } from './loopback.ts'
import type { Memory } from './memory.ts'

/** Whether the page comes from the machine on which the browser runs. */
export const isOnThisMachine = isThisMachine(location.hostname)

/**
 * Time limit for the answer of a framing page. It is short on this machine, where a page without a
 * token may act for `DEV_UID`.
 */
const answerMs = isOnThisMachine ? 2_000 : 10_000
/** The characters that a bearer token can have (RFC 6750, 2.1), and at most 8192 of them. */
const tokenForm = /^[\w.~+/=-]{1,8192}$/
/** The name under which the tab stores the token. */
const keptName = 'token'

/** The token that the page sends, and the source of later tokens. */
export interface TokenSource {
  current(): string | null
  /** Whether there is a framing page that can be asked for a token. */
  readonly isFramed: boolean
  /** Accepts a pasted token. Returns whether it has the form of one. */
  take(pasted: string): boolean
  /** Removes the stored token, so that the next load of the page has no token. */
  forget(): void
  /**
   * Asks the framing page for a token in place of `used`. Returns whether the page has another
   * token than `used` now.
   */
  renew(used: string | null): Promise<boolean>
}

/**
 * Makes the source of the page's token. The first token comes from the URL, from which it is
 * removed at once, or from the framing page. The header `frame-ancestors` ensures that a framing
 * page is of one of the operator's origins; messages of any other window are ignored. For each
 * later token, `arrived` is called with whether it belongs to another account. With `memory` the
 * token survives a reload, but a page in a frame first asks the framing page for one.
 */
export function createTokenSource(
  arrived: (isOtherAccount: boolean) => void,
  memory: Memory | null = null,
): TokenSource {
  const isFramed = window.parent !== window
  const given = takeFromAddress()
  let token = given ?? (isFramed ? null : (memory?.read(keptName) ?? null))
  if (given !== null) memory?.write(keptName, given)
  let renewal: Promise<boolean> | null = null
  let answered = () => {}
  const accept = (next: string) => {
    const isOtherAccount = accountOf(next) !== accountOf(token ?? next)
    token = next
    memory?.write(keptName, next)
    answered()
    arrived(isOtherAccount)
  }
  window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (!isFramed || source !== window.parent || typeof data !== 'object' || data === null) return
    const { type, token: next } = data as { type?: unknown; token?: unknown } // safe: the next line checks both
    if (type === 'token' && typeof next === 'string' && tokenForm.test(next)) accept(next)
  })
  window.addEventListener('hashchange', () => {
    const next = takeFromAddress()
    if (next !== null) accept(next)
  })
  const ask = async (used: string | null) => {
    const answer = new Promise<void>((resolve) => {
      answered = resolve
      setTimeout(resolve, answerMs)
    })
    window.parent.postMessage({ type: 'token-wanted' }, '*') // to any origin, because the message contains no secret
    await answer
    renewal = null
    token ??= memory?.read(keptName) ?? null
    return token !== used
  }
  return {
    current: () => token,
    isFramed,
    take(pasted) {
      const next = pasted.trim().replace(/^bearer\s+/i, '')
      if (tokenForm.test(next)) accept(next)
      return tokenForm.test(next)
    },
    forget: () => memory?.write(keptName, null),
    async renew(used) {
      if (token !== used) return true
      if (!isFramed) {
        // Forgets the refused token, so that the next load of the page tries without one: the
        // service then acts for `DEV_UID`, if that is set.
        if (isOnThisMachine) memory?.write(keptName, null)
        return false
      }
      renewal ??= ask(used)
      return renewal
    },
  }
}

/**
 * Takes the token in the URL fragment (`#token=…`), and removes it from the URL and the history.
 */
function takeFromAddress(): string | null {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const token = parameters.get('token')
  if (token === null) return null
  parameters.delete('token')
  const rest = parameters.size === 0 ? '' : `#${parameters}`
  history.replaceState(null, '', location.pathname + location.search + rest)
  return tokenForm.test(token) ? token : null
}

/**
 * The account that a token names (`sub`). A token that names none counts as an account of its own.
 */
function accountOf(token: string): string {
  const sub = claimsOf(token)?.sub
  return typeof sub === 'string' ? sub : token
}
