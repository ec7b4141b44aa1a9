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

/** A payout of a user. A member that is null is absent, or not known yet. */
export type DeskPayout = ReturnType<typeof readPayout>

/** Reads the data of `GET /ledger/payouts`. */
export const readDeskPayouts = (data: unknown) => readPage(data, readPayout)

/** Reads one payout, of a list or of an event. Throws a `TypeError` if it is malformed. */
export function readPayout(members: Members) {
  const { id, uid, cuy, amt, fee, to, osn, mark, state, created_at, by, approved_by, txid, expires_at } = members
  const { height, attempts, reason, why, moved, failure } = members
  return {
    id: readInteger(id),
    uid: readInteger(uid),
    cuy: readInteger(cuy),
    amount: readDecimal(amt),
    fee: readDecimal(fee),
    to: readText(to),
    osn: readText(osn),
    mark: readText(mark),
    state: readText(state),
    at: readText(created_at),
    by: readText(by),
    approvedBy: readOptionalText(approved_by),
    txid: txid === undefined ? null : readForm(txid, /^[0-9a-f]{64}$/),
    expiresAt: readOptionalText(expires_at),
    height: readOptionalInteger(height),
    attempts: readInteger(attempts),
    reason: readOptionalText(reason),
    why: readOptionalText(why),
    failure: failure === undefined ? null : readFailure(readMembers(failure)),
    moved: moved === undefined ? null : readList({ list: moved }, readMoved),
  }
}

/** Why a transaction failed, by the chain's word, and what it cost: TRX and energy. */
function readFailure({ result, burnt, energy }: Members) {
  const cost = burnt === undefined ? null : { burnt: readDecimal(burnt), energy: readInteger(energy) }
  return { result: readOptionalText(result), cost }
}

/**
 * Money that has left the payout address: an amount of a currency, or units of a contract that is
 * none of the configured currencies.
 */
type Moved =
  | { readonly to: string; readonly cuy: number; readonly amount: string }
  | { readonly to: string; readonly contract: string; readonly units: string }

function readMoved({ to, cuy, amt, contract, units }: Members): Moved {
  const place = readText(to)
  if (cuy === undefined) return { to: place, contract: readText(contract), units: readForm(units, /^\d{1,80}$/) }
  return { to: place, cuy: readInteger(cuy), amount: readDecimal(amt) }
}
