import { copyShown } from '../kit/copy.ts'
import { button, type Child, html } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { sentence } from './parts.ts'

/** One step of a story: its state, its name, and further lines. */
export type Step = readonly [state: 'done' | 'wait' | 'no', name: string, ...lines: readonly Child[]]

/** The steps of a story, in order. */
export function steps(list: readonly Step[]): HTMLElement {
  const items = list.map(([state, name, ...lines]) => {
    return html('li', { 'data-step': state }, html('strong', {}, name), html('div', {}, ...lines))
  })
  return html('ol', { class: 'steps' }, ...items)
}

/** A line of a step. */
export const line = (text: string) => html('p', {}, ...sentence(text))

/** An answer in one sentence, with its meaning. */
export const plainAnswer = (title: string, help: string): Child[] => [html('h3', {}, title), line(help)]

/** A named number or address, as the service shows it. */
export const named = (name: string, value: string) =>
  html('p', { class: 'muted' }, `${name} `, html('span', { class: 'code' }, value))

/** A sentence for the user, with a button that copies it. */
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
