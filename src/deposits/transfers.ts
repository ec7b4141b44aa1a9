import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { isRefusedBy, members, type ReadDatabase, statement, toJsonTexts, type WriteDatabase } from '../d1/database.ts'
import { type HeldReason, scanSuperseded, type transfers } from '../d1/tables.ts'
import type { Currency } from '../ledger/currencies.ts'
import { readAmount } from '../ledger/entries.ts'
import type { DecidedTransfer, SentFact, StoredTransfer } from './transfer.ts'

/** Transfers that one caller is shown. */
const shownMax = 100
/** Rows in one JSON text: the longest takes about 600 bytes, and a bound text can have 2 MB. */
const rowsMax = 2_000
/** Transfers held for a full wallet that are looked at in one query: there is more than 2^53 units in each such wallet. */
const fullWalletsMax = 1_000

/** The columns of a transfer. */
export type TransferRow = typeof transfers.$inferSelect

/**
 * Statements that store transfers in the order of the list. A known one takes the new facts and the new state, where that step
 * is allowed (see the triggers); what is credited or moved stays. A credit that does not fit into its wallet is held.
 */
export function transferStatements(
  db: WriteDatabase,
  decided: readonly DecidedTransfer[],
  at: UnixMs,
): D1PreparedStatement[] {
  const eachOnce = new Map(decided.map((one) => [`${one.txid}:${one.position}`, one]))
  return toJsonTexts([...eachOnce.values()].map(writeTransfer), rowsMax).flatMap((list) => [
    updateKnown(db, { list, at }),
    insertNew(db, { list, at }),
  ])
}

/** Statements that store transactions which addresses of the service have sent. Known ones stay. */
export function sentStatements(db: WriteDatabase, sent: readonly SentFact[]): D1PreparedStatement[] {
  const eachOnce = new Map(sent.map((one) => [`${one.txid} ${one.address}`, one]))
  return toJsonTexts([...eachOnce.values()], rowsMax).map((list) => insertSent(db, { list }))
}

/**
 * Stores transfers outside a step of the scan, all or none. None where the scan is `halted`, where a block is not final any more,
 * or where `correctedBy`, the newest correction when they were read, is not the newest one (`superseded`). Null: not final ones.
 */
export async function storeTransfers(
  db: WriteDatabase,
  decided: readonly DecidedTransfer[],
  at: UnixMs,
  correctedBy: number | null = null,
): Promise<'stored' | 'halted' | 'superseded'> {
  if (decided.length === 0) return 'stored'
  const guard = correctedBy === null ? [] : [requireCorrection(db, { correctedBy })]
  try {
    await db.batch([...guard, ...transferStatements(db, decided, at)])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy(scanSuperseded, cause)) return 'superseded'
    if (isRefusedBy('transfer: the scan is halted', cause)) return 'halted'
    if (isRefusedBy('transfer: its block is not final', cause)) return 'superseded'
    throw cause
  }
}

/** The caller's transfers in one transaction, or those of all callers (null), by position. */
export async function selectTransfersOf(
  db: ReadDatabase,
  uid: Uid | null,
  txid: Txid,
): Promise<readonly StoredTransfer[]> {
  return readAll(await selectOfTransaction(db, { uid, txid }).all<TransferRow>())
}

/** The positions of what is stored as moved in one transaction: none of it is ever a deposit. */
export async function selectMovedIn(db: ReadDatabase, txid: Txid): Promise<readonly number[]> {
  const { results } = await selectMoved(db, { txid }).all<Pick<TransferRow, 'position'>>()
  return results.map(({ position }) => position)
}

/** The caller's transfers that are seen or held, oldest first, at most 100. */
export async function selectOpenTransfers(db: ReadDatabase, uid: Uid): Promise<readonly StoredTransfer[]> {
  return readAll(await selectOpen(db, { uid, max: shownMax }).all<TransferRow>())
}

/** A sum of credits, which can be more than a wallet ever holds, in ledger units. */
export interface CreditedSum {
  readonly cuy: CurrencyId
  readonly amount: bigint
}

/** What was credited to the caller at or after `since`, per currency; a currency without a credit is absent. */
export async function selectCreditedSince(db: ReadDatabase, uid: Uid, since: UnixMs): Promise<readonly CreditedSum[]> {
  const { results } = await selectCredited(db, { uid, since }).all<{ cuy: CurrencyId; sum: string }>()
  return results.map(({ cuy, sum }) => ({ cuy, amount: BigInt(sum) }))
}

/** Which held transfers may be decided again. */
export interface HeldQuery {
  /** Currencies that are not retired. */
  readonly accepted: readonly Pick<Currency, 'cuy' | 'decimals' | 'scale'>[]
  /** Currencies whose contract's decimals nodes agree on, and those of them that are configured with these. */
  readonly known: readonly CurrencyId[]
  readonly agreed: readonly CurrencyId[]
  /** Wallets of the operator of which every held transfer is decided again. */
  readonly senders: readonly Address[]
  readonly max: number
}

