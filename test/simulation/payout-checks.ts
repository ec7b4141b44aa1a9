import type { Txid } from '../../src/worker/chain/block.ts'
import type { Environment } from './environment.ts'
import { canBeMined, keyOf, minedAs, type PayoutWorld, rawOf } from './payouts.ts'
import type { Stored, StoredPayout } from './stored.ts'

/**
 * Checks each change of a payout's state: it must follow from what the chain has, and from nothing
 * else.
 */
export function checkPayout(env: Environment, by: string, before: StoredPayout | undefined, now: StoredPayout): void {
  const { payouts: world, violate, isForked } = env
  if (world === null || before?.state === now.state) return
  const name = `${by} made the payout ${keyOf(now)} ${now.state}`
  checkLeaving(env, world, name, before, now)
  if (before?.state === 'approved' && now.state === 'signed') world.onSigned(now)
  if (isForked) return
  env.count(`payout: ${now.state}${now.reason === null ? '' : ` ${now.reason}`}`)
  const mined = now.txid === null ? null : minedAs(env, now.txid)
  if (now.state === 'paid' && !(mined?.isFinal === true && mined.succeeded))
    violate(`${name}, and no final block pays it`)
  if (now.state === 'paid') checkExact(env, world, name, now)
  if (now.state === 'signed' && before !== undefined && before.state !== 'paid' && before.state !== 'stuck') {
    const others = [...world.signed].filter(([txid, { key }]) => key === keyOf(now) && txid !== now.txid)
    const open = others.find(
      ([txid, { expiration }]) => world.bytesOf(txid) !== undefined && canBeMined(env, txid, expiration),
    )
    if (open !== undefined) violate(`${name} with ${now.txid}, and ${open[0]} can be mined`)
  }
  if (before?.state === 'signed' && now.state !== 'paid') checkEnded(env, world, name, now)
  if (now.state === 'cancelled') {
    const paid = findLiving(env, world, now)
    if (paid !== null) violate(`${name}, and ${paid} can pay or has paid`)
  }
}

/**
 * Checks a payout whose currency may not leave now. The payout may not become signed. When it is
 * new, it may not be approved by limits already, nor exist at all if the amount cannot be known.
 */
function checkLeaving(
  env: Environment,
  { known }: PayoutWorld,
  name: string,
  before: StoredPayout | undefined,
  { cuy, state, txid }: StoredPayout,
): void {
  const wrong = known.find(cuy)
  if (wrong === null) return
  env.count(`payouts: ${state} while there is ${wrong}`)
  const isUnwritable = wrong === 'fork' || wrong.endsWith('decimals')
  const isByRule = before === undefined && (state === 'approved' || isUnwritable)
  // A payout whose transaction is in a block may become signed: the database lacked only the bytes
  // of the transaction.
  const isSigned = before?.state === 'approved' && state === 'signed' && minedAs(env, txid ?? '') === null
  if (isByRule || isSigned) env.violate(`${name}, and is of a currency that may not leave: ${wrong}`)
}

/**
 * Checks that exactly the amount has left, and that all of it has arrived, except for a fee that an
 * operator has confirmed.
 */
function checkExact(env: Environment, world: PayoutWorld, name: string, { txid, cuy, amount }: StoredPayout): void {
  const left = world.left.get(txid as Txid)
  const raw = rawOf({ cuy, amount })
  if (left?.all !== raw) env.violate(`${name}, and ${left?.all} of ${raw} have left`)
  if (left?.toPayee !== raw && !world.feesConfirmed.has(left?.fee ?? ''))
    env.violate(`${name}, and ${left?.toPayee} of ${raw} arrive`)
}

/**
 * How old the data of a decision can be, in milliseconds: a trip to the database can take this
 * long.
 */
const readMs = 90_000

function checkEnded(
  env: Environment,
  world: PayoutWorld,
  name: string,
  { txid, reason, cuy, amount }: StoredPayout,
): void {
  const { expiration = 0 } = world.signed.get(txid as Txid) ?? {}
  const mined = txid === null ? null : minedAs(env, txid)
  const isFinal = mined?.isFinal === true
  const left = world.left.get(txid as Txid)
  const confirmedAt = env.restores > 0 ? undefined : world.feesConfirmed.get(left?.fee ?? '')
  const isSplit = confirmedAt !== undefined && confirmedAt < env.scheduler.now() - readMs
  const isExact = left?.all === rawOf({ cuy, amount }) && (left.toPayee === left.all || isSplit)
  const isTrue =
    reason === 'failed'
      ? isFinal && !mined.succeeded
      : reason === 'other'
        ? isFinal && mined.succeeded && !isExact
        : mined === null && !canBeMined(env, txid ?? '', expiration)
  if (!isTrue) env.violate(`${name} ${reason}, and its transaction ${txid} is ${JSON.stringify(mined)}`)
}

/**
 * Finds the txid of a transaction of the payout that can be mined, because nodes have it, or that
 * has succeeded in a block; null if there is none.
 */
function findLiving(env: Environment, { signed, pool }: PayoutWorld, payout: StoredPayout): string | null {
  const isLiving = (txid: Txid) => pool.has(txid) || minedAs(env, txid)?.succeeded === true
  const living = [...signed].find(([txid, { key }]) => key === keyOf(payout) && isLiving(txid))
  return living?.[0] ?? null
}

/**
 * From its first sending on, a transaction reaches a node with peers within this time, and what
 * nobody takes has an alarm within the other one.
 */
const [reachedMs, refusedMs] = [13_000, 90_000]

/**
 * Checks, in runs in which nothing else fails, how soon transactions reach a node that passes them
 * on, and how soon an alarm says that none takes them.
 */
export function checkReached(env: Environment, stored: Stored, world: PayoutWorld): void {
  const { scenario, scheduler } = env
  if (!scenario.timed || env.restores > 0 || scenario.payouts?.trouble !== 0) return
  const lateMs = refusedMs + (scenario.scanEverySeconds + 5) * 1_000 // an alarm comes with a tick
  for (const [txid, { at }] of world.sendings) {
    const { key = '' } = world.signed.get(txid) ?? {}
    const { cuy = 0 } = world.asked.get(key) ?? {}
    const since = Math.max(at, world.known.endedAt(cuy))
    if (world.known.find(cuy) !== null || since + reachedMs > scheduler.now()) continue
    if (world.refused.get(key) !== true) {
      const isThere = world.pool.has(txid) || world.expired.has(txid) || minedAs(env, txid) !== null
      if (!isThere) env.violate(`${txid} was sent ${scheduler.now() - at} ms ago, and no node with peers has it`)
    } else if (since + lateMs <= scheduler.now()) {
      const isNamed = env.alarmed.some(({ kind, fields }) => {
        return kind === 'payout-refused' && world.keyOfPayout(Number(fields.payout)) === key
      })
      const isOpen = stored.payouts().some((one) => one.txid === txid && one.state === 'signed')
      if (isOpen && !isNamed) env.violate(`every node refuses ${txid}, and no alarm says so`)
    }
  }
}
