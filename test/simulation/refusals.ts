import type { Random } from './random.ts'

/**
 * The status and body with which a node without an HTTP API answers: because the API is switched
 * off, or because the node is a lite node.
 */
export const closedReplies = {
  off: [404, '{"Error":"this API is unavailable due to config"}\n'],
  lite: [200, 'this API is closed because this node is a lite fullnode'],
} as const
/** Why a node has no HTTP API. */
export type ClosedApi = keyof typeof closedReplies

/**
 * The body of a reply of a node that refuses a request as too many, and of one that fails with an
 * exception.
 */
export const nodeLimit = '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}'
export const nodeException = '{"Error":"class java.lang.NullPointerException : null"}'
/**
 * The texts of java-tron after 4.8.2, by the older texts that they replace (PROTOCOL.md, Errors of
 * the HTTP API).
 */
const nextTexts: ReadonlyMap<string, string> = new Map([
  [nodeLimit, '{"Error":"lack of computing resources"}'],
  [nodeException, '{"Error":"internal server error"}'],
])

/** What a seed decides about how nodes refuse requests; null in two of three runs. */
export function drawRefusals(random: Random) {
  if (random.chance(2 / 3)) return null
  const trouble = random.pick([null, null, 'API switched off', 'lite node', 'contents refused'] as const)
  const trial = { tail: null, isFirst: random.chance(0.7), platform: 'well', minutes: 5 } as const
  return {
    speaksNext: random.chance(0.5), // nodes have the texts of the next version
    unrendered: random.pick([null, 'one', 'all'] as const), // the first node, or every one, cannot render one block
    // how one node closes its HTTP API in the faulty phase; null: none does
    closed: random.pick([null, null, 'off', 'lite'] as const),
    closedNode: random.int(1, 4),
    trial: trouble && { trouble, ...trial },
  }
}

/** How nodes refuse requests in a run. */
export type Refusals = ReturnType<typeof drawRefusals>

/** The parts of a run's environment that the functions below read. */
interface Refusing {
  readonly unrenderedAt: number | null
  readonly scenario: {
    readonly refusals: Refusals
    readonly quorum: number
    readonly nodes: readonly { readonly byzantine: boolean }[]
    readonly finalityLag: number
    readonly blocksBefore: number
  }
}

/**
 * An error text as the nodes of the run write it: in the words of the next version if the run has
 * that one.
 */
export const inVersion = ({ scenario }: Refusing, text: string): string =>
  (scenario.refusals?.speaksNext === true ? nextTexts.get(text) : undefined) ?? text

/** The block that nodes cannot render, in the middle of the faulty phase, or null. */
export function unrenderedHeight({ scenario }: Refusing, firstHeight: number): number | null {
  const { refusals, finalityLag, blocksBefore } = scenario
  return refusals === null || refusals.unrendered === null ? null : firstHeight + finalityLag + blocksBefore + 10
}

/** Whether the node fails at the block that cannot be rendered. */
export function failsAtBlock({ unrenderedAt, scenario }: Refusing, number: number, body: unknown): boolean {
  // safe: the service's own request
  const { startNum = 0, endNum = 0 } = body as { readonly startNum?: number; readonly endNum?: number }
  if (unrenderedAt === null || unrenderedAt < startNum || unrenderedAt >= endNum) return false
  return scenario.refusals?.unrendered === 'all' || number === 1
}

/** Whether too few correct nodes can render the block. */
export function isUnrendered({ unrenderedAt, scenario }: Refusing, height: number): boolean {
  const { refusals, nodes, quorum } = scenario
  const others = nodes.filter(({ byzantine }, i) => i > 0 && !byzantine).length
  return height === unrenderedAt && (refusals?.unrendered === 'all' || others < quorum)
}
