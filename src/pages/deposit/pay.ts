import { copyButton } from '../kit/copy.ts'
import { type Child, createSlot, html, linkTo, type PageView } from '../kit/dom.ts'
import { drawQr } from '../kit/qr.ts'
import { amountText, currencyWith, type DepositContext, networkOf, orderOf, orderProgress } from './context.ts'
import { isCreditable, type OfferedCurrency } from './data.ts'
import { createHold } from './hold.ts'
import { isToPay, summaryOf, summaryPart } from './status.ts'

/** How many characters at each end of an address are bold: those are what people compare. */
const endChars = 5

/**
 * The choice of the currency. Hidden if an order names the currency, or if the service
 * offers only one.
 */
export function createChoice(context: DepositContext, remember: (cuy: number) => void): PageView {
  const { model, texts } = context
  const group = html('div', { class: 'choices', role: 'radiogroup', 'aria-label': texts.choose })
  const fill = createSlot(group)
  const option = (currency: OfferedCurrency) => {
    const { cuy, symbol, name } = currency
    const disabled = isCreditable(currency) ? null : ''
    const input = html('input', { type: 'radio', name: 'currency', value: String(cuy), disabled })
    input.addEventListener('change', () => {
      model.chosen = cuy
      remember(cuy)
      context.update()
      context.refresh()
    })
    const isNamed = name.toLowerCase() === symbol.toLowerCase()
    return html(
      'label',
      { class: 'choice' },
      input,
      html('span', {}, symbol, isNamed ? null : html('span', { class: 'unseen' }, ` (${name})`)),
      disabled === null ? null : html('span', { class: 'closed' }, texts.closedNow),
    )
  }
  return {
    element: group,
    update() {
      const offered = model.offer?.list.filter(({ retired }) => !retired) ?? null
      group.hidden =
        model.session.claim.order !== null || isAllClosed(context) || (offered !== null && offered.length < 2)
      fill(JSON.stringify(offered), () => offered?.map(option) ?? [html('span', { class: 'skeleton choice' })])
      for (const input of group.querySelectorAll('input')) input.checked = input.value === String(model.chosen)
    },
  }
}

/** Everything to know before paying: what to send, on which network, and to which address. */
export function createPayment(context: DepositContext): PageView {
  const { model } = context
  const element = html('div', { class: 'pay' })
  const fill = createSlot(element)
  const hold = createHold(context)
  return {
    element,
    tick: hold.tick,
    update() {
      hold.update()
      const asked = orderOf(context)
      const isOrder = model.session.claim.order !== null
      const currency = isOrder ? (asked?.currency ?? null) : currencyWith(context, model.chosen ?? Number.NaN)
      const missing = missingOf(context)
      const summary = isToPay(context) ? summaryOf(context) : null
      // Wait for the transfers, so that an amount which was already sent is not asked for again.
      const isAwaited = isOrder && model.arrivals === null
      const { address } = model
      fill(
        JSON.stringify([currency, address, isAwaited, missing, summary, model.offer?.network, isAllClosed(context)]),
        () => {
          if (isAllClosed(context)) return [summaryPart(summary), ...closedParts(context, null)]
          if (currency === null || address === null || isAwaited) return awaitedParts(context)
          if (!isCreditable(currency)) return [summaryPart(summary), ...closedParts(context, currency)]
          return [
            summaryPart(summary),
            sendPart(context, currency, missing),
            networkPart(context, currency),
            qrPart(context, address),
            addressPart(context, address, hold.element, walletLink(context, currency, address, missing)),
          ]
        },
      )
    },
  }
}

/** What of the order is missing, and whether that is all of it (`isAll`); null without one. */
function missingOf(context: DepositContext): { readonly amount: string; readonly isAll: boolean } | null {
  const progress = orderProgress(context)
  return progress === null ? null : { amount: progress.missing, isAll: progress.phase === 'waiting' }
}

/** Whether no deposit can be credited now. */
const isAllClosed = ({ model }: DepositContext) => model.offer?.list.some(isCreditable) === false

function closedParts({ texts }: DepositContext, currency: OfferedCurrency | null): Child[] {
  const title = currency === null ? texts.allClosed : texts.closed(currency.symbol)
  const help = currency === null ? texts.allClosedHelp : texts.closedHelp
  return [html('div', { class: 'note warn' }, html('h2', {}, title), html('p', {}, help))]
}

/** Placeholders in the final size of the parts that are not loaded yet. */
function awaitedParts({ texts, model }: DepositContext): Child[] {
  const bar = (kind: string) => html('div', { class: `skeleton ${kind}`, 'aria-hidden': 'true' })
  const heading = model.session.claim.order === null ? texts.title : texts.titlePay('')
  return [html('h2', { class: 'unseen' }, heading.trim()), bar('send'), bar('network'), bar('code'), bar('destination')]
}

