import type { Stored } from './stored.ts'

/** What is wrong with the events, or null: each fact that is stored has one, in order, and there are no others. */
export function auditEvents(stored: Stored): string | null {
  const events = stored.events()
  for (const [i, { id }] of events.entries()) if (id !== i + 1) return `event ${id} is number ${i + 1}`
  return auditEntries(stored) ?? auditUncredited(stored) ?? auditSightings(stored)
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

/** Each transfer that is not credited has one event for what was decided, and none was decided without one. */
function auditUncredited(stored: Stored): string | null {
  const decided = [...stored.deposits().filter(({ outcome }) => outcome !== 'credited'), ...stored.refusals()]
  const expected = decided.map(({ txid, position, uid, outcome }) => `${txid}:${position} ${uid} ${outcome}`)
  const final = (reason: string | null) => reason !== null && finalReasons.has(reason)
  const reported = stored
    .events()
    .filter(({ reason }) => final(reason))
    .map(({ txid, position, uid, reason }) => `${txid}:${position} ${uid} ${reason}`)
  for (const one of expected) if (!reported.includes(one)) return `${one} is stored and has no event`
  // A requested rescan has what was refused decided again.
  if (stored.countRequests() > 0) return null
  for (const one of reported) if (!expected.includes(one)) return `${one} is reported and not stored`
  return reported.length === expected.length ? null : 'a transfer was refused twice'
}

const finalReasons = new Set(['failed', 'other-contract', 'below-minimum', 'dust', 'too-large'])

/** A transfer is dropped only after it was seen, and seen again only after it was dropped. */
function auditSightings(stored: Stored): string | null {
  const seen = new Set<string>()
  const refused = new Set<string>()
  const decided = new Set(stored.deposits().map(({ txid }) => txid))
  // A requested rescan has what was refused decided again, and a correction can make the block of either one that is not final.
  // A node that numbers its logs in another way then shows a deposit at another position.
  const isOpen = (key: string) =>
    stored.countRequests() > 0 && (refused.has(key) || decided.has(key.split(':')[0] ?? ''))
  for (const { type, txid, position } of stored.events()) {
    const key = `${txid}:${position}`
    if (type === 'deposit.refused') refused.add(key)
    if (type === 'deposit.seen' && seen.has(key) && !isOpen(key)) return `${key} was seen twice`
    if (type === 'deposit.dropped' && !seen.has(key)) return `${key} was dropped and not seen`
    if (type === 'deposit.seen') seen.add(key)
    if (type === 'deposit.dropped') seen.delete(key)
  }
  return null
}
