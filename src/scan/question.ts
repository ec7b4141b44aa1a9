import { matchAddresses, selectAddresses } from '../addresses/address-book.ts'
import { type Address, addressFromHex } from '../chain/address.ts'
import { formatPosition, isInternal, type Txid } from '../chain/block.ts'
import type {
  Chain,
  ChainFailure,
  ChainTransfer,
  CreditAnswer,
  InternalReading,
  TransactionFinding,
  TransactionReading,
} from '../chain/chain.ts'
import { secondsLeft, unminedSeconds } from '../chain/finality.ts'
import { type Amount, amountMax } from '../common/amount.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { explainHeld, explainNotDeposit, explainRefused, explainTransaction } from '../deposits/explain.ts'
import { selectMovedIn, selectTransfersOf } from '../deposits/store/of-caller.ts'
import { storeTransfers } from '../deposits/store/transfers.ts'
import { isOperator, type JudgeRules, judgeTransfer, type Owners, type StoredTransfer } from '../deposits/transfer.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { selectBalances } from '../ledger/entries.ts'
import { loadRules, type ScanContext, selectOwned } from './rules.ts'
import { type ScanState, selectScan, storeFinalized } from './store/position.ts'

/** A failure of a transaction that cannot be decided now. */
type Undecided = Extract<QueryFailure, { readonly kind: 'undecided' }>
/** A failure of a transaction that is worth nothing. */
type Worthless = Extract<QueryFailure, { readonly kind: 'worthless' }>

/** Why nothing can be said about a transaction now. */
const disputed: Undecided = {
  kind: 'undecided',
  reason: 'nodes-disagree',
  why: 'the nodes disagree about this transaction',
}
/** The nodes agree on it, and its bytes or its receipt cannot be read. An alarm names it. */
const unreadable: Undecided = {
  kind: 'undecided',
  reason: 'transaction-unreadable',
  why: 'this service cannot read this transaction, so nothing of it is credited; ask the operator',
}

