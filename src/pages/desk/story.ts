import { countedText, knownCount } from '../kit/counted.ts'
import { type Child, html } from '../kit/dom.ts'
import type { ListPage } from '../kit/read.ts'
import { itemActions } from './action-buttons.ts'
import type { DepositStory, DeskAnswer } from './answer.ts'
import { chainElements } from './chain-story.ts'
import {
  type DeskContext,
  depositAmount,
  deskAmount,
  deskSymbol,
  isUncertain,
  payoutsNow,
  sinceText,
  stateName,
  typeName,
} from './context.ts'
import { type DeskPayout, deliveryFailure, markOf, type OwnedDeposit, type PostedEntry } from './data.ts'
import { eventStep } from './event-step.ts'
import { gapRange } from './findings.ts'
import type { DeskOrder } from './order-data.ts'
import { orderListRow, orderSource } from './order-source.ts'
import { orderStory } from './order-story.ts'
import { depositRow, hint, lateText, listTable, sentence, small, storyButton } from './parts.ts'
import { payoutTables } from './payout-section.ts'
import { payoutListRow, payoutSource } from './payout-source.ts'
import { payoutElements } from './payout-story.ts'
import { queueLinks } from './queue-rows.ts'
import { depositReason } from './reasons.ts'
import { refusalElements } from './refusal.ts'
import { createRows } from './rows.ts'
import { depositListRow, depositSource, entryListRow, entrySource } from './sources.ts'
import { forUser, line, named, plainAnswer, type Step, steps } from './steps.ts'
import type { ListRow, RowSource } from './walk.ts'
import { alarmWords, differenceWords, remedyOf } from './words.ts'

/** The elements that show an answer. A story has its steps in the order in which they happened. */
export function answerElements(context: DeskContext, answer: DeskAnswer): Child[] {
  const { texts } = context
  switch (answer.kind) {
    case 'busy':
      return [html('p', {}, texts.loading)]
    case 'refusal':
      return refusalElements(context, answer.refusal)
    case 'transaction':
      return [
        named(texts.transaction, answer.txid),
        ...answer.payouts.flatMap((one) => payoutElements(context, one, answer.txid)),
        ...answer.stories.flatMap((one) => storyElements(context, one)),
      ]
    case 'chain':
      return chainElements(context, answer)
    case 'address':
      return addressElements(context, answer)
    case 'user':
      return userElements(context, answer)
    case 'parts':
      return partElements(context, answer)
    case 'order':
      if (answer.orders.length + answer.entries.length + answer.payouts.length === 0)
        return plainAnswer(texts.noOrder(context.model.question.replace(/^osn /, '')), texts.noOrderHelp)
      return [
        ...answer.orders.flatMap((order) => orderStory(context, order)),
        ...answer.payouts.flatMap((one) => payoutElements(context, one)),
        ...answer.entries.flatMap((entry) => orderElements(context, entry)),
      ]
    case 'no-payout':
      return plainAnswer(texts.noPayout, texts.noPayoutHelp)
    case 'gap':
      return gapElements(context, answer)
    case 'endpoint':
      return endpointElements(context, answer.number)
  }
}

/** A button for each address or txid that begins and ends so; or what was looked for. */
function partElements(context: DeskContext, answer: Extract<DeskAnswer, { kind: 'parts' }>): Child[] {
  const { texts } = context
  const { begin, end, found, more } = answer
  if (found.length === 0) return plainAnswer(texts.noPart(begin, end), texts.noPartHelp)
  const buttons = found.map((one) => html('li', {}, storyButton(context, one, one)))
  return [
    html('h3', {}, texts.partsFound(begin, end)),
    html('ul', { class: 'sums' }, ...buttons),
    small(more ? texts.partsMore : null),
  ]
}

function storyElements(context: DeskContext, { deposit, entry, addressNumber }: DepositStory): Child[] {
  const { texts, format } = context
  const { uid, cuy, amt, address, state, created_at: at } = deposit
  const number = addressNumber === null ? '–' : format.count(addressNumber)
  const owner = storyButton(context, texts.owner(String(uid), number), String(uid))
  const list: readonly Step[] = [
    ['done', texts.stepSeen, line(texts.seenAt(sinceText(context, at), address))],
    ['done', texts.stepOwner, owner],
    finalStep(context, deposit),
    creditStep(context, deposit, entry),
    eventStep(context, `deposit.${state}`, entry?.created_at ?? at, state === 'credited' || state === 'seen'),
  ]
  const name = texts.pair(depositAmount(context, amt, cuy), stateName(context, state))
  const actions = itemActions(context, deposit)
  return [
    ...queueLinks(context, deposit),
    html('h3', {}, name),
    steps(list),
    ...actions,
    forUser(context, depositSentence(context, deposit, entry)),
  ]
}

