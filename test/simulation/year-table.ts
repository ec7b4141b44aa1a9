import type { YearReport } from './year.ts'
import type { TickCost, TickSample } from './year-measures.ts'
import { countRows, type TickRows } from './year-replay.ts'

/** The lines that say what a year has shown. */
export async function describeYear(report: YearReport): Promise<readonly string[]> {
  const { stages, acts, done } = report
  const names = [...new Set(stages.flatMap(({ rows }) => [...rows.keys()]))]
  const numbers = (name: string) => stages.map(({ rows }) => rows.get(name) ?? 0)
  const grown = names.filter((name) => numbers(name).some((count) => count > 0))
  return [
    rowOf(['', ...stages.map(({ name }) => name)]),
    ...grown.map((name) => rowOf([name, ...numbers(name)])),
    rowOf(['bytes of the database', ...stages.map(({ bytes }) => bytes)]),
    rowOf(['objects of the archive', ...stages.map(({ objects }) => objects)]),
    rowOf(['bytes of the archive', ...stages.map(({ objectBytes }) => objectBytes)]),
    '',
    ...(await describeTicks(report)),
    ...['', 'What was done without an alarm:', ...done.map(({ day, what }) => `day ${day}: ${what}`)],
    ...['', 'What an operator did because of an alarm:', ...acts.map(({ day, what }) => `day ${day}: ${what}`)],
    ...['', 'How often alarms were raised, and the days that the longest stood:', ...describeAlarms(report)],
  ]
}

const rowOf = ([name, ...values]: readonly (string | number)[]) =>
  String(name).padEnd(24) + values.map((value) => String(value).padStart(12)).join('')

function describeAlarms({ alarms, stages: [stage] }: YearReport): readonly string[] {
  if (stage === undefined) return []
  const kinds = [...new Set(alarms.map(({ kind }) => kind))].sort((a, b) => (a < b ? -1 : 1))
  return kinds.map((kind) => {
    const own = alarms.filter((one) => one.kind === kind)
    const stood = own.map(({ from, until }) => (until === null ? Infinity : until - from))
    const longest = Math.max(...stood)
    return `${String(own.length).padStart(4)} ${kind}: ${longest === Infinity ? 'to the end' : longest}`
  })
}

/** What is compared of the smallest ticks of the first and of the last days. */
export interface TickComparison {
  /** The rows that the statements of both have read and written, each once. */
  readonly first: Readonly<Record<'read' | 'written', number>>
  readonly last: Readonly<Record<'read' | 'written', number>>
  /** The statements that only the last one has, with the rows that they have read. */
  readonly further: TickRows
}

/** Compares what the same statements of an idle tick read and write. */
export async function compareTicks(first: TickSample, last: TickSample): Promise<TickComparison> {
  const [before, after] = [await countRows(first), await countRows(last)]
  const common = [...before.keys()].filter((sql) => after.has(sql))
  const sumOf = (rows: TickRows) => {
    const own = common.map((sql) => rows.get(sql) ?? { read: 0, written: 0, times: 1 })
    return {
      read: own.reduce((sum, { read, times }) => sum + read / times, 0),
      written: own.reduce((sum, { written, times }) => sum + written / times, 0),
    }
  }
  return {
    first: sumOf(before),
    last: sumOf(after),
    further: new Map([...after].filter(([sql]) => !before.has(sql))),
  }
}

async function describeTicks({ first, last }: YearReport): Promise<readonly string[]> {
  if (first === null || last === null) return ['No ticks were measured.']
  const compared = await compareTicks(first, last)
  const meanOf = ({ ticks }: TickSample, of: (tick: TickCost) => number) =>
    ticks.reduce((sum, tick) => sum + of(tick), 0) / ticks.length
  const means = ([name, of]: readonly [string, (tick: TickCost) => number]) =>
    rowOf([name, meanOf(first, of).toFixed(2), meanOf(last, of).toFixed(2)])
  return [
    rowOf(['a tick with no work', 'first days', 'last days']),
    rowOf(['trips', first.smallest.trips.length, last.smallest.trips.length]),
    rowOf(['statements', first.smallest.statements, last.smallest.statements]),
    rowOf(['rows read by both', compared.first.read, compared.last.read]),
    rowOf(['rows written by both', compared.first.written, compared.last.written]),
    ...[...compared.further].map(([sql, { read }]) => `only later, ${read} rows: ${shorten(sql)}`),
    rowOf([`mean of ${first.ticks.length} and ${last.ticks.length}`, '', '']),
    ...(
      [
        ['trips', ({ trips }) => trips.length],
        ['statements', ({ statements }) => statements],
        ['rows written', ({ written }) => written],
      ] as const satisfies readonly (readonly [string, (tick: TickCost) => number])[]
    ).map(means),
    `time of SQLite, beside the first days: ${(meanOf(last, ({ ms }) => ms) / meanOf(first, ({ ms }) => ms)).toFixed(2)}`,
  ]
}

const shorten = (sql: string) => sql.trim().replace(/\s+/g, ' ').slice(0, 90)
