import { readFileSync } from 'node:fs'
import { root } from '../support/project.ts'
import {
  calmPayouts,
  calmRates,
  freeAllowance,
  nodeKinds,
  nodeTrial,
  noHardships,
  noTroubles,
  type Overrides,
  type Trial,
} from './scenario.ts'
import type { SourcePatch } from './source-patch.ts'

/** A deliberate mistake in the source, and a seed from which on the simulation finds it soon. */
export interface Defect extends SourcePatch {
  readonly from: number
  /** Properties of a scenario that shows the mistake, if few random ones do. */
  readonly overrides: Overrides
}

/**
 * Overrides for a short run. They leave out everything that makes a run long; a mistake about such
 * a thing puts it back.
 */
const short = {
  blocks: 20,
  blocksBefore: 5,
  crowd: 0,
  startAfter: null,
  decimalsDiffer: false,
  hasUnreadable: false,
  reconciles: false,
  ending: 'none',
  storm: null,
  trial: null,
  evicts: false,
  batchless: 0,
  troubles: noTroubles,
  issuer: 0,
  sending: 0,
  reviews: false,
  payouts: null,
  further: calmPayouts,
  orders: null,
  archive: null,
  refusals: null,
  hardships: noHardships,
} as const satisfies Overrides

/** Overrides for a run in which only the ledger, the chain and its nodes are looked at. */
const bare = {
  ...{ payouts: null, further: calmPayouts, orders: null, archive: null, refusals: null, hardships: noHardships },
} as const

/** A short run without faults, with one signer and many payouts. */
const paying = {
  ...short,
  nodes: [nodeKinds.honest, nodeKinds.honest],
  quorum: 2,
  finalityLag: 3,
  blocksBefore: 1,
  requestsPerBlock: 0.15,
  transactionsMax: 4,
  scanEverySeconds: 20,
  allowance: freeAllowance,
  rates: calmRates,
  payouts: {
    asked: 0.9,
    signers: 1,
    blockMs: 3_000,
    kill: 0,
    trouble: 0,
    failing: 0,
    losesJournal: false,
    losesSetting: false,
  },
} as const satisfies Overrides

/** A short run without faults on two honest nodes. */
const calm = {
  ...short,
  nodes: [nodeKinds.honest, nodeKinds.honest],
  quorum: 2,
  finalityLag: 3,
  blocksBefore: 1,
  blocks: 40,
  scanEverySeconds: 10,
  allowance: freeAllowance,
  rates: calmRates,
} as const satisfies Overrides

/** The same with many orders. */
const ordering = {
  ...calm,
  requestsPerBlock: 0.15,
  transactionsMax: 1,
  orders: { asked: 1 },
} as const satisfies Overrides

/** The same with an archive that has faults, and an operator who restores copies. */
const archiving = {
  ...calm,
  requestsPerBlock: 0.7,
  transactionsMax: 3,
  archive: { trouble: 0.3, database: 0.05, kill: 0.2, rivals: 0.3, operator: 0.3, sealed: true },
} as const satisfies Overrides

/**
 * The overrides of a run with payouts. The groups `rates`, `payouts`, `further` and `hardships`
 * have only what differs from `paying`.
 */
type PayingOverrides = Partial<
  Omit<Overrides, 'rates' | 'payouts' | 'further' | 'hardships'> &
    Record<'rates' | 'payouts' | 'further' | 'hardships', Readonly<Record<string, unknown>>>
>

/** The overrides `paying` with these changes. */
export function payingWith({ rates, payouts, further, hardships, ...others }: PayingOverrides): Overrides {
  const own = {
    ...paying,
    ...others,
    rates: { ...paying.rates, ...rates },
    payouts: { ...paying.payouts, ...payouts },
    further: { ...paying.further, ...further },
    hardships: { ...noHardships, ...hardships },
  }
  return own as Overrides // unchecked: defects.txt must name only members that exist
}

/**
 * Overrides as defects.txt writes them: nodes by their kinds, and of each group only the members
 * that differ from a run without faults.
 */
type WrittenOverrides = Omit<Overrides, 'nodes' | 'rates' | 'troubles' | 'trial' | 'hardships'> & {
  readonly nodes?: readonly (keyof typeof nodeKinds)[]
  readonly rates?: Partial<Overrides['rates']>
  readonly troubles?: Partial<Overrides['troubles']>
  readonly hardships?: Partial<Overrides['hardships']>
  readonly trial?: (Partial<Trial> & Pick<Trial, 'trouble'>) | null
}

function parseOverrides(json: string): PayingOverrides {
  // safe: written in defects.txt
  const { nodes, rates, troubles, trial, hardships, ...others } = JSON.parse(json) as WrittenOverrides
  return {
    ...others,
    ...(nodes && { nodes: nodes.map((kind) => nodeKinds[kind]) }),
    ...(rates && { rates: { ...calmRates, ...rates } }),
    ...(troubles && { troubles: { ...noTroubles, ...troubles } }),
    ...(hardships && { hardships: { ...noHardships, ...hardships } }),
    ...(trial !== undefined && { trial: trial && { ...nodeTrial, ...trial } }),
  } as PayingOverrides // safe: defects.txt gives only a part of `payouts` or `further` where the base is `paying`
}

/**
 * Deliberate mistakes, each of a kind that is easily made and hard to see. The simulation must find
 * every one of them: a simulation that finds none proves nothing. For each mistake, `defects.txt`
 * has the name; the file below `src`; the seed; the word `short`, `paying`, `ordering` or
 * `archiving` for the overrides above, if any; further overrides; the text to replace (`-`); and
 * the replacement (`+`).
 */
export const defects: Readonly<Record<string, Defect>> = Object.fromEntries(
  readFileSync(`${root}test/simulation/defects.txt`, 'utf8')
    .trim()
    .split(/\n\n+/)
    .map((paragraph) => {
      const [name = '', place = '', ...lines] = paragraph.split('\n')
      const [file = '', from = '1', ...rest] = place.split(' ')
      const word = rest[0]?.startsWith('{') === false ? rest.shift() : undefined
      const more = parseOverrides(rest.join(' ') || '{}')
      // A mistake that is not about payouts or refusals is looked for in runs without payouts and
      // refusals. With them, the runs that find it would differ.
      const base = { short, ordering, archiving }[word ?? ''] ?? bare
      const overrides: Overrides = word === 'paying' ? payingWith(more) : ({ ...base, ...more } as Overrides)
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
