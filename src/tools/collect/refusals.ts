/** A node's answer to a broadcast. `code` is `SUCCESS`, or the node's code for why it refuses the transaction. */
export interface BroadcastAnswer {
  readonly code: string
  /** The node's own text, for the report. */
  readonly message: string
}

/** Codes after which the same transaction can be taken a moment later. */
const temporary: ReadonlySet<string> = new Set([
  'SERVER_BUSY',
  'NO_CONNECTION',
  'NOT_ENOUGH_EFFECTIVE_CONNECTION',
  'BLOCK_UNSOLIDIFIED',
])

const explanations: ReadonlyMap<string, string> = new Map([
  ['TRANSACTION_EXPIRATION_ERROR', 'it expired: make a new plan'],
  [
    'TAPOS_ERROR',
    'its reference block is not on this chain: another chain, a fork, or a plan that is too old. Make a new one',
  ],
  ['SIGERROR', 'its signature is not that of its address'],
  ['BANDWITH_ERROR', 'its account has neither bandwidth nor TRX for its bytes'],
  ['TOO_BIG_TRANSACTION_ERROR', 'it is too large'],
])

/** Whether a node may take the transaction when it is sent again. */
export function isTemporary(code: string): boolean {
  return temporary.has(code)
}

/** Why a node does not take a transaction, in words. */
export function explainNodeRefusal({ code, message }: BroadcastAnswer): string {
  const known = explanations.get(code)
  if (known !== undefined) return known
  const text = message.replace(/^Contract validate error : /, '')
  return `the node refuses it: ${text === '' ? code : text}`
}