/**
 * Whether a deposit should be final by now but is not read yet, while there are unread blocks
 * (gaps): it may be in one of them.
 */
const isInGap = ({ model }: DeskContext, { state, seconds }: OwnedDeposit) =>
  state === 'seen' && seconds === 0 && (model.summary?.gaps.length ?? 0) > 0

function finalStep(context: DeskContext, deposit: OwnedDeposit): Step {
  const { texts, format } = context
  const { state, seconds } = deposit
  if (isInGap(context, deposit)) return ['wait', texts.stepFinal, line(texts.finalUnread)]
  if (state === 'seen') {
    if (seconds === null) return ['wait', texts.stepFinal, line(texts.finalLate)]
    const when = seconds === 0 ? texts.finalNext : texts.finalIn(format.count(seconds))
    return ['wait', texts.stepFinal, line(when)]
  }
  if (state === 'dropped') return ['no', texts.stepFinal, line(texts.finalNever)]
  return ['done', texts.stepFinal, line(texts.finalYes)]
}

function creditStep(context: DeskContext, deposit: OwnedDeposit, entry: PostedEntry | null): Step {
  const { texts } = context
  const { state, why, decided } = deposit
  const looked = small(decided === null ? null : texts.decidedBy(decided.by, decided.why))
  if (state === 'credited') {
    return ['done', texts.stepCredited, ...(entry === null ? [] : entryLines(context, entry)), looked]
  }
  if (state === 'seen' || state === 'dropped') return ['wait', texts.stepCredited, line(texts.creditLater)]
  const words = depositReason(context, deposit)
  const lines = [line(texts.creditNo(words.why)), small(why, 'en'), looked, line(`${texts.advice}${words.remedy}`)]
  return ['no', texts.stepCredited, ...lines]
}

function entryLines(context: DeskContext, entry: PostedEntry): Child[] {
  const { texts, format } = context
  const { id, amt, cuy, balance, created_at, by } = entry
  const text = texts.entryAt(String(id), deskAmount(context, amt, cuy, 'always'), format.time(created_at))
  const rest = [texts.balanceAfter(format.amount(balance)), by === '' ? null : texts.postedBy(by), markOf(entry)]
  return [line(text), ...rest.map((one) => small(one))]
}

function depositSentence(context: DeskContext, deposit: OwnedDeposit, entry: PostedEntry | null): string {
  const { texts, format } = context
  const { amt, cuy, state, seconds } = deposit
  // The text for the user names only the symbol if the amount may be wrong.
  const amount = isUncertain(context, cuy) ? deskSymbol(context, cuy) : deskAmount(context, amt, cuy)
  const words = depositReason(context, deposit).why
  if (state === 'credited') return texts.sayCredited(amount, format.time((entry ?? deposit).created_at))
  if (state === 'seen') {
    if (seconds === null) return texts.sayLate(amount)
    return seconds === 0 ? texts.sayWaits(amount) : texts.saySeen(amount, format.count(seconds))
  }
  if (state === 'dropped') return texts.sayDropped(amount)
  return state === 'held' ? texts.sayHeld(amount, words) : texts.sayRefused(amount, words)
}

function addressElements(
  context: DeskContext,
  { address, owner, deposits, payouts, orders }: Extract<DeskAnswer, { kind: 'address' }>,
): Child[] {
  const { texts, format, model } = context
  const head = named(texts.address, address)
  const paid = payouts.count === 0 ? [] : payoutRows(context, payouts, payoutSource(context, { to: address }))
  const ofPayouts = payoutsNow(model)
  if (ofPayouts !== null && ofPayouts.address === address) {
    const what = plainAnswer(texts.payoutAddress, texts.payoutAddressHelp)
    return [head, ...what, ...frozenLines(context, address), ...payoutTables(context, ofPayouts)]
  }
  if (owner === null) {
    if (paid.length > 0) return [head, html('h3', {}, texts.payoutsOnly), ...paid]
    return [head, ...plainAnswer(texts.strangeAddress, texts.strangeAddressHelp)]
  }
  const name = texts.owner(String(owner.uid), format.count(owner.id))
  const differences = (model.summary?.differences ?? []).filter((one) => one.address === address)
  const lines = differences.map((one) => {
    const { name: sign, amount, remedy } = differenceWords(context, one)
    const advice = sentence(` ${texts.advice}${remedy}`)
    return html('p', {}, html('strong', { class: 'fault' }, texts.pair(sign, amount)), ...advice)
  })
  const title = html('h3', {}, storyButton(context, name, String(owner.uid)))
  const source = depositSource(context, { address })
  const frozen = owner.frozen.map((cuy) => frozenLine(context, cuy))
  const held = orders.count === 0 ? [] : orderRows(context, orders, orderSource(context, { address }))
  return [head, title, ...frozen, ...lines, ...held, ...depositRows(context, deposits, source), ...paid]
}

