import type { Refusal } from '../kit/api.ts'
import type { DeskContext } from './context.ts'

/** The sentence of a service whose settings are wrong, or are not those of the stored data. */
const notConfigured = 'the service is not configured'

/** Why the service does not answer, and what to do. */
export function refusalFinding({ texts, common, isSignedIn }: DeskContext, { kind, status, msg }: Refusal) {
  const words = (title: string, remedy: string, about = msg) => ({ kind, title, remedy, about })
  if (msg === notConfigured) return words(texts.wrongSetting, texts.wrongSettingHelp)
  if (status === 401) {
    return isSignedIn() ? words(texts.expired, texts.expiredHelp) : words(texts.signInFirst, texts.tokenHelp, '')
  }
  if (status === 403) return words(texts.noScope, texts.noScopeHelp)
  if (status === 404 && msg === 'no such path') return words(texts.noDoor, texts.noDoorHelp)
  if (kind === 'refused') return words(common.refused, texts.refusedHelp)
  return words(common[kind], kind === 'offline' ? common.offlineNext : texts.waitHelp)
}
