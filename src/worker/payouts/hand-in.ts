import * as z from 'zod/mini'
import { type BlockHeight, blockSeconds, type Txid } from '../chain/block.ts'
import type { PayoutId } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { parsePayoutBody } from './decide.ts'
import { headRetrySeconds, type PayoutFailure } from './failure.ts'
import { findLeavingStop, type LeavingFacts, stopRules } from './leaving.ts'
import { neverFound, sign, type TransactionRow } from './lifecycle.ts'
import { requestedMax } from './parse-payout-request.ts'
import type { Payout } from './payout.ts'
import { type Head, readSigned, referenceBlocks, referenceIn, type SignedTransfer, txidIn } from './signed-bytes.ts'
import { readLeavingFacts } from './store/facts.ts'
import {
  type SignablePayout,
  type SigningFacts,
  selectSigningFacts,
  storeTaken,
  type TakenTransaction,
} from './store/signing.ts'

const signedExpected = `an array of 1 to ${requestedMax} objects with id and transaction, and nothing else`
/** The body of `POST /ledger/payouts/signed`. */
export const handIn = z.strictObject(
  {
    signed: z
      .array(
        z.strictObject(
          {
            id: z
              .int(signedExpected)
              .check(z.minimum(1, signedExpected), z.maximum(Number.MAX_SAFE_INTEGER, signedExpected)),
            transaction: z.string(signedExpected),
          },
          signedExpected,
        ),
        signedExpected,
      )
      .check(z.minLength(1, signedExpected), z.maxLength(requestedMax, signedExpected)),
  },
  'an object with signed, and nothing else',
)

/** The result for one signed transaction. `code` is the HTTP status that it would have alone. */
export type HandedIn =
  | { readonly id: number; readonly state: Payout['state']; readonly txid: Txid }
  | {
      readonly id: number
      readonly refused: { readonly code: number; readonly reason: PayoutReason; readonly why: string }
    }

type Refused = { readonly code: 404 | 409 | 422; readonly reason: PayoutReason; readonly why: string }

/**
 * How often handing in is tried, if concurrent requests hand in transactions for the same payouts.
 */
const triesMax = 3
/** By how many milliseconds our clock may be behind that of the chain. */
const skewMs = 60_000

export interface HandInContext {
  readonly db: WriteDatabase
  readonly currencies: Currencies
  readonly rules: PayoutRules
  /** Whether the database is a restored older copy (`readLeavingFacts`). */
  readonly isRestored: () => Promise<boolean>
}

/**
 * Accepts or refuses each of the signed transactions. A transaction is accepted if it pays exactly
 * its approved payout. It is stored before it is sent, and blocks that may contain it but were read
 * before are read again. A transaction that was accepted before is accepted again. A failure
 * concerns the whole request: its form, or that no final block is known.
 */
export async function takeSigned(
  context: HandInContext,
  body: unknown,
  at: UnixMs,
): Promise<Result<readonly HandedIn[], PayoutFailure>> {
  const parsed = parsePayoutBody(handIn, body)
  if (!parsed.ok) return parsed
  const { db, rules, isRestored } = context
  const { signed } = parsed.value
  const txids = signed.map(({ transaction }) => txidIn(transaction))
  const ids = signed.map(({ id }) => id)
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const facts = await selectSigningFacts(db, ids, txids)
    if (facts.head === null) return err(noHead)
    const leaving = await readLeavingFacts(db, rules.address, isRestored, at)
    const judged = judgeAll(signed, context, { ...facts, head: facts.head, leaving }, at)
    const taken = judged.flatMap(({ taken }) => taken ?? [])
    if (taken.length === 0 || (await storeTaken(db, taken, at)) === 'stored') return ok(judged.map(({ item }) => item))
  }
  return ok(signed.map(({ id }) => ({ id, refused: notTaken })))
}

/** `SigningFacts` whose head is known, with the facts that can stop payouts. */
interface Known extends SigningFacts {
  readonly head: Head
  readonly leaving: LeavingFacts
}

/**
 * The result for one signed transaction. `taken` are the rows to store; absent if it is refused, or
 * was stored before.
 */
interface Judged {
  readonly item: HandedIn
  readonly taken?: TakenTransaction
}

/**
 * Judges the transactions in order. Each sees the changes by earlier ones, so that a payout takes
 * only one transaction.
 */
function judgeAll(
  signed: readonly { readonly id: number; readonly transaction: string }[],
  context: HandInContext,
  known: Known,
  at: UnixMs,
): readonly Judged[] {
  const [transactions, payouts] = [new Map(known.transactions), new Map(known.payouts)]
  return signed.map(({ id, transaction }): Judged => {
    const signable = payouts.get(id as PayoutId) // safe: an id that does not exist finds nothing
    if (signable === undefined) {
      return { item: { id, refused: { code: 404, reason: 'unknown-payout', why: `there is no payout ${id}` } } }
    }
    const bytes = readBytes(transaction, signable, context, { ...known, transactions }, at)
    if (!bytes.ok) return { item: { id, refused: bytes.error } }
    const { txid } = bytes.value
    const stored = transactions.get(txid) ?? null
    const item: HandedIn = { id, state: 'signed', txid }
    // this transaction was handed in before
    if (stored !== null && stored.payout_id === id && stored.ended === null) return { item }
    const refused = whyNotTaken(signable, stored, context, known.leaving)
    const taken = refused === null ? takenBy(bytes.value, signable, stored, context, at) : null
    if (taken === null) return { item: { id, refused: refused ?? notTaken } }
    // safe: an inserted row has every column that is read here
    transactions.set(txid, ('opened' in taken ? taken.opened : taken.inserted) as TransactionRow)
    payouts.set(signable.payout.id, { ...signable, payout: taken.payout, hasOpen: true })
    return { item, taken }
  })
}