/** Says that the issuer of a currency has frozen an address, and what to do. */
function frozenLine(context: DeskContext, cuy: number): HTMLElement {
  const { texts } = context
  const advice = sentence(` ${texts.advice} ${remedyOf(context, 'address-frozen')}`)
  return html('p', {}, html('strong', { class: 'fault' }, texts.frozenIn(deskSymbol(context, cuy))), ...advice)
}

/** A line for each currency in which the raised alarms say that this address is frozen. */
function frozenLines(context: DeskContext, address: string): HTMLElement[] {
  const alarms = context.model.summary?.alarms ?? []
  return alarms.flatMap(({ kind, subject }) => {
    const isOwn = kind === 'address-frozen' && subject.address === address
    return isOwn && subject.cuy !== null ? [frozenLine(context, subject.cuy)] : []
  })
}

/**
 * Lines about those of the listed addresses that are frozen, each with a button that leads to the
 * address.
 */
function frozenOf(context: DeskContext, listed: readonly { readonly address: string }[]): Child[] {
  const own = new Set(listed.map(({ address }) => address))
  return [...own].flatMap((address) =>
    frozenLines(context, address).flatMap((frozen) => [frozen, html('p', {}, storyButton(context, address, address))]),
  )
}

/**
 * The list of deposits in an answer. `page`, its first page, is loaded already; `source` reads
 * further ones.
 */
function depositRows(context: DeskContext, page: ListPage<OwnedDeposit>, source: RowSource): Child[] {
  const rows = page.list.map((deposit) => depositListRow(context, deposit))
  return storyRows(
    context,
    context.texts.transfersOf(countedText(context.format, page.count)),
    source,
    knownCount(page.count),
    rows,
  )
}

/**
 * The list of payouts in an answer. `page`, its first page, is loaded already; `source` reads
 * further ones.
 */
function payoutRows(context: DeskContext, page: ListPage<DeskPayout>, source: RowSource): Child[] {
  const rows = page.list.map((payout) => payoutListRow(context, payout))
  return storyRows(
    context,
    context.texts.payoutsOf(countedText(context.format, page.count)),
    source,
    knownCount(page.count),
    rows,
  )
}

/**
 * The list of orders in an answer. `page`, its first page, is loaded already; `source` reads
 * further ones.
 */
function orderRows(context: DeskContext, page: ListPage<DeskOrder>, source: RowSource): Child[] {
  const rows = page.list.map((order) => orderListRow(context, order))
  const title = context.texts.ordersOf(countedText(context.format, page.count))
  return storyRows(context, title, source, knownCount(page.count), rows)
}

function storyRows(
  context: DeskContext,
  title: string,
  source: RowSource,
  count: number | null,
  rows: readonly ListRow[],
): Child[] {
  const last = rows.at(-1)
  const next = last === undefined || (count !== null && rows.length >= count) ? null : { before: last.id }
  const walked = { rows, count, next, back: last?.at ?? null }
  return [html('h4', {}, title), count === 0 ? null : createRows(context, source, walked).element]
}

