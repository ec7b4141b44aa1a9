import { matchAddresses } from '../addresses/store/address-book.ts'
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
import { explainNotDeposit, explainTransaction, isTokenTransfer } from '../deposits/explain.ts'
import { selectMovedIn, selectTransfersOf } from '../deposits/store/of-caller.ts'
import { findContradicted, storeTransfers } from '../deposits/store/transfers.ts'
import {
  isOperator,
  type JudgedTransfer,
  type JudgeRules,
  judgeTransfer,
  type Owners,
  type StoredTransfer,
} from '../deposits/transfer.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { isStoppedByFork } from '../ledger/stops.ts'
import { selectBalances } from '../ledger/store/entries.ts'
import { reportContradicted } from './contradicted.ts'
import {
  creditedOtherwise,
  disputed,
  explainUncredited,
  haltedFailure,
  paidBeforeIssue,
  toQueryFailure,
  type Uncredited,
  unreadable,
  type Worthless,
  walletFull,
} from './failure.ts'
import { loadRules, type ScanContext, selectOwned } from './rules.ts'
import { type ScanState, selectScan, storeFinalized } from './store/position.ts'

/**
 * Answers one user about one transaction: credits the user's final deposits in it, even if the scan
 * has not reached its block, or explains why there is nothing to credit. What the scan has decided
 * about a transfer stands. Any other transfer is stored here only to be credited or to be held for
 * review.
 */
export async function answerInquiry(
  context: ScanContext,
  chain: Chain,
  uid: Uid,
  txid: Txid,
): Promise<Result<CreditAnswer, QueryFailure>> {
  const { db, clock, currencies, alarms } = context
  const { finding, toStore, others, beforeIssue, correctedBy } = await investigate(context, chain, uid, txid)
  if (beforeIssue !== undefined) {
    const position = formatPosition(beforeIssue.transfer.position)
    await alarms.raise('paid-before-issue', { txid, position }, { txid, position, uid })
  }
  if (toStore.length === 0) return toAnswer(finding, 'already')
  const result = await storeTransfers(db, toStore, clock.now(), correctedBy)
  if (result === 'halted') return err(haltedFailure)
  // Read which transfers are stored now: a wallet may have been too full for a credit, and a
  // concurrent request may have stored the transfer first.
  const stored = await selectTransfersOf(db, uid, txid)
  const unstored = others.filter(({ position }) => !stored.some((one) => one.position === position))
  const decided = findDecided(uid, [...stored, ...unstored], currencies)
  const lacking = toStore.filter(({ position }) => !stored.some((one) => one.position === position))
  const contradicted = lacking.length === 0 ? [] : await findContradicted(db, lacking)
  await reportContradicted(context, contradicted)
  if (contradicted.length === 0) return decided === null ? err(disputed) : toAnswer(decided, 'credited')
  if (decided === null) return err(creditedOtherwise)
  return toAnswer({ ...decided, uncredited: [...decided.uncredited, creditedOtherwise.why] }, 'credited')
}

/**
 * Finds, for a backend or a person at the desk, what the owner of a transaction would be told.
 * Nothing is stored. The owner is the first user whom the transaction pays; `reservedUid` (nobody)
 * only if it pays nobody else. `uid` is null if the transaction concerns no user.
 */
export async function lookUpTransaction(
  context: ScanContext,
  chain: Chain,
  txid: Txid,
): Promise<Result<TransactionFinding, QueryFailure>> {
  const { finding } = await investigate(context, chain, null, txid)
  const { answer } = finding
  const isAboutNodes = typeof answer === 'object' && (answer.kind === 'limited' || answer.kind === 'chain-unavailable')
  return isAboutNodes ? err(answer) : ok(finding)
}

