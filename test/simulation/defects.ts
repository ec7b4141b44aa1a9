import { readFileSync } from 'node:fs'
import { root } from '../support/project.ts'
import type { Overrides } from './scenario.ts'
import type { SourcePatch } from './source-patch.ts'

/** A deliberate mistake in the source, and a seed from which on the simulation finds it soon. */
export interface Defect extends SourcePatch {
  readonly from: number
  /** Where few scenarios show the mistake: properties of one that does. */
  readonly overrides: Overrides
}

/**
 * Deliberate mistakes, each of a kind that is easily made and hard to see. The simulation must find every one of them: a
 * simulation that finds none proves nothing. `defects.txt` has for each its name, its file below `src`, the seed and what
 * else the scenario needs, the text to replace (`-`) and what replaces it (`+`).
 */
export const defects: Readonly<Record<string, Defect>> = Object.fromEntries(
  readFileSync(`${root}test/simulation/defects.txt`, 'utf8')
    .trim()
    .split(/\n\n+/)
    .map((paragraph) => {
      const [name = '', place = '', ...lines] = paragraph.split('\n')
      const [file = '', from = '1', ...rest] = place.split(' ')
      // Without payouts, unless it is about them: they would change the runs.
      const overrides: Overrides = { payouts: null, ...(JSON.parse(rest.join(' ') || '{}') as Overrides) } // our own JSON
      const linesAfter = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(2))
      return [
        name,
        {
          file,
          from: Number(from),
          overrides,
          text: linesAfter('-').join('\n'),
          replacement: linesAfter('+').join('\n'),
        },
      ]
    }),
)
