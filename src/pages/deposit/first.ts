/**
 * A script of its own, and small: it is there before the page's, and asks for what that shows first. On a slow connection the
 * address is there a round trip earlier.
 */
import { createApi } from '../kit/api.ts'
import { createTokenSource, isOnThisMachine } from '../kit/token.ts'
import { addressPath, arrivalsPath, balancesPath, historyPath, offerPath, pageRows } from './paths.ts'

/** What happens with each later token: the page sets it. */
export const later = { arrived: (_isOtherAccount: boolean): void => {} }

const token = createTokenSource((isOtherAccount) => later.arrived(isOtherAccount))
/** The service. */
export const api = createApi(token)
/** Resolves when the page can ask: at once, unless a framing page has to give the token before. */
export const ready = begin()

async function begin(): Promise<void> {
  if (token.isFramed && !isOnThisMachine) await token.renew(null)
  if (document.hidden) return // the page asks when somebody looks at it
  api.begin([offerPath, addressPath, arrivalsPath(pageRows), balancesPath, historyPath(null, pageRows)])
}
