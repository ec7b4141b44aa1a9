import { describe, expect, it } from 'vitest'
import type { Txid } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { toPending } from '../../src/deposits/verify-deposit.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { pendingPerScanMax, pendingRetryMs, retryPending } from '../../src/scan/retry-pending.ts'
import {
  alice,
  receiptsWithoutLogs,
  toAlice,
  transferBytes,
  trc10Bytes,
  trxCandidate,
  txid,
  usdt,
} from '../deposits/samples.ts'
import { createScanParts, now } from './scan-parts.ts'

/** Parts with queued TRX deposits to Alice in transactions 1 to `count`, and the transactions whose bytes were fetched. */
async function createParts(count: number, bytesOf: (one: Txid) => Awaited<ReturnType<Chain['transactionBytes']>>) {
  const fetched: number[] = []
  const transactionBytes: Chain['transactionBytes'] = async (one) => {
    fetched.push(Number(`0x${one}`))
    return bytesOf(one)
  }
  const parts = await createScanParts({ receipts: receiptsWithoutLogs, transactionBytes })
  await parts.addresses.issueFirst(alice.uid, () => alice.address)
  const candidates = Array.from({ length: count }, (_, i) => toAlice({ ...trxCandidate, txid: txid(i + 1) }))
  await parts.pending.keep(
    candidates.map((one) => toPending(one, 'queued')),
    now,
  )
  const reasons = async () =>
    (await parts.pending.of(alice.uid, null)).map((one) => [Number(`0x${one.txid}`), one.reason])
  return { parts, fetched, reasons }
}

describe('a retry of pending deposits', () => {
  it('credits a proven one, removes a worthless one, and keeps any other with its present reason', async () => {
    const { parts, reasons } = await createParts(3, (one) => {
      return one === txid(1) ? ok(transferBytes()) : ok(one === txid(2) ? trc10Bytes() : null)
    })
    await retryPending(parts)
    expect(await parts.deposits.of(alice.uid, txid(1))).toHaveLength(1)
    expect(await parts.deposits.of(alice.uid, txid(2))).toEqual([])
    expect(await reasons()).toEqual([[3, 'no-api']])
  })

  it('tries each one again only after a pause', async () => {
    const { parts, fetched } = await createParts(1, () => ok(null))
    await retryPending(parts)
    await retryPending(parts)
    expect(fetched).toEqual([1])
    await retryPending({ ...parts, clock: { ...parts.clock, now: () => (now + pendingRetryMs) as UnixMs } })
    expect(fetched).toEqual([1, 1])
  })

  it('tries a limited number, and the others in the next scan', async () => {
    const { parts, fetched } = await createParts(pendingPerScanMax + 3, () => ok(null))
    await retryPending(parts)
    expect(fetched).toHaveLength(pendingPerScanMax)
    await retryPending(parts)
    expect(new Set(fetched).size).toBe(pendingPerScanMax + 3)
  })

  it('ends where the invocation is out of budget, and the next scan starts with the next one', async () => {
    const { parts, fetched, reasons } = await createParts(2, () => err({ kind: 'out-of-budget' }))
    await retryPending(parts)
    expect(fetched).toEqual([1])
    await retryPending(parts)
    expect(fetched).toEqual([1, 2])
    expect(await reasons()).toEqual([
      [1, 'queued'],
      [2, 'queued'],
    ])
  })

  it('keeps one whose currency is not configured', async () => {
    const { parts, fetched, reasons } = await createParts(1, () => ok(transferBytes()))
    await retryPending({ ...parts, currencies: indexCurrencies([usdt]) })
    expect(fetched).toEqual([])
    expect(await reasons()).toEqual([[1, 'queued']])
  })
})
