import { describe, expect, it } from 'vitest'
import type { Receipt, TransactionRef, Txid } from '../../src/chain/block.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { receiptsMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import type { OwnedCandidate } from '../../src/deposits/detect-transfers.ts'
import {
  type AgreedReceipts,
  gatherEvidence,
  gatherReceipts,
  groupByReceipts,
  type KnownDecimals,
} from '../../src/deposits/gather-evidence.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { createSources, now } from './evidence-sources.ts'
import { receipt, toAlice, transferBytes, trxCandidate, txid, usdtCandidate } from './samples.ts'

const noAnswer: ChainFailure = { kind: 'no-answer', why: 'no node replied' }
const disagreement: ChainFailure = { kind: 'disagreement', about: 'receipts' }
const outOfBudget: ChainFailure = { kind: 'out-of-budget' }
const usdtIn = (transaction: number, position = 0): OwnedCandidate =>
  toAlice({ ...usdtCandidate, txid: txid(transaction), position })

describe('groups of candidates', () => {
  it('have at most the transactions of one query, and all candidates in their order', () => {
    const candidates = Array.from({ length: 2 * receiptsMax + 1 }, (_, i) => usdtIn(i))
    const groups = groupByReceipts(candidates)
    expect(groups.map((group) => group.length)).toEqual([receiptsMax, receiptsMax, 1])
    expect(groups.flat()).toEqual(candidates)
  })

  it('count a transaction once, however many candidates it has', () => {
    const candidates = Array.from({ length: receiptsMax }, (_, i) => [usdtIn(i), usdtIn(i, 1)]).flat()
    expect(groupByReceipts(candidates)).toEqual([candidates])
  })
})

describe('the receipts of a group', () => {
  const [first, second, third] = [txid(1), txid(2), txid(3)]
  const group = [usdtIn(1), usdtIn(1, 1), usdtIn(2), usdtIn(3)]

  /** Gathers from nodes that fail as `failureOf` decides by the transactions of a query. */
  async function gather(candidates: readonly OwnedCandidate[], failureOf: (txids: Txid[]) => ChainFailure | null) {
    const queries: Txid[][] = []
    const { sources } = createSources({
      receipts: async (transactions: readonly TransactionRef[]) => {
        const txids = transactions.map((one) => one.txid)
        queries.push(txids)
        const failure = failureOf(txids)
        return failure === null ? ok(new Map(txids.map((one) => [one, receipt([], { txid: one })]))) : err(failure)
      },
    })
    const result = await gatherReceipts(sources, candidates)
    return { queries, result: result.ok ? [...result.value.keys()] : result.error }
  }

  it('come from one query for all of its transactions', async () => {
    const { queries, result } = await gather(group, () => null)
    expect(queries).toEqual([[first, second, third]])
    expect(result).toEqual([first, second, third])
  })

  it('lack only the disputed transaction where the nodes disagree about the group', async () => {
    const { queries, result } = await gather(group, (txids) => (txids.includes(second) ? disagreement : null))
    expect(queries).toEqual([[first, second, third], [first, second], [first], [second], [third]])
    expect(result).toEqual([first, third])
  })

  it('are none, after one query, where the nodes disagree about a single transaction', async () => {
    const { queries, result } = await gather([usdtIn(2)], () => disagreement)
    expect(queries).toHaveLength(1)
    expect(result).toEqual([])
  })

  it.each([noAnswer, outOfBudget])('are a failure where the nodes fail: $kind', async (failure) => {
    expect((await gather(group, () => failure)).result).toEqual(failure)
    const failing = (txids: Txid[]) => (txids.length > 1 ? disagreement : failure)
    expect((await gather(group, failing)).result).toEqual(failure)
  })
})

