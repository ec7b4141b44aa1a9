import { depositAddress, type Environment } from './environment.ts'
import { expectedDeposit, isExpected } from './oracle.ts'
import { createOrderCheck } from './order-audit.ts'
import { checkPayout } from './payout-checks.ts'
import type { Changes, Stored, StoredPayout, StoredRescan, StoredScan, StoredTransfer } from './stored.ts'

/** Checks the invariants of the database during a run. */
export interface InvariantCheck {
  /**
   * To be called after each trip to the database that wrote. Reports the first broken invariant.
   * `by` names the invocation, `changes` the changed rows.
   */
  check(by: string, changes: Changes): void
  /**
   * To be called after the operator changed the database. Later states are compared with the
   * present one.
   */
  accept(): void
}

/**
 * Makes the check. It looks only at rows that have changed, because the others were checked before.
 */
export function createInvariantCheck(env: Environment, stored: Stored): InvariantCheck {
  const entryCheck = createEntryCheck(env, stored)
  let before: StoredScan | undefined
  let rescans: readonly StoredRescan[] = []
  let transfers = new Map<number, StoredTransfer>()
  const remember = (now: StoredScan | undefined) => {
    env.scanHistory.push({ at: env.scheduler.now(), scan: now })
    before = now
  }
  let payouts = new Map<number, StoredPayout>()
  const orderCheck = createOrderCheck(env, stored)
  const seen = createSeenCheck(env)
  const checkTransfers = (by: string, ids: Iterable<number>, isHalted: boolean) => {
    for (const id of ids) {
      const last = transfers.get(id)
      const now = stored.transferById(id)
      seen.note(last, now)
      if (now !== undefined) {
        transfers.set(id, now)
        checkTransfer(env, by, last, now, isHalted)
      } else if (last !== undefined) {
        transfers.delete(id)
        if (last.state !== 'dropped') env.violate(`${by} deleted ${last.txid}:${last.position}`)
      }
    }
    seen.check(by)
  }
  return {
    check(by, changes) {
      env.payouts?.known.note()
      if (changes.has('address')) checkNewAddresses(env, stored)
      if (changes.has('rescan')) {
        const openRescans = stored.rescans()
        noteGaps(env, openRescans)
        checkRescans(env, stored, rescans, openRescans)
        rescans = openRescans
      }
      const wasHalted = before !== undefined && before.halted !== null
      if (changes.has('scan')) {
        const now = stored.scan()
        if (now !== undefined) checkScan(env, stored, before, now)
        remember(now)
      }
      if (changes.has('flow') || changes.has('wallet')) entryCheck.check()
      for (const id of changes.get('payout') ?? []) {
        const now = stored.payoutById(id)
        if (now === undefined) continue
        checkPayout(env, by, payouts.get(id), now)
        payouts.set(id, now)
      }
      orderCheck.check(by, changes.get('payment_order') ?? [])
      checkTransfers(by, changes.get('transfer') ?? [], wasHalted && before?.halted !== null)
    },
    accept() {
      env.payouts?.known.note()
      remember(stored.scan())
      entryCheck.restart()
      rescans = stored.rescans()
      env.openGaps = gapsOf(rescans)
      const issued = stored.addressesFrom(0)
      // After an operator has lowered the height from which an address counts, forget open rescans:
      // blocks that they read before need not have its transfers.
      if (issued.some((one) => env.issuedHeights.get(one.address) !== one.issuedHeight)) rescans = gapsOnly(rescans)
      for (const { address, issuedHeight } of issued) env.issuedHeights.set(address, issuedHeight)
      transfers = new Map(stored.transfers().map((one) => [one.id, one]))
      seen.restart(transfers.values())
      payouts = new Map(stored.payouts().map((one) => [one.id, one]))
      orderCheck.restart()
    },
  }
}

/**
 * The most transfers that may be stored as `seen`, even if a node shows more: in one block, and in
 * all blocks together.
 */
const seenMax = { ofBlock: 200, inAll: 1_000 }

