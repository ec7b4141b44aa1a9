import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import type { Address } from '../chain/address.ts'
import { type BlockHash, type BlockHeight, blockSeconds, type Header, type Txid } from '../chain/block.ts'
import type { PayoutId } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { bare, insertSelect, member, type ReadDatabase, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts, payoutTransactions, type TransactionEnd } from '../d1/payout-tables.ts'
import { scans } from '../d1/state-tables.ts'
import { selectIssuerState, stoppedIn } from '../issuer/state.ts'
import type { PayoutRules } from '../ledger/context.ts'
import { headRetrySeconds, type PayoutFailure } from './failure.ts'
import { askedMax } from './parse-asking.ts'
import { type Payout, payoutColumns } from './payout.ts'
import { readSigned, referenceBlocks, referenceIn, type SignedTransfer, txidIn } from './signed-bytes.ts'
import { parseStep } from './steps.ts'
import {
  hasPaidLate,
  isPayerReplaced,
  isStoppedForUnknown,
  isToUser,
  stop,
  stoppedAfterRestore,
  stoppedForUnknown,
} from './stopped.ts'

/** The newest agreed final block: what a signer refers to. */
export type Head = Pick<Header, 'height' | 'hash' | 'timestamp'>

/** What a signer may sign. */
export interface SignerOffer {
  readonly payouts: readonly (Payout & { readonly proof: string | null })[]
  readonly head: Head
}

/** Payouts of one offer. */
export const offeredMax = 100

const noHead = {
  kind: 'conflict',
  reason: 'no-final-block',
  why: 'the newest final block is not known for now: try again',
} as const satisfies PayoutFailure

/**
 * The approved payouts with an id above `after`, oldest first, without those that wait for the issuer of their token, and those to an
 * address that was issued here since; or why none is offered. `isRestored` asks the scanner whether the database is an older copy: after
 * what is offered was read, so that nothing of such a copy is offered.
 */
export async function offerPayouts(
  db: ReadDatabase,
  payer: Address,
  isRestored: () => Promise<boolean>,
  after: PayoutId | undefined,
): Promise<Result<SignerOffer, PayoutFailure>> {
  const { id, cuy, state, proof } = payouts
  const waiting = [...stoppedIn(await selectIssuerState(db), payer).keys()]
  const columns = sql.join([...payoutColumns, proof], sql`, `)
  const [approved, heads, unknown, replaced] = await db.batch([
    toStatement(
      db,
      sql`SELECT ${columns} FROM ${payouts} INDEXED BY payout_state WHERE ${state} = 'approved' AND ${id} > ${after ?? 0}
        AND ${cuy} NOT IN (SELECT value FROM json_each(${JSON.stringify(waiting)})) AND NOT ${isToUser} ORDER BY ${id} LIMIT ${offeredMax}`,
    ),
    toStatement(db, selectHead),
    toStatement(db, sql`SELECT 1 WHERE ${isStoppedForUnknown}`),
    toStatement(db, sql`SELECT 1 WHERE ${isPayerReplaced(payer)}`),
  ])
  if ((replaced?.results.length ?? 0) > 0) return err({ kind: 'conflict', ...payerReplaced })
  if ((unknown?.results.length ?? 0) > 0) return err(stop(stoppedForUnknown))
  if (await isRestored()) return err(stop(stoppedAfterRestore))
  const head = readHead(heads?.results as HeadRow[] | undefined) // safe: the columns of the statement
  return head === null
    ? err(noHead)
    : ok({ payouts: (approved?.results ?? []) as SignerOffer['payouts'][number][], head }) // safe: as above
}

const payerReplaced = {
  reason: 'configuration-differs',
  why: 'another address has a signed payout, or the payout address was issued to a user: nothing is paid from this one',
} as const

interface HeadRow {
  readonly height: Head['height']
  readonly hash: BlockHash | null
  readonly timestamp: UnixMs
}