describe('the evidence for a candidate', () => {
  const succeeded = (one: OwnedCandidate, over: Partial<Receipt> = {}): AgreedReceipts =>
    new Map([[one.candidate.txid, receipt([], { ...over, txid: one.candidate.txid })]])
  const trx = toAlice(trxCandidate)
  const usdt = toAlice(usdtCandidate)
  const noneKnown = (): KnownDecimals => new Map()

  it('is its receipt alone where that is disputed or failed', async () => {
    const { sources } = createSources({})
    const basis = { bytes: 'unavailable', decimals: null }
    const disputed = await gatherEvidence(sources, trx, new Map(), noneKnown())
    expect(disputed).toEqual(ok({ ...basis, receipt: 'disagreement' }))
    const failed = await gatherEvidence(sources, usdt, succeeded(usdt, { succeeded: false }), noneKnown())
    expect(failed).toEqual(ok({ ...basis, receipt: receipt([], { succeeded: false }) }))
  })

  it.each([
    ['the bytes', ok(transferBytes()), transferBytes()],
    ['no-api where no node has an HTTP API', ok(null), 'no-api'],
    ['unavailable where no HTTP API answers', err(noAnswer), 'unavailable'],
  ] as const)('has for TRX %s', async (_, answer, bytes) => {
    const { sources } = createSources({ transactionBytes: async () => answer })
    const evidence = await gatherEvidence(sources, trx, succeeded(trx), noneKnown())
    expect(evidence).toEqual(ok({ receipt: receipt(), bytes, decimals: null }))
  })

  it('has for a token the decimals, which are read once and stored where they are the configured ones', async () => {
    let queries = 0
    const { sources, stores } = createSources({
      decimals: async () => {
        queries += 1
        return ok(6)
      },
    })
    const expected = ok({ receipt: receipt(), bytes: 'unavailable', decimals: 6 })
    expect(await gatherEvidence(sources, usdt, succeeded(usdt), noneKnown())).toEqual(expected)
    expect(await stores.tokenFacts.decimals(usdtAddress)).toBe(6)
    expect(await gatherEvidence(sources, usdt, succeeded(usdt), noneKnown())).toEqual(expected)
    expect(queries).toBe(1)
  })

  it('has other decimals than the configured ones with an alarm, and does not store them', async () => {
    const { sources, stores, alarms } = createSources({ decimals: async () => ok(18) })
    const known = noneKnown()
    const expected = ok({ receipt: receipt(), bytes: 'unavailable', decimals: 18 })
    expect(await gatherEvidence(sources, usdt, succeeded(usdt), known)).toEqual(expected)
    expect(await gatherEvidence(sources, usdt, succeeded(usdt), known)).toEqual(expected)
    expect(await stores.tokenFacts.decimals(usdtAddress)).toBeNull()
    expect(alarms).toEqual(['decimals-differ'])
  })

  it('reads the decimals again where the stored ones are not the configured ones', async () => {
    const { sources, stores } = createSources({ decimals: async () => ok(18) })
    await stores.tokenFacts.storeDecimals(usdtAddress, 8, now)
    const evidence = await gatherEvidence(sources, usdt, succeeded(usdt), noneKnown())
    expect(evidence).toEqual(ok({ receipt: receipt(), bytes: 'unavailable', decimals: 18 }))
  })

  it('has no decimals where they cannot be read, without a second query in the same run', async () => {
    let queries = 0
    const { sources } = createSources({
      decimals: async () => {
        queries += 1
        return err(noAnswer)
      },
    })
    const known = noneKnown()
    for (let i = 0; i < 2; i += 1) {
      const evidence = await gatherEvidence(sources, usdt, succeeded(usdt), known)
      expect(evidence).toEqual(ok({ receipt: receipt(), bytes: 'unavailable', decimals: null }))
    }
    expect(queries).toBe(1)
  })

  it('is out-of-budget where the invocation cannot make the request', async () => {
    const { sources } = createSources({
      transactionBytes: async () => err(outOfBudget),
      decimals: async () => err(outOfBudget),
    })
    expect(await gatherEvidence(sources, trx, succeeded(trx), noneKnown())).toEqual(err(outOfBudget))
    expect(await gatherEvidence(sources, usdt, succeeded(usdt), noneKnown())).toEqual(err(outOfBudget))
  })
})
