import {
  type Members,
  readDecimal,
  readForm,
  readInteger,
  readList,
  readMembers,
  readOptionalInteger,
  readOptionalText,
  readPage,
  readText,
} from '../kit/read.ts'
import { readPayout, readPayoutsNow } from './payout-data.ts'

/** The summary for operators, from `GET /ledger/summary`. */
export type DeskSummary = ReturnType<typeof readDeskSummary>
/** The sums of one currency. `held` is null if the balance of no address was read from the chain yet. */
export type DeskCurrency = DeskSummary['currencies'][number]
/** One day (UTC) of a currency. `entries` has the number of entries of each type. */
export type DeskDay = DeskCurrency['days'][number]
/** A range of blocks that could not be read, and that the scan reads again later. */
export type DeskGap = DeskSummary['gaps'][number]
/** A raised alarm. `urgency`, `raised` and `remedy` are the service's words about its kind, in English. */
export type DeskAlarm = DeskSummary['alarms'][number]
/** What an alarm is about: a node, a transaction, an address and so on. */
export type DeskSubject = DeskAlarm['subject']
/** An address that holds another amount on the chain than the records say. */
export type DeskDifference = DeskSummary['differences'][number]
/** An endpoint of `WEBHOOKS`, and how its deliveries are going. */
export type DeskEndpoint = DeskSummary['endpoints'][number]
/** A node of `TRON_NODES`, as the scanner has found it. */
export type DeskNode = NonNullable<DeskSummary['nodes']>[number]
export type OwnedDeposit = ReturnType<typeof readOwnedDeposits>['list'][number]
export type PostedEntry = ReturnType<typeof readEntry>

/** The remark of an entry; empty for a deposit, where it only repeats the type. */
export const markOf = ({ type, mark }: PostedEntry): string => (type === 1 ? '' : mark)
/** An event. Members that its type does not have are null. */
export type DeskEvent = ReturnType<typeof readDeskEvents>[number]
/** What the nodes say about a transaction, from `GET /ledger/transaction`. */
export type ChainFinding = ReturnType<typeof readChainFinding>

/** Reads the data of `GET /ledger/summary`. Like each reader here, throws a `TypeError` if the data is malformed. */
export function readDeskSummary(data: unknown) {
  const { currencies, transfers, gaps, alarms, differences, newest_event, endpoints, nodes, ...rest } =
    readMembers(data)
  const { scan, database, payouts, quorum, reader, cells = [] } = rest
  const { status, behind, finalized, finalized_at, msg, problem, oldest_held_at } = readMembers(scan)
  const { seen, held_for } = readMembers(transfers)
  return {
    currencies: readList({ list: currencies }, readCurrency),
    seen: readInteger(seen),
    held: readList({ list: held_for }, ({ reason, cuy, count, oldest_at }) => {
      const group = { reason: readText(reason), cuy: readInteger(cuy), count: readInteger(count) }
      return { ...group, oldestAt: readText(oldest_at) }
    }),
    gaps: readList({ list: gaps }, ({ from, to, since, attempts, why, seen }) => {
      const range = { from: readInteger(from), to: readInteger(to), seen: readInteger(seen) }
      return { ...range, since: readText(since), attempts: readInteger(attempts), why: readText(why) }
    }),
    alarms: readList({ list: alarms }, ({ kind, subject, since, urgency, raised, remedy }) => {
      const words = { urgency: readText(urgency), raised: readText(raised), remedy: readText(remedy) }
      return { kind: readText(kind), subject: readSubject(readMembers(subject)), since: readText(since), ...words }
    }),
    differences: readList({ list: differences }, ({ cuy, address, amt, since }) => {
      return { cuy: readInteger(cuy), address: readText(address), amount: readDecimal(amt), since: readText(since) }
    }),
    newestEvent: readInteger(newest_event),
    endpoints: readList({ list: endpoints }, ({ number, behind_seconds, failing_since, last_failure, begins_at }) => {
      const failure = { failingSince: readOptionalText(failing_since), lastFailure: readFailure(last_failure) }
      const times = { behindSeconds: readInteger(behind_seconds), beginsAt: readText(begins_at) }
      return { number: readInteger(number), ...times, ...failure }
    }),
    /** The databases of the deployment; empty if it has only one. */
    cells: readList({ list: cells }, ({ cell, from, to }) => {
      return { cell: readInteger(cell), from: readInteger(from), to: readInteger(to) }
    }),
    quorum: readInteger(quorum),
    reader: readReader(readMembers(reader)),
    /** Null without `PAYOUTS`. */
    payouts: payouts === null ? null : readPayoutsNow(readMembers(payouts)),
    nodes: nodes === null ? null : readList({ list: nodes }, readNode),
    database: readDatabase(readMembers(database)),
    status: readText(status),
    behind: readInteger(behind),
    finalized: readInteger(finalized),
    msg: readOptionalText(msg),
    problem: readOptionalText(problem),
    oldestHeldAt: readOptionalText(oldest_held_at),
    finalizedAt: readOptionalText(finalized_at),
  }
}

