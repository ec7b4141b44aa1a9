import { describe, expect, it } from 'vitest'
import type { Receipt, TransactionRef, Txid } from '../../src/chain/block.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { receiptsMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import type { OwnedCandidate } from '../../src/deposits/detect-transfers.ts'
import type { EvidenceSources } from '../../src/deposits/gather-evidence.ts'
import { gatherEvidence, type KnownDecimals } from '../../src/deposits/gather-evidence.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { createSources, now } from './evidence-sources.ts'
import { receipt, toAlice, transferBytes, trxCandidate, txid, usdtCandidate } from './samples.ts'

const noAnswer: ChainFailure = { kind: 'no-answer', why: 'no node replied' }
const disagreement: ChainFailure = { kind: 'disagreement', about: 'receipts' }
const outOfBudget: ChainFailure = { kind: 'out-of-budget' }
const usdtIn = (transaction: number, position = 0): OwnedCandidate =>
  toAlice({ ...usdtCandidate, txid: txid(transaction), position })

describe('the receipts of candidates', () => {
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
      decimals: async () => ok(6),
    })
    const gathered = await gatherEvidence(sources, candidates, new Map())
    const results = gathered.map(({ evidence }) => {
      if (!evidence.ok) return evidence.error.kind
      return evidence.value.receipt === 'disagreement' ? 'disagreement' : evidence.value.receipt.txid
    })
    return { queries, results }
  }

  it('come from one query for all transactions, each asked for once', async () => {
    const { queries, results } = await gather(group, () => null)
    expect(queries).toEqual([[first, second, third]])
    expect(results).toEqual([first, first, second, third])
  })

  it('come from several queries where there are too many for one', async () => {
    const { queries, results } = await gather(
      Array.from({ length: 2 * receiptsMax + 1 }, (_, i) => usdtIn(i)),
      () => null,
    )
    expect(queries.map(({ length }) => length)).toEqual([receiptsMax, receiptsMax, 1])
    expect(results).toEqual(Array.from({ length: 2 * receiptsMax + 1 }, (_, i) => txid(i)))
  })

  it.each([
    ['the nodes disagree about', disagreement, 'disagreement'],
    ['the nodes have no answer for', noAnswer, 'no-answer'],
  ] as const)('lack only the transaction that %s', async (_, failure, seen) => {
    const { queries, results } = await gather(group, (txids) => (txids.includes(second) ? failure : null))
    expect(queries).toEqual([[first, second, third], [first, second], [first], [second], [third]])
    expect(results).toEqual([first, first, seen, third])
  })

  it('are a failure, after one query, where the invocation cannot make the request', async () => {
    const { queries, results } = await gather(group, () => outOfBudget)
    expect(queries).toHaveLength(1)
    expect(new Set(results)).toEqual(new Set(['out-of-budget']))
  })
})

describe('the evidence for a candidate', () => {
  /** Nodes with this receipt for each transaction, and with what `chain` answers. */
  const withReceipt = (over: Partial<Receipt> = {}, chain: Parameters<typeof createSources>[0] = {}) =>
    createSources({
      receipts: async (wanted) => ok(new Map(wanted.map(({ txid: id }) => [id, receipt([], { ...over, txid: id })]))),
      ...chain,
    })
  const gatherOne = async (sources: EvidenceSources, one: OwnedCandidate, known: KnownDecimals) =>
    (await gatherEvidence(sources, [one], known))[0]?.evidence
  const trx = toAlice(trxCandidate)
  const usdt = toAlice(usdtCandidate)
  const noneKnown = (): KnownDecimals => new Map()

  it('is its receipt alone where that is disputed or failed', async () => {
    const basis = { bytes: 'unavailable', decimals: null }
    const disputed = withReceipt({}, { receipts: async () => err(disagreement) })
    expect(await gatherOne(disputed.sources, trx, noneKnown())).toEqual(ok({ ...basis, receipt: 'disagreement' }))
    const failed = withReceipt({ succeeded: false })
    expect(await gatherOne(failed.sources, usdt, noneKnown())).toEqual(
      ok({ ...basis, receipt: receipt([], { succeeded: false }) }),
    )
  })

  it.each([
    ['the bytes', ok(transferBytes()), transferBytes()],
    ['no-api where no node has an HTTP API', ok(null), 'no-api'],
    ['unavailable where no HTTP API answers', err(noAnswer), 'unavailable'],
  ] as const)('has for TRX %s', async (_, answer, bytes) => {
    const { sources } = withReceipt({}, { transactionBytes: async () => answer })
    const evidence = await gatherOne(sources, trx, noneKnown())
    expect(evidence).toEqual(ok({ receipt: receipt(), bytes, decimals: null }))
  })

  it('has for a token the decimals, which are read once and stored where they are the configured ones', async () => {
    let queries = 0
    const { sources, stores } = withReceipt(
      {},
      {
        decimals: async () => {
          queries += 1
          return ok(6)
        },
      },
    )
    const expected = ok({ receipt: receipt(), bytes: 'unavailable', decimals: 6 })
    expect(await gatherOne(sources, usdt, noneKnown())).toEqual(expected)
    expect(await stores.tokenFacts.decimals(usdtAddress)).toBe(6)
    expect(await gatherOne(sources, usdt, noneKnown())).toEqual(expected)
    expect(queries).toBe(1)
  })

  it('has other decimals than the configured ones with an alarm, and does not store them', async () => {
    const { sources, stores, alarms } = withReceipt({}, { decimals: async () => ok(18) })
    const known = noneKnown()
    const expected = ok({ receipt: receipt(), bytes: 'unavailable', decimals: 18 })
    expect(await gatherOne(sources, usdt, known)).toEqual(expected)
    expect(await gatherOne(sources, usdt, known)).toEqual(expected)
    expect(await stores.tokenFacts.decimals(usdtAddress)).toBeNull()
    expect(alarms).toEqual(['decimals-differ'])
  })

  it('reads the decimals again where the stored ones are not the configured ones', async () => {
    const { sources, stores } = withReceipt({}, { decimals: async () => ok(18) })
    await stores.tokenFacts.storeDecimals(usdtAddress, 8, now)
    const evidence = await gatherOne(sources, usdt, noneKnown())
    expect(evidence).toEqual(ok({ receipt: receipt(), bytes: 'unavailable', decimals: 18 }))
  })

  it('has no decimals where they cannot be read, without a second query in the same run', async () => {
    let queries = 0
    const { sources } = withReceipt(
      {},
      {
        decimals: async () => {
          queries += 1
          return err(noAnswer)
        },
      },
    )
    const known = noneKnown()
    for (let i = 0; i < 2; i += 1) {
      const evidence = await gatherOne(sources, usdt, known)
      expect(evidence).toEqual(ok({ receipt: receipt(), bytes: 'unavailable', decimals: null }))
    }
    expect(queries).toBe(1)
  })

  it('is out-of-budget where the invocation cannot make the request', async () => {
    const { sources } = withReceipt(
      {},
      {
        transactionBytes: async () => err(outOfBudget),
        decimals: async () => err(outOfBudget),
      },
    )
    expect(await gatherOne(sources, trx, noneKnown())).toEqual(err(outOfBudget))
    expect(await gatherOne(sources, usdt, noneKnown())).toEqual(err(outOfBudget))
  })
})
