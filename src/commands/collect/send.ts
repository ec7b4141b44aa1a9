import type { Header } from '../../worker/chain/block.ts'
import { encodeSigned } from '../../worker/chain/transaction.ts'
import { readFinalizedHead } from '../../worker/tron/finalized-head.ts'
import { readTextFile } from '../files.ts'
import { type ChainPrices, readInfo } from '../node-replies.ts'
import { type AgreedNodes, lookMs, openNodes, type StoppablePlatform } from '../nodes.ts'
import { environmentOf } from '../place.ts'
import type { Terminal } from '../signing/terminal.ts'
import { openDeployment } from '../target.ts'
import { orStop, ToolError } from '../tool-error.ts'
import { findPlanFault, findSignatureFault } from './check-plan.ts'
import { type CollectOptions, createProgress } from './command-line.ts'
import { noStops, readStops, type StopOf } from './issuer-stops.ts'
import { broadcast, explainNodeRefusal, isUndecided, readPrices } from './node-api.ts'
import { type CollectPlan, type CollectStep, parseSignedPlan, type SignedPlan } from './plan.ts'
import { changedFileAdvice, requireCell, requireChain, requireNoPayoutGas } from './refuse-plan.ts'
import {
  isSettled,
  measureStep,
  readinessOf,
  type SendOutcome,
  type StepState,
  type StepStates,
  stateOf,
} from './step-state.ts'
import { isComplete, reportLines } from './tables.ts'
import { encodeStep } from './transaction.ts'

/**
 * A transaction that is in no block after this many blocks is sent again. The bytes are the same,
 * so it cannot count twice.
 */
const resendAfterBlocks = 20
/** Sending stops after this many looks at the chain without progress: 10 minutes. */
const idleLooksMax = 200
/**
 * No energy is delegated if the plan expires sooner than this, because there must be time to take
 * it back.
 */
const lastDelegationMs = 600_000
/** Most steps that are sent between two looks at the chain. */
const stepsPerLook = 40
/** A step is given up after this many measurements, a block apart, that differ from the plan. */
const doubtsMax = 4

/**
 * `collect -- send`: sends a signed plan and reports. Returns the exit code: 0 if everything was
 * done.
 */
export async function runSend(
  values: CollectOptions,
  path: string,
  terminal: Terminal,
  platform: StoppablePlatform,
): Promise<number> {
  const { config, extendedPublicKey, place } = openDeployment(environmentOf(values), values.cell, terminal.print)
  const signed = orStop(parseSignedPlan(await readTextFile(path)), 'name the file that "collect -- sign" has written')
  const { plan } = signed
  const fault = findPlanFault(plan) ?? findSignatureFault(signed)
  if (fault !== null) throw new ToolError(`${fault}. Nothing was sent`, changedFileAdvice)
  requireChain(plan, config.chainId)
  requireCell(plan, place, extendedPublicKey, 'sent')
  requireNoPayoutGas(plan, config.payouts?.address, 'sent')
  const nodes = openNodes(config, platform)
  const states: StepStates = new Map()
  const onProgress = createProgress(process.stderr)
  const stops = await readStops(config, place)
  if (!stops.ok) terminal.print(`${stops.error.why}: what issuers did is not known, and the tokens' contracts decide.`)
  const outcome = await sendPlan(nodes, signed, stops.ok ? stops.value : noStops, states, () => {
    onProgress('transactions', plan.steps.filter(({ id }) => isSettled(stateOf(states, id))).length, plan.steps.length)
  })
  for (const line of reportLines(plan, states, outcome)) terminal.print(line)
  return outcome.kind === 'settled' && isComplete(plan, states) ? 0 : 1
}

/** The state of a run. It may be lost at any point, because the next run asks the chain. */
interface SendRun {
  readonly nodes: AgreedNodes
  readonly signed: SignedPlan
  readonly plan: CollectPlan
  readonly stopOf: StopOf
  readonly states: StepStates
  readonly onProgress: (states: StepStates) => void
  /** How many measurements of each waiting step differed from the plan, by the step's id. */
  readonly doubts: Map<number, number>
  prices: ChainPrices
  /**
   * The step because of which the run begins no other address, and the reason; null if there is
   * none.
   */
  halted: { readonly step: CollectStep; readonly why: string } | null
}

type FinalHead = Pick<Header, 'height' | 'timestamp'>
const readFinalHead = async ({ nodes }: SendRun): Promise<FinalHead> =>
  (await nodes.read((session) => readFinalizedHead(session, null))).header

/**
 * Sends the transactions of a signed plan, each once the steps before it are in a block, until
 * nothing more can be done and everything is final. It updates `states` in place, so the caller
 * sees the progress during the run and after an interruption.
 */
