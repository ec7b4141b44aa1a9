import { bytesToHex } from '@noble/hashes/utils.js'
import { base64 } from '@scure/base'
import { type CheckpointItem, readCheckpoint } from '../archive/checkpoint.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { isBackingOff, isDelivered, retryAfterMs, type SendParts, sendWebhook } from './deliver-events.ts'
import type { WebhookEndpoint } from './store/endpoint-state.ts'
import { type NoteProgress, selectNoteProgress, storeNoteProgress } from './store/note-progress.ts'

/** Whether an endpoint asks for the checkpoints of the archive (`ledger.sealed`). */
export const wantsNotes = ({ types }: Pick<WebhookEndpoint, 'types'>): boolean => types?.has('ledger.sealed') ?? false

export interface DeliverNoteParts extends SendParts {
  readonly db: WriteDatabase
  /** The number of the cell; null if the deployment has only one cell. */
  readonly cell: number | null
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Delivers the newest checkpoint of the archive to an endpoint that asks for it and has not had it.
 * Its failures delay no event, and are counted apart. One that fails is never set aside: the next
 * attempt sends the newest one. Returns when to call this again; null if none waits.
 */
export async function deliverNote(parts: DeliverNoteParts, endpoint: WebhookEndpoint): Promise<UnixMs | null> {
  const { db, clock, logger, cell } = parts
  const { endpoints, newest } = await readNotes(db, [endpoint])
  const [stored] = endpoints
  if (stored === undefined || newest === null || newest.size === stored.sealed) return null
  if (isBackingOff(stored, clock.now())) return stored.nextTry
  const body = { type: 'ledger.sealed', ...(cell === null ? {} : { cell }), data: newest }
  const answer = await sendWebhook(parts, endpoint, { id: idOf(newest), body: JSON.stringify(body) })
  const now = clock.now()
  if (isDelivered(answer)) {
    const none = { attempts: 0, failingSince: null, nextTry: 0 as UnixMs } // safe: a time that has passed
    await storeNoteProgress(db, endpoint.key, stored.sealed, { ...none, sealed: newest.size })
    return null
  }
  const attempts = stored.attempts + 1
  logger.warn('webhook-failed', { endpoint: endpoint.number, lines: newest.size, attempts, answer })
  const nextTry = (now + retryAfterMs(attempts, clock.random())) as UnixMs // safe: a later time
  const failed: NoteProgress = { sealed: stored.sealed, attempts, failingSince: stored.failingSince ?? now, nextTry }
  await storeNoteProgress(db, endpoint.key, stored.sealed, failed)
  return nextTry
}

/** The same for each delivery of a checkpoint, and for no other: the root differs by archive. */
function idOf({ size, root }: CheckpointItem): string {
  return `seal_${size}_${bytesToHex(base64.decode(root)).slice(0, 16)}`
}

/** The newest checkpoint, and how far each endpoint is that asks for it. */
export interface Notes {
  readonly endpoints: readonly (NoteProgress & Pick<WebhookEndpoint, 'key' | 'number'>)[]
  readonly newest: CheckpointItem | null
}

/** Reads it with two statements; with none if no endpoint asks for checkpoints. */
export async function readNotes(db: ReadDatabase, endpoints: readonly WebhookEndpoint[]): Promise<Notes> {
  const wanting = new Set(endpoints.filter(wantsNotes).map(({ key }) => key))
  if (wanting.size === 0) return { endpoints: [], newest: null }
  const newest = await readCheckpoint(db)
  const stored = await selectNoteProgress(db)
  return { endpoints: stored.filter(({ key }) => wanting.has(key)), newest: newest.ok ? newest.value : null }
}

/** The endpoints to which the checkpoint can be delivered now. */
export function dueNotes({ endpoints, newest }: Notes, now: UnixMs): Notes['endpoints'] {
  return endpoints.filter((one) => newest !== null && one.sealed !== newest.size && !isBackingOff(one, now))
}
