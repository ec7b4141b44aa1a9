import { html, type PageView, setText } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'

/**
 * The part of the page with a field for a token, shown if the service has refused the reader.
 * Submitting always empties the field, so no token stays in it.
 */
export function createSignIn(context: DeskContext): PageView {
  const { model, texts } = context
  const input = html('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '9000',
    'aria-describedby': 'token-help',
  })
  const fault = html('p', { class: 'fault', role: 'alert' })
  const form = html(
    'form',
    {},
    html('label', { for: 'token' }, texts.token),
    html('div', { class: 'row' }, input, html('button', { type: 'submit', class: 'primary' }, texts.signIn)),
    html('p', { id: 'token-help', class: 'muted' }, texts.tokenHelp),
    fault,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const isTaken = context.signIn(input.value)
    input.value = ''
    input.setAttribute('aria-invalid', String(!isTaken))
    setText(fault, isTaken ? '' : texts.notToken)
  })
  const element = html('section', { class: 'card wide' }, html('h2', {}, texts.signIn), form)
  return {
    element,
    update() {
      const status = model.refusal?.status
      element.hidden = status !== 401 && (status !== 403 || context.isSignedIn())
    },
  }
}
