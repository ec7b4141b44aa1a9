import { copyShown } from '../kit/copy.ts'
import { button, type Child, createSlot, html, type PageView, setText } from '../kit/dom.ts'
import { drawQr } from '../kit/qr.ts'
import { type DepositContext, networkOf } from './context.ts'
import type { OfferedCurrency } from './data.ts'

/** How many characters a person compares at either end of an address. */
const endChars = 5
/** They have the room of the offered ones, unseen, until those are there: so nothing moves then. */
const symbolsAsShipped = ['TRX', 'USDT']

/** The choice of the currency. */
export function createChoice(context: DepositContext): PageView {
  const { model, texts } = context
  const from = html('p', {})
  const group = html('div', { class: 'choices', role: 'radiogroup', 'aria-labelledby': 'choose' })
  const fill = createSlot(group)
  const option = ({ cuy, symbol, name, isToken }: OfferedCurrency) => {
    const input = html('input', { type: 'radio', name: 'currency', value: String(cuy) })
    input.addEventListener('change', () => {
      model.chosen = cuy
      context.update()
      context.refresh()
    })
    const kind = isToken ? texts.tokenKind : texts.nativeKind
    const words = html(
      'span',
      {},
      html('strong', {}, symbol),
      name.toLowerCase() === symbol.toLowerCase() ? null : html('span', { class: 'name' }, name),
    )
    return html('label', { class: 'choice' }, input, words, html('span', { class: 'muted' }, kind))
  }
  return {
    element: html('section', { class: 'card step' }, html('h2', { id: 'choose' }, texts.chooseHeading), from, group),
    update() {
      const offered = offeredOf(context)
      const { name, isTest } = networkOf(context)
      const symbols = offered?.map(({ symbol }) => symbol) ?? symbolsAsShipped
      setText(from, texts.payFrom(symbols.join(texts.or), isTest ? name : texts.asTron))
      from.classList.toggle('skeleton', offered === null)
      from.setAttribute('aria-hidden', String(offered === null))
      from.hidden = offered?.length === 0
      if (offered?.length === 1) model.chosen = offered[0]?.cuy ?? null
      fill(JSON.stringify(offered), () => {
        if (offered === null)
          return [html('div', { class: 'skeleton choice' }), html('div', { class: 'skeleton choice' })]
        return offered.length === 0 ? [html('p', { class: 'note bad' }, texts.noCurrencies)] : offered.map(option)
      })
      for (const input of group.querySelectorAll('input')) input.checked = input.value === String(model.chosen)
    },
  }
}

/** The address with everything that has to be known before paying. */
export function createPayment(context: DepositContext): PageView {
  const { model, texts, common } = context
  const body = html('div', { class: 'payment' })
  const fill = createSlot(body)
  return {
    element: html(
      'section',
      { class: 'card step paying' },
      html('h2', {}, texts.payHeading),
      html('p', {}, texts.payHelp),
      body,
    ),
    update() {
      const offered = offeredOf(context)
      const currency = offered?.find(({ cuy }) => cuy === model.chosen) ?? null
      const missing = model.address === null ? (model.refusal?.kind ?? null) : null
      fill(JSON.stringify([currency, model.address, missing, offered?.length]), () => {
        const first = offered?.length === 0 ? texts.addressMissing : texts.chooseFirst
        if (currency === null) return [html('p', { class: 'placeholder' }, first)]
        if (model.address !== null) return paymentParts(context, currency, model.address)
        const awaited = [html('div', { class: 'skeleton code' }), html('div', { class: 'skeleton lines' })]
        if (missing === null) return awaited
        const words = html('p', {}, missing === 'unauthorized' ? common.unauthorizedNext : texts.addressMissingHelp)
        return [html('div', { class: 'note warn' }, html('strong', {}, texts.addressMissing), words), ...awaited]
      })
    },
  }
}

function offeredOf({ model }: DepositContext): readonly OfferedCurrency[] | null {
  return model.offer?.currencies.filter(({ isRetired }) => !isRetired) ?? null
}

function paymentParts(context: DepositContext, currency: OfferedCurrency, address: string): Child[] {
  const { texts, format } = context
  const { symbol, isToken, minimum } = currency
  const { name, isTest } = networkOf(context)
  const least = minimum === null ? texts.noMinimum : `${format.amount(minimum)} ${symbol}`
  const warning = html(
    'div',
    { class: 'note warn' },
    html('strong', {}, texts.onlyHere(symbol, name)),
    html('p', {}, isTest ? texts.realLost : texts.elseLost),
  )
  const facts = html(
    'dl',
    { class: 'facts' },
    fact(texts.network, isToken ? texts.standard(name) : name, texts.networkHelp),
    fact(texts.minimum, least, minimum === null ? texts.noMinimumHelp : texts.minimumHelp),
  )
  return [warning, facts, addressPart(context, address)]
}

function fact(name: string, value: string, help: string): Child {
  const words = html('dd', {}, html('strong', {}, value), html('span', { class: 'muted' }, help))
  return html('div', {}, html('dt', {}, name), words)
}

function addressPart(context: DepositContext, address: string): HTMLElement {
  const { texts, common } = context
  const shown = html(
    'p',
    { class: 'address', id: 'address', lang: 'en' },
    html('b', {}, address.slice(0, endChars)),
    address.slice(endChars, -endChars),
    html('b', {}, address.slice(-endChars)),
  )
  const hint = html('p', { class: 'muted' }, texts.compare + texts.gap + texts.keep)
  const label = html('span', {}, texts.copyAddress)
  const copy = button({ class: 'primary' }, label, () => {
    void copyShown(shown, address).then((result) => {
      label.textContent = common[result]
      context.announce(`${common[result]}. ${texts.compare}`)
      context.refresh() // somebody who copies is about to pay
    })
  })
  const words = html('div', {}, html('h3', {}, texts.address), shown, copy, hint)
  return html('div', { class: 'destination' }, words, drawQr(address, texts.qrOf(address)))
}
