import type { Rounds } from './rounds.ts'

/** One measured figure. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The measured value that it is compared with, or null. */
  readonly baseline: { readonly name: string; readonly value: number } | null
  /** The median of `value / baseline` of each round, or null without a baseline. */
  readonly ratio: number | null
  /** The limit that it must reach, or null for a figure without a limit. */
  readonly target: { readonly text: string; readonly isReached: boolean } | null
  readonly note: string
  /** For a figure of the project's README: how the ratio, or else the value, is computed. Null for the others. */
  readonly headline: string | null
}

/** The size of a run. */
export interface Scale {
  readonly rounds: number
  /** Multiplies the work of a round. */
  readonly work: number
}

/** A figure without a baseline. */
export function singleFigure(
  name: string,
  value: number,
  unit: string,
  note: string,
  target: Figure['target'] = null,
): Figure {
  return { name, value, unit, baseline: null, ratio: null, target, note, headline: null }
}

/** The texts of a figure with a baseline. `ratioMin` is the ratio to reach, or null. */
export interface Comparison {
  readonly name: string
  readonly unit: string
  readonly baselineName: string
  readonly ratioMin: number | null
  readonly note: string
  readonly headline?: string
}

/** A figure that compares two sides of the same rounds. */
export function compareSides<Side extends string>(
  rounds: Rounds<Side>,
  side: Side,
  baseline: Side,
  { name, unit, baselineName, ratioMin, note, headline }: Comparison,
): Figure {
  const ratio = rounds.ratio(side, baseline)
  return {
    name,
    value: rounds.median(side),
    unit,
    baseline: { name: baselineName, value: rounds.median(baseline) },
    ratio,
    target: ratioMin === null ? null : atLeast(ratioMin, ratio),
    note,
    headline: headline ?? null,
  }
}

/** A lower limit. */
export function atLeast(limit: number, value: number): Figure['target'] {
  return { text: `≥ ${limit}`, isReached: value >= limit }
}

/** An upper limit. */
export function atMost(limit: number, value: number, unit = ''): Figure['target'] {
  return { text: `≤ ${limit}${unit === '' ? '' : ` ${unit}`}`, isReached: value <= limit }
}
