/** The parts of the message of a successful `/tron/recharge`. */
export interface RechargeMessage {
  /** Decimal amounts by currency symbol. */
  readonly credited: ReadonlyMap<string, string>
  /** Transfers that are not final. */
  readonly unconfirmed: number
  /** Deposits that cannot be decided yet. */
  readonly pending: number
  /** Whether the message says "at least" before the number of pending deposits. */
  readonly isAtLeast: boolean
  /** Blocks that the scan is behind. */
  readonly behind: number
  /** The parts of the message that say why the scan is not caught up. */
  readonly problems: readonly string[]
}

/** Amounts such as `25 C2`, by symbol. */
export function readAmounts(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/(\d+(?:\.\d+)?) (C\d)\b/g)].map(([, amount = '', symbol = '']) => [symbol, amount]))
}

const problems = new Set([
  'no node gave a usable response',
  'the nodes disagree',
  'the scan is stopped until an operator has checked the chain',
  'the requests that the nodes allow are used up for now',
  'a scan is still running',
  'the scan did not finish in time',
])

/** Reads the message of a successful recharge without a txid. */
export function readRechargeMessage(msg: string): RechargeMessage {
  const [first = '', ...parts] = msg.replace(/^success: /, '').split('; ')
  const message = {
    credited: new Map<string, string>(),
    unconfirmed: 0,
    pending: 0,
    isAtLeast: /at least \d+ transfers? not credited/.test(msg),
    behind: 0,
    problems: [] as string[],
  }
  if (first !== 'nothing new') message.credited = new Map(readAmounts(first))
  if (first !== 'nothing new' && message.credited.size === 0) message.problems.push(first)
  for (const part of parts) {
    const count = Number(/\d+/.exec(part)?.[0])
    if (/^(at least )?\d+ transfers? not credited yet: /.test(part)) message.pending += count
    else if (/ found, (?:final in|not final yet)/.test(part)) message.unconfirmed = count
    else if (/\d+ blocks? behind/.test(part)) message.behind = count
    else if (problems.has(part) || message.pending === 0) message.problems.push(part)
  }
  return message
}