export async function sendPlan(
  nodes: AgreedNodes,
  signed: SignedPlan,
  stopOf: StopOf,
  states: StepStates,
  onProgress: (states: StepStates) => void,
): Promise<SendOutcome> {
  try {
    const prices = await readPrices(nodes)
    const run: SendRun = {
      nodes,
      signed,
      plan: signed.plan,
      stopOf,
      states,
      onProgress,
      prices,
      doubts: new Map(),
      halted: null,
    }
    await findWhatIsDone(run)
    return await sendUntilSettled(run)
  } catch (error) {
    if (error instanceof ToolError) return { kind: 'interrupted', why: error.message }
    throw error
  }
}

/**
 * Asks the chain which steps earlier runs have brought into a block. If the first step of an
 * address is in no block, its later steps are not asked about, because each waits for the one
 * before. After `activate` the chain is asked about the later steps, too, because somebody else may
 * have created the account.
 */
async function findWhatIsDone(run: SendRun): Promise<void> {
  const { height: final } = await readFinalHead(run)
  const untouched = new Set<string>()
  for (const step of run.plan.steps) {
    const info = untouched.has(step.address) ? null : await readInfo(run.nodes, step.txid)
    const isFirst = !run.plan.steps.some((one) => one.address === step.address && one.id < step.id)
    if (info === null && isFirst && step.kind !== 'activate') untouched.add(step.address)
    setState(run, step, info === null ? { kind: 'waiting' } : { kind: 'mined', info, isFinal: info.height <= final })
  }
}

async function sendUntilSettled(run: SendRun): Promise<SendOutcome> {
  for (let idle = 0; idle < idleLooksMax; idle += 1) {
    const final = await readFinalHead(run)
    run.prices = await readPrices(run.nodes) // the chain's producers may vote to change prices during a run
    const before = settledCount(run)
    for (const step of run.plan.steps) await lookFor(run, step, final)
    let sent = 0
    for (const step of run.plan.steps) {
      if (sent >= stepsPerLook) break
      if (await advance(run, step, final)) sent += 1
    }
    if (run.plan.steps.every(({ id }) => isSettled(stateOf(run.states, id))) && (await isAllFinal(run, final))) {
      return { kind: 'settled', isExpired: isExpired(run, final) }
    }
    if (settledCount(run) !== before) idle = 0
    await run.nodes.clock.sleep(lookMs)
  }
  const isSent = settledCount(run) === run.plan.steps.length
  const what = isSent ? 'not everything became final' : 'no further transaction came into a block'
  return { kind: 'interrupted', why: `${what} for minutes` }
}

const settledCount = ({ plan, states }: SendRun) => plan.steps.filter(({ id }) => isSettled(stateOf(states, id))).length

/**
 * Whether no further block can contain a transaction of the plan: nodes compare the expiration with
 * the time of the previous block.
 */
const isExpired = ({ plan }: SendRun, { timestamp }: FinalHead) => timestamp > plan.expiration

/**
 * Asks whether a step that this or an earlier run may have sent is in a block by now. Only a block
 * proves it, not the answer "duplicate" to a broadcast. After the plan has expired, a step that is
 * in no block will never be in one.
 */
async function lookFor(run: SendRun, step: CollectStep, final: FinalHead): Promise<void> {
  const state = stateOf(run.states, step.id)
  const isOver = isExpired(run, final)
  if (state.kind !== 'sent' && state.kind !== 'unknown' && !(isOver && state.kind === 'waiting')) return
  const info = await readInfo(run.nodes, step.txid)
  if (info !== null) {
    setState(run, step, { kind: 'mined', info, isFinal: false })
    if (state.kind === 'unknown') reconsider(run, step.address, ['skipped'])
  } else if (isOver) {
    const why = 'it expired before it came into a block'
    setState(run, step, { kind: state.kind === 'sent' ? 'refused' : 'skipped', why })
  } else if (state.kind === 'sent' && final.height - state.height >= resendAfterBlocks) {
    setState(run, step, { kind: 'waiting' }) // sent again with the same bytes, which the chain accepts only once
  }
}