const selectHead = sql`SELECT ${scans.finalized} AS height, ${scans.finalized_hash} AS hash, ${scans.finalized_time} AS timestamp
  FROM ${scans}`

/** After a correction the hash and the time are not known. */
function readHead([row]: readonly HeadRow[] = []): Head | null {
  return row === undefined || row.hash === null || row.timestamp === 0 ? null : { ...row, hash: row.hash }
}

const signedTakes = `an array of 1 to ${askedMax} objects with id and transaction, and nothing else`
/** What a signer hands in. */
const handIn = z.strictObject(
  {
    signed: z
      .array(
        z.strictObject(
          {
            id: z.int(signedTakes).check(z.minimum(1, signedTakes), z.maximum(Number.MAX_SAFE_INTEGER, signedTakes)),
            transaction: z.string(signedTakes),
          },
          signedTakes,
        ),
        signedTakes,
      )
      .check(z.minLength(1, signedTakes), z.maxLength(askedMax, signedTakes)),
  },
  'an object with signed, and nothing else',
)

/** What became of one signed transaction. `code` is the status that it would have alone. */
export type HandedIn =
  | { readonly id: number; readonly state: Payout['state']; readonly txid: Txid }
  | {
      readonly id: number
      readonly refused: { readonly code: number; readonly reason: PayoutReason; readonly why: string }
    }

type Refused = { readonly code: 404 | 409 | 422; readonly reason: PayoutReason; readonly why: string }
type Signable = Pick<typeof payouts.$inferSelect, 'id' | 'state' | 'to_address' | 'contract' | 'raw'>

/**
 * Takes signed transactions, each by itself: those that pay exactly what is approved. They are stored before anything is sent, and
 * blocks that they can be in and that were read before are read again. The same one again is taken again.
 */
export async function takeSigned(
  db: WriteDatabase,
  rules: PayoutRules,
  body: unknown,
  at: UnixMs,
): Promise<Result<readonly HandedIn[], PayoutFailure>> {
  const parsed = parseStep(handIn, body)
  if (!parsed.ok) return parsed
  const { signed } = parsed.value
  const { payoutsById, newest, head } = await selectSignable(db, signed)
  if (head === null) return err(noHead)
  const read = signed.map(({ id, transaction }): Result<SignedTransfer, Refused> => {
    const payout = payoutsById.get(id)
    if (payout === undefined) return err({ code: 404, reason: 'unknown-payout', why: `there is no payout ${id}` })
    const { to_address: to, contract, raw } = payout
    const expected = { from: rules.address, to, contract, amount: BigInt(raw), feeLimit: rules.feeLimit }
    const known = newest.get(txidIn(transaction)) ?? null
    const bytes = readSigned(transaction, expected, head, known)
    const isUnsure = known === null && canBeNewer(referenceIn(transaction, head), head, at)
    if (isUnsure && (bytes.ok || bytes.error.reason === 'reference')) return err(unsureReference)
    return bytes.ok ? bytes : err({ code: 422, ...bytes.error })
  })
  const taken = signed.flatMap(({ id }, i): readonly Taken[] => {
    const one = read[i]
    return one?.ok === true ? [{ ...one.value, id: id as PayoutId, address: rules.address }] : [] // safe: it exists
  })
  const stored = [...(await storeSigned(db, taken, at))]
  const judged = signed.map(({ id }, i): HandedIn => {
    const one = read[i]
    if (one?.ok !== true) return { id, refused: one?.error ?? notTaken }
    const after = stored.shift()
    const refused = after === undefined ? notTaken : whyNotTaken(id, after)
    return refused === null ? { id, state: 'signed', txid: one.value.txid } : { id, refused }
  })
  return ok(judged)
}

