declare const brand: unique symbol

/**
 * A `T` with a name that only the compiler sees. Only the parser of such a type casts to it, so
 * that two kinds of text or number cannot be confused.
 */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** The number of a user (`uid`): 1 to 2^53−2, or `reservedUid`. */
export type Uid = Brand<number, 'Uid'>
/**
 * The owner of addresses that an operator has reserved: 2^53−1, which is no user. A token with this
 * `uid` is refused. Money that arrives at a reserved address is credited to this owner, and a
 * backend can post transfers that give it to a user.
 */
export const reservedUid = Number.MAX_SAFE_INTEGER as Uid // safe: a whole number
/**
 * The number of a currency in the API (`cuy`). In the configuration as shipped 1 is TRX and 2 is
 * USDT.
 */
export type CurrencyId = Brand<number, 'CurrencyId'>
/** The number of a wallet (`wid`). Each user has at most one wallet in each currency. */
export type WalletId = Brand<number, 'WalletId'>
/**
 * The id of a ledger entry: newer entries have higher ids. Entries and events share one sequence.
 */
export type EntryId = Brand<number, 'EntryId'>
/** The id of a transfer's row: transfers that were found later have higher ids. */
export type TransferId = Brand<number, 'TransferId'>
/** The number of an event: 1, 2, 3 … in the order in which events were committed. */
export type EventId = Brand<number, 'EventId'>
/** The number of a rescan: a row for blocks below the scan's position that are read again. */
export type RescanId = Brand<number, 'RescanId'>
/** The number of a payout: newer payouts have higher numbers. */
export type PayoutId = Brand<number, 'PayoutId'>
/** The number of an order: newer orders have higher numbers. */
export type OrderId = Brand<number, 'OrderId'>
/**
 * The number of a transaction that the payout address sends: those stored later have higher
 * numbers.
 */
export type PayoutTransactionId = Brand<number, 'PayoutTransactionId'>
/**
 * Identifies a webhook endpoint: the hash of its URL, in hex. The database stores no URLs, because
 * they may contain keys.
 */
export type EndpointKey = Brand<string, 'EndpointKey'>
/** The name of a backend, from the `sub` of its token. */
export type BackendName = Brand<string, 'BackendName'>
/**
 * A person, named by an e-mail address in lower case. It contains an `@`, so it is never a
 * backend's name.
 */
export type PersonName = Brand<string, 'PersonName'>
/** Whoever approves or cancels a payout, or decides about a held deposit. */
export type DeciderName = BackendName | PersonName

/**
 * Whether two names stand for one backend or person: they differ at most in case. Names are ASCII,
 * so this compares as SQLite's `lower` does.
 */
export const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/**
 * Why a balance changes: the numbers that the API has as `type` of an entry. 6 to 8 are not used.
 */
export const entryTypes = { recharge: 1, withdraw: 2, transfer: 3, payment: 4, refund: 5, adjustment: 9 } as const
export type EntryType = (typeof entryTypes)[keyof typeof entryTypes]
