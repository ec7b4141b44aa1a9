import { describe, expect, it } from 'vitest'
import type { RunningService } from '../http/service.ts'
import {
  callsOf,
  finalizedIn,
  openGaps,
  stateOf,
  statesOf,
  tickLater,
  withAddress,
  withHeldInGap,
  withoutReceiptOf,
} from './harness.ts'

describe('an older copy of the database that was restored', () => {
  /** As it was before the receipts were read. */
  const restore = async ({ db }: RunningService) => {
    await db.batch([
      db.prepare('DROP TRIGGER transfer_is_rarely_deleted'),
      db.prepare('UPDATE holding SET balance = NULL, read_from = NULL, read_to = NULL, differing = 0'),
      ...['event', 'transfer', 'holding'].map((table) => db.prepare(`DELETE FROM ${table}`)),
      db.prepare('UPDATE scan SET tried_at = 0, caught_up_at = 0'),
    ])
  }

  it('has the receipts read again that the object remembers as read', async () => {
    const { service } = await withHeldInGap()
    expect(await openGaps(service)).toHaveLength(1)
    await restore(service)
    await tickLater(service, 120)
    expect(await statesOf(service)).toEqual(['held:retired'])
  })

  it('has them read again also where a scan ran meanwhile', async () => {
    const { service, hugeId } = await withHeldInGap()
    let isRestored = false
    for (const node of service.nodes) {
      node.script = ({ calls }) => {
        if (isRestored || calls[0]?.method !== '/wallet/getblockbylimitnext') return withoutReceiptOf(hugeId)
        isRestored = true
        return { kind: 'delayed', wait: () => restore(service) }
      }
    }
    service.chain.addEmpty(1)
    await tickLater(service)
    expect(isRestored).toBe(true)
    for (let i = 0; i < 3; i += 1) await tickLater(service, 600)
    expect(await statesOf(service)).toEqual(['held:retired'])
  })

  it('ends the scan that runs meanwhile, which asks no node for the same blocks again and again', async () => {
    const { service } = await withAddress()
    const { db } = service
    service.chain.addEmpty(20)
    await tickLater(service, 60)
    let isRestored = false
    for (const node of service.nodes) {
      node.script = ({ calls }) => {
        if (isRestored || calls[0]?.method !== '/wallet/getblockbylimitnext') return null
        isRestored = true
        const wait = async () => {
          await db.batch([
            db.prepare('DROP TRIGGER scan_never_goes_back'),
            db.prepare(
              'UPDATE scan SET height = height - 5, hash = NULL, finalized = height - 5, finalized_time = finalized_time - 60000',
            ),
          ])
        }
        return { kind: 'delayed', wait }
      }
    }
    service.chain.addEmpty(3)
    await tickLater(service, 60)
    expect(isRestored).toBe(true)
    expect(callsOf(service, '/wallet/getblockbylimitnext').length).toBeLessThan(30)
    await tickLater(service)
    expect((await stateOf(service)).height).toBe(finalizedIn(service))
  })
})
