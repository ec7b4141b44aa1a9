import type { Address } from '../addresses/address.ts'
import type { Receipt, TransactionRef, Txid } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { receiptsMax } from '../chain/limits.ts'
import { ok, type Result } from '../common/result.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import type { TokenFacts } from './token-facts.ts'
import type { Evidence } from './verify-deposit.ts'

/** Where evidence comes from. */
export interface EvidenceSources {
  readonly chain: Pick<Chain, 'receipts' | 'transactionBytes' | 'decimals'>
  readonly tokenFacts: TokenFacts
  readonly clock: Clock
  readonly logger: Logger
}

/** The `decimals()` of contracts in this run, null where it could not be read: each contract is queried once. */
export type KnownDecimals = Map<Address, number | null>

/** Receipts by txid. A txid about which the nodes disagree is absent. */
export type AgreedReceipts = ReadonlyMap<Txid, Receipt>

/**
 * The evidence for one candidate: its receipt, for TRX the transaction's bytes, for a token the contract's decimals. Only
 * what can change the verdict is fetched.
 * @returns `out-of-budget` where the invocation cannot make the request; any other failure is part of the evidence
 */
export async function gatherEvidence(
  sources: EvidenceSources,
  { candidate }: OwnedCandidate,
  receipts: AgreedReceipts,
  known: KnownDecimals,
): Promise<Result<Evidence, ChainFailure>> {
  const receipt = receipts.get(candidate.txid) ?? 'disagreement'
  const receiptOnly: Evidence = { receipt, bytes: 'unavailable', decimals: null }
  if (receipt === 'disagreement' || !receipt.succeeded || candidate.currency.retired) return ok(receiptOnly)
  const { asset } = candidate.currency
  if (asset.kind === 'native') {
    const bytes = await sources.chain.transactionBytes(candidate.txid)
    if (bytes.ok) return ok({ ...receiptOnly, bytes: bytes.value ?? 'no-api' })
    return bytes.error.kind === 'out-of-budget' ? bytes : ok(receiptOnly)
  }
  const before = known.get(asset.contract)
  const decimals = before === undefined ? await readDecimals(sources, candidate.currency, asset.contract) : ok(before)
  if (!decimals.ok) return decimals
  known.set(asset.contract, decimals.value)
  return ok({ ...receiptOnly, decimals: decimals.value })
}

/** The contract's own decimals. The nodes are queried until they agree on the configured value, which is then stored. */
async function readDecimals(
  { chain, tokenFacts, clock, logger }: EvidenceSources,
  currency: Currency,
  contract: Address,
): Promise<Result<number | null, ChainFailure>> {
  if ((await tokenFacts.decimals(contract)) === currency.decimals) return ok(currency.decimals)
  const answer = await chain.decimals(contract)
  if (!answer.ok) return answer.error.kind === 'out-of-budget' ? answer : ok(null)
  if (answer.value === currency.decimals) await tokenFacts.storeDecimals(contract, answer.value, clock.now())
  else logger.alarm('decimals-differ', { cuy: currency.cuy, configured: currency.decimals, contract: answer.value })
  return answer
}

/**
 * The receipts of a group. Where the nodes disagree about the group, it is halved, so that one disputed transaction does
 * not delay the others.
 */
export function gatherReceipts(
  { chain }: Pick<EvidenceSources, 'chain'>,
  group: readonly OwnedCandidate[],
): Promise<Result<AgreedReceipts, ChainFailure>> {
  return agreedReceipts(chain, [...new Map(group.map(({ candidate }) => [candidate.txid, candidate])).values()])
}

async function agreedReceipts(
  chain: Pick<Chain, 'receipts'>,
  wanted: readonly TransactionRef[],
): Promise<Result<AgreedReceipts, ChainFailure>> {
  const together = await chain.receipts(wanted)
  if (together.ok || together.error.kind !== 'disagreement') return together
  if (wanted.length === 1) return ok(new Map())
  const half = Math.ceil(wanted.length / 2)
  const first = await agreedReceipts(chain, wanted.slice(0, half))
  if (!first.ok) return first
  const second = await agreedReceipts(chain, wanted.slice(half))
  return second.ok ? ok(new Map([...first.value, ...second.value])) : second
}

/** Consecutive candidates whose receipts fit one query: at most `receiptsMax` transactions. */
export function groupByReceipts(candidates: readonly OwnedCandidate[]): OwnedCandidate[][] {
  const groups: OwnedCandidate[][] = []
  let txids = new Set<Txid>()
  for (const one of candidates) {
    const last = groups.at(-1)
    if (last !== undefined && (txids.has(one.candidate.txid) || txids.size < receiptsMax)) {
      last.push(one)
    } else {
      txids = new Set()
      groups.push([one])
    }
    txids.add(one.candidate.txid)
  }
  return groups
}
