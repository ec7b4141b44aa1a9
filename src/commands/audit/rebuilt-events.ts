import type { DatabaseSync } from 'node:sqlite'
import { type ArchivedCurrency, readUnits } from './currencies.ts'
import type { LineOf } from './lines.ts'
import { demand } from './wrong-line.ts'

type Event = LineOf<'event'>
type Members = Readonly<Record<string, unknown>>

/** Finds out which events are removed, and makes what each is about as the database has it. */
export function createEvents(db: DatabaseSync) {
  const selectTwin = db.prepare(`SELECT max(id) AS id FROM stored_event
    WHERE txid = unhex(?) AND position = ? AND type = ? AND ((reason IS NOT NULL AND reason = ? AND uid = ?)
      OR (reason IS NULL AND type GLOB 'address.*'))`)
  const cuyOf = db.prepare('SELECT cuy FROM payment_order WHERE id = ?')
  let [removed, newest] = [0, 0]
  const number = (id: number) => {
    if (id > newest + 1) removed = id - 1
    newest = id
  }
  return {
    /** Notes the number of an entry or event: those that are missing before it were removed. */
    number,
    take({ id, txid, position, type, reason, uid }: Event) {
      number(id)
      const isOnce = reason !== undefined || type.startsWith('address.')
      if (!isOnce || txid === undefined || position === undefined) return
      // the database stores such an event once: an earlier one was removed by its age, with all
      // before it
      const twin = Number(selectTwin.get(txid, position, type, reason ?? null, uid)?.id ?? 0)
      removed = Math.max(removed, twin)
    },
    aboutOf({ type, about }: Event, currency: (cuy: number) => ArchivedCurrency): string | null {
      if (about === undefined) return null
      demand(typeof about === 'object' && about !== null, '`about` is no object')
      const stored: Members = { ...about }
      if (type === 'deposit.seen') return JSON.stringify([stored.order_id])
      const units = (text: unknown, cuy: unknown) => readUnits(String(text), currency(Number(cuy)))
      if (type.startsWith('order.')) {
        const { order_id, state, credited, seen } = stored
        const { cuy } = cuyOf.get(Number(order_id)) ?? {}
        return JSON.stringify([order_id, state, units(credited, cuy), seen])
      }
      const { id, uid, cuy, amt, fee, ...rest } = stored
      return JSON.stringify({ id, uid, cuy, amount: units(amt, cuy), fee: units(fee, cuy), ...rest })
    },
    end() {
      if (removed === 0) return
      db.prepare('DELETE FROM stored_event WHERE id <= ?').run(removed)
      db.prepare('INSERT INTO removed_event (id, last_id) VALUES (1, ?)').run(removed)
    },
  }
}
