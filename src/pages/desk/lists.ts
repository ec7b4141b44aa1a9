import { decimalForm } from '../kit/decimal.ts'
import { type Attributes, button, createSlot, html, type PageView, setText } from '../kit/dom.ts'
import type { DeskContext } from './context.ts'
import { fragmentOfList, type Listed, listAt } from './list-place.ts'
import { createRows } from './rows.ts'
import { createSources } from './sources.ts'
import { type FilteredSource, type ListFilter, noFilter } from './walk.ts'

/**
 * The part of the page with the lists of deposits, payouts, entries and events. It shows one list
 * at a time, with a filter.
 */
export interface ListsView extends PageView {
  /**
   * Called when there is a new event, which may have changed the shown list, or when the reader has
   * done something (`isOwn`).
   */
  renew(isOwn: boolean): void
  /** Shows a list with a filter, and scrolls to it. */
  show(name: string, filter: ListFilter): void
  /** Shows the list that the page's URL names, unless it is shown. */
  showPlace(): void
}

/**
 * Makes the part of the page with the lists. The list and the filter that `model.listed` has are
 * shown first.
 */
export function createLists(context: DeskContext): ListsView {
  const { model, texts } = context
  const sources = createSources(context)
  const views = new Map(sources.map((source) => [source.name, createRows(context, source)]))
  const nameNow = () => model.listed.name
  const buttons = sources.map(({ name, title }) =>
    button({ 'data-list': name }, title, () => {
      choose(name, noFilter)
      noteList(model.listed)
    }),
  )
  const names = html('div', { class: 'row names', role: 'group', 'aria-label': texts.listNames }, ...buttons)
  const filters = html('div', {})
  const rows = html('div', {})
  const choose = (name: string, filter: ListFilter) => {
    model.listed = { name, filter }
    // before the newest event is known, a list of events would be empty; `update` chooses the list
    // once it is known
    if (model.summary === null) return
    const source = sources.find((one) => one.name === name && isThere(one)) ?? sources[0]
    const view = views.get(source?.name ?? '')
    if (source === undefined || view === undefined) return
    model.listed = { name: source.name, filter }
    for (const [index, one] of buttons.entries()) one.setAttribute('aria-pressed', String(sources[index] === source))
    form = createFilter(context, source, (next) => {
      model.listed = { name: source.name, filter: next }
      noteList(model.listed)
      view.filterBy(next)
    })
    filters.replaceChildren(form.element)
    rows.replaceChildren(view.element)
    form.update()
    view.filterBy(filter)
  }
  let form: PageView | null = null
  const heading = html('h2', { id: 'lists', tabindex: '-1' }, texts.listsHeading)
  return {
    element: html('section', { class: 'card wide' }, heading, names, filters, rows),
    update() {
      for (const [index, source] of sources.entries()) buttons[index]?.toggleAttribute('hidden', !isThere(source))
      if (model.summary === null) return
      if (form === null) choose(nameNow(), model.listed.filter)
      form?.update()
      views.get(nameNow())?.update()
    },
    renew: (isOwn) => views.get(nameNow())?.renew(isOwn),
    show(name, filter) {
      noteList({ name, filter })
      choose(name, filter)
      heading.focus()
      heading.scrollIntoView({ block: 'start' })
    },
    showPlace() {
      const listed = listAt(location.hash)
      if (listed !== null && JSON.stringify(listed) !== JSON.stringify(model.listed)) choose(listed.name, listed.filter)
    },
  }
}

/** Writes a list and its filter into the page's URL. A further filter needs no way back. */
function noteList(listed: Listed): void {
  const isOther = listAt(location.hash)?.name !== listed.name
  history[isOther ? 'pushState' : 'replaceState'](null, '', fragmentOfList(listed))
}

const isThere = ({ isThere = () => true }: FilteredSource) => isThere()

/** The filter of a list. Each change of a field applies at once. */
function createFilter(
  context: DeskContext,
  { states }: FilteredSource,
  changed: (filter: ListFilter) => void,
): PageView {
  const { model, texts } = context
  const all = () => html('option', { value: '' }, texts.filterAll)
  const state = html('select', { id: 'filter-state' }, all())
  state.append(...states.values().map(([value, name]) => html('option', { value }, name)))
  const cuy = html('select', { id: 'filter-cuy' })
  const fillCurrencies = createSlot(cuy)
  const input = (id: string, attributes: Attributes) =>
    html('input', { id: `filter-${id}`, autocomplete: 'off', ...attributes })
  const day = (id: string) => input(id, { type: 'date' })
  const hour = (id: string) => {
    const options = Array.from({ length: 24 }, (_, one) => String(one).padStart(2, '0'))
    const none = html('option', { value: '' }, '–')
    return html(
      'select',
      { id: `filter-${id}` },
      none,
      ...options.map((one) => html('option', { value: one }, `${one}:00`)),
    )
  }
  const amount = (id: string) => input(id, { type: 'text', inputmode: 'decimal', maxlength: '40' })
  const [least, most] = [amount('least'), amount('most')] as const
  const times = { from: day('from'), fromHour: hour('from-hour'), to: day('to'), toHour: hour('to-hour') }
  const fields = { state, cuy, least, most, ...times }
  const values = model.listed.filter
  const named = [
    ...[states.name, texts.currency, texts.filterLeast, texts.filterMost],
    ...[texts.filterFrom, texts.filterFromHour, texts.filterTo, texts.filterToHour],
  ]
  const fault = html('p', { class: 'fault', role: 'alert' })
  const clear = button({ class: 'plain' }, texts.filterClear, () => {
    for (const field of Object.values(fields)) field.value = ''
    apply()
  })
  const apply = () => {
    const wrong = [least, most].filter((one) => one.value !== '' && !decimalForm.test(one.value.trim()))
    for (const one of [least, most]) one.setAttribute('aria-invalid', String(wrong.includes(one)))
    setText(fault, wrong.length === 0 ? '' : texts.filterWrong)
    if (wrong.length > 0) return
    const entered = Object.entries(fields).map(([name, field]) => [name, field.value.trim()])
    changed(Object.fromEntries(entered) as ListFilter) // safe: its fields have the names of the filter
  }
  const labelled = Object.values(fields).map((field, index) => {
    return html('div', {}, html('label', { for: field.id }, named[index] ?? ''), field)
  })
  const element = html('div', { class: 'filter' }, ...labelled, clear)
  element.addEventListener('change', apply)
  state.value = values.state
  for (const name of ['from', 'fromHour', 'to', 'toHour', 'least', 'most'] as const) fields[name].value = values[name]
  return {
    element: html('div', {}, element, fault),
    update() {
      const currencies = model.summary?.currencies ?? []
      const kept = cuy.value === '' && cuy.options.length === 0 ? values.cuy : cuy.value
      fillCurrencies(JSON.stringify(currencies.map(({ cuy: id, symbol }) => [id, symbol])), () => [
        all(),
        ...currencies.map(({ cuy: id, symbol }) => html('option', { value: String(id) }, symbol)),
      ])
      cuy.value = kept
    },
  }
}
