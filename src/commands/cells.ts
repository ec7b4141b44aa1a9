import { type ChosenBy, listCells } from '../worker/cells/choose.ts'
import { bindingsOfCell, type CellConfig, numberAt, parseCells, parseEntries } from '../worker/cells/parse-cells.ts'
import { err, ok, type Result } from '../worker/common/result.ts'
import type { Config } from '../worker/config/config.ts'
import { type ConfigurationSource, describeDatabase, platformBindings, platformBucket } from './configuration.ts'
import type { Place } from './place.ts'
import { orRefuse, type ToolRefusal } from './tool-error.ts'

const cellsAdvice = 'correct CELLS in wrangler.toml; docs/guides/settings.md says what it takes'

/**
 * Splits a configuration by cell: each result has the values and the database of one cell, as if it
 * were a deployment of its own. Without `CELLS` the only result is `source`. The error names the
 * faults of `CELLS`.
 */
export function sourcesOf(source: ConfigurationSource): Result<readonly ConfigurationSource[], ToolRefusal> {
  const entries = parseEntries(source.values)
  if (!entries.ok) return err({ why: entries.error.join('; '), next: cellsAdvice })
  const list = entries.value
  if (list === null) return ok([source])
  return ok(
    list.map((entry, i) => {
      const number = numberAt(list, i)
      const cell = number === null ? null : { number, users: entry.uids }
      const values = bindingsOfCell(source.values, entry)
      return { ...source, ...describeDatabase(source.databases, source.place.env, entry.db, cell), values }
    }),
  )
}

/**
 * Chooses the configuration of the cell that `--cell` names. `given` is required where there are
 * several cells, and refused where there is one.
 */
export function sourceOfCell(
  source: ConfigurationSource,
  given: string | undefined,
): Result<ConfigurationSource, ToolRefusal> {
  const sources = sourcesOf(source)
  if (!sources.ok) return sources
  const [only, ...others] = sources.value
  if (only !== undefined && others.length === 0) {
    if (given === undefined) return ok(only)
    return err({ why: 'there is only one cell here, so --cell has no meaning', next: 'leave --cell out' })
  }
  const found = sources.value.find(({ place }) => String(place.cell?.number) === given)
  if (found !== undefined) return ok(found)
  const list = listCells(sources.value.flatMap(({ place }): ChosenBy[] => (place.cell === null ? [] : [place.cell])))
  const fault = given === undefined ? '--cell is missing, and there are several cells' : `there is no cell ${given}`
  return err({ why: `${fault}: ${list}`, next: 'name one of these numbers with --cell' })
}

/** A cell whose configuration is valid, and where its database is. */
export interface PlacedCell {
  readonly cell: CellConfig
  readonly place: Place
}

type ParsedSource = Pick<ConfigurationSource, 'all' | 'databases' | 'place' | 'worker'>

/**
 * Parses the configurations of all cells, as the service does. A fault in the configuration of any
 * cell is an error.
 */
export function parseSources(source: ConfigurationSource): Result<readonly PlacedCell[], readonly string[]> {
  const cells = parseAll(source)
  if (!cells.ok) return cells
  const sources = orRefuse(sourcesOf({ ...source, values: source.all }))
  // safe: both lists are made of the same entries
  return ok(cells.value.map((cell, i) => ({ cell, place: (sources[i] as ConfigurationSource).place })))
}

/**
 * Parses the configurations of all cells, as the service does, and returns the one of the cell in
 * `place`. A fault in the configuration of any cell is an error.
 */
export function parseSource(source: ParsedSource): Result<Config, readonly string[]> {
  const cells = parseAll(source)
  if (!cells.ok) return cells
  const cell = cells.value.find(({ number }) => number === (source.place.cell?.number ?? null))
  if (cell === undefined) throw new Error('the cell was chosen from the same list')
  return ok(cell.config)
}

function parseAll({ all, databases, worker }: ParsedSource) {
  const bound = databases.map(({ binding }) => [binding, platformBindings.DB])
  const buckets = worker.buckets.map((binding) => [binding, platformBucket])
  return parseCells({ ...all, ...Object.fromEntries([...bound, ...buckets]), ...platformBindings })
}
