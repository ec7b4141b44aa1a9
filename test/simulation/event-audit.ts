import type { Stored } from './stored.ts'

/**
 * The fault of the events, or null. Each stored fact must have one event, in order, and there may
 * be no other events.
 */
export function auditEvents(stored: Stored): string | null {
  const events = stored.events()
  for (const [i, { id }] of events.entries()) if (id !== i + 1) return `event ${id} is number ${i + 1}`
  return auditEntries(stored) ?? auditSteps(stored)
}

/** Each entry has an event, in the order of the entries. */
function auditEntries(stored: Stored): string | null {
  const reported = stored.events().filter(({ entryId }) => entryId !== null)
  const entries = stored.entries()
  if (reported.length !== entries.length) return `${entries.length} entries have ${reported.length} events`
  for (const [i, { id, uid, type }] of entries.entries()) {
    const event = reported[i]
    const expected = type === 1 ? 'deposit.credited' : 'entry.posted'
    if (event?.entryId !== id || event.uid !== uid || event.type !== expected) return `entry ${id} has no event`
  }
  return null
}

/**
 * Each held or refused transfer has an event for its state and reason, and no two events of a
 * transfer say the same. A transfer is dropped only after it was seen, and seen again only after it
 * was dropped. After an operator had transfers decided anew, this order is not checked.
 */
function auditSteps(stored: Stored): string | null {
  const seen = new Set<string>()
  const reasons = new Set<string>()
  const isRepaired = stored.countRepairs() > 0
  for (const { type, uid, txid, position, reason } of stored.events()) {
    const key = `${txid}:${position}`
    if (type === 'deposit.held' || type === 'deposit.refused') {
      const said = `${key} ${uid} ${type} ${reason}`
      if (reasons.has(said)) return `${said} is reported twice`
      reasons.add(said)
    }
    if (type === 'deposit.seen' && seen.has(key) && !isRepaired) return `${key} was seen twice`
    if (type === 'deposit.dropped' && !seen.has(key) && !isRepaired) return `${key} was dropped and not seen`
    if (type === 'deposit.seen') seen.add(key)
    if (type === 'deposit.dropped') seen.delete(key)
  }
  for (const { txid, position, uid, state, reason } of stored.transfers()) {
    const said = `${txid}:${position} ${uid} deposit.${state} ${reason}`
    if ((state === 'held' || state === 'refused') && !reasons.has(said)) return `${said} has no event`
  }
  return null
}
