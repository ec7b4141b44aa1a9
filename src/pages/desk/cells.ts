import type { Api } from '../kit/api.ts'
import { button, type Child, html, type PageView } from '../kit/dom.ts'
import type { DeskContext, DeskModel } from './context.ts'
import { findingsOf, isBad } from './findings.ts'
import { waitingFor } from './waiting.ts'

/** The owner of reserved addresses is in each database. */
const reservedUid = String(Number.MAX_SAFE_INTEGER)

/** A client whose requests without a user go to the shown database. */
export function inShownCell(api: Api, model: Pick<DeskModel, 'cell'>): Api {
  const place = (path: string) => {
    const [, query = ''] = path.split('?')
    const parameters = new URLSearchParams(query)
    const uid = parameters.get('uid')
    const isPlaced = parameters.has('cell') || (uid !== null && uid !== reservedUid)
    return model.cell === null || isPlaced || !path.startsWith('/ledger/') ? path : withCell(path, model.cell)
  }
  return {
    ...api,
    get: (path, read, waitMs) => api.get(place(path), read, waitMs),
    post: (path, body, read) => api.post(place(path), body, read),
  }
}

/** The path of a request to a database. */
export const withCell = (path: string, cell: number): string => `${path}${path.includes('?') ? '&' : '?'}cell=${cell}`

/** The path of an action about a user: it goes to the database of the user, whichever is shown. */
export function pathOfAct({ model }: DeskContext, path: string, uid: number): string {
  const cell = model.summary?.cells.find(({ from, to }) => uid >= from && uid <= to)?.cell
  return cell === undefined || String(uid) === reservedUid ? path : withCell(path, cell)
}

/** The choice of the shown database. It is hidden if there is only one. */
export function createCellChoice(context: DeskContext): PageView {
  const { model, texts } = context
  const select = html('select', { id: 'cell' })
  const element = html('p', { class: 'row' }, html('label', { for: 'cell' }, texts.cell), select)
  select.addEventListener('change', () => context.showCell(Number(select.value)))
  return {
    element,
    update() {
      const cells = model.summary?.cells ?? model.cells
      element.hidden = cells.length === 0
      if (select.options.length !== cells.length) {
        select.replaceChildren(
          ...cells.map(({ cell, from, to }) => {
            const users = String(to) === reservedUid ? texts.usersFrom(String(from)) : texts.usersTo(`${from}`, `${to}`)
            return html('option', { value: String(cell) }, texts.cellWith(String(cell), users))
          }),
        )
      }
      select.value = String(model.cell ?? '')
    },
  }
}

/** The state of another database in one sentence. `tone`: 3 is bad, 2 a warning, 1 if something waits for a person. */
export interface CellState {
  readonly cell: number
  readonly tone: 1 | 2 | 3
  readonly title: string
}

/** The other databases that need a person, the worst first. */
export function troubledCells(context: DeskContext): readonly CellState[] {
  const { model, texts, format } = context
  const states = model.others.flatMap(({ cell, summary }): CellState[] => {
    if (summary === null) return [{ cell, tone: 3, title: texts.unavailable }]
    const [first] = findingsOf(context, summary)
    if (first !== undefined) return [{ cell, tone: isBad(first) ? 3 : 2, title: first.title }]
    const count = waitingFor(context, summary).reduce((sum, one) => sum + one.count, 0)
    return count === 0 ? [] : [{ cell, tone: 1, title: texts.allWellWaiting(format.count(count)) }]
  })
  return states.toSorted((a, b) => b.tone - a.tone)
}

/** The sentence of a database with a button that shows it. */
export function cellLine(context: DeskContext, { cell, title }: CellState, level: 'h2' | 'p'): Child[] {
  const { texts } = context
  const show = button({ class: 'plain' }, texts.showCell(String(cell)), () => context.showCell(cell))
  const sentence = texts.pair(texts.cellNumber(String(cell)), title.replaceAll('`', ''))
  if (level === 'p') return [html('p', { class: 'row' }, sentence, ' ', show)]
  return [html('h2', { id: 'state' }, sentence), html('p', {}, show)]
}