/** The payouts of what is handed in, the newest block that each transaction can refer to that is known already, and the head. */
async function selectSignable(
  db: ReadDatabase,
  signed: readonly { readonly id: number; readonly transaction: string }[],
) {
  const { id, state, to_address, contract, raw } = payouts
  const ids = JSON.stringify(signed.map((one) => one.id))
  const txids = JSON.stringify(signed.map(({ transaction }) => txidIn(transaction)))
  const [found, known, heads] = await db.batch([
    toStatement(
      db,
      sql`SELECT ${id}, ${state}, ${to_address}, ${contract}, ${raw} FROM ${payouts}
        WHERE ${id} IN (SELECT value FROM json_each(${ids}))`,
    ),
    toStatement(
      db,
      sql`SELECT ${txid}, coalesce(${reference}, ${height} - 1) AS newest FROM ${payoutTransactions}
        WHERE ${txid} IN (SELECT value FROM json_each(${txids})) AND coalesce(${reference}, ${height}) > 0`,
    ),
    toStatement(db, selectHead),
  ])
  const rows = (found?.results ?? []) as Signable[] // safe: the columns of the statement
  const stored = (known?.results ?? []) as { readonly txid: Txid; readonly newest: BlockHeight }[] // safe: as above
  return {
    payoutsById: new Map<number, Signable>(rows.map((row) => [row.id, row])),
    newest: new Map<Txid | null, BlockHeight>(stored.map((one) => [one.txid, one.newest])),
    head: readHead(heads?.results as HeadRow[] | undefined), // safe: as above
  }
}

type Taken = SignedTransfer & { readonly id: PayoutId; readonly address: Address }
/** What is stored of one transaction and of the payout that it was handed in for. */
interface StoredSigned {
  /** Whose transaction it is; null: nobody's, or it is not stored. */
  readonly owner: PayoutId | null
  readonly ended: TransactionEnd | null
  readonly state: Payout['state']
  /** Whether another transaction has paid it after all. */
  readonly isLate: 0 | 1
  /** Whether the payout has a transaction that can be mined, its recipient is a user here, and nothing is paid from the address now. */
  readonly hasOpen: 0 | 1
  readonly isToUser: 0 | 1
  readonly isReplaced: 0 | 1
}

/** Stores what can be signed now, and returns what is stored of each then, in the same order. */
async function storeSigned(db: WriteDatabase, taken: readonly Taken[], at: UnixMs): Promise<readonly StoredSigned[]> {
  const [first] = taken
  if (first === undefined) return []
  const { address } = first // the same for all
  const list = JSON.stringify(taken.map(({ id, txid }) => ({ id, txid })))
  const results = await db.batch<StoredSigned>([
    ...taken.flatMap((one) => [toStatement(db, openUnknown(one, at)), toStatement(db, insertOpen(one, at))]),
    toStatement(
      db,
      sql`SELECT ${payout_id} AS owner, ${ended}, ${payouts.state}, ${hasPaidLate(sql`${payouts.id}`)} AS "isLate",
          ${hasOpen(payouts.id)} AS "hasOpen", ${isToUser} AS "isToUser", ${isPayerReplaced(address)} AS "isReplaced" FROM json_each(${list})
        CROSS JOIN ${payouts} ON ${payouts.id} = ${member(payouts.id)}
        LEFT JOIN ${payoutTransactions} ON ${txid} = ${member(txid)} ORDER BY key`,
    ),
  ])
  return results.at(-1)?.results ?? []
}

/** By how much the clock can be behind that of the chain. */
const skewMs = 60_000

/**
 * Whether the bytes can refer to a block above the head, which is not the newest final one any more, as in an older copy of the
 * database: its two bytes are those of a block of two days before.
 */
function canBeNewer(reference: BlockHeight | null, head: Head, at: UnixMs): boolean {
  if (reference === null) return false
  const blocks = Math.ceil((at + skewMs - head.timestamp) / (blockSeconds * 1000))
  return reference + referenceBlocks <= head.height + blocks
}

const unsureReference: Refused = {
  code: 409,
  reason: 'no-final-block',
  why:
    'its reference block can be newer than the newest final block that is known: ' +
    `try again in about ${headRetrySeconds} s, or refer to head of /ledger/payouts/unsigned`,
}