/** Who reads the page: the name of a backend, or the e-mail address of a person. The scopes decide which actions are offered. */
function readReader({ name, scopes }: Members) {
  const words = Array.isArray(scopes) ? scopes.map(readText) : []
  return { name: readText(name), mayApprove: words.includes('ledger:approve'), mayPay: words.includes('ledger:pay') }
}

/** What an alarm is about. Members that its kind does not have are null. */
function readSubject({
  node,
  question,
  height,
  from,
  txid,
  cuy,
  address,
  contract,
  setting,
  endpoint,
  event,
  payout,
}: Members) {
  return {
    node: readOptionalInteger(node),
    /** What the node fails to answer. */
    question: readOptionalText(question),
    /** The number of a block, or of the first block of a gap. */
    height: readOptionalInteger(height ?? from),
    txid: readOptionalText(txid),
    cuy: readOptionalInteger(cuy),
    address: readOptionalText(address ?? contract),
    setting: readOptionalText(setting),
    endpoint: readOptionalInteger(endpoint),
    event: readOptionalInteger(event),
    payout: readOptionalInteger(payout),
  }
}

/** What the scanner knows of a node. `failure` is its last error, in English. */
function readNode({ number, name, state, use, behind, ...rest }: Members) {
  const { answered_at, answer_ms, failed_at, failure, used, per_day } = rest
  return {
    number: readInteger(number),
    name: readText(name),
    state: readText(state),
    use: readText(use),
    behind: readOptionalInteger(behind),
    answeredAt: readOptionalText(answered_at),
    answerMs: readOptionalInteger(answer_ms),
    failedAt: readOptionalText(failed_at),
    failure: readOptionalText(failure),
    used: readInteger(used),
    perDay: readInteger(per_day),
  }
}

/** Sizes in bytes, and the day on which the database will be full; null if nobody can tell. */
function readDatabase({ bytes, limit, full_on }: Members) {
  return { bytes: readInteger(bytes), limit: readInteger(limit), fullOn: readOptionalText(full_on) }
}

/** Why a delivery failed, for people: the HTTP status that the endpoint answered with, or the service's words. */
function readFailure(value: unknown): string | null {
  const text = readOptionalText(value)
  return text?.replace(/^\d+$/, 'HTTP $&') ?? null
}

function readCurrency(members: Members) {
  const {
    cuy,
    symbol,
    owed,
    owed_by,
    held,
    held_at,
    held_by,
    compared,
    unread,
    unexplained,
    differing,
    days,
    ...rest
  } = members
  return {
    frozen: readDecimal(rest.frozen),
    frozenAddresses: readInteger(rest.frozen_addresses),
    destroyed: readDecimal(rest.destroyed),
    cuy: readInteger(cuy),
    symbol: readText(symbol),
    owed: readDecimal(owed),
    owedBy: new Map(readList({ list: owed_by }, ({ type, sum }) => [readInteger(type), readDecimal(sum)] as const)),
    heldBy: new Map(readList({ list: held_by }, ({ what, sum }) => [readText(what), readDecimal(sum)] as const)),
    held: held === null ? null : readDecimal(held),
    heldAt: readOptionalText(held_at),
    compared: readInteger(compared),
    unread: readInteger(unread),
    unexplained: readDecimal(unexplained),
    differing: readInteger(differing),
    days: readList({ list: days }, ({ day, deposits, sum, entries }) => {
      const facts = { day: readForm(day, /^\d{4}-\d\d-\d\d$/), deposits: readInteger(deposits), sum: readDecimal(sum) }
      return { ...facts, entries: new Map(readList({ list: entries }, readTypeCount)) }
    }),
  }
}

