import { expect, it } from 'vitest'
import type { Chain } from '../../src/chain/chain.ts'
import { readBlocksMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { stepBlocksMax, stepEntriesMax } from '../../src/scan/limits.ts'
import { scan } from '../../src/scan/scan.ts'
import { stranger, transaction } from '../deposits/samples.ts'
import { blockAt, blocksBetween, createScanParts, now, start } from './scan-parts.ts'

/** The stored positions at each read of a scan over one step of blocks with `entries` transactions each. */
async function positionsAtReads(entries: number): Promise<(number | undefined)[]> {
  const transactions = Array.from({ length: entries }, () => transaction({ to: stranger }))
  const positions: (number | undefined)[] = []
  const end = start + stepBlocksMax
  const finalizedBlocks: Chain['finalizedBlocks'] = async (from, to) => {
    positions.push((await parts.scanStore.state())?.position.height)
    return ok(blocksBetween(from, to, transactions))
  }
  const parts = await createScanParts({ finalizedHead: async () => ok(blockAt(end)), finalizedBlocks })
  await parts.scanStore.start({ height: start, hash: null }, now)
  expect(await scan(parts, null)).toEqual({ kind: 'scanned', problem: null })
  expect((await parts.scanStore.state())?.position.height).toBe(end)
  return positions
}

it('stores several reads in one step', async () => {
  expect(await positionsAtReads(400)).toEqual([start, start, start])
})

it('stores each read of very full blocks before the next one, so that memory is limited', async () => {
  const positions = await positionsAtReads(Math.ceil(stepEntriesMax / readBlocksMax))
  expect(positions).toEqual([start, start + readBlocksMax, start + 2 * readBlocksMax])
})

it('reads one block first, then twice as many each time, where the scan before could not read several', async () => {
  const counts: number[] = []
  const finalizedBlocks: Chain['finalizedBlocks'] = async (from, to) => {
    counts.push(to - from + 1)
    return to - from > 1 ? err({ kind: 'out-of-budget' }) : ok(blocksBetween(from, to))
  }
  const parts = await createScanParts({ finalizedHead: async () => ok(blockAt(start + 60)), finalizedBlocks })
  await parts.scanStore.start({ height: start, hash: null }, (now - 1) as UnixMs)
  await scan(parts, null)
  await scan(parts, null)
  expect(counts).toEqual([readBlocksMax, 1, 2, 4])
  expect((await parts.scanStore.state())?.position.height).toBe(start + 3)
})
