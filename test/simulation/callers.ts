import type { DatabaseSync } from 'node:sqlite'
import type { Address } from '../../src/addresses/address.ts'
import type { Txid } from '../../src/chain/block.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import { clocksApartMs } from './invocation.ts'
import { judge } from './oracle.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

/** Callers: they call the service, and tell the world of every answer that is not true. */
export interface Callers {
  generate(service: Service, uid: Uid, fresh: boolean): Promise<void>
  recharge(service: Service, uid: Uid): Promise<void>
  question(service: Service, uid: Uid, txid: Txid): Promise<void>
}

/** Callers who can look at the database to check what they are told. */
export function createCallers(world: World, sqlite: DatabaseSync): Callers {
  const { scheduler, facts, owners } = world
  const selectScan = sqlite.prepare('SELECT finalized, caught_up_at FROM scan')
  const selectOutcome = sqlite.prepare('SELECT uid, outcome FROM deposit WHERE txid = ? AND position = ?')
  const selectSum = sqlite.prepare(
    'SELECT sum(amount) AS sum FROM deposit WHERE uid = ? AND cuy = ? AND created_at >= ?',
  )
  const isPending = sqlite.prepare('SELECT 1 FROM pending WHERE txid = ? AND position = ?')

  const asked = new Map<Uid, number>()

  return {
    async generate(service, uid, fresh) {
      if (fresh) asked.set(uid, (asked.get(uid) ?? 0) + 1)
      const answer = await service.generate(uid, fresh)
      if (!answer.ok) {
        if (world.calm) world.breach(`generate answered ${answer.error.kind} with healthy nodes`)
        return
      }
      const { address } = answer.value
      if (selectScan.get() === undefined) world.breach(`${address} was shown before the start was stored`)
      if (owners.get(address) !== uid) world.breach(`${address} was shown to ${uid}, and is not theirs`)
      const count = [...owners.values()].filter((owner) => owner === uid).length
      if (count > 1 + (asked.get(uid) ?? 0)) world.breach(`${uid} got ${count} addresses, and did not ask for so many`)
      world.shown.set(address, uid)
    },

    async recharge(service, uid) {
      const since = scheduler.now() - clocksApartMs
      const finalBefore = Number(selectScan.get()?.finalized ?? -1)
      const answer = await service.recharge(uid)
      if (!answer.ok) {
        if (world.calm) world.breach(`recharge answered ${answer.error.kind} with healthy nodes`)
        return
      }
      const { credited, pending, behindBlocks, problem: trouble } = answer.value
      for (const { cuy, amount } of credited) {
        const sum = selectSum.get(uid, cuy, since)?.sum ?? 0
        if (amount <= 0n || amount > BigInt(Number(sum))) {
          world.breach(`recharge told ${uid} of ${amount} credited now in ${cuy}, and it was ${sum}`)
        }
      }
      if (pending.some((one) => one.uid !== uid)) world.breach(`recharge told ${uid} what waits for somebody else`)
      const scan = selectScan.get()
      if (trouble === null && scan !== undefined && finalBefore >= 0 && Number(scan.caught_up_at) < since) {
        world.breach(`recharge told ${uid} that all was looked at, and no scan since they asked was caught up`)
      }
      if (trouble !== null || behindBlocks > 0) return
      for (const fact of facts.values()) {
        if (!fact.promised || fact.height > finalBefore || judge(world, fact)?.uid !== uid) continue
        const isThere = selectOutcome.get(fact.txid, fact.position) ?? isPending.get(fact.txid, fact.position)
        if (isThere === undefined) world.breach(`recharge told ${uid} that all is well without ${fact.txid}`)
      }
    },

    async question(service, uid, txid) {
      const issued = new Set<Address>(owners.keys())
      const answer = await service.question(uid, txid)
      if (answer.ok) {
        if (answer.value.credited.length === 0) world.breach(`${txid} was answered with success for nothing`)
        for (const { position } of answer.value.credited) {
          const row = selectOutcome.get(txid, position)
          if (row?.uid !== uid || row.outcome !== 'credited') {
            world.breach(`${uid} was told that ${txid}:${position} was credited`)
          }
        }
        return
      }
      const { kind } = answer.error
      const own = [...facts.values()].filter((fact) => fact.txid === txid && issued.has(fact.to))
      const isOwed = own.some((fact) => {
        const due = judge(world, fact)
        const isFull = selectOutcome.get(txid, fact.position)?.outcome === 'too-large'
        return due?.uid === uid && due.outcome === 'credited' && !isFull
      })
      if (kind === 'worthless' && isOwed) world.breach(`${uid} was told that ${txid} is worth nothing`)
      // What is too large for a wallet waits for a person, and is answered as undecided.
      const isAnswered = kind === 'worthless' || (kind === 'undecided' && !isOwed)
      if (world.calm && !isAnswered) world.breach(`${uid} was answered ${kind} about the final ${txid}`)
    },
  }
}