/** The findings about a transaction for one user, and the transfers to store before answering. */
interface Investigation {
  readonly finding: TransactionFinding
  /** Transfers to credit, and those to be held for review. */
  readonly toStore: readonly JudgedTransfer[]
  /** The user's transfers that are held or refused. */
  readonly others: readonly Extract<JudgedTransfer, { readonly state: 'held' | 'refused' }>[]
  /**
   * The transfer that was final before its address was issued, if nothing is credited for this
   * reason.
   */
  readonly beforeIssue: JudgedTransaction['judged'][number] | undefined
  /**
   * The newest correction (an operator lowered a wrong finalized height) when the transaction was
   * read; 0 if there was none.
   */
  readonly correctedBy: number
}

/**
 * Looks at stored transfers first, then at the chain. `asker` is the user, or null to find out whom
 * the transaction concerns.
 */
async function investigate(context: ScanContext, chain: Chain, asker: Uid | null, txid: Txid): Promise<Investigation> {
  const { db, currencies } = context
  const stored = await selectTransfersOf(db, asker, txid)
  const owner = asker ?? stored.find(isFinal)?.uid ?? null
  const own = stored.filter(({ uid }) => uid === owner)
  const known = findDecided(owner, own, currencies)
  const nothing = { toStore: [], others: [], beforeIssue: undefined, correctedBy: 0 }
  if (known !== null) {
    const internals = await lookForInternals(context, chain, own)
    if (internals !== 'new') return { ...nothing, finding: { ...known, isUnread: internals === 'unread' } }
  }
  const found = await judgeTransaction(context, chain, txid)
  if (!found.ok) {
    const unread = known === null ? null : { ...known, isUnread: true }
    return { ...nothing, finding: unread ?? uncredited(owner ?? stored[0]?.uid ?? null, found.error) }
  }
  const uid = owner ?? (await findPaid(context, found.value))
  const open = withoutDecided(found.value, own)
  const { correctedBy } = open
  const reviews = verdictsFor(uid, open.judged).filter((one) => one.state === 'held' && one.reason === 'review')
  const outcome = await outcomeFor(context, uid, open)
  if (outcome.ok) {
    const { credits, others } = outcome.value
    const why = others.map((one) => explainUncredited(one, currencies).why)
    const finding = { uid, answer: 'creditable', uncredited: why, isUnread: false } as const
    return { ...nothing, finding, toStore: [...credits, ...reviews], others, correctedBy }
  }
  const isBeforeIssue = outcome.error === paidBeforeIssue && uid !== null && reviews.length === 0
  const finding = known === null ? uncredited(uid, outcome.error) : withOpen(known, open, currencies)
  return {
    ...nothing,
    finding,
    toStore: reviews,
    beforeIssue: isBeforeIssue ? findBeforeIssue(uid, open) : undefined,
    correctedBy,
  }
}

/**
 * The first user whom the transaction pays or names, or who has sent it; `reservedUid` only if
 * there is no other. Null if it concerns no user.
 */
async function findPaid({ db }: ScanContext, { judged, owners, reading }: JudgedTransaction): Promise<Uid | null> {
  const named = [reading.target, ...reading.logs.map(({ topics }) => addressFromHex((topics[2] ?? '').slice(-40)))]
  const recipients = new Set([...judged.map(({ transfer }) => transfer.to), ...named.filter((one) => one !== null)])
  const issued = new Map([...(await matchAddresses(db, [...recipients])), ...owners])
  const users = [...recipients, ...owners.keys()].flatMap((address) => issued.get(address)?.uid ?? [])
  return users.find((one) => one !== reservedUid) ?? users[0] ?? null
}

function toAnswer(
  { answer, uncredited, isUnread }: TransactionFinding,
  when: CreditAnswer['when'],
): Result<CreditAnswer, QueryFailure> {
  return typeof answer === 'object' ? err(answer) : ok({ when, uncredited, isUnread })
}

const uncredited = (uid: Uid | null, answer: QueryFailure): TransactionFinding => {
  return { uid, answer, uncredited: [], isUnread: false }
}

/**
 * Leaves out transfers that are stored in another state than `seen` or `dropped`: the scan has
 * decided about them.
 */
