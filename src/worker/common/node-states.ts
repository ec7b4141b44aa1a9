/**
 * What the scan and payouts need of a node, in the order in which they ask. Each has a health of
 * its own.
 */
export const nodeQuestions = ['heads', 'blocks', 'logs', 'receipts', 'broadcasting'] as const
export type NodeQuestion = (typeof nodeQuestions)[number]

/**
 * The states of a node: each in one word, and what an operator can do about it. The summary,
 * alarms, the doctor and the desk name a node's state only by these; the desk has the words in its
 * languages.
 */
export const nodeStates = {
  answers: { word: 'answers', remedy: null },
  'not-asked': { word: 'not asked yet', remedy: null },
  /** Its newest final block is old, or it lacks final blocks. */
  behind: { word: 'behind', remedy: 'wait until it has synchronized, and look at its disk, its clock and its load' },
  limited: { word: 'limited', remedy: 'get a larger plan, or set perSecond and perDay to what the node allows' },
  /** It answers, but not with what was asked for. */
  refuses: { word: 'refuses', remedy: 'see whether its plan, its key and its configuration allow this question' },
  down: { word: 'down', remedy: 'start it, or ask its provider; where its address has changed, correct TRON_NODES' },
  'no-peers': {
    word: 'has no peers',
    remedy: 'connect it to the network again: look at its port for peers, its seed nodes and its firewall',
  },
} as const satisfies Readonly<Record<string, { readonly word: string; readonly remedy: string | null }>>

export type NodeState = keyof typeof nodeStates
/** All states, in the order of the table. */
// safe: the table's keys
export const nodeStateNames = Object.keys(nodeStates) as readonly NodeState[] as readonly [NodeState, ...NodeState[]]