const notTaken: Refused = {
  code: 409,
  reason: 'no-final-block',
  why: 'the final blocks were corrected meanwhile: try again',
}

/** Why a transaction was not taken, or null if it is that of its payout and can be mined. */
function whyNotTaken(id: number, stored: StoredSigned): Refused | null {
  const { owner, ended, state, isLate, hasOpen, isToUser, isReplaced } = stored
  if (owner === id) {
    return ended === null
      ? null
      : { code: 409, reason: 'transaction-ended', why: `this transaction has ended: ${ended}` }
  }
  if (owner !== null) {
    return { code: 409, reason: 'transaction-of-another', why: `this transaction is that of payout ${owner}` }
  }
  if (state === 'signed' || hasOpen === 1) {
    return { code: 409, reason: 'another-transaction', why: `payout ${id} has another transaction that can be mined` }
  }
  if (state !== 'approved') return { code: 409, reason: 'not-in-this-state', why: `payout ${id} is ${state}` }
  if (isLate === 1) {
    const why = `another transaction of payout ${id} has succeeded after all`
    return { code: 409, reason: 'another-transaction', why }
  }
  if (isToUser === 1) {
    const why = `to of payout ${id} is the address of a user here now: cancel it, and post a transfer between the two`
    return { code: 422, reason: 'to-user', why }
  }
  return isReplaced === 1 ? { code: 409, ...payerReplaced } : notTaken
}

const { txid, payout_id, ended, height, reference } = payoutTransactions

/** Whether a payout has a transaction that can be mined. */
const hasOpen = (id: SQLWrapper | PayoutId) => sql`EXISTS (
  SELECT 1 FROM ${payoutTransactions} AS other WHERE other.payout_id = ${id} AND other.ended IS NULL)`

/** Whether the payout may be signed now, by bytes with this reference block: it can be another moment than that of the comparison. */
const isSignable = ({ id, reference, address }: Taken): SQL => sql`
  EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = ${id} AND ${payouts.state} = 'approved')
  AND ${reference} <= (SELECT ${scans.finalized} FROM ${scans}) AND NOT ${hasOpen(id)} AND NOT ${hasPaidLate(sql`${id}`)}
  AND NOT ${isPayerReplaced(address)}`

function insertOpen(taken: Taken, at: UnixMs): SQL {
  const { id, bytes, address, reference, expiresAt } = taken
  const row = {
    txid: taken.txid,
    address,
    payout_id: id,
    bytes,
    reference,
    expires_at: expiresAt,
    changed_at: at,
    next_send: at,
  }
  return insertSelect(
    payoutTransactions,
    row,
    sql`WHERE ${isSignable(taken)} AND NOT EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = ${id} AND ${isToUser})
      AND NOT EXISTS (SELECT 1 FROM ${payoutTransactions} WHERE ${txid} = ${taken.txid})`,
  )
}

/** One that was found in a block before its bytes came: the block is read again. */
function openUnknown(taken: Taken, at: UnixMs): SQL {
  const { id, bytes, address, reference, expiresAt } = taken
  const { succeeded, moved, excused, expires_at, changed_at, next_send } = payoutTransactions
  return sql`
UPDATE ${payoutTransactions} SET ${bare(payout_id)} = ${id}, ${bare(payoutTransactions.bytes)} = ${bytes},
  ${bare(payoutTransactions.reference)} = ${reference}, ${bare(expires_at)} = ${expiresAt}, ${bare(ended)} = NULL, ${bare(height)} = NULL,
  ${bare(succeeded)} = NULL, ${bare(moved)} = NULL, ${bare(excused)} = NULL, ${bare(changed_at)} = ${at}, ${bare(next_send)} = ${at}
WHERE ${txid} = ${taken.txid} AND ${ended} = 'unknown' AND ${payoutTransactions.address} = ${address} AND ${isSignable(taken)}`
}