function withoutDecided(found: JudgedTransaction, stored: readonly StoredTransfer[]): JudgedTransaction {
  const positions = new Set(stored.filter(isFinal).map(({ position }) => position))
  return { ...found, judged: found.judged.filter(({ transfer }) => !positions.has(transfer.position)) }
}

const isFinal = ({ state }: StoredTransfer) => state !== 'seen' && state !== 'dropped'

/**
 * The user's transfers to credit, and the user's held or refused ones, or why there is nothing to
 * credit. `uid` is null if no user is concerned.
 */
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
  if (uid !== null && findBeforeIssue(uid, found) !== undefined) return err(paidBeforeIssue)
  if (!found.internals.ok) return err(toQueryFailure(found.internals.error))
  const issued = [...(await matchAddresses(db, namedIn(found)))]
  const addresses = issued.flatMap(([address, owner]) => (owner.uid === uid ? [address] : []))
  return err(explainWorthless(found, currencies, new Set(addresses)))
}

/**
 * All addresses that the transaction names: its own two, the ends of its transfers, and the sender
 * and recipient of each event.
 */
function namedIn({ reading, judged }: JudgedTransaction): readonly Address[] {
  const ends = [...reading.transfers, ...judged.map(({ transfer }) => transfer)].flatMap(({ from, to }) => [from, to])
  const inEvents = reading.logs.flatMap(({ topics }) =>
    topics.slice(1, 3).map((topic) => addressFromHex(topic.slice(-40))),
  )
  return [reading.owner, reading.target, ...ends, ...inEvents].filter((one) => one !== null)
}

/**
 * A final transaction, with a verdict about each of its transfers, except those that are stored as
 * movements of the service's own money.
 */
interface JudgedTransaction {
  readonly reading: TransactionReading
  /** The TRX that contracts sent in the transaction. */
  readonly internals: Result<InternalReading, ChainFailure>
  readonly owners: Owners
  readonly rules: JudgeRules
  /**
   * The newest correction (an operator's lowering of the finalized height) when the transaction was
   * read; 0 if there was none.
   */
  readonly correctedBy: number
  readonly judged: readonly { readonly transfer: ChainTransfer; readonly verdict: ReturnType<typeof judgeTransfer> }[]
}

/**
 * Reads and judges a transaction. Fails at once if its block is not final, or if nodes do not agree
 * about the transaction.
 */
async function judgeTransaction(
  context: ScanContext,
  chain: Chain,
  txid: Txid,
): Promise<Result<JudgedTransaction, QueryFailure>> {
  const { db } = context
  const state = await selectScan(db)
  if (state !== null && isStoppedByFork(state.halted !== null, 'credit')) return err(haltedFailure)
  const found = await readFinal(context, chain, state, txid)
  if (!found.ok) return found
  const { reading, internals, owners, transfers } = found.value
  const { header, owner } = reading
  const rules = await loadRules(context, chain, state?.height ?? header.height, [])
  const moved = new Set(await selectMovedIn(db, txid))
  const isOurs = owner !== null && (owners.has(owner) || isOperator(rules.operators, owner, header.height) !== false)
  const judged = transfers
    .filter(({ position }) => !moved.has(position))
    .map((transfer) => {
      // TRX that a contract sends in a transaction of the service or of an operator counts as sent
      // by them: a swap, or gas for many addresses. So it is not a deposit.
      const from = isOurs && isInternal(transfer.position) ? owner : transfer.from
      return { transfer: { ...transfer, from }, verdict: judgeTransfer({ ...transfer, from }, header, owners, rules) }
    })
  return ok({ reading, internals, owners, rules, correctedBy: state?.correctedBy ?? 0, judged })
}

