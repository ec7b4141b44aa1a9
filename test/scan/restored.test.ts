import { describe, expect, it } from 'vitest'
import { callsOf, finalizedIn, stateOf, tickLater, withAddress } from './harness.ts'

describe('an older copy of the database that was restored', () => {
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
