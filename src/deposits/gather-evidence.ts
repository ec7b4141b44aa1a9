import type { Address } from '../chain/address.ts'
import type { Receipt, TransactionRef, Txid } from '../chain/block.ts'
import type { Chain, TransactionBytes } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { receiptsMax } from '../chain/limits.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { Alarms } from '../platform/alarms.ts'
import type { Clock } from '../platform/clock.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import type { TokenFacts } from './token-facts.ts'
import type { Evidence } from './verify-deposit.ts'

/** Where evidence comes from. `proofChain` has its own number of requests, which nothing but proofs uses. */
export interface EvidenceSources {
  readonly proofChain: Pick<Chain, 'receipts' | 'transactionBytes' | 'bytesInBlock' | 'decimals'>
  readonly tokenFacts: TokenFacts
  readonly clock: Clock
  readonly alarms: Alarms
}

/** The `decimals()` of contracts in this run, null where it could not be read: each contract is queried once. */
export type KnownDecimals = Map<Address, Result<number | null, ChainFailure>>

/** A candidate and its evidence, or why the nodes gave none. */
export interface GatheredEvidence {
  readonly owned: OwnedCandidate
  readonly evidence: Result<Evidence, ChainFailure>
}

/** The answer of the nodes for each transaction. */
type Answers<T> = ReadonlyMap<Txid, Result<T, ChainFailure>>

const unanswered = err<ChainFailure>({ kind: 'no-answer', why: 'not asked' })

/**
 * The evidence for candidates, in their order: receipts, for TRX the transactions' bytes, for tokens the contracts' decimals.
 * Only what can change a verdict is fetched, and what does not depend on another reply is fetched at the same time.
 * @returns for each candidate, `out-of-budget` where the invocation cannot make the request, and `no-answer` where no
 * receipt was answered; any other failure is part of the evidence
 */
export async function gatherEvidence(
  sources: EvidenceSources,
  candidates: readonly OwnedCandidate[],
  known: KnownDecimals,
): Promise<readonly GatheredEvidence[]> {
  const receipts = await gatherReceipts(sources, candidates)
  const proven = candidates.filter(({ candidate: { txid, currency } }) => {
    const receipt = receipts.get(txid)
    return receipt?.ok === true && receipt.value !== 'disagreement' && receipt.value.succeeded && !currency.retired
  })
  const native = proven.filter(({ candidate }) => candidate.currency.asset.kind === 'native')
  const [bytes] = await Promise.all([
    gatherBytes(sources, native),
    gatherDecimals(
      sources,
      proven.map(({ candidate }) => candidate.currency),
      known,
    ),
  ])
  return candidates.map((owned) => ({ owned, evidence: evidenceOf(owned, receipts, bytes, known) }))
}

function evidenceOf(
  { candidate: { txid, currency } }: OwnedCandidate,
  receipts: Answers<Receipt | 'disagreement'>,
  bytes: Answers<Evidence['bytes']>,
  known: KnownDecimals,
): Result<Evidence, ChainFailure> {
  const receipt = receipts.get(txid) ?? unanswered
  if (!receipt.ok) return receipt
  const receiptOnly: Evidence = { receipt: receipt.value, bytes: 'unavailable', decimals: null }
  if (receipt.value === 'disagreement' || !receipt.value.succeeded || currency.retired) return ok(receiptOnly)
  if (currency.asset.kind === 'native') {
    const own = bytes.get(txid) ?? unanswered
    return own.ok ? ok({ ...receiptOnly, bytes: own.value }) : own
  }
  const decimals = known.get(currency.asset.contract) ?? unanswered
  return decimals.ok ? ok({ ...receiptOnly, decimals: decimals.value }) : decimals
}

/** The receipts of all candidates' transactions, `receiptsMax` in a query. */
async function gatherReceipts(
  { proofChain }: EvidenceSources,
  candidates: readonly OwnedCandidate[],
): Promise<Answers<Receipt | 'disagreement'>> {
  const wanted = [...new Map(candidates.map(({ candidate }) => [candidate.txid, candidate])).values()]
  const groups = Array.from({ length: Math.ceil(wanted.length / receiptsMax) }, (_, i) =>
    wanted.slice(i * receiptsMax, (i + 1) * receiptsMax),
  )
  const answers = await Promise.all(groups.map((group) => agreedReceipts(proofChain, group)))
  return new Map(answers.flat())
}