/** Sends a step if its turn has come. Returns whether it was sent. */
async function advance(run: SendRun, step: CollectStep, final: FinalHead): Promise<boolean> {
  if (stateOf(run.states, step.id).kind !== 'waiting') return false
  const readiness = readinessOf(run.plan, run.states, step)
  if (readiness.kind === 'not-yet') return false
  if (readiness.kind === 'unneeded') {
    setState(run, step, readiness)
    return false
  }
  if (readiness.kind === 'never') {
    setState(run, step, { kind: 'skipped', why: readiness.why })
    return false
  }
  const obstacle = obstacleTo(run, step, final)
  if (obstacle !== null) {
    setState(run, step, { kind: 'unknown', why: obstacle })
    return false
  }
  const measured = await measureStep(run.nodes, run.plan, step, run)
  if (measured.kind === 'unneeded') {
    setState(run, step, measured)
    return false
  }
  if (measured.kind !== 'as-planned') {
    // An earlier run may have sent a step that is in no block yet and changes what is measured. So
    // a step is measured several times before it is given up.
    const doubts = (run.doubts.get(step.id) ?? 0) + 1
    run.doubts.set(step.id, doubts)
    if (doubts >= doubtsMax && !(await findMined(run, step.address))) {
      setState(run, step, { kind: 'unknown', why: measured.why })
      if (measured.kind === 'costlier') run.halted ??= { step, why: measured.why }
    }
    return false
  }
  await send(run, step, final)
  return true
}

/**
 * Asks the chain about all waiting steps of an address. Returns whether any of them is in a block.
 */
async function findMined(run: SendRun, address: string): Promise<boolean> {
  let isFound = false
  for (const step of run.plan.steps) {
    if (step.address !== address || stateOf(run.states, step.id).kind !== 'waiting') continue
    const info = await readInfo(run.nodes, step.txid)
    if (info === null) continue
    isFound = true
    setState(run, step, { kind: 'mined', info, isFinal: false })
  }
  return isFound
}

/**
 * Why a step must not be sent, or null. Only steps that prepare an address can have a reason:
 * transfers go on, and delegated energy is always taken back.
 */
function obstacleTo({ plan, halted }: SendRun, { kind }: CollectStep, { timestamp }: FinalHead): string | null {
  if (kind === 'undelegate' || kind === 'transfer') return null
  if (halted !== null) return `nothing new is begun, because of step ${halted.step.id}: ${halted.why}`
  const isLate = kind === 'delegate' && timestamp > plan.expiration - lastDelegationMs
  return isLate ? 'the plan ends too soon to take the energy back' : null
}

async function send(run: SendRun, step: CollectStep, { height }: FinalHead): Promise<void> {
  const { plan, signatures } = run.signed
  const signature = Uint8Array.from(Buffer.from(signatures[step.id - 1] ?? '', 'hex'))
  const answer = await broadcast(run.nodes, encodeSigned(encodeStep(plan, step), signature))
  if (answer.code === 'SUCCESS' || answer.code === 'DUP_TRANSACTION_ERROR') {
    setState(run, step, { kind: 'sent', height })
    return
  }
  if (isUndecided(answer)) return
  // an earlier sending may have reached the chain although its reply was lost
  const info = await readInfo(run.nodes, step.txid)
  if (info !== null) return setState(run, step, { kind: 'mined', info, isFinal: false })
  setState(run, step, { kind: 'refused', why: explainNodeRefusal(answer) })
}

/**
 * Whether the blocks of all mined steps are final. Steps that a fork has removed from their blocks
 * wait again.
 */
async function isAllFinal(run: SendRun, { height: final }: FinalHead): Promise<boolean> {
  let isAll = true
  for (const step of run.plan.steps) {
    const state = stateOf(run.states, step.id)
    if (state.kind !== 'mined' || state.isFinal) continue
    const info = await readInfo(run.nodes, step.txid)
    if (info === null) beginAgain(run, step)
    else setState(run, step, { kind: 'mined', info, isFinal: info.height <= final })
    if (info === null || info.height > final) isAll = false
  }
  return isAll
}

/**
 * After a fork has removed a step from its block: this step, and the steps that were not sent
 * because of its failure, can be sent again.
 */
function beginAgain(run: SendRun, removed: CollectStep): void {
  setState(run, removed, { kind: 'waiting' })
  reconsider(run, removed.address, ['refused', 'unknown', 'skipped'])
  if (run.halted?.step.address !== removed.address) return
  run.halted = null
  // each step is measured again
  for (const { address } of run.plan.steps) reconsider(run, address, ['unknown', 'skipped'])
}

/** Lets the steps of an address that are in one of these states wait again. */
function reconsider(run: SendRun, address: string, kinds: readonly StepState['kind'][]): void {
  for (const step of run.plan.steps) {
    if (step.address !== address || !kinds.includes(stateOf(run.states, step.id).kind)) continue
    run.doubts.delete(step.id)
    setState(run, step, { kind: 'waiting' })
  }
}

function setState(run: SendRun, step: CollectStep, state: StepState): void {
  run.states.set(step.id, state)
  if (state.kind === 'mined' && !state.info.isSuccess) {
    run.halted ??= { step, why: `it failed in its block (${state.info.message})` }
  }
  run.onProgress(run.states)
}
