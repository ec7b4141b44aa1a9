import { claimsOf } from './claims.ts'
import { isThisMachine } from './loopback.ts'
import type { Memory } from './memory.ts'

/** Whether the page is served by this machine. */
export const isOnThisMachine = isThisMachine(location.hostname)

/** How long a framing page has for its answer. On this machine a page without a token can act for `DEV_UID`. */
const answerMs = isOnThisMachine ? 2_000 : 10_000
/** The form of a bearer token. */
const tokenForm = /^[\w.~+/=-]{1,8192}$/
/** Its name in the memory of the tab. */
const keptName = 'token'

/** The token of the caller. */
export interface TokenSource {
  current(): string | null
  /** Whether a framing page can be asked for a token. */
  readonly isFramed: boolean
  /** Takes a token that the reader has pasted. Whether it has the form of one. */
  take(pasted: string): boolean
  /** Ends what is kept: the next load of the page has no token. */
  forget(): void
  /** Asks the framing page for a token in place of `used`. Whether there is another one now. */
  renew(used: string | null): Promise<boolean>
}

/**
 * Takes the token from the address, which it leaves at once, and from the framing page. The header `frame-ancestors` ensures
 * that such a page is of one of the operator's origins; messages of any other window are ignored. `arrived` is called with each
 * later token, and whether it is that of another account. With `memory` the token outlives a reload; what a framing page says
 * counts more.
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
    const { type, token: next } = data as { type?: unknown; token?: unknown } // checked here
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
    window.parent.postMessage({ type: 'token-wanted' }, '*') // no secret in it
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
        // The next load of the page tries without it, as `DEV_UID` where there is one.
        if (isOnThisMachine) memory?.write(keptName, null)
        return false
      }
      renewal ??= ask(used)
      return renewal
    },
  }
}

/** The token in the fragment of the address (`#token=…`), which is removed from the address and from the history. */
function takeFromAddress(): string | null {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const token = parameters.get('token')
  if (token === null) return null
  parameters.delete('token')
  const rest = parameters.size === 0 ? '' : `#${parameters}`
  history.replaceState(null, '', location.pathname + location.search + rest)
  return tokenForm.test(token) ? token : null
}

/** What a token says about whose it is. */
function accountOf(token: string): string {
  const sub = claimsOf(token)?.sub
  return typeof sub === 'string' ? sub : token
}
