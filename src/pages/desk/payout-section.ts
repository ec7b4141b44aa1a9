import { type Child, html, type PageView } from '../kit/dom.ts'
import { ageSeconds, type DeskContext, deskSymbol, durationText, payoutsNow, sinceText, stateName } from './context.ts'
import type { DeskPayouts } from './data.ts'
import { createLiveSlot, fact, small, storyButton } from './parts.ts'
import { line } from './steps.ts'

/**
 * The part of the page with open payouts, and with the balances of the address that pays them.
 * Hidden without `PAYOUTS`.
 */
export function createPayouts(context: DeskContext): PageView {
  const { model, texts } = context
  const body = html('div', { class: 'payouts' })
  const show = createLiveSlot(body)
  const element = html(
    'section',
    { class: 'card wide', hidden: '' },
    html('h2', { id: 'payouts' }, texts.payouts),
    body,
  )
  return {
    element,
    update() {
      const payouts = payoutsNow(model)
      element.hidden = payouts === null
      if (payouts !== null) show([offerOf(context, payouts), ...payoutTables(context, payouts)])
    },
  }
}

/** The payout address, and whether payouts are offered to the signer. */
function offerOf(context: DeskContext, { address, stopped }: DeskPayouts): HTMLElement {
  const { texts } = context
  const offer =
    stopped === null
      ? [texts.payoutsOffered]
      : [html('span', { class: 'fault' }, texts.payoutsStopped), small(texts.since(sinceText(context, stopped.since)))]
  const from = fact(texts.payoutsFrom, storyButton(context, address, address))
  return html('dl', { class: 'delays' }, from, fact(texts.payoutsOffer, ...offer))
}

/**
 * A table for each currency: the open payouts by state, each with a button that leads to their
 * list, and what the payout address holds.
 */
export function payoutTables(context: DeskContext, payouts: DeskPayouts): Child[] {
  const { open, holds } = payouts
  const symbols = [...open.map(({ cuy }) => deskSymbol(context, cuy)), ...holds.map(({ symbol }) => symbol)]
  const tables = [...new Set(symbols)].map((symbol) => tableOf(context, payouts, symbol))
  return [
    open.length === 0 ? line(context.texts.payoutsNone) : null,
    tables.length === 0 ? null : html('div', { class: 'bridge' }, ...tables),
  ]
}

function tableOf(context: DeskContext, { open, holds }: DeskPayouts, symbol: string): HTMLElement {
  const { texts, format, model } = context
  const isLow = (model.summary?.alarms ?? []).some(({ kind, subject: { cuy } }) => {
    return kind === 'payout-wallet-low' && (cuy === null ? 'TRX' : deskSymbol(context, cuy)) === symbol
  })
  const row = (name: Child, note: string | null, amount: string, look: string | null = null) =>
    html(
      'tr',
      { class: look },
      html('th', { scope: 'row' }, name, small(note)),
      html('td', { class: 'number' }, format.amount(amount)),
    )
  const aged = (at: string, words: (age: string) => string) => {
    const age = ageSeconds(context, at)
    return age === null ? null : words(durationText(context, age))
  }
  const rows = open
    .filter(({ cuy }) => deskSymbol(context, cuy) === symbol)
    .map(({ state, cuy, count, sum, oldest_at }) => {
      const label = texts.pair(stateName(context, state), format.count(count))
      const ask = state === 'waiting' ? `#queue=payouts&cuy=${cuy}` : `payouts ${state} ${cuy}`
      const name = storyButton(context, label, ask, `${texts.payouts} ${symbol}`)
      return row(name, aged(oldest_at, texts.payoutsOldest), sum)
    })
  const held = holds
    .filter((one) => one.symbol === symbol)
    .map(({ amt, read_at }) => {
      return row(texts.payoutsHeld, aged(read_at, texts.payoutsHeldAt), amt, isLow ? 'total fault' : 'total')
    })
  return html('table', {}, html('caption', {}, symbol), html('tbody', {}, ...rows, ...held))
}
