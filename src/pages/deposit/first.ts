/**
 * A script of its own, and small: it is there before the page's, and asks for what that shows first. On a slow connection the
 * address is there a round trip earlier.
 */
import { createApi } from '../kit/api.ts'
import { claimsOf } from '../kit/claims.ts'
import { browserMemory, tabMemory } from '../kit/memory.ts'
import { applyTheme } from '../kit/theme.ts'
import { createTokenSource } from '../kit/token.ts'
import { firstLanguage, loadTexts, nextLanguage, ownNames, rememberLanguage } from './languages.ts'
import { addressPath, arrivalsPath, offerPath, pageRows } from './paths.ts'

/** How long an answer may take that waits for nothing: a person hears of trouble soon. */
const answerMs = 12_000

/** What happens with each later token: the page sets it. */
export const later = { arrived: (_isOtherAccount: boolean): void => {} }

/** The language that the page begins with, and what it says in it. */
export const language = firstLanguage(browserMemory, navigator.languages)
export const texts = loadTexts(language)

/** What is here already, so that the page's own script need not bring it again. */
export const here = { browserMemory, tabMemory, claimsOf, loadTexts, nextLanguage, ownNames, rememberLanguage }

/** The caller's token. */
export const token = createTokenSource((isOtherAccount) => later.arrived(isOtherAccount), tabMemory)
/** The service. */
export const api = createApi(token, answerMs)
/** Resolves when the page can ask: at once, unless a framing page has to give the token before. */
export const ready = begin()

async function begin(): Promise<void> {
  applyTheme()
  if (token.isFramed) await token.renew(null)
  if (document.hidden) return // the page asks when somebody looks at it
  api.begin([offerPath, addressPath, arrivalsPath(pageRows)])
}