function sendPart(context: DepositContext, currency: OfferedCurrency, missing: ReturnType<typeof missingOf>): Child {
  const { texts } = context
  const { cuy, symbol, minDeposit } = currency
  if (missing === null) {
    const least = minDeposit === null ? texts.anyAmount : texts.atLeast(amountText(context, minDeposit, cuy))
    return html('div', { class: 'send' }, html('h2', {}, texts.send(symbol)), html('p', { class: 'muted' }, least))
  }
  const amount = amountText(context, missing.amount, cuy)
  const heading = html('h2', {}, missing.isAll ? texts.sendAmount(amount) : texts.sendMore(amount))
  const copy = copyButton(
    { class: 'plain' },
    { ...texts, label: texts.copyAmount },
    { element: heading, text: missing.amount },
    (result) => context.announce(texts[result]),
  )
  // the summary says more about the rest
  const exactly = missing.isAll ? html('p', { class: 'muted' }, texts.exactly) : null
  return html('div', { class: 'send' }, heading, copy, exactly)
}

/** The network, and the warning that money sent on another one is lost. */
function networkPart(context: DepositContext, { symbol, contract }: OfferedCurrency): Child {
  const { texts } = context
  const { name, isTest } = networkOf(context)
  const badge = html(
    'strong',
    { class: isTest ? 'badge test' : 'badge' },
    contract === null ? name : texts.tokenOn(name),
  )
  const warning = isTest ? texts.onlyTest(symbol) : texts.onlyHere(symbol)
  return html(
    'div',
    { class: 'network' },
    html('p', {}, html('span', { class: 'muted' }, `${texts.network} `), badge),
    html('p', { class: 'warning' }, warning),
  )
}

const qrPart = ({ texts }: DepositContext, address: string): Child =>
  html('div', { class: 'code' }, drawQr(address, texts.qrOf(address)))

function addressPart(context: DepositContext, address: string, hold: HTMLElement, wallet: Child): Child {
  const { texts } = context
  const shown = html(
    'p',
    { class: 'address', id: 'address', lang: 'en' },
    html('b', {}, address.slice(0, endChars)),
    address.slice(endChars, -endChars),
    html('b', {}, address.slice(-endChars)),
  )
  const copy = copyButton(
    { class: 'primary' },
    { ...texts, label: texts.copyAddress },
    { element: shown, text: address },
    (result) => {
      context.announce(texts[result] + texts.stop + texts.gap + texts.compare)
      context.refresh() // a reader who copies is about to pay
    },
  )
  const label = html('h3', {}, texts.address, hold)
  return html('div', { class: 'destination' }, label, shown, html('div', { class: 'row' }, copy, wallet))
}

/**
 * A link that opens a wallet app with the address and the missing amount: Trust Wallet's `send`,
 * whose asset is a universal asset id (developer.trustwallet.com, Deep Linking and Universal Asset
 * ID; checked 2026-11). The coin number of TRON is 195.
 */
function walletLink(
  context: DepositContext,
  { contract }: OfferedCurrency,
  address: string,
  missing: ReturnType<typeof missingOf>,
): Child {
  if (context.wallet === null || context.model.offer?.network !== 'Tron') return null
  const asset = `c195${contract === null ? '' : `_t${contract}`}`
  const query = new URLSearchParams({ asset, address, ...(missing === null ? {} : { amount: missing.amount }) })
  const words = context.texts.openWallet('Trust Wallet')
  return linkTo(`https://link.trustwallet.com/send?${query}`, 'new tab', { class: 'button' }, words)
}

/**
 * The content of the part "how": what a payer may want to know before paying, but has no room on
 * the screen.
 */
export function createHow(context: DepositContext): PageView {
  const { model, texts } = context
  const lines = html('ul', { class: 'how' })
  const fill = createSlot(lines)
  return {
    element: lines,
    update() {
      const { name, isTest } = networkOf(context)
      const offered = model.offer?.list.filter(({ retired }) => !retired) ?? []
      const symbols = offered.map(({ symbol }) => symbol)
      const isOrder = model.session.claim.order !== null
      fill(JSON.stringify([symbols, name, isOrder]), () => {
        const words = [
          texts.howFrom(symbols.join(texts.or)),
          texts.howNetwork(isTest ? name : texts.asTron),
          ...[texts.howAmount, texts.howLost, texts.compare, texts.howStages],
        ]
        if (!isOrder) words.push(texts.howKeep) // the address of an order is for that order
        return words.map((line) => html('li', {}, line))
      })
    },
  }
}
