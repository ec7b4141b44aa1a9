import { depositAddress, type Environment } from './environment.ts'
import { clockSkewMaxMs, ownerOf } from './invocation.ts'
import { expectedDeposit, mayBeFull } from './oracle.ts'
import type { Stored, StoredDeposit, StoredRescan, StoredScan } from './stored.ts'

/** The check of the database. */
export interface InvariantCheck {
  /** To be called after each trip that wrote: reports the first invariant that is broken. `by` names the invocation. */
  check(by: string): void
  /** To be called after the operator changed the database: the present state is what later ones are compared with. */
  accept(): void
}

/** The invariants after every write. */
export function createInvariantCheck(env: Environment, stored: Stored): InvariantCheck {
  const checked = new Set<string>()
  const entryCheck = createEntryCheck(env, stored)
  let before: StoredScan | undefined
  let rescans: readonly StoredRescan[] = []
  let leaseBefore: Lease | undefined
  const remember = (now: StoredScan | undefined) => {
    env.scanHistory.push({ at: env.scheduler.now(), scan: now })
    before = now
  }
  return {
    check(by) {
      checkNewAddresses(env, stored)
      const openRescans = stored.rescans()
      checkRescans(env, stored, rescans, openRescans)
      rescans = openRescans
      const now = stored.scan()
      if (now !== undefined) checkScan(env, stored, before, now, by)
      const isHalted = before !== undefined && before.halted !== null && now?.halted !== null
      remember(now)
      const lease = stored.reconciliation.lease()
      if (lease !== undefined && leaseBefore !== undefined) checkLease(env, leaseBefore, lease, by)
      leaseBefore = lease
      checkPending(env, stored)
      entryCheck.check()
      if (stored.countDeposits() <= checked.size) return
      if (isHalted) env.violate(`${by} stored a deposit while the scan was halted`)
      checkNewDeposits(env, stored, checked)
    },
    accept() {
      remember(stored.scan())
      leaseBefore = stored.reconciliation.lease()
      entryCheck.restart()
      rescans = stored.rescans()
      env.openGaps = gapsOf(rescans)
      const issued = stored.addressesFrom(0)
      // What was read before its address counted from a lower height need not be known.
      if (issued.some((one) => env.issuedHeights.get(one.address) !== one.issuedHeight)) rescans = gapsOnly(rescans)
      for (const { address, issuedHeight } of issued) env.issuedHeights.set(address, issuedHeight)
      checked.clear()
      for (const { txid, position } of stored.deposits()) checked.add(`${txid}:${position}`)
    },
  }
}

const gapsOnly = (rescans: readonly StoredRescan[]) => rescans.filter(({ kind }) => kind === 'gap')
const gapsOf = (rescans: readonly StoredRescan[]) => new Set(gapsOnly(rescans).map(({ from }) => from))

/**
 * A block is put aside, and an operator's range is unread, until what it has is stored. What a block changed is not known as
 * long as it is put aside.
 */
function checkRescans(
  env: Environment,
  stored: Stored,
  before: readonly StoredRescan[],
  now: readonly StoredRescan[],
): void {
  const gaps = gapsOf(now)
  for (const height of gaps) {
    if (env.openGaps.has(height)) continue
    env.count('block put aside')
    for (const key of env.changedAt.get(height) ?? []) env.unknowable.add(key)
  }
  env.openGaps = gaps
  for (const { id, from, to } of before) {
    if (now.some((one) => one.id === id)) continue
    const last = Math.min(to, stored.scan()?.height ?? 0) // after a correction the scan reads what is above its position
    for (const transfer of env.transfers.values()) {
      const { height, txid, position, to: recipient } = transfer
      if (height < from || height > last || gaps.has(height) || expectedDeposit(env, transfer) === null) continue
      if (!stored.isKnown(txid, position, recipient)) {
        env.violate(`${from} to ${to} were read again without ${txid}:${position}`)
      }
    }
  }
}

