import { beforeEach, describe, expect, it } from 'vitest'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import { noSuspicion } from '../../src/reconciliation/judge-reading.ts'
import type { ReconciliationStore, Slice, SliceResult } from '../../src/reconciliation/reconciliation-store.ts'
import { freshDatabase } from '../support/database.ts'
import { addressAt, block, cuy, deposit, height, issue, movement, ms, startScan, step, txid } from './fixtures.ts'

let db: D1Database
let store: ReconciliationStore

beforeEach(async () => {
  db = await freshDatabase()
  store = createReconciliationStore(db)
  await issue(db, [1, 2, 1])
  await store.acquireLease('one', ms(0), ms(40_000))
})

const trx = cuy(1)
const noneAccepted = { fees: 0n, outgoingCount: 0, confirmed: 0n }
const begin = async (position = 100): Promise<Slice> => {
  const slice = await store.beginSlice(trx, ms(1000), ms(500), height(position))
  if (slice === null) throw new Error('no address was issued')
  return slice
}
const resultOf = ({ run }: Slice, changes: Partial<SliceResult> = {}): SliceResult => ({
  run,
  open: [],
  closed: [],
  accepted: [],
  moved: [],
  fromHeight: height(80),
  ...changes,
})

describe('the lease', () => {
  const acquire = (lease: string, at: number) => store.acquireLease(lease, ms(at), ms(at + 40_000))

  it('is that of one tick until it is released or over', async () => {
    expect(await acquire('two', 39_999)).toBe('taken')
    await store.releaseLease('two') // a no-op
    expect(await acquire('two', 39_999)).toBe('taken')
    await store.releaseLease('one')
    expect(await acquire('two', 10)).toBe('acquired')
    await store.releaseLease('one') // lost: a no-op
    expect(await acquire('three', 20)).toBe('taken')
    expect(await acquire('three', 40_010)).toBe('acquired')
  })
})

describe('the moved addresses of a slice', () => {
  const address = addressAt(0)
  const movedAt = (position: number) => begin(position).then(({ moved }) => moved)
  const storeDeposit = (at: number, n: number) =>
    createStores(db, () => {}).deposits.credit([deposit({ txid: txid(n), block: block(at) })], ms(1))
  const compared = async (changes: number, from: number) =>
    store.storeSlice('one', resultOf(await begin(), { moved: [{ address, changes }], fromHeight: height(from) }))

  it('are those whose oldest change every balance includes', async () => {
    await storeDeposit(110, 1)
    await storeDeposit(125, 2)
    expect(await movedAt(129)).toEqual([])
    expect(await movedAt(130)).toEqual([{ address, accepted: noneAccepted, changes: 2, open: false }])
    expect(await store.currenciesDue([trx, cuy(2)], ms(-1), height(129))).toEqual([trx, 2])
    const slice = await begin()
    const run = { ...slice.run, cursor: 2, addresses: 3, finishedAt: ms(1000) }
    await store.storeSlice('one', resultOf(slice, { run }))
    expect(await store.currenciesDue([trx], ms(500), height(129))).toEqual([])
    expect(await store.currenciesDue([trx], ms(500), height(130))).toEqual([trx])
  })

  it('are oldest first, with their accepted difference, and without those that have an open one', async () => {
    const { scanStore } = createStores(db, () => {})
    await startScan(scanStore)
    const movements = [120, 110, 115].map((at, index) =>
      movement({ txid: txid(index + 1), block: block(at), address: addressAt(index) }),
    )
    await scanStore.append(step({ to: block(140), finalized: height(140), movements }))
    const accepted = { fees: -5n, outgoingCount: 1, confirmed: 0n }
    const open = [
      {
        address: addressAt(2),
        suspicion: noSuspicion,
        reading: { balance: 7n, fromHeight: height(80), toHeight: height(160) },
      },
    ]
    await store.storeSlice('one', resultOf(await begin(), { open, accepted: [{ address: addressAt(1), accepted }] }))
    expect(await movedAt(140)).toEqual([
      { address: addressAt(1), accepted, changes: 1, open: false },
      { address, accepted: noneAccepted, changes: 1, open: false },
    ])
    await store.storeSlice('one', resultOf(await begin(), { closed: [addressAt(2)] }))
    expect((await movedAt(140)).map((one) => one.address)).toEqual([addressAt(1), addressAt(2), address])
  })

  it('are no longer to be compared where every balance included all changes that the slice knew', async () => {
    await storeDeposit(110, 1)
    await compared(1, 109)
    expect(await movedAt(130)).toHaveLength(1)
    await compared(1, 110)
    expect(await movedAt(9_000)).toEqual([])
  })

  it('are to be compared again after a change that came meanwhile, wherever it is on the chain', async () => {
    await storeDeposit(110, 1)
    await storeDeposit(90, 2)
    await compared(1, 110)
    expect(await movedAt(130)).toMatchObject([{ address, changes: 2 }])
    await storeDeposit(125, 3)
    await compared(3, 110)
    expect(await movedAt(144)).toEqual([])
    expect(await movedAt(145)).toMatchObject([{ address, changes: 3 }])
  })

  it('stay where the lease was lost', async () => {
    await storeDeposit(110, 1)
    await store.acquireLease('two', ms(40_000), ms(80_000))
    expect(await compared(1, 110)).toBe('superseded')
    expect(await movedAt(130)).toHaveLength(1)
  })
})
