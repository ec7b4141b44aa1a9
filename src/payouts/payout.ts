import { type Address, formatBase58 } from '../chain/address.ts'
import { formatUnits } from '../common/amount.ts'
import type { CurrencyId, PayoutId } from '../common/ids.ts'
import { formatInstant } from '../common/time.ts'
import { type PayoutState, payouts, type StuckReason } from '../d1/payout-tables.ts'
import type { Stop } from '../issuer/state.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'

/** What everybody may know of a payout: its columns, in ledger units. An event has a copy of them. */
export type Payout = Pick<typeof payouts.$inferSelect, (typeof shownNames)[number]> & {
  /** What keeps an approved payout from being signed, where it was looked up. */
  readonly stop?: PayoutStop | undefined
}

/** The issuer of its token, or that its recipient was issued here since it was asked for. */
type PayoutStop = Stop | 'to-user'

const shownNames = [
  ...(['id', 'uid', 'cuy', 'amount', 'fee', 'to_address', 'osn', 'mark', 'state', 'created_at', 'posted_by'] as const),
  ...(['approved_by', 'txid', 'expires_at', 'height', 'attempts', 'reason', 'moved', 'why'] as const),
] as const

/** The columns of a `Payout`. */
export const payoutColumns = shownNames.map((name) => payouts[name])

/** What has left the payout address by the logs of a transaction, in chain units: of the token of a contract, or TRX (empty). */
export interface Moved {
  readonly contract: Address | ''
  readonly to: Address
  readonly raw: string
}

/** Who approved a payout that is within the limits. */
export const byLimits = 'limits'

/** One thing that has left the payout address. What is of no configured currency is in units of its contract. */
export type MovedItem<A> =
  | { readonly to: string; readonly cuy: CurrencyId; readonly amt: A }
  | { readonly to: string; readonly contract: string; readonly units: string }

/** A payout as backends see it. `A` is the form of an amount. */
export type PayoutItem<A> = {
  readonly id: PayoutId
  readonly uid: number
  readonly cuy: CurrencyId
  readonly amt: A
  readonly fee: A
  readonly to: string
  readonly osn: string
  readonly mark: string
  readonly state: PayoutState
  readonly created_at: string
  /** The backend that has asked for it. */
  readonly by: string
  /** A backend, or `limits`. */
  readonly approved_by?: string
  /** Of its newest transaction, where that is signed or has been found; and when it expires. */
  readonly txid?: string
  readonly expires_at?: string
  /** The block in which it was found. */
  readonly height?: number
  /** Transactions that have ended without paying. */
  readonly attempts: number
  /** Why it is stuck. */
  readonly reason?: StuckReason
  /** The same for people, why it was cancelled, or why an approved one waits. */
  readonly why?: string
  /** What has left the payout address in a transaction that has paid something else. */
  readonly moved?: readonly MovedItem<A>[]
}

const explained: Readonly<Record<StuckReason, string>> = {
  failed: 'its transaction is final and has failed: nothing was paid',
  other: 'its transaction is final and has succeeded without paying exactly this',
  expired: 'its transactions have expired, and none of them can be mined any more',
}
const waiting: Readonly<Record<PayoutStop, string>> = {
  frozen: 'it waits: the issuer of the token has frozen the payout address',
  paused: 'it waits: the issuer has paused the token',
  'fee-unconfirmed': 'it waits: the issuer takes a fee that no operator has confirmed, so less would arrive',
  deprecated: 'it waits: the issuer has replaced the contract of the token',
  'to-user': 'it waits: to is the address of a user here now: cancel it, and post a transfer (type 3) between the two',
}
const withTransaction: readonly PayoutState[] = ['signed', 'paid', 'stuck']

/** The item of a payout. */
export function payoutItem<A>(payout: Payout, currencies: Currencies, write: WriteAmount<A>): PayoutItem<A> {
  const { id, uid, cuy, osn, mark, state, attempts, reason, why, txid, expires_at, height, moved, stop } = payout
  const currency = currencies.byId.get(cuy)
  // A payout has entries, so its currency stays configured: without it nothing is served.
  if (currency === undefined) throw new Error(`payout ${id} is in currency ${cuy}, which is not configured`)
  const hasTransaction = withTransaction.includes(state)
  const sentence = reason === null ? (stop ? waiting[stop] : why) : explained[reason]
  return {
    id,
    uid,
    cuy,
    amt: write(BigInt(payout.amount), currency.scale),
    fee: write(BigInt(payout.fee), currency.scale),
    to: formatBase58(payout.to_address),
    osn,
    mark,
    state,
    created_at: formatInstant(payout.created_at),
    by: payout.posted_by,
    ...(payout.approved_by === null ? {} : { approved_by: payout.approved_by === '' ? byLimits : payout.approved_by }),
    ...(txid === null || !hasTransaction ? {} : { txid }),
    ...(expires_at === null || !hasTransaction ? {} : { expires_at: formatInstant(expires_at) }),
    ...(height === null || !hasTransaction ? {} : { height }),
    attempts,
    ...(reason === null ? {} : { reason }),
    ...(sentence === null ? {} : { why: sentence }),
    ...(moved === null ? {} : { moved: readMoved(moved).map((one) => movedItem(one, currencies, write)) }),
  }
}

const ownNames = ['id', 'cuy', 'amt', 'fee', 'to', 'osn', 'mark', 'state', 'created_at', 'txid', 'height'] as const
type OwnName = (typeof ownNames)[number]

/** Of what has the members of a payout, those that its user sees: nothing of who approved it, and of why it waits. */
export function pickOwn<T extends Partial<Readonly<Record<OwnName, unknown>>>>(item: T): Pick<T, OwnName & keyof T> {
  const own = ownNames.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]] as const]))
  return Object.fromEntries(own) as Pick<T, OwnName & keyof T> // the members with these names
}

/** What is stored of what has left the address. */
export function readMoved(text: string): readonly Moved[] {
  return JSON.parse(text) as readonly Moved[] // safe: written by `findOutgoing` alone
}

/** Of what has left, no more is said in a sentence. */
const saidMax = 5

/** What has left the address as a part of a sentence: how much of what, and to whom. */
export function sayMoved(moved: readonly Moved[], currencies: Currencies): string {
  const said = moved.slice(0, saidMax).map(({ contract, to, raw }) => {
    const { decimals, symbol } = currencyOfContract(contract, currencies) ?? (contract === '' ? trx : unitsOf(contract))
    return `${formatUnits(BigInt(raw), decimals)} ${symbol} to ${formatBase58(to)}`
  })
  return [...said, ...(moved.length > saidMax ? ['more'] : [])].join(', ')
}

const trx = { decimals: 6, symbol: 'TRX' }
const unitsOf = (contract: Address) => ({ decimals: 0, symbol: `units of ${formatBase58(contract)}` })

function movedItem<A>({ contract, to, raw }: Moved, currencies: Currencies, write: WriteAmount<A>): MovedItem<A> {
  const currency = currencyOfContract(contract, currencies)
  if (currency === null) return { to: formatBase58(to), contract: formatBase58(contract as Address), units: raw } // safe: TRX is empty
  return { to: formatBase58(to), cuy: currency.cuy, amt: write(BigInt(raw), currency.decimals) }
}

/** The currency of a contract, or of TRX (empty); null if it is not configured. */
export function currencyOfContract(contract: Address | '', { native, byContract }: Currencies): Currency | null {
  return contract === '' ? native : (byContract.get(contract) ?? null)
}