/** Reads the signed transfer in these bytes, or says why they do not pay the payout. */
function readBytes(
  transaction: string,
  { payout }: SignablePayout,
  { rules }: HandInContext,
  { head, transactions }: Known,
  at: UnixMs,
): Result<SignedTransfer, Refused> {
  const { to_address: to, contract, raw } = payout
  const expected = { from: rules.address, to, contract, amount: BigInt(raw), feeLimit: rules.feeLimit }
  const txid = txidIn(transaction)
  const stored = txid === null ? undefined : transactions.get(txid)
  const newest = stored === undefined ? null : newestReference(stored)
  const bytes = readSigned(transaction, expected, head, newest)
  const isUnsure = newest === null && canBeNewer(referenceIn(transaction, head), head, at)
  if (isUnsure && (bytes.ok || bytes.error.reason === 'reference')) return err(unsureReference)
  return bytes.ok ? bytes : err({ code: 422, ...bytes.error })
}

/** The newest block that a stored transaction can refer to; null if it is not known. */
function newestReference({ reference, height }: TransactionRow): BlockHeight | null {
  if (reference !== null) return reference > 0 ? reference : null
  return height === null || height < 1 ? null : ((height - 1) as BlockHeight) // safe: one below a block
}

/**
 * Whether the transaction may refer to a block that is newer than our head. After a restore of the
 * database our head is old. A transaction names its reference block by the last two bytes of the
 * height, so a newer block and one 65,536 blocks (two days) before it have the same name.
 */
function canBeNewer(reference: BlockHeight | null, head: Head, at: UnixMs): boolean {
  if (reference === null) return false
  const blocks = Math.ceil((at + skewMs - head.timestamp) / (blockSeconds * 1000))
  return reference + referenceBlocks <= head.height + blocks
}

/**
 * Why a transaction is refused although it pays the payout; null if it is accepted. `stored` is its
 * row, null if it was not stored before.
 */
function whyNotTaken(
  { payout, hasOpen, hasPaidLate, isToUser }: SignablePayout,
  stored: TransactionRow | null,
  { currencies }: HandInContext,
  leaving: LeavingFacts,
): Refused | null {
  const { id, state } = payout
  const conflict = (reason: PayoutReason, why: string): Refused => ({ code: 409, reason, why })
  if (stored !== null && stored.payout_id === id) {
    return conflict('transaction-ended', `this transaction has ended: ${stored.ended}`)
  }
  if (stored !== null && stored.payout_id !== null) {
    return conflict('transaction-of-another', `this transaction is that of payout ${stored.payout_id}`)
  }
  if (state === 'signed' || hasOpen) {
    return conflict('another-transaction', `payout ${id} has another transaction that can be mined`)
  }
  if (state !== 'approved') return conflict('not-in-this-state', `payout ${id} is ${state}`)
  if (hasPaidLate) return conflict('another-transaction', `another transaction of payout ${id} has succeeded after all`)
  // What a final block contains has left already: only its bytes are missing. A correction may have
  // taken the block back.
  const isMined = stored !== null && stored.height !== null
  if (!isMined && isToUser) {
    const why = `to of payout ${id} is the address of a user here now: cancel it, and post a transfer between the two`
    return { code: 422, reason: 'to-user', why }
  }
  const stop = findLeavingStop(leaving, currencies.byId.get(payout.cuy), isMined ? 'recover' : 'take')
  return stop === null ? null : conflict(stopRules[stop].reason, stopRules[stop].why)
}

/** The rows of an accepted transaction; null if its payout can have no transaction now. */
function takenBy(
  { txid, bytes, reference, expiresAt }: SignedTransfer,
  { payout }: SignablePayout,
  stored: TransactionRow | null,
  { rules }: HandInContext,
  at: UnixMs,
): TakenTransaction | null {
  const next = sign(payout, { txid, expires_at: expiresAt }, at)
  if (next === null || (stored !== null && stored.address !== rules.address)) return null
  const open = { payout_id: payout.id, bytes, reference, expires_at: expiresAt, changed_at: at, next_send: at }
  const ended = { height: null, succeeded: null, moved: null, ended: null } as const
  if (stored === null) return { payout: next, inserted: { txid, address: rules.address, ...open, ...ended } }
  const { height } = stored
  return {
    payout: next,
    opened: { ...stored, ...open, ...neverFound, past_height: null, excused: null },
    foundAt: height,
  }
}

/**
 * The failure while no final block is known. Nothing can be judged or offered for signing, because
 * transactions refer to a final block.
 */
export const noHead = {
  kind: 'conflict',
  reason: 'no-final-block',
  why: 'the newest final block is not known for now: try again',
} as const satisfies PayoutFailure

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