/** Counts the transfers that are `seen`, and reports more than `seenMax`. */
function createSeenCheck({ violate }: Environment) {
  const byBlock = new Map<number, number>()
  let inAll = 0
  let most = 0
  const add = (one: StoredTransfer | undefined, count: 1 | -1) => {
    if (one?.state !== 'seen') return
    const ofBlock = (byBlock.get(one.height) ?? 0) + count
    byBlock.set(one.height, ofBlock)
    inAll += count
    most = Math.max(most, ofBlock)
  }
  return {
    note(before: StoredTransfer | undefined, now: StoredTransfer | undefined) {
      add(before, -1)
      add(now, 1)
    },
    check(by: string) {
      if (most > seenMax.ofBlock) violate(`${by} stored ${most} transfers of a block that is not final`)
      if (inAll > seenMax.inAll) violate(`${by} stored ${inAll} transfers that are not final`)
      most = 0
      byBlock.clear() // the limit is for one block, and the next write may be of another block at the same height
    },
    restart(all: Iterable<StoredTransfer>) {
      inAll = 0
      for (const one of all) add(one, 1)
      byBlock.clear()
      most = 0
    },
  }
}

const gapsOnly = (rescans: readonly StoredRescan[]) => rescans.filter(({ kind }) => kind === 'gap')

/**
 * The heights of gaps: blocks that the scan could not read, has put aside, and has not read yet.
 */
function gapsOf(rescans: readonly StoredRescan[]): ReadonlySet<number> {
  const ranges = gapsOnly(rescans).map(({ to, next }) => Array.from({ length: to - next + 1 }, (_, i) => next + i))
  return new Set(ranges.flat())
}

/**
 * Notes new gaps, which are blocks that the scan has put aside. Until such a block is read, nobody
 * knows which balances it has changed.
 */
function noteGaps(env: Environment, now: readonly StoredRescan[]): void {
  const gaps = gapsOf(now)
  for (const height of gaps) {
    if (env.openGaps.has(height)) continue
    env.count('block put aside')
    for (const key of env.changedAt.get(height) ?? []) env.unknowable.add(key)
  }
  env.openGaps = gaps
}

/**
 * Blocks that are read again (a gap, or an operator's request) may count as read only after their
 * deposits are stored.
 */
function checkRescans(
  env: Environment,
  stored: Stored,
  before: readonly StoredRescan[],
  now: readonly StoredRescan[],
): void {
  for (const { id, next: from, to } of before) {
    const open = now.find((one) => one.id === id)
    const read = (open?.next ?? to + 1) - 1
    if (read < from) continue
    // blocks above the position, which a correction lowers, are read by the scan, not by the rescan
    const last = Math.min(read, stored.scan()?.height ?? 0)
    for (const transfer of env.transfers.values()) {
      const { height, txid, position } = transfer
      if (height < from || height > last || env.openGaps.has(height) || expectedDeposit(env, transfer) === null)
        continue
      if (!stored.isDecided(txid, position)) {
        env.violate(`${from} to ${read} were read again without ${txid}:${position}`)
      }
    }
  }
}

/**
 * Checks that the balance after each entry is the sum of the wallet's entries up to it, and never
 * negative. After `restart` all entries count as new, because an operator's restore may have
 * replaced them.
 */
function createEntryCheck({ violate }: Environment, stored: Stored) {
  const sums = new Map<string, bigint>()
  let newest = 0
  const restart = () => {
    sums.clear()
    newest = 0
  }
  const check = () => {
    for (const { id, uid, cuy, osn, amount, balance } of stored.entriesAbove(newest)) {
      const sum = (sums.get(`${uid} ${cuy}`) ?? 0n) + amount
      if (balance !== sum || sum < 0n) violate(`entry ${osn} leaves ${balance}, and the sum of its wallet is ${sum}`)
      sums.set(`${uid} ${cuy}`, sum)
      newest = id
    }
    for (const { uid, cuy, balance } of stored.wallets()) {
      const sum = sums.get(`${uid} ${cuy}`) ?? 0n
      if (balance !== sum) violate(`wallet ${cuy} of ${uid} has ${balance}, and its entries sum to ${sum}`)
    }
  }
  return { check, restart }
}

function checkNewAddresses({ lost, owners, issuedHeights, violate }: Environment, stored: Stored): void {
  const first = lost?.firstIndex ?? 0
  if (lost !== null && (stored.addressesFrom(0)[0]?.index ?? first) < first) {
    violate('an address of the lost database was issued again')
  }
  for (const { index, uid, address, issuedHeight } of stored.addressesFrom(first + owners.size)) {
    if (index !== first + owners.size || address !== depositAddress(index)) {
      violate(`address ${address} is not that of index ${index}`)
    }
    if (lost?.isSet === false) violate(`address ${address} was issued before the first index was set`)
    if (owners.has(address)) violate(`address ${address} was issued twice`)
    owners.set(address, uid)
    issuedHeights.set(address, issuedHeight)
  }
}

