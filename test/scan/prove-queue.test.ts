import { describe, expect, it } from 'vitest'
import { type BlockHeight, blockSeconds, type Txid } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { receiptsMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { toDeposit, toPending } from '../../src/deposits/verify-deposit.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { minuteMs, minuteProofsMax, tickReadMs } from '../../src/platform/limits.ts'
import { proofRetryMs, proveOwn, proveQueue, takenMax, takesPerTick } from '../../src/scan/prove-queue.ts'
import {
  alice,
  rawData,
  receiptsWithoutLogs,
  stranger,
  toAlice,
  transferBytes,
  trc10Bytes,
  trxCandidate,
  txid,
} from '../deposits/samples.ts'
import { usdt } from '../support/currencies.ts'
import { createScanParts, now } from './scan-parts.ts'

/** Parts with queued TRX deposits to Alice in transactions 1 to `count`, and the transactions whose bytes were fetched. */
async function createParts(count: number, bytesOf: (one: Txid) => Awaited<ReturnType<Chain['transactionBytes']>>) {
  const fetched: number[] = []
  const transactionBytes: Chain['transactionBytes'] = async (one) => {
    fetched.push(Number(`0x${one}`))
    return bytesOf(one)
  }
  const parts = await createScanParts({ receipts: receiptsWithoutLogs, transactionBytes })
  await parts.scanStore.start({ height: 1 as BlockHeight, hash: null }, now)
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

describe('proving the queue', () => {
  it('credits a proven one, removes a worthless one, and keeps any other with its present reason', async () => {
    const { parts, reasons } = await createParts(3, (one) => {
      return one === txid(1) ? ok(transferBytes()) : ok(one === txid(2) ? trc10Bytes() : null)
    })
    await proveQueue(parts, takesPerTick)
    expect(await parts.deposits.of(alice.uid, txid(1))).toHaveLength(1)
    expect(await parts.deposits.of(alice.uid, txid(2))).toEqual([])
    expect(await reasons()).toEqual([[3, 'no-api']])
  })

  it('keeps one whose bytes cannot be read, with one alarm however often it is tried', async () => {
    const { parts, reasons } = await createParts(1, () => ok(rawData()))
    for (const tries of [0, 1, 2]) {
      const at = (now + tries * proofRetryMs) as UnixMs
      await proveQueue({ ...parts, clock: { ...parts.clock, now: () => at } }, takesPerTick)
    }
    expect(await reasons()).toEqual([[1, 'bytes-unreadable']])
    expect(parts.raised).toEqual(['bytes-unreadable'])
  })

  it('tries one again in the next minute, however late in its tick it was tried', async () => {
    const { parts, fetched } = await createParts(1, () => ok(null))
    for (const ms of [tickReadMs, minuteMs]) {
      const at = (now + ms) as UnixMs
      await proveQueue({ ...parts, clock: { ...parts.clock, now: () => at } }, takesPerTick)
    }
    expect(fetched).toEqual([1, 1])
  })

  it('raises that alarm before its reason is stored, so that an invocation that ends between repeats or has it', async () => {
    const { parts, reasons } = await createParts(1, () => ok(rawData()))
    const keep = () => Promise.reject(new Error('the invocation ended'))
    await expect(proveQueue({ ...parts, pending: { ...parts.pending, keep } }, takesPerTick)).rejects.toThrow('ended')
    expect(parts.raised).toEqual(['bytes-unreadable'])
    const at = (now + proofRetryMs) as UnixMs
    await proveQueue({ ...parts, clock: { ...parts.clock, now: () => at } }, takesPerTick)
    expect(await reasons()).toEqual([[1, 'bytes-unreadable']])
    expect(parts.raised).toEqual(['bytes-unreadable'])
  })

  it('tries each one again only after a pause', async () => {
    const { parts, fetched } = await createParts(1, () => ok(null))
    await proveQueue(parts, takesPerTick)
    await proveQueue(parts, takesPerTick)
    expect(fetched).toEqual([1])
    await proveQueue({ ...parts, clock: { ...parts.clock, now: () => (now + proofRetryMs) as UnixMs } }, takesPerTick)
    expect(fetched).toEqual([1, 1])
  })

  it('tries at least 500 in one tick, and the others in the next one', async () => {
    const most = takenMax * takesPerTick
    expect(most).toBeGreaterThanOrEqual(500)
    const { parts, fetched } = await createParts(most + 3, () => ok(null))
    await proveQueue(parts, takesPerTick)
    expect(fetched).toHaveLength(most)
    await proveQueue(parts, takesPerTick)
    expect(new Set(fetched).size).toBe(most + 3)
  })

  it('credits a backlog of 10,000 TRX transfers within an hour, at two nodes, where their bytes come one by one', async () => {
    const count = 10_000
    const { parts } = await createParts(count, () => ok(transferBytes()))
    let requests = 0
    const spend = <T>(cost: number, answer: () => T) => {
      const isLeft = requests + cost <= minuteProofsMax
      if (isLeft) requests += cost
      return isLeft ? answer() : Promise.resolve(err<ChainFailure>({ kind: 'out-of-budget' }))
    }
    const proofChain: typeof parts.proofChain = {
      ...parts.proofChain,
      receipts: (wanted) => spend(2, () => receiptsWithoutLogs(wanted)),
      bytesInBlock: (height) => spend(1, () => parts.proofChain.bytesInBlock(height)),
      transactionBytes: (one) => spend(1, () => parts.proofChain.transactionBytes(one)),
    }
    for (let minute = 0; minute < 60; minute += 1) {
      requests = 0
      const at = (now + minute * minuteMs) as UnixMs
      await proveQueue({ ...parts, proofChain, clock: { ...parts.clock, now: () => at } }, takesPerTick)
    }
    expect(await parts.pending.of(alice.uid, null)).toEqual([])
    const [wallet] = await parts.ledger.balances(alice.uid)
    expect(wallet?.amount).toBe(BigInt(count) * trxCandidate.raw)
  }, 60_000)

  it('asks for the receipts of a group in one query', async () => {
    const { parts } = await createParts(2 * receiptsMax, () => ok(transferBytes()))
    const sizes: number[] = []
    const receipts: Chain['receipts'] = (wanted) => {
      sizes.push(wanted.length)
      return receiptsWithoutLogs(wanted)
    }
    await proveQueue({ ...parts, proofChain: { ...parts.proofChain, receipts } }, takesPerTick)
    expect(sizes).toEqual([receiptsMax, receiptsMax])
  })

  it('decides the others of a group for one of which the nodes have no receipt', async () => {
    const { parts, reasons } = await createParts(5, () => ok(transferBytes()))
    const receipts: Chain['receipts'] = async (wanted) =>
      wanted.some((one) => one.txid === txid(2)) ? err({ kind: 'no-answer', why: 'none' }) : receiptsWithoutLogs(wanted)
    await proveQueue({ ...parts, proofChain: { ...parts.proofChain, receipts } }, takesPerTick)
    expect(await reasons()).toEqual([[2, 'queued']])
  })

  it('ends where the invocation is out of budget: one waits, and the others are due at once', async () => {
    const { parts, fetched, reasons } = await createParts(3, () => err({ kind: 'out-of-budget' }))
    expect(await proveQueue(parts, takesPerTick)).toEqual({ kind: 'out-of-budget' })
    await proveQueue(parts, takesPerTick)
    await proveQueue(parts, takesPerTick)
    await proveQueue(parts, takesPerTick)
    expect(fetched).toEqual([1, 2, 3, 2, 3, 3])
    expect(await reasons()).toHaveLength(3)
  })

  it('takes the bytes of several transfers of one block from the block, and the others one by one', async () => {
    const { parts, fetched } = await createParts(4, () => ok(transferBytes()))
    const heights: number[] = []
    const bytesInBlock: Chain['bytesInBlock'] = async (height) => {
      heights.push(height)
      return ok(new Map([1, 2, 3].map((n) => [txid(n), transferBytes()])))
    }
    await proveQueue({ ...parts, proofChain: { ...parts.proofChain, bytesInBlock } }, takesPerTick)
    expect(heights).toEqual([trxCandidate.block.height])
    expect(fetched).toEqual([4])
    expect(await parts.pending.of(alice.uid, null)).toEqual([])
  })

  it('remembers what is worth nothing, and why, and does not try it again', async () => {
    const { parts, fetched } = await createParts(1, () => ok(trc10Bytes()))
    await proveQueue(parts, takesPerTick)
    expect(await parts.pending.refusals(alice.uid, txid(1))).toMatchObject([
      { txid: txid(1), uid: alice.uid, reason: { kind: 'other-contract', type: 2 } },
    ])
    await parts.pending.keep([toPending(toAlice({ ...trxCandidate, txid: txid(1) }), 'queued')], now)
    await proveQueue(parts, takesPerTick)
    expect(fetched).toEqual([1])
  })

  it('never credits what an operator’s wallet sent', async () => {
    const { parts, fetched, reasons } = await createParts(1, () => ok(transferBytes()))
    await proveQueue({ ...parts, operators: new Set([stranger]) }, takesPerTick)
    expect(fetched).toEqual([])
    expect(await reasons()).toEqual([[1, 'queued']])
  })

  it('tries nothing while the scan is halted', async () => {
    const { parts, fetched } = await createParts(1, () => ok(transferBytes()))
    await parts.scanStore.acquireLease('a', now, (now + 1) as UnixMs)
    await parts.scanStore.halt('a', 'forked')
    await proveQueue(parts, takesPerTick)
    expect(fetched).toEqual([])
    expect(await parts.deposits.credit([toDeposit(trxCandidate, alice.uid)], now)).toBe('halted')
  })

  it('keeps one whose currency is not configured', async () => {
    const { parts, fetched, reasons } = await createParts(1, () => ok(transferBytes()))
    await proveQueue({ ...parts, currencies: indexCurrencies([usdt]) }, takesPerTick)
    expect(fetched).toEqual([])
    expect(await reasons()).toEqual([[1, 'queued']])
  })
})

describe('proving one caller’s candidates', () => {
  it('does not wait for their next try, and does not repeat a try of the last seconds', async () => {
    const { parts, fetched } = await createParts(1, () => ok(null))
    const at = (ms: number) => ({ ...parts, clock: { ...parts.clock, now: () => (now + ms) as UnixMs } })
    await proveQueue(parts, takesPerTick)
    await proveOwn(at(blockSeconds * 1000 - 1), alice.uid)
    expect(fetched).toEqual([1])
    await proveOwn(at(blockSeconds * 1000), alice.uid)
    expect(fetched).toEqual([1, 1])
  })
})
