import type { Address } from '../chain/address.ts'
import { blockSeconds, type Txid } from '../chain/block.ts'
import type { CurrencyId, EntryId, TransferId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type Statement, statement, type Value } from '../d1/database.ts'
import type { TransferState } from '../d1/tables.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { StoredTransfer } from './transfer.ts'
import { readTransfer, type TransferRow } from './transfers.ts'

/** Most transfers that are counted, so that a count reads a bounded number of rows. */
export const countedMax = 1_000

/** The states of a transfer to a caller. */
export const depositStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const satisfies TransferState[]
/** One of `depositStates`. */
export type DepositState = (typeof depositStates)[number]

/** A transfer to a caller, with what has become of it. */
export interface Deposit extends StoredTransfer {
  /** The ledger entry, where it is credited. */
  readonly entry: EntryId | null
  /** About how many seconds until it is final, where it is seen. */
  readonly finalIn: number | null
}

/** Which transfers; absent filters are null. Without `uid` those to all callers. */
export interface DepositFilter {
  readonly uid: Uid | null
  readonly state: DepositState | null
  readonly cuy: CurrencyId | null
}

/** The transfers of one transaction, or to one address of the service. */
export type DepositKey = { readonly txid: Txid } | { readonly address: Address }

/** The newest transfers, or the newest ones below an id. */
export interface DepositPage {
  readonly before: TransferId | null
  readonly limit: number
}

/** Transfers newest first, and how many match the filter on all pages: `countedMax` means that many or more. */
export interface DepositList {
  readonly list: readonly Deposit[]
  readonly count: number
}

/** One page of the transfers to callers. Whatever the history, it reads a bounded number of rows, in one round trip. */
export async function listDeposits(
  { db, clock, currencies }: Pick<ReadContext, 'db' | 'clock' | 'currencies'>,
  filter: DepositFilter | DepositKey,
  { before, limit }: DepositPage,
): Promise<DepositList> {
  const { select, values } = 'uid' in filter ? byFilter(filter, currencies) : byKey(filter)
  const [summary, page] = await db.batch<SummaryRow & DepositRow>([
    select.count(db, { ...values, max: countedMax }),
    select.page(db, { ...values, before: before ?? Number.MAX_SAFE_INTEGER, limit }),
  ])
  const { count = 0, finalized = null, finalizedAt = null } = summary?.results[0] ?? {}
  const now = clock.now()
  const list = (page?.results ?? []).map((row) => ({
    ...readTransfer(row),
    entry: row.entry_id,
    finalIn: row.state === 'seen' ? secondsLeft(row.height, finalized, finalizedAt, now) : null,
  }))
  return { list, count }
}

/** The statements of a question, and the values of their parameters. */
interface DepositQuestion {
  readonly select: { readonly count: Statement; readonly page: Statement }
  readonly values: Readonly<Record<string, Value>>
}

function byKey(key: DepositKey): DepositQuestion {
  return 'txid' in key ? { select: ofTransaction, values: { ...key } } : { select: toAddress, values: { ...key } }
}

function byFilter({ uid, state, cuy }: DepositFilter, { list }: Currencies): DepositQuestion {
  if (uid !== null && state === null && cuy === null) return { select: ofCaller, values: { uid } }
  const lists = {
    states: JSON.stringify(state === null ? depositStates : [state]),
    currencies: JSON.stringify(cuy === null ? list.map((one) => one.cuy) : [cuy]),
  }
  return uid === null ? { select: ofKinds, values: lists } : { select: ofCallersKinds, values: { uid, ...lists } }
}

/** By the newest final block and by the time since then; 0 where it must be final by now. */
function secondsLeft(height: number, finalized: number | null, finalizedAt: number | null, now: UnixMs): number {
  if (finalized === null || finalizedAt === null) return 0 // without a scan nothing is seen
  return Math.max(0, Math.ceil((height - finalized) * blockSeconds - (now - finalizedAt) / 1000))
}

interface SummaryRow {
  readonly count: number
  readonly finalized: number | null
  readonly finalizedAt: UnixMs | null
}

type DepositRow = TransferRow & { readonly entry_id: EntryId | null }

/** `scope` is what follows FROM. The planner has no statistics, so each index is named. */
const summaryOf = (scope: string) => `
SELECT (SELECT count(*) FROM (SELECT 1 FROM ${scope} LIMIT :max)) AS count,
  (SELECT finalized FROM scan) AS finalized, (SELECT finalized_at FROM scan) AS finalizedAt`

const pageOf = (scope: string) => `
SELECT transfer.*, (
  SELECT flow.id FROM wallet CROSS JOIN flow INDEXED BY flow_osn ON flow.wallet_id = wallet.id AND flow.type = 1
    AND flow.osn = iif(transfer.native, transfer.txid, transfer.txid || ':' || transfer.position)
  WHERE transfer.state = 'credited' AND wallet.uid = transfer.uid AND wallet.cuy = transfer.cuy
) AS entry_id FROM ${scope} ORDER BY transfer.id DESC LIMIT :limit`

const inOrder = (scope: string) => ({
  count: statement(summaryOf(scope)),
  page: statement(pageOf(`${scope} AND id < :before`)),
})
const ofCaller = inOrder('transfer INDEXED BY transfer_uid WHERE uid = :uid')
// What moved has no uid: it is in another part of the index.
const toAddress = inOrder(`transfer INDEXED BY transfer_to
  WHERE to_address = :address AND uid = (SELECT uid FROM address WHERE address = :address)`)
// One block is the limit of one transaction.
const ofTransaction = inOrder(`transfer INDEXED BY transfer_key WHERE txid = :txid AND state <> 'moved'`)

// An index has the order of ids only within one state and currency: of each, the newest ones are read.
const kinds = 'json_each(:states) AS wanted CROSS JOIN json_each(:currencies) AS currency CROSS JOIN transfer'
const eachNewest = (index: string, ofKind: string) => ({
  count: statement(summaryOf(`${kinds} INDEXED BY ${index} ON ${ofKind}`)),
  page: statement(
    pageOf(`(
  SELECT transfer.id FROM ${kinds} ON transfer.id IN (
    SELECT id FROM transfer INDEXED BY ${index} WHERE ${ofKind} AND id < :before ORDER BY id DESC LIMIT :limit)
  ORDER BY transfer.id DESC LIMIT :limit
) AS newest CROSS JOIN transfer ON transfer.id = newest.id`),
  ),
})
const ofKinds = eachNewest('transfer_cuy', 'cuy = currency.value AND state = wanted.value')
const ofCallersKinds = eachNewest('transfer_uid_state', 'uid = :uid AND state = wanted.value AND cuy = currency.value')