/** The chain is known to be forked. */
const haltedFailure: Undecided = {
  kind: 'undecided',
  reason: 'chain-forked',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

/** The configuration is not that of the stored data. */
export const misconfigured: Undecided = {
  kind: 'undecided',
  reason: 'configuration-differs',
  why: 'nothing is credited until an operator has corrected the configuration',
}

/** There is no room for it now. */
const walletFull: Undecided = { kind: 'undecided', reason: 'wallet-full', why: explainHeld('wallet-full') }

/** Nothing at or below the height of an address's issue is ever its owner's. */
const paidBeforeIssue: Undecided = {
  kind: 'undecided',
  reason: 'paid-before-issue',
  why: 'it was final before this address was issued to you, so it is not credited; ask the operator',
}

/**
 * Answers for one transaction, whatever the position of the scan is: credits the caller's final deposits in it, or says in one
 * sentence why there is nothing to credit. What the scan has decided stays decided; of the rest, only a credit is stored, and what a
 * person must look at first.
 */
export async function answerQuestion(
  context: ScanContext,
  chain: Chain,
  uid: Uid,
  txid: Txid,
): Promise<Result<CreditAnswer, QueryFailure>> {
  const { db, currencies } = context
  const decided = await selectTransfersOf(db, uid, txid)
  const known = decidedAnswer(decided, currencies)
  const internals = known === null ? 'new' : await lookForInternals(context, chain, decided)
  if (known !== null && internals !== 'new') return internals === 'none' ? known : withUnread(known)
  const found = await judgeTransaction(context, chain, txid)
  if (!found.ok) return known === null ? found : withUnread(known)
  const open = withoutDecided(found.value, decided)
  const reviews = verdictsFor(uid, open.judged).filter((one) => one.state === 'held' && one.reason === 'review')
  const outcome = await outcomeFor(context, uid, open)
  if (!outcome.ok && reviews.length === 0) {
    const early = outcome.error === paidBeforeIssue ? earlyFor(uid, open) : undefined
    if (early === undefined) return known === null ? outcome : withOpen(known, uid, open, currencies)
    const position = formatPosition(early.transfer.position)
    await context.alarms.raise('paid-before-issue', { txid, position }, { txid, position, uid })
    return outcome
  }
  const { credits, others } = outcome.ok ? outcome.value : { credits: [], others: [] }
  const result = await storeTransfers(db, [...credits, ...reviews], context.clock.now(), found.value.correctedBy)
  if (result === 'halted') return err(haltedFailure)
  // The database has the last word: a wallet can be full, and another instance can have been faster.
  const stored = await selectTransfersOf(db, uid, txid)
  const unstored = others.filter(({ position }) => !stored.some((one) => one.position === position))
  return decidedAnswer([...stored, ...unstored], currencies, 'credited') ?? err(disputed)
}

/**
 * What the owner of a transaction would be answered, for whom it is not the own one. Nothing of it is stored. Where several
 * callers are paid it is the first one, before `reservedUid`; `uid` is null where it concerns nobody.
 */
export async function lookUpTransaction(
  context: ScanContext,
  chain: Chain,
  txid: Txid,
): Promise<Result<TransactionFinding, QueryFailure>> {
  const { db, currencies } = context
  const stored = await selectTransfersOf(db, null, txid)
  const owner = stored.find(isFinal)?.uid
  const own = stored.filter(({ uid }) => uid === owner)
  const decided = owner === undefined ? null : decidedAnswer(own, currencies)
  const known =
    decided === null || owner === undefined
      ? null
      : ok(decided.ok ? creditedTo(owner, 'credited', decided.value.uncredited) : uncreditedTo(owner, decided.error))
  const internals = known === null ? 'new' : await lookForInternals(context, chain, own)
  if (known !== null && internals !== 'new') return internals === 'none' ? known : withUnread(known)
  const found = await judgeTransaction(context, chain, txid)
  if (!found.ok && known !== null) return withUnread(known)
  if (!found.ok) {
    const isAboutNodes = found.error.kind === 'limited' || found.error.kind === 'chain-unavailable'
    return isAboutNodes ? found : ok(uncreditedTo(stored[0]?.uid ?? null, found.error))
  }
  const { judged, owners, reading } = found.value
  const named = [reading.target, ...reading.logs.map(({ topics }) => addressFromHex((topics[2] ?? '').slice(-40)))]
  const recipients = new Set([...judged.map(({ transfer }) => transfer.to), ...named.filter((one) => one !== null)])
  const issued = new Map([...(await matchAddresses(db, [...recipients])), ...owners])
  const users = [...recipients, ...owners.keys()].flatMap((address) => issued.get(address)?.uid ?? [])
  const uid = users.find((one) => one !== reservedUid) ?? users[0] ?? null
  const open = withoutDecided(found.value, own)
  const outcome = await outcomeFor(context, uid, open)
  if (!outcome.ok && known !== null) return withOpen(known, owner ?? null, open, currencies)
  if (!outcome.ok) return ok(uncreditedTo(uid, outcome.error))
  const why = outcome.value.others.map((one) => explainUncredited(one, currencies).why)
  return ok(creditedTo(uid, 'creditable', why))
}

const creditedTo = (
  uid: Uid | null,
  answer: 'credited' | 'creditable',
  uncredited: readonly string[],
): TransactionFinding => ({ uid, answer, uncredited, isUnread: false })

const uncreditedTo = (uid: Uid | null, answer: QueryFailure): TransactionFinding => ({
  uid,
  answer,
  uncredited: [],
  isUnread: false,
})

/** What is not decided yet. */
function withoutDecided(found: JudgedTransaction, stored: readonly StoredTransfer[]): JudgedTransaction {
  const positions = new Set(stored.filter(isFinal).map(({ position }) => position))
  return { ...found, judged: found.judged.filter(({ transfer }) => !positions.has(transfer.position)) }
}

const isFinal = ({ state }: StoredTransfer) => state !== 'seen' && state !== 'dropped'

/** The transfers of a caller to credit, and the others, or why there is nothing to credit. `uid` is null for nobody. */
async function outcomeFor(context: ScanContext, uid: Uid | null, found: JudgedTransaction) {
  const { db, currencies } = context
  const own = verdictsFor(uid, found.judged)
  const credits = own.filter((one) => one.state === 'credited')
  const others = own.filter((one) => one.state === 'held' || one.state === 'refused')
  if (uid !== null && credits.length > 0) {
    return (await hasRoom(context, uid, credits)) ? ok({ credits, others }) : err(walletFull)
  }
  const first = firstUncredited(others)
  if (first !== undefined) return err<QueryFailure>(explainUncredited(first, currencies))
  if (uid !== null && earlyFor(uid, found) !== undefined) return err(paidBeforeIssue)
  if (!found.internals.ok) return err(toQueryFailure(found.internals.error))
  const addresses = uid === null ? [] : await selectAddresses(db, uid)
  return err(explainWorthless(found, currencies, new Set(addresses.map(({ address }) => address))))
}

/** A final transaction, with what its transfers are that no stored movement is. */
interface JudgedTransaction {
  readonly reading: TransactionReading
  /** What its contracts sent. */
  readonly internals: Result<InternalReading, ChainFailure>
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
  const { reading, internals, owners, transfers } = found.value
  const { header, owner } = reading
  const rules = await loadRules(context, chain, state?.height ?? header.height, [])
  const moved = new Set(await selectMovedIn(db, txid))
  const isOurs = owner !== null && (owners.has(owner) || isOperator(rules.operators, owner, header.height))
  const judged = transfers
    .filter(({ position }) => !moved.has(position))
    .map((transfer) => {
      // What a contract sends for the service or its operator is theirs: money that is changed, or gas for many addresses.
      const from = isOurs && isInternal(transfer.position) ? owner : transfer.from
      return { transfer: { ...transfer, from }, verdict: judgeTransfer({ ...transfer, from }, header, owners, rules) }
    })
  return ok({ reading, internals, owners, rules, correctedBy: state?.correctedBy ?? 0, judged })
}

/** What is known of a transaction, while what its contracts have sent cannot be read. */
function withUnread<T extends { readonly isUnread: boolean }>(known: Result<T, QueryFailure>): Result<T, QueryFailure> {
  return known.ok ? ok({ ...known.value, isUnread: true }) : known
}

/** What is known of a transaction, and why the caller's transfers in it that are not decided are not credited. */
function withOpen<T extends Pick<CreditAnswer, 'uncredited' | 'isUnread'>>(
  known: Result<T, QueryFailure>,
  uid: Uid | null,
  { judged, internals }: JudgedTransaction,
  currencies: Currencies,
): Result<T, QueryFailure> {
  if (!known.ok) return known
  // What would be credited has no room, or it would have been.
  const failures = verdictsFor(uid, judged).map((one) =>
    one.state === 'held' || one.state === 'refused' ? explainUncredited(one, currencies) : walletFull,
  )
  const uncredited = [...known.value.uncredited, ...failures.map(({ why }) => why)]
  return ok({ ...known.value, uncredited, isUnread: !internals.ok })
}

/** Whether contracts have sent TRX to the caller in a transaction of which only tokens are stored: the scan does not look for that. */
async function lookForInternals(
  { db }: ScanContext,
  chain: Chain,
  stored: readonly StoredTransfer[],
): Promise<'new' | 'none' | 'unread'> {
  const first = stored.find(isFinal)
  if (first === undefined || stored.some(({ native }) => native)) return 'none'
  const read = await chain.internalTransfers(first.txid, first.block.height)
  if (!read.ok) return 'unread'
  if (read.value.kind === 'not-shown') return 'none'
  const owners = await matchAddresses(
    db,
    read.value.transfers.map(({ to }) => to),
  )
  return read.value.transfers.some(({ to }) => owners.get(to)?.uid === first.uid) ? 'new' : 'none'
}

function verdictsFor(uid: Uid | null, judged: JudgedTransaction['judged']) {
  return judged.flatMap(({ verdict }) => {
    return verdict !== null && verdict !== 'paid-before-issue' && verdict.state !== 'moved' && verdict.uid === uid
      ? [verdict]
      : []
  })
}

/** The transfer that explains why nothing is credited: the first one that is held, else that is refused. */
function firstUncredited<One extends Pick<StoredTransfer, 'state'>>(all: readonly One[]): One | undefined {
  return all.find((one) => one.state === 'held') ?? all.find((one) => one.state === 'refused')
}

function earlyFor(uid: Uid, { judged, owners }: JudgedTransaction) {
  return judged.find(({ transfer, verdict }) => verdict === 'paid-before-issue' && owners.get(transfer.to)?.uid === uid)
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

type Uncredited = Pick<StoredTransfer, 'cuy' | 'raw' | 'state' | 'reason'>

/** The answer by what the caller's transfers are, or null if none of them is decided. */
function decidedAnswer(
  own: readonly Uncredited[],
  currencies: Currencies,
  when: CreditAnswer['when'] = 'already',
): Result<CreditAnswer, QueryFailure> | null {
  if (own.some(({ state }) => state === 'credited')) {
    const others = own.filter(({ state }) => state === 'held' || state === 'refused')
    return ok({ when, uncredited: others.map((one) => explainUncredited(one, currencies).why), isUnread: false })
  }
  const first = firstUncredited(own)
  return first === undefined ? null : err(explainUncredited(first, currencies))
}

/** Why a final transfer is not credited. */
function explainUncredited({ cuy, raw, state, reason }: Uncredited, currencies: Currencies): Undecided | Worthless {
  if (state === 'refused' && reason === 'review') {
    return { kind: 'worthless', reason, why: explainRefused({ cuy, raw, reason }, currencies) }
  }
  switch (reason) {
    case null:
      return disputed
    case 'below-minimum':
    case 'dust':
      return { kind: 'worthless', reason, why: explainRefused({ cuy, raw, reason }, currencies) }
    case 'retired':
      return { kind: 'worthless', reason, why: explainHeld(reason) }
    default:
      return { kind: 'undecided', reason, why: explainHeld(reason) }
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
  const internals: Result<InternalReading, ChainFailure> = reading.isCall
    ? await chain.internalTransfers(txid, height)
    : ok({ kind: 'shown', transfers: [] })
  const sent = internals.ok && internals.value.kind === 'shown' ? internals.value.transfers : []
  const all = [...reading.transfers, ...sent]
  const ends = all.flatMap(({ from, to }) => [from, to])
  const owners = await matchAddresses(db, reading.owner === null ? ends : [...ends, reading.owner])
  const transfers = selectOwned(all, owners)
  return reading.isWhole || transfers.length > 0 ? ok({ reading, internals, owners, transfers }) : err(unreadable)
}

function explainWorthless(
  { reading, internals, rules, judged }: JudgedTransaction,
  currencies: Currencies,
  own: ReadonlySet<Address>,
): Worthless {
  const by = { currencies, own, operators: rules.operators }
  const sent = judged.find(({ transfer }) => isInternal(transfer.position) && own.has(transfer.to))
  if (sent !== undefined) return { kind: 'worthless', ...explainNotDeposit(sent.transfer.from, reading.header, by) }
  const { reason, why } = explainTransaction(reading, by)
  const isKept = internals.ok && internals.value.kind === 'shown'
  return { kind: 'worthless', reason, why: isKept ? why : `${why}; ${internalsNotShown}` }
}

/** What a contract sends can be found later: other nodes may keep it. */
const internalsNotShown =
  'if a contract sent TRX to you in it, too few nodes show that, since they may not keep it: it can be asked for again'

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