/** The clocks of two simulated machines differ by less than this, in milliseconds. */
const skewMsMax = 2_000

function checkScan(env: Environment, stored: Stored, before: StoredScan | undefined, now: StoredScan): void {
  const { chain, violate } = env
  if (now.halted !== null && !env.isForked) violate(`the scan is halted (${now.halted}) and the chain is not forked`)
  if (!env.isForked) {
    // The position may be above the finalized head only if the configured first block
    // (`startHeight`) is.
    const highest = Math.max(env.finalized(), (env.startHeight() ?? 0) - 1)
    if (now.height > highest) violate(`the position ${now.height} is not final`)
    if (now.finalized > highest) violate(`${now.finalized} was stored as final and is not`)
    if (now.hash !== null && now.hash !== chain.at(now.height)?.hash && now.height >= chain.firstHeight) {
      violate(`the block stored at ${now.height} is not in the chain`)
    }
  }
  if (before === undefined || before.correctedBy !== now.correctedBy) return
  for (const name of ['height', 'finalized', 'triedAt', 'caughtUpAt'] as const) {
    // A stored time that lies in the future may be replaced by an earlier one: the clock that
    // stored it was ahead.
    const isTime = name === 'triedAt' || name === 'caughtUpAt'
    if (isTime && before[name] > env.scheduler.now() + skewMsMax) continue
    if (now[name] < before[name]) violate(`${name} of the scan went back from ${before[name]} to ${now[name]}`)
  }
  if (now.height > before.height) checkPassedBlocks(env, stored, before.height, now.height)
}

function checkPassedBlocks(
  { transfers, openGaps, isForked, violate }: Environment,
  stored: Stored,
  above: number,
  to: number,
): void {
  if (isForked) return
  for (const { height, promised, txid, position } of transfers.values()) {
    if (height <= above || height > to || !promised || openGaps.has(height)) continue
    if (!stored.isDecided(txid, position)) violate(`the position passed ${height} without ${txid}:${position}`)
  }
}

/**
 * Whether a quorum of nodes keeps and so can show internal transactions. Byzantine nodes always
 * keep them.
 */
function canBeShown({ scenario: { nodes, keepers, quorum } }: Environment): boolean {
  return nodes.filter(({ byzantine }, i) => byzantine || i < keepers).length >= quorum
}

/** Whether a transfer is in a state that never changes again. */
const isLast = ({ state }: StoredTransfer) => state === 'credited' || state === 'moved'

function checkTransfer(
  env: Environment,
  by: string,
  before: StoredTransfer | undefined,
  now: StoredTransfer,
  isHalted: boolean,
): void {
  const { state, reason, height } = now
  const key = `${now.txid}:${now.position}`
  if (now.uid !== null && env.owners.get(now.to) !== now.uid) {
    env.violate(`a transfer to ${now.to} is that of ${now.uid}, not the owner`)
  }
  if (before !== undefined && isLast(before)) {
    if (before.state !== state || before.amount !== now.amount || before.uid !== now.uid) {
      env.violate(`${by} made ${key} ${state} after it was ${before.state}`)
    }
    return
  }
  const isSame = before?.state === state && before.reason === reason && before.height === height
  if (isSame || state === 'seen' || state === 'dropped') return
  const isRefusal = state === 'refused' && reason === 'review' // a person's, which may come at any time
  if (isHalted && !isRefusal) env.violate(`${by} decided ${key} while the scan was halted`)
  if (env.isForked) return // all nodes show another chain, which is replaced later: the decision is about that chain
  const sent = env.sent.get(key)
  if (sent !== undefined && !canBeShown(env)) env.violate(`${key} was ${state}, and too few nodes show it`)
  const transfer = env.transfers.get(key) ?? sent
  const expected = transfer === undefined ? null : expectedDeposit(env, transfer)
  if (state === 'moved') {
    if (expected !== null) env.violate(`${key} is a deposit and was moved`)
    return
  }
  if (transfer === undefined || expected === null) {
    env.violate(`${key} was ${state} and is no deposit`)
    return
  }
  if (transfer.height > env.finalized()) env.violate(`${key} was ${state} before its block was final`)
  if (state === 'held') env.count(`held: ${reason}`)
  const isWhereItIs = height === transfer.height && now.to === transfer.to
  if (!isWhereItIs || now.raw !== transfer.raw || !isExpected(env, now, expected)) {
    env.violate(`${key} was stored as ${JSON.stringify({ ...now, raw: String(now.raw), amount: String(now.amount) })}`)
  }
}
