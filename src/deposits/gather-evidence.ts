import type { Address } from '../addresses/address.ts'
import type { Receipt, Txid } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { receiptsMax } from '../chain/limits.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { LedgerWriter } from '../ledger/ledger-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Deposit, Pending, PendingReason } from './deposit.ts'
import type { OwnedCandidate } from './detect-transfers.ts'
import { type Evidence, verifyDeposit } from './verify-deposit.ts'

/** What became of a candidate. */
export type Verdict =
  | { readonly kind: 'deposit'; readonly deposit: Deposit }
  | { readonly kind: 'pending'; readonly pending: Pending }
  | { readonly kind: 'refused'; readonly why: string }

/** The verdicts on the first candidates, in their order, and why the others have none yet. */
export interface Decisions {
  readonly verdicts: readonly Verdict[]
  readonly stopped: ChainFailure | null
}

/** What the contracts' `decimals()` said in this run, null where it could not be read: each is asked once. */
export type KnownDecimals = Map<Address, number | null>

/** What deciding needs. */
export interface EvidenceSources {
  readonly chain: Pick<Chain, 'receipts' | 'transactionBytes' | 'decimals'>
  readonly writer: Pick<LedgerWriter, 'knownDecimals' | 'storeDecimals'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Proves or refuses candidates of final blocks: each one's receipt (R8), for TRX the transaction's own bytes, for a
 * token the contract's decimals. A candidate that can't be decided for a reason of its own is `pending`; where the
 * nodes fail altogether the rest is left undecided, never guessed.
 */
export async function decideCandidates(
  parts: EvidenceSources,
  claims: readonly OwnedCandidate[],
  decimals: KnownDecimals = new Map(),
): Promise<Decisions> {
  const verdicts: Verdict[] = []
  for (const group of byReceipts(claims)) {
    const receipts = await fetchReceipts(parts, group)
    if (!receipts.ok) return { verdicts, stopped: receipts.error }
    for (const claim of group) {
      const receipt = receipts.value.get(claim.candidate.txid) ?? 'disagreement'
      const verdict = await decideOne(parts, claim, receipt, decimals)
      if (!verdict.ok) return { verdicts, stopped: verdict.error }
      verdicts.push(verdict.value)
    }
  }
  return { verdicts, stopped: null }
}

/** The candidate as it is kept while nobody can decide it. */
export function toPending({ candidate, uid }: OwnedCandidate, reason: PendingReason): Pending {
  const { currency, ...rest } = candidate
  return { ...rest, cuy: currency.cuy, uid, reason }
}

async function decideOne(
  parts: EvidenceSources,
  claim: OwnedCandidate,
  receipt: Receipt | 'disagreement',
  decimals: KnownDecimals,
): Promise<Result<Verdict, ChainFailure>> {
  const evidence = await gather(parts, claim, receipt, decimals)
  if (!evidence.ok) return evidence
  const { candidate, uid } = claim
  const verdict = verifyDeposit(candidate, uid, evidence.value)
  if (verdict.kind === 'deposit' && verdict.deposit.outcome === 'too-large') {
    parts.log.alarm('deposit-too-large', { txid: candidate.txid, position: candidate.position })
  }
  // The agreed block and the agreed receipt (or bytes) do not fit together: that is a disagreement too.
  if (verdict.kind === 'ask-again') return ok({ kind: 'pending', pending: toPending(claim, 'disagreement') })
  return ok(verdict)
}

/** What `settle` needs of the nodes for one candidate. Nothing is asked that could not change the verdict. */
async function gather(
  parts: EvidenceSources,
  { candidate }: OwnedCandidate,
  receipt: Receipt | 'disagreement',
  seen: KnownDecimals,
): Promise<Result<Evidence, ChainFailure>> {
  const nothing: Evidence = { receipt, rawData: 'silent', decimals: null }
  if (receipt === 'disagreement' || !receipt.succeeded) return ok(nothing)
  const { asset } = candidate.currency
  if (asset.kind === 'native') {
    const bytes = await parts.chain.transactionBytes(candidate.txid)
    if (bytes.ok) return ok({ ...nothing, rawData: bytes.value ?? 'no-api' })
    return bytes.error.kind === 'out-of-budget' ? bytes : ok(nothing)
  }
  const { contract } = asset
  const known = seen.get(contract)
  const decimals = known === undefined ? await readDecimals(parts, candidate.currency, contract) : ok(known)
  if (!decimals.ok) return decimals
  seen.set(contract, decimals.value)
  return ok({ ...nothing, decimals: decimals.value })
}

/** The contract's own decimals: asked of the nodes once and remembered where they are the configured ones (R15). */
async function readDecimals(
  { chain, writer, clock, log }: EvidenceSources,
  currency: Currency,
  contract: Address,
): Promise<Result<number | null, ChainFailure>> {
  if ((await writer.knownDecimals(contract)) === currency.decimals) return ok(currency.decimals)
  const asked = await chain.decimals(contract)
  if (!asked.ok) return asked.error.kind === 'out-of-budget' ? asked : ok(null)
  if (asked.value === currency.decimals) await writer.storeDecimals(contract, asked.value, clock.now())
  else log.alarm('decimals-differ', { cuy: currency.cuy, configured: currency.decimals, contract: asked.value })
  return asked
}

/**
 * The receipts of a group; a txid about which the nodes differ is absent, so that one disputed transaction doesn't
 * hold up the others of its group.
 */
async function fetchReceipts(
  { chain }: EvidenceSources,
  group: readonly OwnedCandidate[],
): Promise<Result<ReadonlyMap<Txid, Receipt>, ChainFailure>> {
  const asked = [...new Map(group.map(({ candidate }) => [candidate.txid, candidate])).values()]
  const together = await chain.receipts(asked)
  if (together.ok || together.error.kind !== 'disagreement') return together
  if (asked.length === 1) return ok(new Map())
  const agreed = new Map<Txid, Receipt>()
  for (const one of asked) {
    const alone = await chain.receipts([one])
    if (alone.ok) for (const [txid, receipt] of alone.value) agreed.set(txid, receipt)
    else if (alone.error.kind !== 'disagreement') return err(alone.error)
  }
  return ok(agreed)
}

/** Consecutive candidates with at most `receiptsMax` different transactions. */
function byReceipts(claims: readonly OwnedCandidate[]): OwnedCandidate[][] {
  const groups: OwnedCandidate[][] = []
  let txids = new Set<Txid>()
  for (const one of claims) {
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