/** Held transfers whose reason may have ended: at most `max` of each kind of reason. */
export async function selectHeldAgain(
  db: ReadDatabase,
  { accepted, known, agreed, senders, max }: HeldQuery,
): Promise<readonly StoredTransfer[]> {
  const units = accepted.map(({ cuy, decimals, scale }) => ({ cuy, divisor: 10 ** (decimals - scale) }))
  const results = await db.batch<TransferRow>([
    selectEnded(db, {
      accepted: JSON.stringify(units.map(({ cuy }) => cuy)),
      ...{ known: JSON.stringify(known), agreed: JSON.stringify(agreed), max },
    }),
    selectFitting(db, { units: JSON.stringify(units), max, fullWalletsMax }),
    ...(senders.length === 0 ? [] : [selectSentBy(db, { senders: JSON.stringify(senders), max })]),
  ])
  return results.flatMap(readAll)
}

/** The oldest transfer of each of these currencies that is held for a reason that only an operator ends, by its reason. */
export async function selectOldestHeld(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
): Promise<readonly (StoredTransfer & { readonly reason: HeldReason })[]> {
  const { results } = await selectOldest(db, { list: JSON.stringify(currencies) }).all<TransferRow>()
  return results.map((row) => ({ ...readTransfer(row), reason: row.reason as HeldReason })) // safe: the row is held
}

/** The lowest height above the position at which a transfer was seen, or null. */
export async function selectFirstSeen(db: ReadDatabase): Promise<{ readonly height: BlockHeight } | null> {
  return selectSeen(db).first<{ height: BlockHeight }>()
}

function readAll({ results }: D1Result<TransferRow>): readonly StoredTransfer[] {
  return results.map(readTransfer)
}

/** A transfer to a caller as stored. */
export function readTransfer(row: TransferRow): StoredTransfer {
  const { id, txid, position, cuy, uid, state, reason, seconds } = row
  if (uid === null || state === 'moved') throw new Error('a transfer that moved has no caller')
  return {
    ...{ id, txid, position, cuy, uid, state, reason, seconds },
    block: { height: row.height, hash: row.block_hash },
    native: Boolean(row.native),
    from: row.from_address,
    to: row.to_address,
    raw: BigInt(row.raw),
    amount: readAmount(row.amount),
    createdAt: row.created_at,
    changedAt: row.changed_at,
  }
}

function writeTransfer(decided: DecidedTransfer) {
  const { txid, position, block, cuy, native, from, to, raw, state } = decided
  return {
    ...{ txid, position, height: block.height, block_hash: block.hash, cuy, state },
    uid: decided.state === 'moved' ? null : decided.uid,
    from_address: from,
    to_address: to,
    raw: raw.toString(),
    native: native ? 1 : 0,
    reason: decided.state === 'held' || decided.state === 'refused' ? decided.reason : null,
    amount: decided.state === 'credited' ? Number(decided.amount) : 0,
    seconds: decided.state === 'seen' ? decided.seconds : null,
  }
}

/** Fails the batch where a correction came in between: `height` becomes NULL. */
export const requireCorrection = statement(`UPDATE scan SET height = iif(corrected_by = :correctedBy, height, NULL)`)

const facts = ['height', 'block_hash', 'cuy', 'uid', 'from_address', 'to_address', 'raw', 'native']
const factsOf = (row: string) => facts.map((name) => `${row}.${name}`).join(', ')
const incoming = `(SELECT key AS place, ${members('txid', 'position', ...facts, 'state', 'reason', 'amount', 'seconds')}
    FROM json_each(:list)) AS incoming`
const isKnown = 'known.txid = incoming.txid AND known.position = incoming.position'
/** What a node that is behind shows at or below the position was decided already. */
const isNews = `(incoming.state <> 'seen' OR incoming.height > (SELECT height FROM scan))`
/** Whether the wallet has room for an amount and those before it in the list. `total` is exact as far as it matters. */
const fits = `incoming.state <> 'credited' OR ${amountMax} >= total(incoming.amount)
      OVER (PARTITION BY incoming.uid, incoming.cuy ORDER BY incoming.place ROWS UNBOUNDED PRECEDING)
      + coalesce((SELECT balance FROM wallet WHERE wallet.uid = incoming.uid AND wallet.cuy = incoming.cuy), 0) AS fits`
const settled = `iif(fits, state, 'held') AS state, iif(fits, reason, 'wallet-full') AS reason,
  iif(fits, amount, 0) AS amount`