function userElements(context: DeskContext, answer: Extract<DeskAnswer, { kind: 'user' }>): Child[] {
  const { texts, format } = context
  const { uid, balances, addresses, deposits, payouts, orders, entries } = answer
  const head = html('h3', {}, texts.user(String(uid)))
  const isKnown = addresses.count + deposits.count + entries.count + orders.count > 0
  if (!isKnown) return [head, ...plainAnswer(texts.noUser, texts.noUserHelp)]
  const sums = balances.list.map(({ cuy, amt }) => html('li', { class: 'number' }, deskAmount(context, amt, cuy)))
  const rows = entries.list.map((entry) => entryListRow(context, entry))
  const source = payoutSource(context, { uid })
  const own = addresses.list.map(({ address }) => html('li', {}, storyButton(context, address, address)))
  const left =
    addresses.count > own.length ? texts.shownOf(format.count(own.length), format.count(addresses.count)) : null
  return [
    head,
    ...frozenOf(context, [...addresses.list, ...deposits.list]),
    html('h4', {}, texts.balances),
    html('ul', { class: 'sums' }, ...sums),
    storyButton(context, texts.statements, `statement ${uid}`, texts.user(String(uid))),
    html('h4', {}, texts.addressesOf(format.count(addresses.count))),
    html('ul', { class: 'sums' }, ...own),
    small(left),
    ...(orders.count === 0 ? [] : orderRows(context, orders, orderSource(context, { uid }))),
    ...depositRows(context, deposits, depositSource(context, { uid })),
    ...(source.isThere?.() ? payoutRows(context, payouts, source) : []),
    ...storyRows(context, texts.entriesOf(format.count(entries.count)), entrySource(context, uid), entries.count, rows),
  ]
}

function orderElements(context: DeskContext, entry: PostedEntry): Child[] {
  const { texts, format } = context
  const { uid } = entry
  const amount = deskAmount(context, entry.amt, entry.cuy, 'always')
  const what = typeName(context, entry.type)
  const event = entry.type === 1 ? 'deposit.credited' : 'entry.posted'
  const list: readonly Step[] = [
    ['done', texts.stepOwner, storyButton(context, texts.user(String(uid)), String(uid))],
    ['done', what, ...entryLines(context, entry)],
    eventStep(context, event, entry.created_at, true),
  ]
  const say = forUser(context, texts.sayPosted(what, amount, format.time(entry.created_at)))
  return [html('h3', {}, texts.pair(what, amount)), small(entry.osn), steps(list), say]
}

function gapElements(context: DeskContext, { from, seen }: Extract<DeskAnswer, { kind: 'gap' }>): Child[] {
  const { texts, format } = context
  const gap = context.model.summary?.gaps.find((one) => one.from === from)
  if (gap === undefined) return plainAnswer(texts.gone, texts.goneHelp)
  const tries = small(texts.tries(format.count(gap.attempts)))
  const list: readonly Step[] = [
    ['no', texts.stepWhy, line(texts.since(sinceText(context, gap.since))), small(gap.why, 'en'), tries],
    ['wait', texts.stepMeans, line(texts.gapMeans)],
    ['wait', texts.stepDo, line(remedyOf(context, 'gap-unread')), hint(texts.lineHelp('`nodes-disagree`'))],
  ]
  const waiting = seen.filter(({ created_at }) => created_at < gap.since)
  const rows = waiting.map((deposit) => depositRow(context, deposit))
  const table = rows.length === 0 ? [] : [html('h4', {}, texts.seenHere), ...listTable(context, rows)]
  return [html('h3', {}, gapRange(context, gap)), steps(list), ...table]
}

function endpointElements(context: DeskContext, number: number): Child[] {
  const { texts, format, model } = context
  const endpoint = model.summary?.endpoints.find((one) => one.number === number)
  if (endpoint === undefined) return plainAnswer(texts.gone, texts.goneHelp)
  const { failing_since, behind_seconds } = endpoint
  const head = html('h3', {}, texts.endpoint(format.count(number)))
  const late = lateText(context, behind_seconds)
  const kind = failing_since === null ? 'endpoint-behind' : 'endpoint-failing'
  const alarms = (model.summary?.alarms ?? []).filter((alarm) => {
    // a failing endpoint is also behind: one alarm is enough
    const isOther = alarm.kind === 'endpoint-behind' && kind !== alarm.kind
    return alarm.subject.endpoint === number && !isOther
  })
  const remedies = new Set(alarms.map((alarm) => alarmWords(context, alarm).remedy))
  if (failing_since !== null || behind_seconds > 0) remedies.add(remedyOf(context, kind))
  const why = failing_since === null ? null : line(texts.failing(sinceText(context, failing_since)))
  const list: readonly Step[] = [
    [why === null ? 'done' : 'no', texts.stepWhy, why, small(deliveryFailure(endpoint), 'en'), line(late)],
    ['wait', texts.stepMeans, line(texts.endpointMeans)],
    ['wait', texts.stepDo, line(texts.endpointAt(format.count(number))), ...[...remedies].map(line)],
  ]
  return [head, steps(remedies.size === 0 ? list.slice(0, 1) : list)]
}