const readTypeCount = ({ type, count }: Members) => [readInteger(type), readInteger(count)] as const

/** Reads the data of `GET /ledger/deposits`. */
export function readOwnedDeposits(data: unknown) {
  return readPage(data, ({ id, uid, txid, position, cuy, amt, address, state, created_at, seconds, ...rest }) => ({
    id: readInteger(id),
    uid: readInteger(uid),
    txid: readForm(txid, /^[0-9a-f]{64}$/),
    position: typeof position === 'string' ? readForm(position, /^i\d{1,9}$/) : readInteger(position),
    cuy: readInteger(cuy),
    amount: readDecimal(amt),
    address: readText(address),
    state: readText(state),
    at: readText(created_at),
    reason: readOptionalText(rest.reason),
    why: readOptionalText(rest.why),
    seconds: readOptionalInteger(seconds),
    entry: readOptionalInteger(rest.entry),
    decided: rest.decided === undefined ? null : readDecision(readMembers(rest.decided)),
  }))
}

/** Who decided about a deposit that was held for review, and why. */
const readDecision = ({ why, by }: Members) => ({ why: readText(why), by: readText(by) })

/** Reads the data of `GET /ledger/entries`. */
export const readPostedEntries = (data: unknown) => readPage(data, readEntry)

function readEntry({ id, uid, type, cuy, osn, mark, amt, balance, created_at, by }: Members) {
  return {
    id: readInteger(id),
    uid: readInteger(uid),
    type: readInteger(type),
    cuy: readInteger(cuy),
    osn: readText(osn),
    mark: readText(mark),
    amount: readDecimal(amt),
    balance: readDecimal(balance),
    at: readText(created_at),
    by: readText(by),
  }
}

/** Reads the data of `GET /ledger/events`. Members that an event's type does not have become null. */
export function readDeskEvents(data: unknown) {
  return readList(data, ({ id, type, uid, created_at, data: about }) => {
    const members = readMembers(about)
    const { txid, address, cuy, amt, reason, why, entry } = members
    const kind = readText(type)
    return {
      id: readInteger(id),
      type: kind,
      uid: readInteger(uid),
      at: readText(created_at),
      txid: readOptionalText(txid),
      address: readOptionalText(address),
      cuy: readOptionalInteger(cuy),
      amount: amt === undefined ? null : readDecimal(amt),
      reason: readOptionalText(reason),
      why: readOptionalText(why),
      entry: entry === undefined ? null : readEntry(readMembers(entry)),
      payout: kind.startsWith('payout.') ? readPayout(members) : null,
    }
  })
}

/** Reads the data of `GET /ledger/transaction`. */
export function readChainFinding(data: unknown) {
  const { uid, answer, reason, seconds, why } = readMembers(data)
  return {
    uid: readOptionalInteger(uid),
    answer: readText(answer),
    reason: readOptionalText(reason),
    seconds: readOptionalInteger(seconds),
    why: readText(why),
  }
}

/** Reads the data of `GET /ledger/wallets`: pairs of a currency's number and the balance. */
export function readDeskBalances(data: unknown) {
  return readList(data, ({ cuy, amt }) => [readInteger(cuy), readDecimal(amt)] as const)
}

/** Reads the data of `GET /ledger/addresses`. */
export const readAddresses = (data: unknown) =>
  readPage(data, ({ id, address }) => ({ id: readInteger(id), address: readText(address) }))

/** Reads the data of `GET /ledger/address?address=`: the user, the number of the address, and the currencies in which it is frozen. */
export function readOwner(data: unknown) {
  const { uid, id, frozen } = readMembers(data)
  const currencies = Array.isArray(frozen) ? frozen.map(readInteger) : []
  return { uid: readInteger(uid), id: readInteger(id), frozen: currencies }
}
