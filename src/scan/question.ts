import { matchAddresses, selectAddresses } from '../addresses/address-book.ts'
import { type Address, addressFromHex } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { Chain, ChainFailure, ChainTransfer, TransactionFinding, TransactionReading } from '../chain/chain.ts'
import { secondsLeft, unminedSeconds } from '../chain/finality.ts'
import { type Amount, amountMax } from '../common/amount.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { explainHeld, explainRefused, explainTransaction } from '../deposits/explain.ts'
import { type JudgeRules, judgeTransfer, type Owners, type StoredTransfer } from '../deposits/transfer.ts'
import { selectMovedIn, selectTransfersOf, storeTransfers } from '../deposits/transfers.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { selectBalances } from '../ledger/entries.ts'
import { loadRules, readOwners, type ScanContext, selectOwned } from './rules.ts'
import { type ScanState, selectScan, storeFinalized } from './scan-state.ts'

/** Whether the caller's deposits in a transaction were credited before the question or by it. */
type CreditAnswer = 'credited' | 'already'

/** Why nothing can be said about a transaction now. */
const disputed: QueryFailure = { kind: 'undecided', why: 'the nodes disagree about this transaction' }
/** The nodes agree on it, and its bytes or its receipt cannot be read. An alarm names it. */
const unreadable: QueryFailure = {
  kind: 'undecided',
  why: 'this service cannot read this transaction, so nothing of it is credited; ask the operator',
}

