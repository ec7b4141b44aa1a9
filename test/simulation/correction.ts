import { createBranch } from './branches.ts'
import { statesSince } from './environment.ts'
import { correctTo } from './operator.ts'
import { drawPayment } from './payments.ts'
import { findUndone } from './recovery.ts'
import { pass, passUntil, type SimulatedRun } from './simulated-run.ts'
import type { StoredScan } from './stored.ts'

/**
 * All nodes show, as final, blocks that are replaced later; no quorum protects against that. The scan reads these blocks and credits their deposits. Then the
 * nodes show the canonical chain: the scan halts, and the operator lowers its finalized height. A deposit that was credited stays credited, once. Each other
 * transfer is decided anew: it is credited if the canonical chain contains it, in whichever block, and dropped if not.
 */
export async function correctAndReplace(run: SimulatedRun): Promise<void> {
  const { env, nodes, stored } = run
  const { random } = env
  if (stored.scan() === undefined || env.shown.size === 0) return
  const from = env.finalized() + 1
  const branch = createBranch(env, from)
  if (!(await passUntil(env, () => (stored.scan()?.height ?? 0) >= from - 1, 300_000))) return
  if ((stored.scan()?.height ?? 0) >= from) return // the canonical chain was faster
  const gaps = () => env.counts.get('block put aside')
  const gapsBefore = gaps()
  env.isForked = true
  const forkedAt = env.scheduler.now()
  nodes.rewriteAll(branch)
  const parties = { shown: [...env.shown.keys()], unshown: [], balanceOf: () => 0n }
  const blocks = env.scenario.finalityLag + random.int(3, 10)
  for (let left = blocks; left > 0; left -= 1) {
    for (let i = random.int(0, 3); i > 0; i -= 1) {
      const payment = drawPayment(random, parties)
      env.balances.apply(env.chain.tip().height + 1, payment.changes)
      env.queued.push({ ...payment, changes: [] })
    }
    await pass(env, env.blockMs)
  }
  await pass(env, (env.scenario.scanEverySeconds + 10) * 1_000)
  nodes.rewriteAll(null)
  const isHalted = () => stored.scan()?.halted != null
  await passUntil(env, isHalted, 60_000) // a scan that had read the replaced blocks can still store them
  const isOther = (scan: StoredScan) => scan.height >= from && scan.hash !== env.chain.at(scan.height)?.hash
  const isReplaced = statesSince(env, forkedAt).some((scan) => scan !== undefined && isOther(scan))
  if (isReplaced) {
    // The block after a gap is compared with no parent. So if a block was put aside, nothing may show that blocks were replaced.
    if (!(await passUntil(env, isHalted, 300_000)) && gaps() === gapsBefore) {
      return env.violate('the scan is not halted although its block is not in the chain')
    }
    correct(run, from)
    await passUntil(env, () => !isHalted(), 120_000) // the first step of the correction ends the halt
  } else await passUntil(env, () => !isHalted(), 300_000)
  env.isForked = false
  if (await passUntil(env, () => findUndone(run) === null, 1_800_000)) return
  env.violate(`not caught up after the correction: ${findUndone(run)}`)
}

function correct(run: SimulatedRun, from: number): void {
  const { env, stored } = run
  const credited = stored.transfers().filter(({ state, height }) => state === 'credited' && height >= from)
  for (const one of credited) env.creditedElsewhere.set(`${one.txid}:${one.position}`, one)
  env.count('corrected: blocks replaced')
  correctTo(run, from - 1)
}