/**
 * Checks that each wallet is the sum of its entries at every entry, and that none is ever negative. After `restart` all
 * entries are new: the operator may have put other ones in their place.
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

function checkScan(
  env: Environment,
  stored: Stored,
  before: StoredScan | undefined,
  now: StoredScan,
  by: string,
): void {
  const { chain, violate } = env
  // A configured start can be above the finalized head.
  const highest = Math.max(env.finalized(), (env.startHeight() ?? 0) - 1)
  if (now.height > highest) violate(`the position ${now.height} is not final`)
  if (now.finalized > highest) violate(`${now.finalized} was stored as final and is not`)
  if (now.hash !== null && now.hash !== chain.at(now.height)?.hash && now.height >= chain.firstHeight) {
    violate(`the block stored at ${now.height} is not in the chain`)
  }
  if (now.halted !== null && !env.isForked) violate(`the scan is halted (${now.halted}) and the chain is not forked`)
  if (before === undefined) return
  for (const name of ['height', 'finalized', 'triedAt', 'caughtUpAt'] as const) {
    if (now[name] < before[name]) violate(`${name} of the scan went back from ${before[name]} to ${now[name]}`)
  }
  if (now.height > before.height) checkPassedBlocks(env, stored, before.height, now.height)
  checkLease(env, before, now, by)
}

/** That of the scan, or that of reconciliation. */
type Lease = Pick<StoredScan, 'lease' | 'leaseUntil'>

function checkLease({ scheduler, violate }: Environment, before: Lease, now: Lease, by: string): void {
  if (before.lease === '' || now.lease === before.lease) return
  if (now.lease !== '' && before.leaseUntil > scheduler.now() + clockSkewMaxMs) {
    violate(`${now.lease} took the lease of ${before.lease}`)
  }
  if (now.lease === '' && ownerOf(before.lease) !== by) violate(`${by} released the lease of ${before.lease}`)
}

function checkPassedBlocks(
  { transfers, openGaps, violate }: Environment,
  stored: Stored,
  above: number,
  to: number,
): void {
  for (const { height, promised, txid, position, to: recipient } of transfers.values()) {
    if (height <= above || height > to || !promised || openGaps.has(height)) continue
    if (!stored.isKnown(txid, position, recipient)) violate(`the position passed ${height} without ${txid}:${position}`)
  }
}

/** By SQL, since it runs after every write. `checkNewAddresses` compares the stored owners with those that were shown. */
function checkPending({ violate }: Environment, stored: Stored): void {
  for (const { uid, to } of stored.foreignPending()) {
    violate(`a transfer to ${to} is pending for ${uid}, who is not its owner`)
  }
}

function checkNewDeposits(env: Environment, stored: Stored, checked: Set<string>): void {
  for (const deposit of stored.deposits()) {
    const key = `${deposit.txid}:${deposit.position}`
    if (!checked.has(key)) checkDeposit(env, key, deposit)
    checked.add(key)
  }
}

function checkDeposit(env: Environment, key: string, deposit: StoredDeposit): void {
  const transfer = env.transfers.get(key)
  const expected = transfer === undefined ? null : expectedDeposit(env, transfer)
  if (transfer === undefined || expected === null) {
    env.violate(`${key} was stored and is no deposit`)
    return
  }
  if (transfer.height > env.finalized()) env.violate(`${key} was stored before its block was final`)
  const { height, hash, to } = transfer
  const isSame =
    deposit.height === height &&
    deposit.hash === hash &&
    deposit.to === to &&
    deposit.uid === expected.uid &&
    deposit.cuy === expected.cuy
  const isFull = deposit.outcome === 'too-large' && deposit.amount === 0n && expected.outcome === 'credited'
  if (isSame && isFull && mayBeFull(env, expected)) {
    env.count('wallet full')
  } else if (!isSame || deposit.outcome !== expected.outcome || deposit.amount !== expected.amount) {
    env.violate(`${key} was stored as ${spell(deposit)}, and is ${spell(expected)}`)
  }
}

function spell({ outcome, amount, cuy, uid }: Pick<StoredDeposit, 'outcome' | 'amount' | 'cuy' | 'uid'>): string {
  return `${outcome} ${amount} in ${cuy} for ${uid}`
}