/** The chain is known to be forked. */
const haltedFailure: QueryFailure = {
  kind: 'undecided',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

/** The configuration is not that of the stored data. */
export const misconfigured: QueryFailure = {
  kind: 'undecided',
  why: 'nothing is credited until an operator has corrected the configuration',
}

/** There is no room for it now. */
const walletFull: QueryFailure = { kind: 'undecided', why: explainHeld('wallet-full') }

/** Nothing at or below the height of an address's issue is ever its owner's. */
const paidBeforeIssue: QueryFailure = {
  kind: 'undecided',
  why: 'it was final before this address was issued to you, so it is not credited; ask the operator',
}

/**
 * Answers for one transaction, whatever the position of the scan is: credits the caller's final deposits in it, or says in one
 * sentence why there is nothing to credit. What the scan has decided stays decided; of the rest, only a credit is stored.
 */
export async function answerQuestion(
  context: ScanContext,
  chain: Chain,
  uid: Uid,
  txid: Txid,
): Promise<Result<CreditAnswer, QueryFailure>> {
  const { db, currencies } = context
  const known = decidedAnswer(await selectTransfersOf(db, uid, txid), currencies)
  if (known !== null) return known
  const found = await judgeTransaction(context, chain, txid)
  if (!found.ok) return found
  const own = verdictsFor(uid, found.value.judged)
  const credits = own.filter((one) => one.state === 'credited')
  if (credits.length > 0) {
    if (!(await hasRoom(context, uid, credits))) return err(walletFull)
    const stored = await storeTransfers(db, credits, context.clock.now(), found.value.correctedBy)
    if (stored === 'halted') return err(haltedFailure)
    // The database has the last word: a wallet can be full, and another instance can have been faster.
    return decidedAnswer(await selectTransfersOf(db, uid, txid), currencies, 'credited') ?? err(disputed)
  }
  const uncredited = explainOwn(own, currencies)
  if (uncredited !== null) return err(uncredited)
  const early = earlyFor(uid, found.value)
  if (early === undefined) {
    const addresses = new Set((await selectAddresses(db, uid)).map(({ address }) => address))
    return err(explainWorthless(found.value, currencies, addresses))
  }
  const { position } = early.transfer
  await context.alarms.raise('paid-before-issue', { txid, position }, { txid, position, uid })
  return err(paidBeforeIssue)
}

/**
 * What the owner of a transaction would be answered, for whom it is not the own one. Nothing of it is stored. Where several
 * callers are paid it is the first one; `uid` is null where it concerns no caller.
 */
export async function lookUpTransaction(
  context: ScanContext,
  chain: Chain,
  txid: Txid,
): Promise<Result<TransactionFinding, QueryFailure>> {
  const { db, currencies } = context
  const stored = await selectTransfersOf(db, null, txid)
  const owner = stored.find(({ state }) => state !== 'seen' && state !== 'dropped')?.uid
  const known = decidedAnswer(
    stored.filter(({ uid }) => uid === owner),
    currencies,
  )
  if (owner !== undefined && known !== null) return ok({ uid: owner, answer: known.ok ? 'credited' : known.error })
  const found = await judgeTransaction(context, chain, txid)
  if (!found.ok) {
    const isAboutNodes = found.error.kind === 'limited' || found.error.kind === 'chain-unavailable'
    return isAboutNodes ? found : ok({ uid: stored[0]?.uid ?? null, answer: found.error })
  }
  const { judged, owners, reading } = found.value
  const named = [reading.target, ...reading.logs.map(({ topics }) => addressFromHex((topics[2] ?? '').slice(-40)))]
  const recipients = new Set([...judged.map(({ transfer }) => transfer.to), ...named.filter((one) => one !== null)])
  const issued = new Map([...(await matchAddresses(db, [...recipients])), ...owners])
  const users = [...recipients, ...owners.keys()].flatMap((address) => issued.get(address)?.uid ?? [])
  const uid = users.find((one) => one !== reservedUid) ?? null
  const own = uid === null ? [] : verdictsFor(uid, judged)
  const credits = own.filter((one) => one.state === 'credited')
  if (uid !== null && credits.length > 0) {
    return ok({ uid, answer: (await hasRoom(context, uid, credits)) ? 'creditable' : walletFull })
  }
  const isEarly = uid !== null && earlyFor(uid, found.value) !== undefined
  const ownAddresses = new Set([...issued].flatMap(([address, owner]) => (owner.uid === uid ? [address] : [])))
  const answer = explainOwn(own, currencies) ?? (isEarly ? paidBeforeIssue : null)
  return ok({ uid, answer: answer ?? explainWorthless(found.value, currencies, ownAddresses) })
}

/** A final transaction, with what its transfers are that no stored movement is. */
interface JudgedTransaction {
  readonly reading: TransactionReading
  readonly owners: Owners
  readonly rules: JudgeRules
  /** The newest correction before it was read. */
  readonly correctedBy: number
  readonly judged: readonly { readonly transfer: ChainTransfer; readonly verdict: ReturnType<typeof judgeTransfer> }[]
}

/** Reads a transaction that is not decided yet, once its block is final and agreed. */
async function judgeTransaction(
  context: ScanContext,
  chain: Chain,
  txid: Txid,
): Promise<Result<JudgedTransaction, QueryFailure>> {
  const { db } = context
  const state = await selectScan(db)
  if (state !== null && state.halted !== null) return err(haltedFailure)
  const found = await readFinal(context, chain, state, txid)
  if (!found.ok) return found
  const { reading, owners, transfers } = found.value
  const rules = await loadRules(context, chain, state?.height ?? reading.header.height)
  const moved = new Set(await selectMovedIn(db, txid))
  const judged = transfers
    .filter(({ position }) => !moved.has(position))
    .map((transfer) => ({ transfer, verdict: judgeTransfer(transfer, reading.header, owners, rules) }))
  return ok({ reading, owners, rules, correctedBy: state?.correctedBy ?? 0, judged })
}

function verdictsFor(uid: Uid, judged: JudgedTransaction['judged']) {
  return judged.flatMap(({ verdict }) => {
    return verdict !== null && verdict !== 'early' && verdict.state !== 'moved' && verdict.uid === uid ? [verdict] : []
  })
}

/** Why the first of these transfers is not credited, the held ones first; null where there is none. */
function explainOwn(own: ReturnType<typeof verdictsFor>, currencies: Currencies): QueryFailure | null {
  const uncredited = own.find((one) => one.state === 'held') ?? own.find((one) => one.state === 'refused')
  return uncredited === undefined ? null : explainUncredited(uncredited, currencies)
}

function earlyFor(uid: Uid, { judged, owners }: JudgedTransaction) {
  return judged.find(({ transfer, verdict }) => verdict === 'early' && owners.get(transfer.to)?.uid === uid)
}

/** Whether the caller's wallets have room for all of it. What has none is stored by the scan, with its event. */
async function hasRoom(
  { db }: ScanContext,
  uid: Uid,
  credits: readonly { readonly cuy: CurrencyId; readonly amount: Amount }[],
): Promise<boolean> {
  const balances = new Map<CurrencyId, bigint>((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  for (const { cuy, amount } of credits) balances.set(cuy, (balances.get(cuy) ?? 0n) + amount)
  return [...balances.values()].every((balance) => balance <= amountMax)
}

type Uncredited = Pick<StoredTransfer, 'cuy' | 'raw' | 'reason'>

/** The answer by what is stored, or null where nothing of it is decided. */
function decidedAnswer(
  stored: readonly StoredTransfer[],
  currencies: Currencies,
  credited: CreditAnswer = 'already',
): Result<CreditAnswer, QueryFailure> | null {
  if (stored.some(({ state }) => state === 'credited')) return ok(credited)
  const decided = stored.find(({ state }) => state === 'held') ?? stored.find(({ state }) => state === 'refused')
  return decided === undefined ? null : err(explainUncredited(decided, currencies))
}

/** Why a final transfer is not credited. */
function explainUncredited({ cuy, raw, reason }: Uncredited, currencies: Currencies): QueryFailure {
  switch (reason) {
    case null:
      return disputed
    case 'below-minimum':
    case 'dust':
      return { kind: 'worthless', why: explainRefused({ cuy, raw, reason }, currencies) }
    case 'retired':
      return { kind: 'worthless', why: explainHeld(reason) }
    default:
      return { kind: 'undecided', why: explainHeld(reason) }
  }
}

/** The transaction, once its block is final and agreed, with the owners of the addresses in it. */
async function readFinal(context: ScanContext, chain: Chain, state: ScanState | null, txid: Txid) {
  const { db, clock } = context
  const location = await chain.locate(txid)
  if (!location.ok) return err(toQueryFailure(location.error))
  const place = location.value
  if (place.kind === 'unknown') return err<QueryFailure>({ kind: 'not-found', what: 'transaction' })
  if (place.kind === 'unmined') return err<QueryFailure>({ kind: 'not-final', seconds: unminedSeconds })
  const { height } = place
  if (state === null || height > state.finalized) {
    const stored = state === null ? null : { height: state.finalized, time: state.finalizedTime }
    const head = await chain.finalizedHead(stored)
    if (!head.ok) return err(toQueryFailure(head.error))
    const finalized = head.value.header.height
    if (height > finalized) {
      // A head that is not newer than the stored one is as old as that.
      const known = state !== null && finalized <= state.finalized ? state : { finalized, finalizedAt: clock.now() }
      return err<QueryFailure>({ kind: 'not-final', seconds: secondsLeft(height, known, clock.now()) })
    }
    if (state !== null) await storeFinalized(db, state, head.value.header, clock.now())
  }
  const read = await chain.finalTransaction(txid, height)
  if (!read.ok) return err(toQueryFailure(read.error))
  const reading = read.value
  if (reading === null) return err(disputed)
  const owners = await readOwners(db, [reading])
  const transfers = selectOwned(reading.transfers, owners)
  return reading.isWhole || transfers.length > 0 ? ok({ reading, owners, transfers }) : err(unreadable)
}

function explainWorthless(
  { reading, rules }: JudgedTransaction,
  currencies: Currencies,
  own: ReadonlySet<Address>,
): QueryFailure {
  return { kind: 'worthless', why: explainTransaction(reading, { currencies, own, operators: rules.operators }) }
}

/** What a caller gets where the chain cannot be read. A limit is said as such, with whose it is. */
export function toQueryFailure(failure: ChainFailure): QueryFailure {
  switch (failure.kind) {
    case 'disagreement':
      return disputed
    case 'forked':
      return haltedFailure
    case 'limited':
      return { kind: 'limited', whose: failure.whose, seconds: failure.seconds }
    case 'no-answer':
    case 'out-of-time':
      return { kind: 'chain-unavailable' }
  }
}
