import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/chain/block.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { leaseMs } from '../../src/scan/scan.ts'
import { storeStep } from '../../src/scan/store-step.ts'
import { alice, stranger, transaction, txid } from '../deposits/samples.ts'
import { blockAt, createScanParts, hashAt, now, start, type TestScanParts } from './scan-parts.ts'

const position = { height: start, hash: hashAt(start) }
/** Three blocks: the second and the third pay Alice, in transactions 2 and 3, 4. */
const blocks: readonly Block[] = [
  blockAt(start + 1, [transaction({ txid: txid(1), to: stranger })]),
  blockAt(start + 2, [transaction({ txid: txid(2) })]),
  blockAt(start + 3, [transaction({ txid: txid(3) }), transaction({ txid: txid(4) })]),
]

/** A scan that has started and has the lease, with an address of Alice, and nodes that answer nothing. */
async function createParts(): Promise<TestScanParts> {
  const parts = await createScanParts({})
  await parts.scanStore.start(position, now)
  await parts.scanStore.acquireLease(parts.lease, now, (now + leaseMs) as UnixMs)
  await parts.addresses.issueFirst(alice.uid, () => alice.address)
  return parts
}

async function pendingOf(parts: TestScanParts) {
  return (await parts.pending.of(alice.uid, null)).map((one) => [Number(one.txid), one.reason])
}

describe('a stored step', () => {
  it('moves the position over all of its blocks and records their candidates, without a question to the nodes', async () => {
    const parts = await createParts()
    const last = { height: start + 3, hash: hashAt(start + 3) }
    expect(await storeStep(parts, position, blocks)).toEqual(last)
    expect((await parts.scanStore.state())?.position).toEqual(last)
    expect(await pendingOf(parts)).toEqual([
      [2, 'queued'],
      [3, 'queued'],
      [4, 'queued'],
    ])
  })

  it('without blocks changes nothing', async () => {
    const parts = await createParts()
    expect(await storeStep(parts, position, [])).toEqual(position)
    expect((await parts.scanStore.state())?.position).toEqual(position)
  })

  it('passes a block whose logs cannot be read, and keeps it as a gap', async () => {
    const parts = await createParts()
    const unread = blocks.map((block) => (block.height === start + 2 ? { ...block, logs: null } : block))
    expect(await storeStep(parts, position, unread)).toMatchObject({ height: start + 3 })
    expect(await parts.rescans.gaps()).toEqual({ count: 1, lowest: start + 2 })
    expect(await pendingOf(parts)).toContainEqual([2, 'queued'])
  })

  it('is null, and stores nothing, where the lease is lost', async () => {
    const parts = await createParts()
    const later = (now + leaseMs) as UnixMs
    await parts.scanStore.acquireLease('another', later, (later + leaseMs) as UnixMs)
    expect(await storeStep(parts, position, blocks)).toBeNull()
    expect((await parts.scanStore.state())?.position).toEqual(position)
    expect(await pendingOf(parts)).toEqual([])
  })
})
