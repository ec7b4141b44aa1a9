import type { Trip } from './environment.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** What the database and the archive have at a moment. */
export interface Stage {
  readonly name: string
  readonly rows: ReadonlyMap<string, number>
  readonly bytes: number
  readonly objects: number
  readonly objectBytes: number
}

/** What one tick has cost; `ms` is what SQLite has taken. */
export interface TickCost {
  readonly trips: readonly Trip[]
  readonly statements: number
  readonly written: number
  readonly ms: number
}

/** Ticks of hours in which nothing happens. */
export interface TickSample {
  readonly ticks: readonly TickCost[]
  /** The one with the fewest statements, and the database before it, as a file. */
  readonly smallest: TickCost & { readonly file: Uint8Array }
}

/** An alarm that was raised: from and until which day it stood. */
export interface StoodAlarm {
  readonly kind: string
  readonly subject: string
  readonly from: number
  /** Null if it stands still. */
  until: number | null
}

/** Ticks of so many days are compared: the first ones after the first day, and the last ones. */
const sampleDays = 3

/** Makes the measures of a run, which begin at once. */
export function createYearMeasures(run: SimulatedRun, days: number) {
  const { stages, look } = createStages(run)
  const alarms = followAlarms(run)
  const { samples, meter } = createMeter(run)
  const quarters = new Map([1, 2, 3].map((quarter) => [Math.round((days * quarter) / 4), `quarter ${quarter}`]))
  let lookedAt = 0
  return {
    stages,
    alarms: alarms.list,
    /** Ticks of the first days, and of the last ones; null before there are any. */
    ticks: () => ({ first: samples.first.close(), last: samples.last.close() }),
    beginWindow(day: number, isQuiet: boolean): void {
      if (day > lookedAt && (day === 1 || quarters.has(day))) look(quarters.get(day) ?? 'day 1')
      lookedAt = day
      const isFirst = day >= 1 && day <= sampleDays
      meter.begin(!isQuiet ? null : isFirst ? samples.first : day >= days - sampleDays ? samples.last : null)
    },
    endWindow(day: number): void {
      alarms.look(day)
      meter.end()
    },
    end: () => look('the end'),
  }
}

function createStages({ store: { sqlite }, archive }: SimulatedRun) {
  const stages: Stage[] = []
  const number = (sql: string) => Number(Object.values(sqlite.prepare(sql).get() ?? {})[0])
  const tables = sqlite
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name`)
    .all()
    .map(({ name }) => String(name))
  const look = (name: string) => {
    const objects = archive === null ? [] : [...archive.bucket.objects.values()]
    stages.push({
      name,
      rows: new Map(tables.map((table) => [table, number(`SELECT count(*) FROM ${table}`)])),
      bytes: (number('PRAGMA page_count') - number('PRAGMA freelist_count')) * number('PRAGMA page_size'),
      objects: objects.length,
      objectBytes: objects.reduce((sum, text) => sum + text.length, 0),
    })
  }
  return { stages, look }
}

function followAlarms({ stored }: SimulatedRun) {
  const list: StoodAlarm[] = []
  const open = new Map<string, StoodAlarm>()
  return {
    list,
    look(day: number): void {
      const raised = new Map(stored.alarms().map((one) => [`${one.kind} ${one.subject}`, one]))
      for (const [key, { kind, subject }] of raised) {
        if (open.has(key)) continue
        const stood = { kind, subject, from: day, until: null }
        open.set(key, stood)
        list.push(stood)
      }
      for (const [key, stood] of open) {
        if (raised.has(key)) continue
        stood.until = day
        open.delete(key)
      }
    },
  }
}

type Measured = { trips: Trip[]; statements: number; written: number; ms: number; readonly file: Uint8Array }
type Sample = ReturnType<typeof createSample>

/** Collects ticks, and the database before the smallest one. */
function createSample() {
  const ticks: TickCost[] = []
  let smallest: Measured | null = null
  return {
    take(tick: Measured) {
      const { file: _, ...cost } = tick
      ticks.push(cost)
      if (smallest === null || tick.statements <= smallest.statements) smallest = tick
    },
    close: (): TickSample | null => (smallest === null ? null : { ticks, smallest }),
  }
}

/** Measures the ticks of a window into a sample. */
function createMeter({ env, store: { sqlite } }: SimulatedRun) {
  const samples = { first: createSample(), last: createSample() }
  const current = new Map<string, Measured>()
  let into: Sample | null = null
  const changes = sqlite.prepare('SELECT total_changes() AS n')
  const written = () => Number(changes.get()?.n)
  env.meter = (trip, carryOut) => {
    if (into === null || trip.invocation.kind !== 'scanner alarm') return carryOut()
    const { name } = trip.invocation
    const own = current.get(name) ?? { trips: [], statements: 0, written: 0, ms: 0, file: sqlite.serialize() }
    const [before, startedAt] = [written(), performance.now()]
    const result = carryOut()
    own.ms += performance.now() - startedAt
    own.written += written() - before
    own.trips.push(trip)
    own.statements += trip.statements.length
    current.set(name, own)
    return result
  }
  return {
    samples,
    meter: {
      begin(sample: Sample | null) {
        into = sample
      },
      end() {
        // The first tick of a new instance does more than the others.
        for (const tick of [...current.values()].slice(1)) into?.take(tick)
        current.clear()
        into = null
      },
    },
  }
}
