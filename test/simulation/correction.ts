import { createBranch } from './branches.ts'
import { type Environment, endFork, type MinedTransfer, statesSince } from './environment.ts'
import { correctTo } from './operator.ts'
import { drawPayment } from './payments.ts'
import { findUndone } from './recovery.ts'
import { currencies } from './scenario.ts'
import { pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import type { StoredScan, StoredTransfer } from './stored.ts'

/**
 * What happens while blocks that are replaced later count as final, and until an operator corrects
 * that.
 */
interface Course {
  /** Lets time pass while all nodes show the blocks. */
  show(): Promise<void>
  /** Runs while the scan is halted, before the operator corrects the height. */
  beforeCorrection(): Promise<void>
}

/**
 * All nodes show, as final, blocks that are replaced later; no quorum protects against that. The
 * scan reads these blocks and credits their deposits. Then the nodes show the canonical chain: the
 * scan halts, and the operator lowers its finalized height. A deposit that was credited stays
 * credited, once. Each other transfer is decided anew: it is credited if the canonical chain
 * contains it, in whichever block, and dropped if not. An alarm names each credit that the
 * canonical chain does not show as it was credited, and no other one.
 */
export async function correctAndReplace(run: SimulatedRun): Promise<void> {
  const { env } = run
  if (env.shown.size === 0) return
  const blocks = env.scenario.finalityLag + env.random.int(3, 10)
  const show = async () => {
    for (let left = blocks; left > 0; left -= 1) await payInBlock(run)
  }
  await replaceFinal(run, { show, beforeCorrection: () => Promise.resolve() })
}

/** Lets one block pass, with up to three payments. */
export async function payInBlock({ env }: SimulatedRun): Promise<void> {
  const { random } = env
  const parties = { shown: [...env.shown.keys()], unshown: [], balanceOf: () => 0n }
  for (let i = random.int(0, 3); i > 0; i -= 1) env.queued.push(drawPayment(random, parties))
  await pass(env, env.blockMs)
}

/**
 * Lets all nodes show other final blocks for a while, and has that corrected, as
 * `correctAndReplace` says.
 */
export async function replaceFinal(run: SimulatedRun, { show, beforeCorrection }: Course): Promise<void> {
  const { env, nodes, stored } = run
  if (stored.scan() === undefined) return
  // The wrong blocks begin right above what the scan has read. All nodes must show them before the
  // scan reads on.
  const isAtHead = () => stored.scan()?.height === env.finalized()
  if (!(await passUntil(env, isAtHead, 300_000, 100))) return
  const from = env.finalized() + 1
  const branch = createBranch(env, from)
  const gaps = () => env.counts.get('block put aside')
  const gapsBefore = gaps()
  env.isForked = true
  const forkedAt = env.scheduler.now()
  nodes.rewriteAll(branch)
  await show()
  await pass(env, (env.scenario.scanEverySeconds + 10) * 1_000)
  nodes.rewriteAll(null)
  const isHalted = () => stored.scan()?.halted != null
  await passUntil(env, isHalted, 60_000) // a scan that had read the replaced blocks can still store them
  const isOther = (scan: StoredScan) => scan.height >= from && scan.hash !== env.chain.at(scan.height)?.hash
  const isReplaced = statesSince(env, forkedAt).some((scan) => scan !== undefined && isOther(scan))
  if (isReplaced) {
    // The block after a gap is compared with no parent. So if a block was put aside, nothing may
    // show that blocks were replaced.
    if (!(await passUntil(env, isHalted, 300_000)) && gaps() === gapsBefore) {
      return env.violate('the scan is not halted although its block is not in the chain')
    }
    if (isHalted()) await beforeCorrection() // else nobody knows yet that what a person decides by is wrong
    correct(run, from)
    await passUntil(env, () => !isHalted(), 120_000) // the first step of the correction ends the halt
  } else await passUntil(env, () => !isHalted(), 300_000)
  endFork(env)
  if (!(await passUntil(env, () => findUndone(run) === null, 1_800_000))) {
    return env.violate(`not caught up after the correction: ${findUndone(run)}`)
  }
  if (isReplaced) await checkCredits(run, from, forkedAt)
}

/**
 * An alarm must name each credit of replaced blocks that the canonical chain contradicts, and no
 * alarm may name one that the chain shows as it was credited.
 */
async function checkCredits({ env, stored }: SimulatedRun, from: number, since: number): Promise<void> {
  const credited = [...env.creditedElsewhere].filter(([, { height }]) => height >= from)
  const named = () => {
    const alarms = env.alarmed.filter(({ kind, at }) => kind === 'corrected-credit' && at >= since)
    return new Set(alarms.map(({ fields }) => `${fields.txid}:${fields.position}`))
  }
  const contradicted = credited.filter(([key, one]) => !isShown(env, key, one))
  await passUntil(env, () => contradicted.every(([, one]) => named().has(osnPlace(one))), 600_000)
  for (const [key, one] of credited) {
    if (stored.transfer(one.txid, one.position)?.state !== 'credited') continue // another violation says so
    const shown = env.transfers.get(key)
    const isNamed = named().has(osnPlace(one))
    env.count(`corrected credit: ${shown === undefined ? 'gone' : isShown(env, key, one) ? 'there' : 'other'}`)
    if (!isNamed && !isShown(env, key, one))
      env.violate(`${key} was credited, the chain has ${spell(shown)}, and no alarm says so`)
    if (isNamed && isShown(env, key, one) && shown?.height === one.height)
      env.violate(`${key} is in the chain as it was credited, and has an alarm`)
  }
}

const osnPlace = ({ txid, position }: StoredTransfer) => `${txid}:${position < 0 ? `i${-1 - position}` : position}`
const spell = (transfer: MinedTransfer | undefined) =>
  transfer === undefined ? 'nothing' : `${transfer.raw} to ${transfer.to}`

/** Whether the canonical chain shows a credited transfer with the same money, in whatever block. */
function isShown(env: Environment, key: string, { cuy, raw, to }: StoredTransfer): boolean {
  const shown = env.transfers.get(key) ?? env.sent.get(key)
  const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
  return shown !== undefined && shown.contract === contract && shown.raw === raw && shown.to === to
}

function correct(run: SimulatedRun, from: number): void {
  const { env, stored } = run
  const credited = stored.transfers().filter(({ state, height }) => state === 'credited' && height >= from)
  for (const one of credited) {
    const key = `${one.txid}:${one.position}`
    env.creditedElsewhere.set(key, one)
    // The service cannot know what the canonical chain has in place of what it has credited.
    const contract = currencies.find(({ cuy }) => cuy === one.cuy)?.contract ?? null
    for (const to of [one.to, env.transfers.get(key)?.to ?? one.to]) env.unknowable.add(`${contract} ${to}`)
  }
  env.count('corrected: blocks replaced')
  correctTo(run, from - 1)
}
