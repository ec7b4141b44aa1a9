import type { Block, ChainView } from './chain.ts'
import type { Random } from './random.ts'

/**
 * Blocks that nodes lack for ever although they have later ones, as after a start from a snapshot
 * with a hole.
 */
export interface Lacking {
  /** The first node lacks them, or every node does. */
  readonly nodes: 'one' | 'all'
  /**
   * `blocks`: the HTTP API shows no such block. `contents`: it does, and the node has neither logs
   * nor receipts of it.
   */
  readonly what: 'blocks' | 'contents'
  /** How many blocks are lacking, one after the other. */
  readonly count: number
}

/** What nodes lack in a run; null in most runs. */
export function drawLacking(random: Random): Lacking | null {
  if (random.chance(0.9)) return null
  return { nodes: random.pick(['one', 'all']), what: random.pick(['blocks', 'contents']), count: random.int(1, 3) }
}

/** The parts of a run's environment that the functions below read. */
interface Holed {
  /** The height of the first block that nodes lack now, or null. */
  readonly lackedFrom: number | null
  readonly scenario: {
    readonly hardships: { readonly lacking: Lacking | null }
    readonly quorum: number
    readonly nodes: readonly { readonly byzantine: boolean }[]
  }
}

/** What decides at which height nodes lack blocks. */
interface Unbegun {
  readonly chain: { readonly firstHeight: number }
  readonly scenario: Holed['scenario'] & {
    readonly finalityLag: number
    readonly blocksBefore: number
    readonly timed: boolean
    readonly trial: unknown
  }
}

/**
 * The height of the first block that nodes lack: in the middle of the faulty phase, and in a timed
 * run with a trial a block of that. Null if they lack none.
 */
export function firstLacked({ chain, scenario }: Unbegun): number | null {
  const { hardships, finalityLag, blocksBefore, timed, trial } = scenario
  return hardships.lacking === null || (timed && trial !== null)
    ? null
    : chain.firstHeight + finalityLag + blocksBefore + 12
}

/** Whether the block is one that at least one node lacks. */
export function isInHole({ lackedFrom, scenario }: Holed, height: number): boolean {
  const { count = 0 } = scenario.hardships.lacking ?? {}
  return lackedFrom !== null && height >= lackedFrom && height < lackedFrom + count
}

/** Whether the node lacks the block. */
function lacks(world: Holed, number: number, height: number): boolean {
  return isInHole(world, height) && (world.scenario.hardships.lacking?.nodes === 'all' || number === 1)
}

/** Whether the node shows no such block, and so nothing that its HTTP API has of it. */
export const hidesBlock = (world: Holed, number: number, height: number): boolean =>
  world.scenario.hardships.lacking?.what === 'blocks' && lacks(world, number, height)

/** Whether too few correct nodes have the block. */
export function isLacked(world: Holed, height: number): boolean {
  const { nodes, quorum } = world.scenario
  const others = nodes.filter(({ byzantine }, i) => !byzantine && !lacks(world, i + 1, height)).length
  return isInHole(world, height) && others < quorum
}

/** The chain as a node shows it that lacks blocks. */
export function withoutLacked(world: Holed, number: number, chain: ChainView): ChainView {
  if (world.lackedFrom === null || world.scenario.hardships.lacking?.what !== 'blocks') return chain
  const unlessLacked = (block: Block | undefined) =>
    block !== undefined && lacks(world, number, block.height) ? undefined : block
  return {
    tip: chain.tip,
    at: (height) => unlessLacked(chain.at(height)),
    byHash: (hash) => unlessLacked(chain.byHash(hash)),
    blockOf: (txid) => unlessLacked(chain.blockOf(txid)),
  }
}

/** Whether the call asks for logs or receipts of a block of which the node lacks them. */
export function lacksContents(
  world: Holed,
  number: number,
  chain: ChainView,
  { params: [first] }: { readonly params: readonly unknown[] },
): boolean {
  if (world.lackedFrom === null || world.scenario.hardships.lacking?.what !== 'contents') return false
  // safe: the service's own request
  const { blockHash, value = first } = (typeof first === 'object' ? first : {}) as Readonly<Record<string, unknown>>
  const block =
    typeof blockHash === 'string' ? chain.byHash(blockHash.slice(2)) : chain.blockOf(String(value).replace('0x', ''))
  return block !== undefined && lacks(world, number, block.height)
}

/**
 * Whether the service has put the block aside, and cannot read it because too few correct nodes
 * have it.
 */
export const isUnreadGap = (env: Holed & { readonly openGaps: ReadonlySet<number> }, height: number): boolean =>
  env.openGaps.has(height) && isLacked(env, height)
