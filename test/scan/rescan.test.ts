import { describe, expect, it } from 'vitest'
import type { Block, BlockHeight } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { readBlocksMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { readAgain, rescanReadsMax, rescanRetryMs } from '../../src/scan/rescan.ts'
import { alice, stranger, transaction, txid } from '../deposits/samples.ts'
import { freshDatabase } from '../support/database.ts'
import { blockAt, createScanParts, hashAt, now, start } from './scan-parts.ts'

const end = start + 200

/** A scan that is at `end`, with an address of Alice, and nodes whose blocks `answer` decides. */
async function createParts(answer: (from: number, to: number) => readonly Block[] | ChainFailure) {
  const reads: [number, number][] = []
  const finalizedBlocks: Chain['finalizedBlocks'] = async (from, to) => {
    reads.push([from - start, to - start])
    const blocks = answer(from, to)
    return 'kind' in blocks ? err(blocks) : ok(blocks)
  }
  const db = await freshDatabase()
  const parts = await createScanParts({ finalizedBlocks }, db)
  await parts.scanStore.start({ height: start, hash: hashAt(start) }, now)
  await parts.addresses.issueFirst(alice.uid, () => alice.address)
  await parts.scanStore.acquireLease(parts.lease, now, (now + 1) as UnixMs)
  const to = { height: end as BlockHeight, hash: hashAt(end) }
  const found = { candidates: [], movements: [], unreadable: [] }
  await parts.scanStore.append({ after: start, to, finalized: to.height, ...found, lease: parts.lease, at: now })
  const request = (from: number, last: number) =>
    db
      .prepare(
        `INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
        VALUES ('request', ?1, ?2, ?1, 'a payment is missing', 0, 0)`,
      )
      .bind(start + from, start + last)
      .run()
  const correct = (height: number) =>
    db
      .prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (?1, 'a node lied', 0)`)
      .bind(start + height)
      .run()
  const at = (ms: number) => ({ ...parts, clock: { ...parts.clock, now: () => (now + ms) as UnixMs } })
  const rescans = async () =>
    (await db.prepare('SELECT kind, next_height - ?1 AS next, finished_at FROM rescan').bind(start).all()).results
  return { parts, reads, request, correct, at, rescans }
}

const between = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => blockAt(from + i))
const paying = (block: Block): Block => ({ ...block, transactions: [transaction({ txid: txid(block.height) })] })

describe('a requested range', () => {
  it('is read again in parts, and its candidates go to the queue without a change of the position', async () => {
    const { parts, reads, request, rescans } = await createParts((from, to) => between(from, to).map(paying))
    await request(1, readBlocksMax + 3)
    await readAgain(parts)
    expect(reads).toEqual([
      [1, readBlocksMax],
      [readBlocksMax + 1, readBlocksMax + 3],
    ])
    expect(await parts.pending.of(alice.uid, null)).toHaveLength(readBlocksMax + 3)
    expect((await parts.scanStore.state())?.position.height).toBe(end)
    expect(await rescans()).toEqual([{ kind: 'request', next: readBlocksMax + 4, finished_at: now }])
  })

  it('leaves known candidates as they are', async () => {
    const { parts, request } = await createParts((from, to) => between(from, to).map(paying))
    await request(1, 1)
    await readAgain(parts)
    const before = await parts.pending.of(alice.uid, null)
    await request(1, 1)
    await readAgain(parts)
    expect(await parts.pending.of(alice.uid, null)).toEqual(before)
  })

  it('waits where the nodes give no answer, and is read after a pause', async () => {
    const { parts, reads, request, at } = await createParts(() => ({ kind: 'no-answer', why: 'none' }))
    await request(1, 1)
    await readAgain(parts)
    await readAgain(at(rescanRetryMs - 1))
    expect(reads).toHaveLength(1)
    await readAgain(at(rescanRetryMs))
    expect(reads).toHaveLength(2)
  })

  it('goes on in the next tick where the invocation has no requests left', async () => {
    let left = 1
    const { parts, reads, request, rescans } = await createParts((from, to) => {
      left -= 1
      return left < 0 ? { kind: 'out-of-budget' } : between(from, to)
    })
    await request(1, 40)
    await readAgain(parts)
    expect(await rescans()).toEqual([{ kind: 'request', next: readBlocksMax + 1, finished_at: null }])
    left = 10
    await readAgain(parts)
    expect(reads.at(-1)).toEqual([2 * readBlocksMax + 1, 40])
  })

  it('takes at most so many reads in one tick', async () => {
    const { parts, reads, request } = await createParts(between)
    for (let i = 0; i < rescanReadsMax + 2; i += 1) await request(i + 1, i + 1)
    await readAgain(parts)
    expect(reads).toHaveLength(rescanReadsMax)
  })

  it('leaves a block that cannot be read as a gap, and goes on behind it', async () => {
    const { parts, request, rescans } = await createParts((from, to) =>
      between(from, to).map((block) => (block.height === start + 2 ? { ...block, logs: null } : block)),
    )
    await request(1, 3)
    await readAgain(parts)
    expect(await rescans()).toEqual([
      { kind: 'request', next: 4, finished_at: now },
      { kind: 'gap', next: 2, finished_at: null },
    ])
    expect(await parts.rescans.gaps()).toEqual({ count: 1, lowest: start + 2 })
  })

  it('leaves no gap above the position, which a correction lowered: the scan reads these blocks', async () => {
    const { parts, request, rescans, correct } = await createParts((from, to) =>
      between(from, to).map((block) => ({ ...block, logs: null })),
    )
    await request(3, 6)
    await correct(4)
    await readAgain(parts)
    expect(await rescans()).toEqual([
      { kind: 'request', next: 7, finished_at: now },
      { kind: 'gap', next: 3, finished_at: null },
      { kind: 'gap', next: 4, finished_at: null },
    ])
  })
})

describe('a gap', () => {
  it('stays until its block can be read, and its transfers of TRX are recorded before', async () => {
    let logs: Block['logs'] = null
    const trx = transaction({ txid: txid(7) })
    const other = transaction({ txid: txid(8), to: stranger })
    const { parts, request, at } = await createParts((from) => [{ ...blockAt(from, [trx, other]), logs }])
    await request(5, 5)
    await readAgain(parts)
    expect((await parts.pending.of(alice.uid, null)).map((one) => one.txid)).toEqual([txid(7)])
    await readAgain(at(rescanRetryMs))
    expect(await parts.rescans.gaps()).toEqual({ count: 1, lowest: start + 5 })
    logs = []
    await readAgain(at(2 * rescanRetryMs))
    expect(await parts.rescans.gaps()).toEqual({ count: 0, lowest: null })
  })

  it('above a position that a correction lowered is read all the same', async () => {
    let logs: Block['logs'] = null
    const { parts, request, correct, at } = await createParts((from) => [{ ...blockAt(from), logs }])
    await request(5, 5)
    await readAgain(parts)
    await correct(3)
    await readAgain(at(rescanRetryMs))
    expect(await parts.rescans.gaps()).toEqual({ count: 1, lowest: start + 5 })
    logs = []
    await readAgain(at(2 * rescanRetryMs))
    expect(await parts.rescans.gaps()).toEqual({ count: 0, lowest: null })
  })
})
