import { cpuMsOf, withChildren } from './processes.ts'

/** The results of each compared side in each round, with their medians. */
export interface Rounds<Side extends string> {
  readonly values: Readonly<Record<Side, readonly number[]>>
  median(side: Side): number
  /**
   * The median of the ratios of each round. Both values of a ratio are measured within seconds of
   * each other, so a slow machine changes both.
   */
  ratio(side: Side, baseline: Side): number
}

/** How fast a side was, and what one item took of the processor. */
export interface Speed {
  readonly perSecond: number
  /**
   * CPU time for one item in milliseconds, with all threads and processes that are counted; NaN on
   * another system than Linux.
   */
  readonly cpuMs: number
}

/** The results of several sides, whose speeds are measured in turn. */
export type Speeds<Side extends string> = Readonly<Record<keyof Speed, Rounds<Side>>>

/**
 * Measures all sides in turn, round after round, every second round in reverse order, so that no
 * side is always first. A warm-up round comes before them and is not counted.
 */
export async function alternate<Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<number>>>,
): Promise<Rounds<Side>> {
  return roundsOf(await inTurns(rounds, sides), (value) => value)
}

/** Like `alternate`, for sides that return their `Speed`. */
export async function alternateSpeeds<Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<Speed>>>,
): Promise<Speeds<Side>> {
  const values = await inTurns(rounds, sides)
  return { perSecond: roundsOf(values, ({ perSecond }) => perSecond), cpuMs: roundsOf(values, ({ cpuMs }) => cpuMs) }
}

async function inTurns<Side extends string, Value>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<Value>>>,
): Promise<Readonly<Record<Side, readonly Value[]>>> {
  const names = Object.keys(sides) as Side[] // safe: these are the record's own keys
  const values = Object.fromEntries(names.map((name) => [name, [] as Value[]])) as Record<Side, Value[]>
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const value = await sides[name]()
      if (round > 0) values[name].push(value)
    }
  }
  return values
}

function roundsOf<Side extends string, Value>(
  all: Readonly<Record<Side, readonly Value[]>>,
  numberOf: (value: Value) => number,
): Rounds<Side> {
  const entries = Object.entries<readonly Value[]>(all).map(([name, list]) => [name, list.map(numberOf)])
  const values = Object.fromEntries(entries) as Record<Side, readonly number[]> // safe: the same keys as those of `all`
  return {
    values,
    median: (side) => median(values[side]),
    ratio: (side, baseline) => median(values[side].map((value, i) => value / (values[baseline][i] ?? Number.NaN))),
  }
}

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (upper + lower) / 2
}

/**
 * The speed of `work`, and the CPU time that these processes and their children use meanwhile.
 * `work` returns how many items it has processed.
 */
export async function speedOf(processes: readonly string[], work: () => Promise<number>): Promise<Speed> {
  const cpuNow = () => (processes.length === 0 ? Number.NaN : cpuMsOf(withChildren(processes)))
  const before = cpuNow()
  const start = performance.now()
  const count = await work()
  const perSecond = (count / (performance.now() - start)) * 1000
  return { perSecond, cpuMs: (cpuNow() - before) / count }
}

/** The number of items per second, for `count` items that `work` processes. */
export async function perSecond(count: number, work: () => Promise<unknown> | unknown): Promise<number> {
  const start = performance.now()
  await work()
  return (count / (performance.now() - start)) * 1000
}
