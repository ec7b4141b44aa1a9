import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { receiptsMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import { decideCandidates, storeDecisions } from '../../src/deposits/credit-deposits.ts'
import { toDeposit, toPending } from '../../src/deposits/verify-deposit.ts'
import { createSources, now } from './evidence-sources.ts'
import { alice, receiptsWithoutLogs, toAlice, transferBytes, trc10Bytes, trxCandidate, txid } from './samples.ts'

const outOfBudget: ChainFailure = { kind: 'out-of-budget' }
const trxIn = (transaction: number) => toAlice({ ...trxCandidate, txid: txid(transaction) })

describe('decisions about candidates', () => {
  it('have each candidate in the list of its verdict', async () => {
    const [paid, worthless, unproven] = [trxIn(1), trxIn(2), trxIn(3)]
    const { sources } = createSources({
      receipts: receiptsWithoutLogs,
      transactionBytes: async (one) =>
        one === txid(3) ? ok(null) : ok(one === txid(2) ? trc10Bytes() : transferBytes()),
    })
    expect(await decideCandidates(sources, [paid, worthless, unproven])).toEqual({
      deposits: [toDeposit(paid.candidate, alice.uid)],
      pending: [toPending(unproven, 'no-api')],
      refused: [{ ...toPending(worthless, 'queued'), reason: { kind: 'other-contract', type: 2 } }],
      corrected: [],
      undecided: [],
      stopped: null,
    })
  })

  it('leave undecided what the invocation has no requests for, and decide the others', async () => {
    const candidates = [trxIn(1), trxIn(2), trxIn(3)]
    const { sources } = createSources({
      receipts: receiptsWithoutLogs,
      transactionBytes: async (one) => (one === txid(2) ? err(outOfBudget) : ok(transferBytes())),
    })
    const decisions = await decideCandidates(sources, candidates)
    expect(decisions.deposits.map((deposit) => deposit.txid)).toEqual([txid(1), txid(3)])
    expect(decisions.undecided).toEqual(candidates.slice(1, 2))
    expect(decisions.stopped).toEqual(outOfBudget)
  })

  it('leave a group undecided for which the nodes have no receipts, and decide the others', async () => {
    const noAnswer: ChainFailure = { kind: 'no-answer', why: 'no node replied' }
    const candidates = Array.from({ length: receiptsMax + 2 }, (_, i) => trxIn(i))
    const { sources } = createSources({
      receipts: (wanted) =>
        wanted.length < receiptsMax ? Promise.resolve(err(noAnswer)) : receiptsWithoutLogs(wanted),
      transactionBytes: async () => ok(transferBytes()),
    })
    const decisions = await decideCandidates(sources, candidates)
    expect(decisions.deposits).toHaveLength(receiptsMax)
    expect(decisions.undecided).toEqual(candidates.slice(receiptsMax))
    expect(decisions.stopped).toEqual(noAnswer)
  })

  it('raise an alarm for a deposit that is too large for one entry', async () => {
    const raw = 2n ** 53n
    const { sources, alarms } = createSources({
      receipts: receiptsWithoutLogs,
      transactionBytes: async () => ok(transferBytes(alice.address, raw)),
    })
    const { deposits } = await decideCandidates(sources, [toAlice({ ...trxCandidate, raw })])
    expect(deposits).toMatchObject([{ outcome: 'too-large' }])
    expect(alarms).toEqual(['deposit-too-large'])
  })
})

describe('stored decisions', () => {
  const deposit = toDeposit(trxIn(1).candidate, alice.uid)
  const pending = toPending(trxIn(2), 'no-api')

  it('credit deposits, keep pending ones and remove refused ones', async () => {
    const { stores } = createSources({})
    await stores.scanStore.start({ height: 1 as BlockHeight, hash: null }, now)
    await stores.addresses.issueFirst(alice.uid, () => alice.address)
    await stores.pending.keep(
      [1, 3, 4].map((n) => toPending(trxIn(n), 'queued')),
      now,
    )
    const refused = [{ ...toPending(trxIn(3), 'queued'), reason: { kind: 'failed' } as const }]
    const corrected = [trxIn(4).candidate]
    await storeDecisions(stores, { deposits: [deposit], pending: [pending], refused, corrected }, now)
    expect(await stores.deposits.of(alice.uid, txid(1))).toEqual([deposit])
    expect(await stores.pending.of(alice.uid, null)).toEqual([{ ...pending, since: now }])
    expect(await stores.pending.refusals(alice.uid, txid(3))).toEqual(refused)
  })

  it('keep what is pending where the invocation ends before the credit', async () => {
    const { stores } = createSources({})
    const killed = { ...stores, deposits: { credit: () => Promise.reject(new Error('killed')) } }
    await expect(
      storeDecisions(killed, { deposits: [deposit], pending: [pending], refused: [], corrected: [] }, now),
    ).rejects.toThrow()
    expect(await stores.pending.of(alice.uid, txid(2))).toEqual([{ ...pending, since: now }])
  })
})
