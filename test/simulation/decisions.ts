import type { Backend } from './callers/backend.ts'
import type { Environment, SentDecision } from './environment.ts'
import { observe } from './observed.ts'
import { decisionsOf } from './oracle.ts'
import { finish, type SimulatedRun } from './simulated-run.ts'
import type { Stored, StoredTransfer } from './stored.ts'

/**
 * Sends one or two random decisions: mostly about deposits held for review, otherwise about any
 * transfers, decided or not in review at all.
 */
export function startDecision(run: SimulatedRun): void {
  const { env, stored } = run
  const { aside } = env
  const all = stored.transfers().filter(({ state }) => state !== 'moved')
  const open = all.filter(({ review }) => review === 'open')
  const decisions = Array.from({ length: aside.pick([1, 1, 2]) }, () => {
    const from = open.length > 0 && aside.chance(0.8) ? open : all
    return from.length === 0 ? null : noted(env, aside.pick(from), aside.chance(0.6) ? 'credit' : 'refuse')
  })
  const distinct = new Map(decisions.flatMap((one) => (one === null ? [] : [[`${one.txid} ${one.position}`, one]])))
  if (distinct.size > 0) void run.post((backend) => sendDecisions(backend, [...distinct.values()]))
}

/**
 * In a healthy environment, decides about each transfer that is still held for review. A decision
 * that was sent before is sent again.
 */
export async function settleDecisions(run: SimulatedRun): Promise<void> {
  const { env, stored } = run
  const open = () => stored.transfers().filter(({ review, state }) => review === 'open' && state === 'held')
  for (const transfer of open()) {
    const before = decisionsOf(env, transfer)
    const isCredit = before.length === 0 ? env.aside.chance(0.6) : before.some(({ decision }) => decision === 'credit')
    const decision = noted(env, transfer, isCredit ? 'credit' : 'refuse')
    await finish(
      env,
      run.post((backend) => sendDecisions(backend, [decision])),
    )
  }
  // Decisions that are stored, but whose answers were lost, are sent again.
  const unanswered = env.decisions.filter((one) => {
    return !one.isAccepted && isApplied(stored.transfer(one.txid, one.position), one)
  })
  for (const decision of unanswered) {
    await finish(
      env,
      run.post((backend) => sendDecisions(backend, [decision])),
    )
  }
  const left = open()[0]
  if (left !== undefined) env.violate(`${left.txid}:${left.position} was decided and is held for review still`)
}

/** After a restore, decisions that the restored copy lacks count as not accepted. */
export function forgetDecisions({ env, stored }: SimulatedRun): void {
  for (const one of env.decisions) if (!isApplied(stored.transfer(one.txid, one.position), one)) one.isAccepted = false
}

function noted(env: Environment, { txid, position }: StoredTransfer, decision: SentDecision['decision']): SentDecision {
  const known = env.decisions.find((one) => one.txid === txid && one.position === position && one.decision === decision)
  if (known !== undefined) return known
  const fresh: SentDecision = { txid: txid as SentDecision['txid'], position, decision, isAccepted: false }
  env.decisions.push(fresh)
  return fresh
}

const isApplied = (transfer: StoredTransfer | undefined, { decision }: SentDecision) => transfer?.review === decision

/**
 * Sends decisions in one request. If the answer says that they are stored, or refuses them, this
 * must be true at some moment between the request and the answer.
 */
async function sendDecisions(backend: Backend, decisions: readonly SentDecision[]): Promise<void> {
  const { env, stored, invocation } = backend
  const observed = observe(env, () => decisions.map((one) => readState(stored, one)))
  const halted = observe(env, () => stored.scan()?.halted != null)
  const answer = await backend.decide(decisions)
  const states = observed.end()
  const wasHalted = halted.end().includes(true)
  const violate = (promise: string) =>
    env.violate(
      `${invocation.name} ${promise}: ${decisions.map((one) => `${one.decision} ${one.txid}:${one.position}`)}`,
    )
  env.count(`decision: ${answer.kind}`)
  switch (answer.kind) {
    case 'ok': {
      const isTrue = states.some((state) =>
        state.every((transfer, i) => isApplied(transfer, decisions[i] as SentDecision)),
      )
      // Before the answer is written, a concurrent decision can credit a deposit that this request
      // has refused.
      const isShown = decisions.every(({ decision }, i) => [decision, 'credit'].includes(answer.decided[i] ?? ''))
      if (!isTrue || !isShown || answer.decided.length !== decisions.length)
        violate('was answered as stored and is not')
      for (const one of decisions) one.isAccepted = true
      return
    }
    case 'conflict':
      if (wasHalted && decisions.some(({ decision }) => decision === 'credit')) return // not while the chain is forked
      if (!states.some((state) => state.some((transfer, i) => !isOpenTo(transfer, decisions[i] as SentDecision))))
        violate('is possible and was refused')
      return
    case 'unknown':
      if (!states.some((state) => state.some((transfer) => transfer === undefined)))
        violate('is known and was not found')
      return
    case 'failed':
      if (env.phase === 'healthy') violate('failed in a healthy environment')
      return
    case 'refused':
      violate('is right and was refused')
  }
}

const readState = (stored: Stored, { txid, position }: SentDecision) => stored.transfer(txid, position)

/**
 * Whether this decision about a transfer is possible: it waits for one, has the same one, or was
 * refused and is to be credited.
 */
function isOpenTo(transfer: StoredTransfer | undefined, { decision }: SentDecision): boolean {
  if (transfer === undefined || transfer.state === 'seen' || transfer.state === 'dropped') return false
  return (
    transfer.review === 'open' ||
    transfer.review === decision ||
    (transfer.review === 'refuse' && decision === 'credit')
  )
}
