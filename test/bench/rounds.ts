/** The results of each side in each round, with their medians. */
export interface Rounds<Side extends string> {
  readonly values: Readonly<Record<Side, readonly number[]>>
  median(side: Side): number
  /** The median of the ratios of each round: both values of such a ratio are measured within seconds of each other. */
  ratio(side: Side, baseline: Side): number
}

/**
 * Measures all sides in turn, round after round, every second round in reverse order, so that no side is always first.
 * A warm-up round comes before them and is not counted.
 */
export async function alternate<Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<number>>>,
): Promise<Rounds<Side>> {
  const names = Object.keys(sides) as Side[] // safe: these are the record's own keys
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Side, number[]>
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const value = await sides[name]()
      if (round > 0) values[name].push(value)
    }
  }
  return roundsOf(values)
}

function roundsOf<Side extends string>(values: Readonly<Record<Side, readonly number[]>>): Rounds<Side> {
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

/** The number of items per second, for `count` items that `work` processes. */
export async function perSecond(count: number, work: () => Promise<unknown> | unknown): Promise<number> {
  const start = performance.now()
  await work()
  return (count / (performance.now() - start)) * 1000
}
