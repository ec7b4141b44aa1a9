import { expect, it } from 'vitest'
import type { Address } from '../../src/addresses/address.ts'
import type { Block, BlockHeight } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import { readBlocksMax } from '../../src/chain/limits.ts'
import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { stepBlocksMax, stepEntriesMax } from '../../src/scan/limits.ts'
import { scan } from '../../src/scan/scan.ts'
import { freshDatabase } from '../support/database.ts'

const now = 1_000_000 as UnixMs
const start = 100 as BlockHeight
const silent = () => undefined
const hashOf = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, '0')
const nobody = '00'.repeat(20) as Address

/** Where the scan stood each time that it asked for blocks, over a chain of one step whose blocks are so full. */
async function positionsWhileReading(entriesPerBlock: number): Promise<(number | undefined)[]> {
  const db = await freshDatabase()
  const [reader, writer] = [createLedgerReader(db), createLedgerWriter(db)]
  await writer.start({ height: start, hash: null }, now)
  const transactions = Array(entriesPerBlock).fill({ from: nobody, to: null, value: '0x0', input: '0x', gas: '0x0' })
  const blockAt = (height: number) =>
    ({
      height,
      hash: hashOf(height),
      parentHash: hashOf(height - 1),
      timestamp: now,
      transactions,
      logs: [],
    }) as unknown as Block
  const positions: (number | undefined)[] = []
  const chain = {
    requestsLeft: () => 40,
    finalizedHead: () => Promise.resolve(ok(blockAt(start + stepBlocksMax))),
    finalizedBlocks: async (from: number, to: number) => {
      positions.push((await reader.scanState())?.position.height)
      return ok(Array.from({ length: to - from + 1 }, (_, i) => blockAt(from + i)))
    },
  } as unknown as Chain // safe: nothing else is asked where nothing is paid
  const clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0 }
  const log = { info: silent, warn: silent, error: silent, alarm: silent }
  const [addresses, currencies] = [createAddressBook(db), indexCurrencies([])]
  const report = await scan(
    { chain, writer, addresses, currencies, clock, log, lease: 'mine', statements: () => 0 },
    { withTail: false },
  )
  expect(report).toEqual({ kind: 'scanned', trouble: null })
  expect((await reader.scanState())?.position.height).toBe(start + stepBlocksMax)
  return positions
}

it('stores a step of several reads at once', async () => {
  expect(await positionsWhileReading(400)).toEqual([start, start, start])
})

it('holds no more in memory than agreed: of very full blocks every read is stored before the next', async () => {
  const positions = await positionsWhileReading(Math.ceil(stepEntriesMax / readBlocksMax))
  expect(positions).toEqual([start, start + readBlocksMax, start + 2 * readBlocksMax])
})
