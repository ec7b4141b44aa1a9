import { describe, expect, it } from 'vitest'
import type { RunningService } from '../http/service.ts'
import { openGaps, statesOf, tickLater, withHeldInGap, withoutReceiptOf } from './harness.ts'

describe('an older copy of the database that was restored', () => {
  /** As it was before the receipts were read. */
  const restore = async ({ db }: RunningService) => {
    await db.batch([
      db.prepare('DROP TRIGGER transfer_is_never_deleted'),
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
})
