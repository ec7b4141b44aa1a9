import type { Random } from './random.ts'
import type { ClosedApi } from './refusals.ts'

/**
 * What a node invents above its final blocks. `many`: as many blocks as the clock allows, each with
 * hundreds of transfers to known addresses. `far`: more blocks than the clock allows.
 */
export type TailLie = 'many' | 'far'

/** What a node does while it has a trouble. */
export interface TroubledState {
  /** The probability, for each request, that a field of the reply has a value of any type. */
  anyValues: number
  /**
   * The probability that a reply which `anyValues` has drawn is an error that contains the value,
   * instead of a result.
   */
  oddErrors: number
  /** Milliseconds that the node takes for each answer, but never more than the client waits for. */
  answerMs: number
  /**
   * How many requests the node answers in a second, whatever its configured limit. Further requests
   * get 429.
   */
  pace: number
  /** The most calls in one batch that the node accepts. */
  callsMax: number
  /** Bytes that the node adds to each reply with blocks. */
  junkBytes: number
  /**
   * The height of the newest block that the node has, because it was cut off from its peers there;
   * infinite if it is not cut off.
   */
  cutOffAt: number
  /**
   * By how many blocks the node's final head is too high. If by at most `fewBlocks`
   * (`false-tail.ts`), the newest blocks below it are invented, too.
   */
  aheadBy: number
  /** What the node invents above its final blocks; null for nothing. */
  tail: TailLie | null
  /** Whether the node's HTTP API gives no final block, though its head is new. */
  lacksFinal: boolean
  /** Why the node's HTTP API answers nothing; null if it answers. */
  closed: ClosedApi | null
  /** How the node refuses the contents of blocks, though it gives heads; null if it gives them. */
  refusesContents: ContentsRefusal | null
}

/**
 * How a node refuses contents: logs with this status of HTTP or with an error of JSON-RPC, or
 * blocks with an empty object.
 */
export const contentsRefusals = ['logs 403', 'logs 500', 'logs -32005', 'blocks {}'] as const
export type ContentsRefusal = (typeof contentsRefusals)[number]

/** The state of a node without a trouble. */
export const untroubled: Readonly<TroubledState> = {
  anyValues: 0,
  oddErrors: 0,
  answerMs: 0,
  pace: Number.POSITIVE_INFINITY,
  callsMax: Number.POSITIVE_INFINITY,
  junkBytes: 0,
  cutOffAt: Number.POSITIVE_INFINITY,
  aheadBy: 0,
  tail: null,
  lacksFinal: false,
  closed: null,
  refusesContents: null,
}

/** A trouble that one of several nodes can get at any time, and have for any time. */
interface Trouble {
  /**
   * Whether the trouble is a lie, which no honest node tells. So fewer nodes than the quorum may
   * have it.
   */
  readonly isLie: boolean
  readonly begin: (random: Random, tip: number) => Partial<TroubledState>
}

const mebibyte = 2 ** 20
const troubles = {
  'values of any kind': {
    isLie: true,
    begin: (random) => ({ anyValues: random.pick([0.1, 0.5, 1]), oddErrors: random.pick([0.2, 1]) }),
  },
  'invented tail': { isLie: true, begin: () => ({ tail: 'many' }) },
  'tail far ahead': { isLie: true, begin: () => ({ tail: 'far' }) },
  'final head too high': { isLie: true, begin: (random) => ({ aheadBy: random.int(1, 10) }) },
  'final head far too high': { isLie: true, begin: (random) => ({ aheadBy: random.int(25, 38) }) },
  'final blocks missing': { isLie: true, begin: () => ({ lacksFinal: true }) },
  'no batches, and slow': {
    isLie: false,
    begin: (random) => ({ callsMax: 1, answerMs: random.pick([1_800, Number.POSITIVE_INFINITY]) }),
  },
  slow: { isLie: false, begin: (random) => ({ answerMs: random.pick([2_500, 5_500]) }) },
  // The node answers late, so that its junk arrives after the replies of the other nodes.
  junk: { isLie: false, begin: (random) => ({ junkBytes: random.pick([1, 2, 4]) * mebibyte, answerMs: 300 }) },
  'cut off': { isLie: false, begin: (_, tip) => ({ cutOffAt: tip }) },
  'fewer requests a second': { isLie: false, begin: (random) => ({ pace: random.pick([1, 2, 4]) }) },
  'API switched off': { isLie: false, begin: () => ({ closed: 'off' }) },
  'lite node': { isLie: false, begin: () => ({ closed: 'lite' }) },
  'contents refused': { isLie: false, begin: (random) => ({ refusesContents: random.pick(contentsRefusals) }) },
} as const satisfies Readonly<Record<string, Trouble>>

export type TroubleName = keyof typeof troubles
/**
 * The names of the troubles that `drawTrouble` draws. Those left out are drawn in `refusals.ts`.
 */
// safe: the keys of `troubles`
export const troubleNames: readonly TroubleName[] = (Object.keys(troubles) as TroubleName[]).filter(
  (name) => !['API switched off', 'lite node', 'contents refused'].includes(name),
)

/** Whether no honest node has this trouble. */
export const isLie = (name: TroubleName): boolean => troubles[name].isLie

/** Draws a trouble. If `canLie` is false, it is one that an honest node can have. */
export const drawTrouble = (random: Random, canLie: boolean): TroubleName =>
  random.pick(troubleNames.filter((name) => canLie || !isLie(name)))

/**
 * The members of a node's state that change when the trouble begins. `tip` is the height of the
 * newest block.
 */
export const beginningOf = (name: TroubleName, random: Random, tip: number): Partial<TroubledState> =>
  troubles[name].begin(random, tip)
