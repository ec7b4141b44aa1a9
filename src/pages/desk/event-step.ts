import { html } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { type DeskEndpoint, deliveryFailure } from './data.ts'
import { lateText, small, storyButton } from './parts.ts'
import type { Step } from './steps.ts'

/**
 * The step of an event in a story: whether endpoints have received it. `at` is the time of what
 * happened. `isStoredThen`: the event was stored at that time, too, and not later.
 */
export function eventStep(context: DeskContext, type: string, at: string, isStoredThen: boolean): Step {
  const { texts, model, format } = context
  const endpoints = model.summary?.endpoints ?? []
  const states = endpoints.map((endpoint) => deliveryState(context, endpoint, at, isStoredThen))
  const lines = endpoints.map((endpoint, index) => {
    const [isDelivered, words] = states[index] ?? [false, '']
    const name = storyButton(context, texts.endpoint(format.count(endpoint.number)), `endpoint ${endpoint.number}`)
    return html('p', {}, name, ` ${words} `, isDelivered ? null : small(deliveryFailure(endpoint), 'en'))
  })
  const isDone = states.every(([isDelivered]) => isDelivered)
  const none = endpoints.length === 0 ? [small(texts.noEndpoints)] : []
  return [isDone ? 'done' : 'wait', texts.stepEvents, html('p', {}, html('code', {}, type)), ...lines, ...none]
}

/**
 * Whether an endpoint has received the event. Events are delivered in order, so it has received all
 * that are older than the oldest one that it lacks.
 */
function deliveryState(
  context: DeskContext,
  { behind_seconds, failing_since, begins_at }: DeskEndpoint,
  at: string,
  isStoredThen: boolean,
): readonly [isDelivered: boolean, words: string] {
  const { texts, model, format } = context
  if (Date.parse(at) < Date.parse(begins_at)) return [true, texts.addedLater]
  const isWaiting = behind_seconds > 0 || failing_since !== null
  if (model.summaryAt === null) {
    return isWaiting ? [false, lateText(context, behind_seconds)] : [true, texts.has]
  }
  // one second more, because `behind_seconds` is rounded down
  const until = model.summaryAt - (behind_seconds + 1) * 1_000
  if (Date.parse(at) < until && (isStoredThen || !isWaiting)) return [true, texts.has]
  const isLacking = isWaiting && Date.parse(at) > until + 1_000
  return [false, isLacking ? texts.lacks : texts.hasUntil(format.time(new Date(Math.max(0, until)).toISOString()))]
}
