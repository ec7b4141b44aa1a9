import type { Reason } from '../../worker/common/reasons.ts'
import type { Refusal } from '../kit/api.ts'
import { type Child, html } from '../kit/dom.ts'
import { type DeskContext, durationText } from './context.ts'
import { sentence } from './parts.ts'

/** Reasons that mean: the service's settings are wrong, or do not belong to its database. */
const wrongSettings: readonly unknown[] = ['not-configured', 'configuration-differs'] satisfies Reason[]
/** After how many seconds the page advises to search again if the service has not said it. */
const askAgainSeconds = 30

/**
 * The texts that say why the service has refused, and what to do. `isAsked`: the request was a
 * search, which only the reader can repeat.
 */
function refusalWords(context: DeskContext, refusal: Refusal, isAsked: boolean) {
  const { texts } = context
  const { kind, status, msg, reason, retrySeconds } = refusal
  const words = (title: string, remedy: string, about = msg) => ({ title, remedy, about })
  if (wrongSettings.includes(reason)) return words(texts.wrongSetting, texts.wrongSettingHelp)
  if (status === 401) {
    if (context.isSignedIn()) return words(texts.unauthorized, texts.expiredHelp)
    // The reader uses no token, so this 401 means that Cloudflare Access wants the reader to sign
    // in.
    return context.model.summary === null
      ? words(texts.signInFirst, texts.signInHelp, '')
      : words(texts.sessionEnded, texts.sessionEndedHelp, '')
  }
  if (status === 403) {
    return context.isSignedIn() ? words(texts.noScope, texts.noScopeHelp) : words(texts.notListed, texts.notListedHelp)
  }
  if (status === 404) return words(texts.noDoor, texts.noDoorHelp)
  if (kind === 'refused') return words(texts.refused, texts.refusedNext)
  if (isAsked) return words(texts[kind], texts.askAgain(durationText(context, retrySeconds ?? askAgainSeconds)))
  return words(texts[kind], kind === 'offline' ? texts.offlineNext : texts.waitHelp)
}

/**
 * The elements that show a refusal. With `id`, the id of the heading, they replace the page's
 * status. Without it they replace the answer to a search.
 */
export function refusalElements(context: DeskContext, refusal: Refusal, id: string | null = null): Child[] {
  const { title, remedy, about } = refusalWords(context, refusal, id === null)
  const gap = context.language === 'en' ? ' ' : ''
  const says = html('p', { class: 'muted' }, context.texts.serviceSays, gap, html('q', { lang: 'en' }, about))
  return [
    html(id === null ? 'h3' : 'h2', { id }, title),
    html('p', {}, ...sentence(remedy)),
    about === '' ? null : says,
  ]
}
