/** One measured figure beside what it is measured against. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What it stands beside, or null where the figure stands alone. */
  readonly beside: { readonly name: string; readonly value: number } | null
  /** `value` through what it stands beside, by rounds. */
  readonly ratio: number | null
  /** What to reach: in words, and whether it was. Null where the figure is only stated. */
  readonly reach: { readonly what: string; readonly isReached: boolean } | null
  readonly note: string
}

/** How long a run may be. */
export interface Scale {
  readonly rounds: number
  /** Multiplies the work of a round. */
  readonly work: number
}

/** A figure that stands alone. */
export function stated(name: string, value: number, unit: string, note: string, reach: Figure['reach'] = null): Figure {
  return { name, value, unit, beside: null, ratio: null, reach, note }
}

/** What a ratio has to reach. */
export function atLeast(limit: number, value: number): Figure['reach'] {
  return { what: `≥ ${limit}`, isReached: value >= limit }
}

/** What a value must not exceed. */
export function atMost(limit: number, value: number, unit = ''): Figure['reach'] {
  return { what: `≤ ${limit}${unit === '' ? '' : ` ${unit}`}`, isReached: value <= limit }
}
