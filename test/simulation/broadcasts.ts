import type { Txid } from '../../src/worker/chain/block.ts'
import type { Wire } from '../support/block-json.ts'
import { type Around, type PayoutWorld, readTransaction } from './payouts.ts'

/** Notes what a node has answered to a broadcast. */
function noteAnswer({ sendings }: PayoutWorld, now: number, txid: Txid, node: number, isTaken: boolean): void {
  const { at = now, takers: before = new Set<number>(), untakenUntil = Infinity } = sendings.get(txid) ?? {}
  const takers = new Set([...before].filter((one) => one !== node).concat(isTaken ? [node] : []))
  sendings.set(txid, { at, takers, untakenUntil: takers.size === 0 ? Infinity : Math.min(untakenUntil, now) })
}

/**
 * Answers a broadcast as a node would. The answer can be false: whether the node passes the
 * transaction on is drawn separately.
 */
export function receiveBroadcast(env: Around, node: number, transaction: string): Wire {
  const { payouts: world, chain, scenario } = env
  if (world === null) throw new Error('a broadcast without payouts')
  const { random, pool } = world
  const { reference, ...read } = readTransaction(transaction)
  const { txid, expiration } = read
  checkSent(env, world, txid, transaction)
  const answer = (code: string, result = false) => {
    noteAnswer(world, env.scheduler.now(), txid, node, result || code === 'DUP_TRANSACTION_ERROR')
    return { ...(result ? { result } : {}), code, txid, message: '' }
  }
  const tip = chain.tip()
  if (expiration <= tip.seconds * 1_000) return answer('TRANSACTION_EXPIRATION_ERROR')
  const low = (tip.height - reference.low) & 0xffff
  if (chain.at(tip.height - low)?.hash.slice(16, 32) !== reference.hash) return answer('TAPOS_ERROR')
  if (isRefusedByAll(env, world, txid)) return answer('CONTRACT_VALIDATE_ERROR')
  if (isDeaf(env, node)) {
    env.count('broadcast: to a node without peers')
    return answer('SUCCESS', true)
  }
  const isKnown = chain.blockOf(txid) !== undefined || pool.has(txid)
  if (isKnown) return random.chance(0.5) ? answer('DUP_TRANSACTION_ERROR') : answer('SUCCESS', true)
  const { trouble = 0, failing = 0 } = world.isCalm ? {} : (scenario.payouts ?? {})
  const does = random.chance(trouble) ? random.pick(['swallow', 'refuse', 'late', 'claim'] as const) : 'pass'
  env.count(`broadcast: ${does}`)
  if (does === 'swallow') return answer('SUCCESS', true)
  if (does === 'refuse') return answer(random.pick(['SERVER_BUSY', 'NOT_ENOUGH_EFFECTIVE_CONNECTION', 'OTHER_ERROR']))
  // What waits for the wrong blocks of `endOtherwise` can fail in the chain, too.
  const isFailing = read.contract !== null && (random.chance(failing) || (world.isHeld && env.hard.chance(0.3)))
  pool.set(txid, {
    ...read,
    from: env.scheduler.now() + (does === 'late' ? random.int(10_000, 600_000) : 0),
    fate: isNeverMined(env, world, txid)
      ? 'never'
      : random.chance(trouble)
        ? random.pick(['soon', 'last', 'never', 'never'] as const)
        : 'soon',
    result: isFailing ? random.pick(['failed', 'failed', 'short'] as const) : 'paid',
  })
  // With `claim`, the node passes the transaction on, and says that it knew it before.
  return does === 'claim' ? answer('DUP_TRANSACTION_ERROR') : answer('SUCCESS', true)
}

/**
 * Whether no transaction for the payout of this transaction ever comes into a block. Drawn once for
 * each payout.
 */
function isNeverMined({ scenario }: Around, { signed, drawn, unmined, further }: PayoutWorld, txid: Txid): boolean {
  const { key = '' } = signed.get(txid) ?? {}
  if (scenario.further.unmined && !drawn.has(key) && further.chance(0.3)) unmined.add(key)
  drawn.add(key)
  return unmined.has(key)
}

/**
 * Whether the node has no peers to which it could pass a transaction on. A single node always has
 * some.
 */
const isDeaf = ({ scenario: { hardships, nodes } }: Around, node: number) => hardships.deaf === node && nodes.length > 1

/**
 * Whether every node refuses the transactions of this transaction's payout. Drawn once for each
 * payout.
 */
function isRefusedByAll({ scenario, hard }: Around, { signed, refused, unmined }: PayoutWorld, txid: Txid): boolean {
  const { key = '' } = signed.get(txid) ?? {}
  if (!refused.has(key)) refused.set(key, hard.chance(scenario.hardships.refused))
  const isRefused = refused.get(key) === true
  if (isRefused) unmined.add(key)
  return isRefused
}

/**
 * The most milliseconds that can pass from reading whether a currency may leave until a transaction
 * arrives at a node: usually, and in runs with slow trips to the database.
 */
const [sendingMs, slowSendingMs] = [20_000, 90_000]

/**
 * Checks a broadcast: a signer's disk and the database must have these bytes, and there must be no
 * known reason for which money may not leave.
 */
function checkSent(env: Around, world: PayoutWorld, txid: Txid, transaction: string): void {
  const { restores, violate, scenario } = env
  const { key = '' } = world.signed.get(txid) ?? {}
  const { cuy = 0 } = world.asked.get(key) ?? {}
  const wrong = world.known.find(cuy, scenario.rates.slow > 0 ? slowSendingMs : sendingMs)
  if (wrong !== null) violate(`${txid} of ${key} was sent, and is of a currency that may not leave: ${wrong}`)
  if (world.signed.get(txid)?.transaction !== transaction) violate(`${txid} was sent, and no signer has it on its disk`)
  // After a restore the database can lack the bytes: the request was under way when the older copy
  // was put back.
  if (restores === 0 && world.bytesOf(txid) !== transaction) violate(`${txid} was sent, and is not stored`)
}