/** Adds to a finding why the owner's undecided transfers in the transaction are not credited. */
function withOpen(
  known: TransactionFinding,
  { judged, internals }: JudgedTransaction,
  currencies: Currencies,
): TransactionFinding {
  // A transfer with the verdict `credited` is not credited only if its wallet has no room.
  const failures = verdictsFor(known.uid, judged).map((one) =>
    one.state === 'held' || one.state === 'refused' ? explainUncredited(one, currencies) : walletFull,
  )
  return { ...known, uncredited: [...known.uncredited, ...failures.map(({ why }) => why)], isUnread: !internals.ok }
}

/**
 * Whether a contract has sent TRX to the user in a transaction of which only token transfers are
 * stored. The scan does not read TRX that contracts send. `unread`: the nodes could not say it.
 */
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

/**
 * The transfer that explains why nothing is credited: the first held transfer, or without one the
 * first refused transfer.
 */
function firstUncredited<One extends Pick<StoredTransfer, 'state'>>(all: readonly One[]): One | undefined {
  return all.find((one) => one.state === 'held') ?? all.find((one) => one.state === 'refused')
}

function findBeforeIssue(uid: Uid, { judged, owners }: JudgedTransaction) {
  return judged.find(({ transfer, verdict }) => verdict === 'paid-before-issue' && owners.get(transfer.to)?.uid === uid)
}

/**
 * Whether the user's wallets have room for all credits. If not, no transfer is credited here. The
 * scan stores them as held and makes their events.
 */
async function hasRoom(
  { db }: ScanContext,
  uid: Uid,
  credits: readonly { readonly cuy: CurrencyId; readonly amount: Amount }[],
): Promise<boolean> {
  const balances = new Map<CurrencyId, bigint>((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  for (const { cuy, amount } of credits) balances.set(cuy, (balances.get(cuy) ?? 0n) + amount)
  return [...balances.values()].every((balance) => balance <= amountMax)
}

/** The finding that stored transfers of a user give, or null if none of them is decided. */
function findDecided(uid: Uid | null, own: readonly Uncredited[], currencies: Currencies): TransactionFinding | null {
  if (own.some(({ state }) => state === 'credited')) {
    const others = own.filter(({ state }) => state === 'held' || state === 'refused')
    const why = others.map((one) => explainUncredited(one, currencies).why)
    return { uid, answer: 'credited', uncredited: why, isUnread: false }
  }
  const first = firstUncredited(own)
  return first === undefined ? null : uncredited(uid, explainUncredited(first, currencies))
}

/**
 * Reads the transaction and the users of the addresses in it, if its block is final and a quorum of
 * the nodes agrees. Does not wait for finality: if the block is not final, the result is the
 * failure `not-final`.
 */
async function readFinal(context: ScanContext, chain: Chain, state: ScanState | null, txid: Txid) {
  const { db, clock } = context
  const located = await chain.locate(txid)
  if (!located.ok) return err(toQueryFailure(located.error))
  const location = located.value
  if (location.kind === 'unknown') return err<QueryFailure>({ kind: 'not-found', what: 'transaction' })
  if (location.kind === 'unmined') return err<QueryFailure>({ kind: 'not-final', seconds: unminedSeconds })
  const { height } = location
  if (state === null || height > state.finalized) {
    const stored = state === null ? null : { height: state.finalized, time: state.finalizedTime }
    const head = await chain.finalizedHead(stored)
    if (!head.ok) return err(toQueryFailure(head.error))
    const finalized = head.value.header.height
    if (height > finalized) {
      // If the nodes show no newer head than the stored one, estimate from the time at which the
      // stored head became final.
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
  const isShown = internals.ok && internals.value.kind === 'shown'
  const isClear = isShown || isTokenTransfer(reading, currencies)
  return { kind: 'worthless', reason, why: isClear ? why : `${why}; ${internalsNotShown}` }
}

/**
 * The end of a sentence: too few nodes keep the TRX that contracts sent in old transactions. Other
 * nodes may, so asking again later can help.
 */
const internalsNotShown =
  'if a contract sent TRX to you in it, too few nodes show that, since they may not keep it: it can be asked for again'
