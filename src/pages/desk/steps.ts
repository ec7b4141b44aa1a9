import { copyShown } from '../kit/copy.ts'
import { button, type Child, html } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { sentence } from './parts.ts'

/**
 * One step of a story. `done`: it has happened. `wait`: it has not happened yet, or somebody must
 * act. `no`: it has failed or never happens.
 */
export type Step = readonly [state: 'done' | 'wait' | 'no', name: string, ...lines: readonly Child[]]

/** Draws the steps of a story as a numbered list. */
export function steps(list: readonly Step[]): HTMLElement {
  const items = list.map(([state, name, ...lines]) => {
    return html('li', { 'data-step': state }, html('strong', {}, name), html('div', {}, ...lines))
  })
  return html('ol', { class: 'steps' }, ...items)
}

/** A line of a step, in which commands and settings in backticks become code. */
export const line = (text: string) => html('p', {}, ...sentence(text))

/** An answer without a story: a title, and a sentence that says what it means. */
export const plainAnswer = (title: string, help: string): Child[] => [html('h3', {}, title), line(help)]

/** A name with a txid or an address, which is shown as code. */
export const named = (name: string, value: string) =>
  html('p', { class: 'muted' }, `${name} `, html('span', { class: 'code' }, value))

/** A sentence that support can send to the user, with a button that copies it. */
export function forUser({ texts, announce }: DeskContext, text: string): HTMLElement {
  const quote = html('blockquote', {}, text)
  const label = html('span', {}, texts.copySentence)
  const copy = button({}, label, () => {
    void copyShown(quote, text).then((result) => {
      label.textContent = texts[result]
      announce(texts[result])
    })
  })
  return html('div', { class: 'note' }, html('strong', {}, texts.forUser), quote, html('div', { class: 'row' }, copy))
}