/** The receipts of a group. Where there are none for the group, it is halved: one transaction must not delay the others. */
async function agreedReceipts(
  chain: EvidenceSources['proofChain'],
  wanted: readonly TransactionRef[],
): Promise<readonly [Txid, Result<Receipt | 'disagreement', ChainFailure>][]> {
  const together = await chain.receipts(wanted)
  if (together.ok) {
    return wanted.map(({ txid }) => {
      const receipt = together.value.get(txid)
      return [txid, receipt === undefined ? unanswered : ok(receipt)]
    })
  }
  const { kind } = together.error
  if (wanted.length === 1 || kind === 'out-of-budget') {
    return wanted.map(({ txid }) => [txid, kind === 'disagreement' ? ok('disagreement') : together])
  }
  const half = Math.ceil(wanted.length / 2)
  const first = await agreedReceipts(chain, wanted.slice(0, half))
  return [...first, ...(await agreedReceipts(chain, wanted.slice(half)))]
}

/** The bytes of TRX transfers: where several are in one block, those of the block in one request, the others one by one. */
async function gatherBytes(
  { proofChain }: EvidenceSources,
  candidates: readonly OwnedCandidate[],
): Promise<Answers<Evidence['bytes']>> {
  const byBlock = Map.groupBy(candidates, ({ candidate }) => candidate.block.height)
  const answers = await Promise.all(
    [...byBlock.values()].map(async (group): Promise<[Txid, Result<Evidence['bytes'], ChainFailure>][]> => {
      const txids = group.map(({ candidate }) => candidate.txid)
      const together = await bytesTogether(proofChain, group)
      return Promise.all(txids.map(async (txid) => [txid, await bytesOf(proofChain, txid, together)] as const))
    }),
  )
  return new Map(answers.flat())
}

/** The bytes of the transactions in one block. Those that the node leaves out are missing. */
async function bytesTogether(
  chain: EvidenceSources['proofChain'],
  [first, second]: readonly OwnedCandidate[],
): Promise<ReadonlyMap<Txid, TransactionBytes>> {
  if (first === undefined || second === undefined) return new Map()
  const answer = await chain.bytesInBlock(first.candidate.block.height)
  return answer.ok ? (answer.value ?? new Map()) : new Map()
}

async function bytesOf(
  chain: EvidenceSources['proofChain'],
  txid: Txid,
  together: ReadonlyMap<Txid, TransactionBytes>,
): Promise<Result<Evidence['bytes'], ChainFailure>> {
  const known = together.get(txid)
  if (known !== undefined) return ok(known)
  const bytes = await chain.transactionBytes(txid)
  if (bytes.ok) return ok(bytes.value ?? 'no-api')
  return bytes.error.kind === 'out-of-budget' ? bytes : ok('unavailable')
}

/** Adds the decimals of the currencies' contracts to `known`. Those that the invocation could not read are read again. */
async function gatherDecimals(
  sources: EvidenceSources,
  currencies: readonly Currency[],
  known: KnownDecimals,
): Promise<void> {
  for (const currency of new Set(currencies)) {
    const { asset } = currency
    if (asset.kind === 'native' || known.get(asset.contract)?.ok === true) continue
    known.set(asset.contract, await readDecimals(sources, currency, asset.contract))
  }
}

/** The contract's own decimals. The nodes are queried until they agree on the configured value, which is then stored. */
async function readDecimals(
  { proofChain, tokenFacts, clock, alarms }: EvidenceSources,
  currency: Currency,
  contract: Address,
): Promise<Result<number | null, ChainFailure>> {
  if ((await tokenFacts.decimals(contract)) === currency.decimals) return ok(currency.decimals)
  const answer = await proofChain.decimals(contract)
  if (!answer.ok) return answer.error.kind === 'out-of-budget' ? answer : ok(null)
  const { cuy, decimals: configured } = currency
  if (answer.value === configured) {
    await alarms.clear('decimals-differ', String(cuy)) // first: what is stored is not asked for again
    await tokenFacts.storeDecimals(contract, answer.value, clock.now())
  } else await alarms.raise('decimals-differ', String(cuy), { cuy, configured, contract: answer.value })
  return answer
}
