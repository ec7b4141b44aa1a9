/**
 * A small script that loads before the main script and requests the data that the page shows first.
 * So on a slow connection the address appears one round trip earlier.
 */
import { createApi } from '../kit/api.ts'
import { claimsOf } from '../kit/claims.ts'
import { browserMemory, tabMemory } from '../kit/memory.ts'
import { applyTheme } from '../kit/theme.ts'
import { createTokenSource } from '../kit/token.ts'
import { readOrderClaim } from './claim.ts'
import { firstLanguage, loadTexts, nextLanguage, ownNames, rememberLanguage } from './languages.ts'
import { addressPath, arrivalsPath, offerPath, orderPath, pageRows } from './paths.ts'

/** Time limit for answers that need no scan, so that the reader soon learns of trouble. */
const answerMs = 12_000

/** `arrived` is called for each access token after the first one. The main script sets it. */
export const later = { arrived: (_isOtherAccount: boolean): void => {} }

/** The language in which the page begins; `texts` are its texts. */
export const language = firstLanguage(browserMemory, navigator.languages)
export const texts = loadTexts(language)

/**
 * Parts that both scripts use. The main script takes them from here, so that the browser does not
 * load a second copy.
 */
export const here = {
  ...{ browserMemory, tabMemory, claimsOf, readOrderClaim },
  ...{ loadTexts, nextLanguage, ownNames, rememberLanguage },
}

/** The source of the reader's access token, which survives a reload of the tab. */
export const token = createTokenSource((isOtherAccount) => later.arrived(isOtherAccount), tabMemory)
/**
 * The client of the service. The main script uses the same client, and so gets the answers to the
 * requests that `begin` has sent.
 */
export const api = createApi(token, answerMs)
/**
 * Resolves when the page can send requests: at once, unless a framing page has to provide the token
 * first.
 */
export const ready = begin()

async function begin(): Promise<void> {
  applyTheme()
  if (token.isFramed) await token.renew(null)
  if (document.hidden) return // a hidden page requests nothing until somebody looks at it
  const { order, fault } = readOrderClaim(claimsOf(token.current()))
  if (fault !== null) return // the page shows a message in place of all that it would ask for
  api.begin([offerPath, order === null ? addressPath : orderPath(order), arrivalsPath(pageRows)])
}
