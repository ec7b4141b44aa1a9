import type { Api } from '../kit/api.ts'
import { button, type Child, html, type PageView } from '../kit/dom.ts'
import type { DeskContext, DeskModel } from './context.ts'
import type { DeskSummary } from './data.ts'

// A deployment can have several databases (cells). Each has its own range of users.

/**
 * What a summary says at first sight. `tone`: 0 all is well, 1 something waits for a person, 2 a
 * fault, 3 a serious fault. `title`: the sentence about it.
 */
export interface JudgedSummary {
  readonly tone: number
  readonly title: string
}

/**
 * The number that stands for reserved addresses, which each database has. As the end of a range of
 * users it means: no end.
 */
const reservedUid = Number.MAX_SAFE_INTEGER

/**
 * The path with `cell`, the number of the database to ask. A path that names a user stays as it is,
 * because the service finds the user's database. So does a path that already names a database.
 */
export function placeInCell(path: string, cell: number | null): string {
  const parameters = new URLSearchParams(path.split('?')[1])
  const uid = parameters.get('uid')
  const isPlaced = parameters.has('cell') || (uid !== null && uid !== String(reservedUid))
  return cell === null || isPlaced || !path.startsWith('/ledger/') ? path : withCell(path, cell)
}

const withCell = (path: string, cell: number) => `${path}${path.includes('?') ? '&' : '?'}cell=${cell}`

/**
 * The path of an action about a user, with the database of that user, whichever database the page
 * shows.
 */
export function pathOfAction({ model }: DeskContext, path: string, uid: number): string {
  const cell = model.cells.find(({ from, to }) => uid >= from && uid <= to)?.cell
  return cell === undefined || uid === reservedUid ? path : withCell(path, cell)
}

/** Reads the summaries of the databases that the page does not show. */
export function readOthers(
  client: Api,
  shown: number | null,
  cells: DeskModel['cells'],
  read: (data: unknown) => DeskSummary,
): Promise<DeskModel['others']> {
  const others = cells.filter(({ cell }) => cell !== shown)
  return Promise.all(
    others.map(async ({ cell }) => {
      const reply = await client.get(withCell('/ledger/summary', cell), read)
      return { cell, summary: reply.ok ? reply.data : null }
    }),
  )
}

/** The first database other than the shown one for which `knows` is true; null if there is none. */
export async function findElsewhere(
  context: DeskContext,
  knows: (asker: DeskContext) => Promise<boolean>,
): Promise<number | null> {
  const { api } = context
  for (const { cell } of context.model.others) {
    const inCell: Api = { ...api, get: (path, read, waitMs) => api.get(placeInCell(path, cell), read, waitMs) }
    if (await knows({ ...context, api: inCell })) return cell
  }
  return null
}

/** The field that chooses which database the page shows. */
export function createCellChoice({ model, texts: { cells: texts }, showCell }: DeskContext): PageView {
  const options = model.cells.map(({ cell, from, to }) => {
    const users = to === reservedUid ? texts.from(from) : texts.to(from, to)
    return html('option', { value: String(cell) }, texts.option(cell, users))
  })
  const select = html('select', { id: 'cell' }, ...options)
  select.addEventListener('change', () => showCell(Number(select.value)))
  return {
    element: html('div', { class: 'row' }, html('label', { for: 'cell' }, texts.shown), select),
    update() {
      select.value = String(model.cell)
    },
  }
}

interface CellState extends JudgedSummary {
  readonly cell: number
}

/** The databases that the page does not show and that need a person, the worst first. */
function troubledCells(
  { model, texts }: DeskContext,
  judge: (summary: DeskSummary) => JudgedSummary,
): readonly CellState[] {
  const states = model.others.map(({ cell, summary }) => {
    return { cell, ...(summary === null ? { tone: 3, title: texts.unavailable } : judge(summary)) }
  })
  return states.filter(({ tone }) => tone > 0).sort((a, b) => b.tone - a.tone)
}

/** The fault of another database, in one sentence, and a button that shows that database. */
function cellLine(context: DeskContext, { cell, title }: CellState, level: 'h2' | 'p'): Child[] {
  const texts = context.texts.cells
  const show = button({ class: 'plain' }, texts.show(cell), () => context.showCell(cell))
  const sentence = context.texts.pair(texts.number(cell), title.replaceAll('`', ''))
  if (level === 'p') return [html('p', { class: 'row' }, sentence, ' ', show)]
  return [html('h2', { id: 'state' }, sentence), html('p', {}, show)]
}

/**
 * The state of all databases, the worst one first; of the only one, if there are not several. `own`
 * makes the elements about the shown one, given the level of its heading and how to name the
 * database in its title; `judge` makes the sentence about another one. Tones are those of
 * `JudgedSummary`.
 */
export function stateOfAll(
  context: DeskContext,
  ownTone: number,
  own: (level: 'h2' | 'h3', titleOf: (title: string) => string) => Child[],
  judge: (summary: DeskSummary) => JudgedSummary,
): { readonly tone: number; readonly elements: Child[] } {
  const { model, format, texts } = context
  if (model.cells.length === 0) return { tone: ownTone, elements: own('h2', (title) => title) }
  const others = troubledCells(context, judge)
  const [worst, ...rest] = others
  const here = (title: string) => texts.pair(texts.cells.number(model.cell ?? 1), title)
  const lines = (some: readonly CellState[]) => some.flatMap((one) => cellLine(context, one, 'p'))
  if (worst !== undefined && worst.tone > ownTone) {
    return { tone: worst.tone, elements: [...cellLine(context, worst, 'h2'), ...lines(rest), ...own('h3', here)] }
  }
  const ofAll = () => texts.cells.allWell(format.count(model.cells.length))
  return { tone: ownTone, elements: [...own('h2', ownTone === 0 ? ofAll : here), ...lines(others)] }
}
