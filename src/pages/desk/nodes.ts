import { html, type PageView } from '../kit/dom.ts'
import { lookUp } from '../kit/look-up.ts'
import { ageSeconds, type DeskContext, durationText } from './context.ts'
import type { DeskNode } from './data.ts'
import { createLiveSlot, hint, small } from './parts.ts'

/**
 * Whether the scan does without a node. A node that was not asked yet neither answers nor is
 * missing.
 */
export const isMissing = ({ state }: DeskNode) => state !== 'answers' && state !== 'not-asked'

/** How many of the nodes answer. */
export const countAnswering = (nodes: readonly DeskNode[]) => nodes.filter(({ state }) => state === 'answers').length

/** The state of a node in the page's words. */
export const stateText = ({ texts }: DeskContext, { state }: DeskNode): string =>
  lookUp(texts.nodeStates, state) ?? state

/**
 * The part of the page about nodes. For each: its last answer, how far it is behind, its last
 * error, and how many requests it still allows today.
 */
export function createNodes(context: DeskContext): PageView {
  const { model, texts } = context
  const list = html('ul', { class: 'nodes' })
  const show = createLiveSlot(list)
  return {
    element: html('section', { class: 'card wide' }, html('h2', {}, texts.nodesHeading), list),
    update() {
      const { summary } = model
      list.classList.toggle('skeleton', summary === null)
      if (summary === null) return
      const { nodes } = summary
      show(nodes === null ? [html('li', {}, texts.nodesUnknown)] : nodes.map((node) => nodeItem(context, node)))
    },
  }
}

function nodeItem(context: DeskContext, node: DeskNode): HTMLElement {
  const { texts, format } = context
  const { name, behind, answered_at, answer_ms, failed_at, failure, used, per_day } = node
  const age = (at: string) => durationText(context, ageSeconds(context, at) ?? 0).replaceAll(' ', '\u00a0')
  const isBad = isMissing(node)
  const left = Math.max(0, per_day - used)
  const percent = per_day === 0 ? 0 : Math.floor((left * 100) / per_day)
  const answer =
    answered_at === null ? texts.nodeNever : texts.nodeAnswered(age(answered_at), format.count(answer_ms ?? 0))
  const isSole = context.model.summary?.nodes?.length === 1
  const isDemoted = node.state === 'answers' && node.use === 'demoted'
  const use = isDemoted
    ? texts.pair(stateText(context, node), isSole ? texts.nodeSlow : texts.nodeDemoted)
    : stateText(context, node)
  const lines = [
    html('strong', { class: isBad ? 'fault' : null }, name),
    small(use),
    html('span', {}, answer),
    behind === null || isSole
      ? null
      : html('span', {}, behind === 0 ? texts.nodeLevel : texts.nodeBehind(format.count(behind))),
    failed_at === null ? null : html('span', { class: isBad ? 'fault' : null }, texts.nodeFailed(age(failed_at))),
    small(failure, 'en'),
    hint(texts.nodeLeft(format.count(left), format.count(per_day), format.count(percent))),
  ]
  return html('li', { 'data-node': String(node.number) }, ...lines)
}
