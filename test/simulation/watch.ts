import type { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../src/addresses/address.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import { clocksApartMs } from './invocation.ts'
import { judge, mayBeFull } from './oracle.ts'
import { depositAddress, type World } from './world.ts'

interface Scan {
  readonly height: number
  readonly hash: string | null
  readonly finalized: number
  readonly lease: string
  readonly lease_until: number
}

interface Deposit {
  readonly txid: string
  readonly position: number
  readonly height: number
  readonly block_hash: string
  readonly cuy: number
  readonly uid: number
  readonly to_address: string
  readonly outcome: string
  readonly amount: number
}

/**
 * Looks at the database after each trip that wrote, behind the service's back: what must be true at every moment is
 * true now. The world is told of the first thing that is not. `by` is the invocation that wrote.
 */
export function createWatch(world: World, sqlite: DatabaseSync): (by: string) => void {
  const { chain, facts, owners, scheduler } = world
  const selectScan = sqlite.prepare('SELECT height, hash, finalized, lease, lease_until FROM scan')
  const countDeposits = sqlite.prepare('SELECT count(*) AS n FROM deposit')
  const selectDeposits = sqlite.prepare('SELECT * FROM deposit')
  const selectAddresses = sqlite.prepare('SELECT idx, uid, hex FROM address WHERE idx >= ?')
  const isKnown = sqlite.prepare(
    'SELECT 1 FROM deposit WHERE txid = ?1 AND position = ?2 UNION ALL SELECT 1 FROM pending WHERE txid = ?1 AND position = ?2',
  )
  const seen = new Set<string>()
  let before: Scan | null = null

  const lookAtAddresses = () => {
    for (const { idx, uid, hex } of selectAddresses.all(owners.size)) {
      const address = hex as Address // the column's CHECK
      if (idx !== owners.size || hex !== depositAddress(Number(idx)))
        world.breach(`address ${hex} is not that of its index`)
      if (owners.has(address)) world.breach(`address ${hex} was issued twice`)
      owners.set(address, Number(uid) as Uid) // the column's CHECK
    }
  }

  const lookAtScan = (by: string) => {
    const now = selectScan.get() as Scan | undefined // the columns selected above
    if (now === undefined) return
    // An operator may set a start that is still to come.
    const limit = Math.max(world.finalized(), (world.startHeight() ?? 0) - 1)
    if (now.height > limit) world.breach(`the position ${now.height} is not final`)
    if (now.finalized > limit) world.breach(`${now.finalized} was noted as final, and is not`)
    if (now.hash !== null && now.hash !== chain.at(now.height)?.hash && now.height >= chain.firstHeight) {
      world.breach(`the block stored at ${now.height} is not in the chain`)
    }
    if (before !== null) {
      if (now.height < before.height) world.breach(`the position went back to ${now.height}`)
      const isTaken = before.lease !== '' && now.lease !== '' && now.lease !== before.lease
      if (isTaken && before.lease_until > scheduler.now() + clocksApartMs)
        world.breach(`${now.lease} took the lease of ${before.lease}`)
      const isGivenBack = before.lease !== '' && now.lease === ''
      if (isGivenBack && before.lease !== by) world.breach(`${by} gave back the lease of ${before.lease}`)
      if (now.height > before.height) lookForGaps(before.height, now.height)
    }
    before = now
  }

  const lookForGaps = (above: number, upTo: number) => {
    for (const fact of facts.values()) {
      if (fact.height <= above || fact.height > upTo || !fact.promised) continue
      if (isKnown.get(fact.txid, fact.position) === undefined) {
        world.breach(`the position passed ${fact.height} without ${fact.txid}:${fact.position}`)
      }
    }
  }

  const lookAtDeposits = () => {
    if (Number(countDeposits.get()?.n) === seen.size) return
    for (const row of selectDeposits.all() as unknown as Deposit[]) {
      // the table's columns
      const key = `${row.txid}:${row.position}`
      if (seen.has(key)) continue
      seen.add(key)
      const fact = facts.get(key)
      const due = fact === undefined ? null : judge(world, fact)
      if (fact === undefined || due === null) {
        world.breach(`${key} was stored, and moved nothing to a caller`)
      } else if (fact.height > world.finalized()) {
        world.breach(`${key} was stored before its block was final`)
      } else if (
        row.outcome === 'too-large' &&
        row.amount === 0 &&
        due.outcome === 'credited' &&
        mayBeFull(world, due)
      ) {
        world.count('wallet full')
      } else if (
        row.height !== fact.height ||
        row.block_hash !== fact.hash ||
        row.to_address !== fact.to ||
        row.uid !== due.uid ||
        row.cuy !== due.cuy ||
        row.outcome !== due.outcome ||
        BigInt(row.amount) !== due.amount
      ) {
        world.breach(
          `${key} was stored as ${JSON.stringify(row)}, and is worth ${due.outcome} ${due.amount} to ${due.uid}`,
        )
      }
    }
  }

  return (by) => {
    lookAtAddresses()
    lookAtScan(by)
    lookAtDeposits()
  }
}