const updateKnown = statement(`
UPDATE transfer SET ${facts.map((name) => `${name} = decided.${name}`).join(', ')}, state = decided.state,
  reason = decided.reason, amount = decided.amount, seconds = coalesce(transfer.seconds, decided.seconds), changed_at = :at
FROM (SELECT known_id, ${facts.join(', ')}, seconds, known_state, known_reason, known_facts, ${settled} FROM (
  SELECT incoming.*, known.id AS known_id, known.state AS known_state, known.reason AS known_reason,
    (${factsOf('known')}) IS (${factsOf('incoming')}) AS known_facts,
    ${fits}
  FROM ${incoming} CROSS JOIN transfer AS known ON ${isKnown}
  WHERE known.state NOT IN ('credited', 'moved') AND ${isNews}
    AND (incoming.state <> 'seen' OR known.state IN ('seen', 'dropped'))
    AND (known.state <> 'refused' OR EXISTS (SELECT 1 FROM rescan INDEXED BY rescan_open
      WHERE kind = 'request' AND finished_at IS NULL AND to_height >= known.height AND next_height <= known.height)))
) AS decided
WHERE transfer.id = known_id AND NOT (known_facts AND known_state = decided.state AND known_reason IS decided.reason)`)

const insertNew = statement(`
INSERT INTO transfer (txid, position, ${facts.join(', ')}, seconds, state, reason, amount, created_at, changed_at)
SELECT txid, position, ${facts.join(', ')}, seconds, ${settled}, :at, :at FROM (
  SELECT incoming.*, ${fits} FROM ${incoming}
  WHERE ${isNews} AND NOT EXISTS (SELECT 1 FROM transfer AS known WHERE ${isKnown}))
ORDER BY place`)

const insertSent = statement(`
INSERT INTO sent (txid, address, height, cuy)
SELECT ${members('txid', 'address', 'height', 'cuy')} FROM json_each(:list) WHERE NOT EXISTS (
  SELECT 1 FROM sent WHERE txid = value ->> 'txid' AND address = value ->> 'address')`)

const selectOfTransaction = statement(`
SELECT * FROM transfer INDEXED BY transfer_key WHERE txid = :txid AND uid IS NOT NULL AND uid = coalesce(:uid, uid) ORDER BY position`)

const selectMoved = statement(`
SELECT position FROM transfer INDEXED BY transfer_key WHERE txid = :txid AND state = 'moved' ORDER BY position`)

const selectOpen = statement(`
SELECT * FROM transfer INDEXED BY transfer_open WHERE uid = :uid AND state IN ('seen', 'held') ORDER BY id LIMIT :max`)

/** The entries of recharges since the first one at that time: a range of ids (see entries.ts). */
const selectCredited = statement(`
SELECT wallet.cuy, CAST(sum(flow.amount) AS TEXT) AS sum
FROM wallet CROSS JOIN flow INDEXED BY flow_type ON flow.wallet_id = wallet.id AND flow.type = 1
WHERE wallet.uid = :uid
  AND flow.id >= (SELECT id FROM flow INDEXED BY flow_time WHERE created_at >= :since ORDER BY created_at, id LIMIT 1)
GROUP BY wallet.cuy`)

const heldFor = (list: string, reason: HeldReason) => `
SELECT * FROM (
  SELECT transfer.* FROM json_each(${list}) AS currency CROSS JOIN transfer INDEXED BY transfer_held
  ON state = 'held' AND transfer.reason = '${reason}' AND transfer.cuy = currency.value LIMIT :max)`
const selectEnded = statement(
  [heldFor(':accepted', 'retired'), heldFor(':known', 'decimals-unknown'), heldFor(':agreed', 'decimals-differ')].join(
    ' UNION ALL ',
  ),
)

/** As a fraction the amount is off by a unit at most: whether it fits is decided where it is stored. */
const selectFitting = statement(`
SELECT filled.* FROM json_each(:units) AS unit CROSS JOIN (
  SELECT * FROM transfer INDEXED BY transfer_held WHERE state = 'held' AND reason = 'wallet-full' LIMIT :fullWalletsMax
) AS filled ON filled.cuy = unit.value ->> 'cuy'
CROSS JOIN wallet ON wallet.uid = filled.uid AND wallet.cuy = filled.cuy
WHERE wallet.balance <= ${amountMax} + 1 - CAST(filled.raw AS REAL) / (unit.value ->> 'divisor') LIMIT :max`)

const selectSentBy = statement(`
SELECT * FROM transfer INDEXED BY transfer_held
WHERE state = 'held' AND from_address IN (SELECT value FROM json_each(:senders)) LIMIT :max`)

const selectOldest = statement(`
SELECT transfer.* FROM json_each('["too-large", "wallet-full"]') AS why CROSS JOIN json_each(:list) AS currency
CROSS JOIN transfer ON transfer.id = (
  SELECT id FROM transfer INDEXED BY transfer_held
  WHERE state = 'held' AND reason = why.value AND cuy = currency.value ORDER BY id LIMIT 1)`)

const selectSeen = statement(`
SELECT height FROM transfer INDEXED BY transfer_seen
WHERE state = 'seen' AND height > (SELECT height FROM scan) ORDER BY height LIMIT 1`)
