declare const brand: unique symbol

/** A `T` that only one parser creates, so that two kinds of text or number cannot be confused. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** A user (`uid`): 1 to 2^53−2, or `reservedUid`. */
export type Uid = Brand<number, 'Uid'>
/**
 * The owner of addresses that an operator has reserved; not a user. Tokens of users with this `uid` are refused. A backend can read it, and post transfers that
 * give what arrived there to a user.
 */
export const reservedUid = Number.MAX_SAFE_INTEGER as Uid // safe: a whole number
/** A currency's number in the API (`cuy`): 1 is TRX, 2 is USDT as shipped. */
export type CurrencyId = Brand<number, 'CurrencyId'>
/** A wallet (`wid`): one for each user and currency. */
export type WalletId = Brand<number, 'WalletId'>
/** Id of a ledger entry. Newer entries have higher ids. */
export type EntryId = Brand<number, 'EntryId'>
/** Id of a transfer to a user, in the order in which transfers were found. */
export type TransferId = Brand<number, 'TransferId'>
/** An event's number: 1, 2, 3 … in commit order. */
export type EventId = Brand<number, 'EventId'>
/** Number of a range of blocks that is read again. */
export type RescanId = Brand<number, 'RescanId'>
/** Number of a payout. Newer ones have higher ids. */
export type PayoutId = Brand<number, 'PayoutId'>
/** Number of a transaction of the payout address, in the order in which they were stored. */
export type PayoutTransactionId = Brand<number, 'PayoutTransactionId'>
/** The hash of an endpoint's URL, as hex. The database stores no URLs, because they may contain keys. */
export type EndpointKey = Brand<string, 'EndpointKey'>
/** The name of a backend. */
export type BackendName = Brand<string, 'BackendName'>
/** A person, named by an e-mail address in lower case. It contains an `@`, so it is never a backend's name. */
export type PersonName = Brand<string, 'PersonName'>
/** The name of whoever approves, cancels or decides. */
export type DeciderName = BackendName | PersonName

/** The reasons why a balance changes, by their number in the interface. 6 to 8 are not used. */
export const entryTypes = { recharge: 1, withdraw: 2, transfer: 3, payment: 4, refund: 5, adjustment: 9 } as const
/** One of `entryTypes`. */
export type EntryType = (typeof entryTypes)[keyof typeof entryTypes]
