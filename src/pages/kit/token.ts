/** How long a framing page has for its answer. */
const answerMs = 10_000
/** The form of a bearer token. */
const tokenForm = /^[\w.~+/=-]{1,8192}$/

/** Whether the page is served by this machine. */
export const isOnThisMachine = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname)

/** The caller's token, in memory only. */
export interface TokenSource {
  current(): string | null
  /** Whether a framing page can be asked for a token. */
  readonly isFramed: boolean
  /** Takes a token that the reader has pasted. Whether it has the form of one. */
  take(pasted: string): boolean
  /** Asks the framing page for a token in place of `used`. Whether there is another one now. */
  renew(used: string | null): Promise<boolean>
}

/**
 * Takes the token from the address, which it leaves at once, and from the framing page. The header `frame-ancestors` ensures
 * that such a page is of one of the operator's origins; messages of any other window are ignored. `arrived` is called with each
 * later token, and whether it is that of another account.
 */
export function createTokenSource(arrived: (isOtherAccount: boolean) => void): TokenSource {
  let token = takeFromAddress()
  let renewal: Promise<boolean> | null = null
  let answered = () => {}
  const isFramed = window.parent !== window
  const accept = (next: string) => {
    const isOtherAccount = accountOf(next) !== accountOf(token ?? next)
    token = next
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
    async renew(used) {
      if (token !== used) return true
      if (!isFramed) return false
      renewal ??= ask(used)
      return renewal
    },
  }
}

/** The token in the fragment of the address (`#token=…`), which is removed from the address and from the history. */
function takeFromAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return null
  history.replaceState(null, '', location.pathname + location.search)
  return tokenForm.test(token) ? token : null
}

/** What a token says about whose it is. Only compared: the service alone can check it. */
function accountOf(token: string): string {
  try {
    const claims = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))
    const { sub } = claims as { sub?: unknown } // checked here
    return typeof sub === 'string' ? sub : token
  } catch {
    return token
  }
}
