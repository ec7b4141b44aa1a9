import type { NodeQuestion } from '../common/node-states.ts'

/** The subject, `{}`, of a kind of alarm that is raised at most once at a time. */
type Single = Readonly<Record<string, never>>
interface NodeSubject {
  /** The node's number in `TRON_NODES`, from 1. */
  readonly node: number
}
interface BlockSubject {
  readonly height: number
}
interface TransferSubject {
  readonly txid: string
  /** The number of the transfer's log, or the text `i<k>` for TRX that a contract sent. */
  readonly position: number | string
}
interface CurrencySubject {
  readonly cuy: number
}
interface HoldingSubject {
  readonly cuy: number
  /** 40 hex digits. */
  readonly address: string
}
interface EndpointSubject {
  /** The endpoint's number in `WEBHOOKS`, from 1. */
  readonly endpoint: number
}

/** What nodes disagree about: a block, a transaction, or the decimals of a contract. */
export type DisputedSubject = BlockSubject | { readonly txid: string } | { readonly contract: string }

/**
 * The form of each kind's subject. The subject distinguishes the alarms of one kind, and is stored
 * as JSON.
 */
export interface AlarmSubjects {
  'scan-stalled': Single
  'scan-behind': Single
  'finality-stalled': Single
  'chain-forked': Single
  'tick-failed': Single
  'gap-unread': { readonly from: number }
  'transaction-unreadable': BlockSubject
  /** The node that was outvoted; if no quorum agreed, what nodes disagree about. */
  'nodes-disagree': NodeSubject | DisputedSubject
  'node-lies': NodeSubject | (NodeSubject & { readonly why: 'wrong-chain' })
  'node-unfit': NodeSubject
  'node-behind': NodeSubject
  'node-failing': NodeSubject & { readonly question: NodeQuestion }
  'allowance-used-up': NodeSubject
  'decimals-differ': CurrencySubject
  'deposit-too-large': TransferSubject
  'review-overdue': CurrencySubject
  /**
   * `height`: the block in which the chain shows the transfer otherwise. Absent: it is in none of
   * the blocks that were read again.
   */
  'corrected-credit': TransferSubject & { readonly height?: number }
  'paid-before-issue': TransferSubject
  'address-frozen': HoldingSubject
  'token-paused': CurrencySubject
  'token-fee-set': CurrencySubject
  'token-deprecated': CurrencySubject
  'reconciliation-shortfall': HoldingSubject
  'reconciliation-surplus': HoldingSubject
  'payout-stuck': { readonly payout: number }
  'payout-refused': { readonly payout: number }
  'payouts-unsigned': Single
  /** `{}` if payouts are stopped because the database was restored from an older copy. */
  'payout-unknown': { readonly txid: string } | Single
  /** `{}` for TRX that fees need, if TRX is no configured currency. */
  'payout-wallet-low': { readonly cuy: number } | Single
  'configuration-differs': { readonly setting: string }
  'key-was-used': Single
  misconfigured: Single
  'database-filling': Single
  'database-nearly-full': Single
  'endpoint-failing': EndpointSubject
  'endpoint-behind': EndpointSubject
  'events-expiring': EndpointSubject
  'event-set-aside': EndpointSubject & { readonly event: number }
  'archive-behind': Single
}

export type AlarmKind = keyof AlarmSubjects
export type AlarmSubject = AlarmSubjects[AlarmKind]

/**
 * How soon a person must act on an alarm, the most urgent first (docs/operate.md explains each).
 */
export const urgencies = ['now', 'today', 'this-week'] as const
export type AlarmUrgency = (typeof urgencies)[number]

/**
 * What an operator must know about a kind of alarm, in sentences that the desk and docs/operate.md
 * show.
 */
export interface AlarmRule {
  readonly urgency: AlarmUrgency
  readonly raised: string
  /**
   * When the alarm ends. Absent if nothing shows the end of the fault: then the alarm ends an hour
   * after the fault was last seen.
   */
  readonly ends?: string
  readonly remedy: string
  /** True if the remedy needs facts that only the alarm's log line has. */
  readonly needsLine?: true
}

/**
 * Every kind of alarm. An alarm is one log line with its kind (`createLogger`). Until the alarm
 * ends, no further line is written for the same subject.
 */
export const alarmTable = {
  'scan-stalled': {
    urgency: 'now',
    raised: 'For three minutes the scan has not started, not moved below a final block, or got no answer.',
    ends: 'The scan has read all final blocks, or moves on.',
    remedy:
      'Nothing is lost: what arrived is credited once the scan goes on. The log line has the cause: nodes that do not answer, disagree or are behind (replace them in `TRON_NODES`, and deploy), or requests that are used up (get a larger plan, set its `perDay`, and deploy).',
    needsLine: true,
  },
  'scan-behind': {
    urgency: 'today',
    raised:
      'For ten minutes the scan was more than two minutes of blocks below the newest final one at the end of each tick, though it moves.',
    ends: 'It is near the newest final block again, or stands still.',
    remedy:
      'Nothing is lost: what arrived is credited once the scan gets there. After an outage it catches up by itself. Otherwise the nodes are too slow, allow too few requests, or give blocks only one by one: the log line has the cause. Add a node to `TRON_NODES`, replace one, or get a larger plan and set `perSecond` and `perDay`; then deploy.',
    needsLine: true,
  },
  'finality-stalled': {
    urgency: 'now',
    raised: 'For three minutes nodes that answer and are not behind have shown no new final block.',
    ends: 'There is a new final block.',
    remedy: 'Deposits wait and none is lost. Compare with an explorer: the network has stopped, or all nodes have.',
  },
  'chain-forked': {
    urgency: 'now',
    raised: 'A final block does not follow the stored one. Nothing is credited from then on.',
    ends: 'The chain follows the stored block again, or does so after a correction.',
    remedy:
      'Look at the chain and at the nodes before anything else, then correct the position: `npm run operate -- correct --finalized <block> --reason "…" --production`.',
  },
  'tick-failed': {
    urgency: 'now',
    raised: 'Two ticks in a row have ended with an exception, which is in the log line.',
    ends: 'A tick has ended without one.',
    remedy: 'The next tick tries again. If it stays, look at the database and at the exception.',
  },
  'gap-unread': {
    urgency: 'today',
    raised:
      'A block cannot be read or agreed on: it was passed over and is read again ever more rarely. Or blocks that a signed payout needs were not read again for a quarter of an hour.',
    ends: 'The block was read, or an operator closed the gap.',
    remedy:
      'It is read again by itself, and what is in it is credited then. If it stays for some minutes, add a node to `TRON_NODES` or replace one, and deploy: where nodes disagree, the log line of `nodes-disagree` has what each says, and an explorer which is right. Where its reason names a transaction, only that one waits: look it up by its txid. Where it says that no requests were left, raise the allowance of a node, or add one. The last resort is `npm run operate -- gap close --from <block> --reason "…" --production`: the rest of it is never read, so deposits in it are credited only where their owner asks by txid.',
    needsLine: true,
  },
  'transaction-unreadable': {
    urgency: 'today',
    raised: 'Nodes agree on a transaction whose bytes this service cannot read. The rest of its block is credited.',
    remedy:
      'Look at the transaction with an explorer. If it pays a user, have a backend post an adjustment (`POST /ledger/entries`, type 9).',
  },
  'nodes-disagree': {
    urgency: 'today',
    raised: 'Nodes differ about a final block or the decimals of a token. What they do not agree on is not credited.',
    remedy:
      'They are asked again by themselves. If it stays for some minutes, replace the node that is wrong: the log line has the numbers of the nodes in `TRON_NODES`, and what each says.',
    needsLine: true,
  },
  'node-lies': {
    urgency: 'today',
    raised: 'A node contradicts itself or the clock, or is of another network. Its answer is not used.',
    remedy: 'The log line has the number of the node in `TRON_NODES`, and why. Check its URL there, or replace it.',
    needsLine: true,
  },
  'node-unfit': {
    urgency: 'this-week',
    raised:
      'A node cannot be used: it has no transaction history, no logs of a block or no tag `finalized`, is a lite node, refuses its key, or has switched off what the scan asks.',
    remedy:
      'The log line names the node and what it lacks; `npm run doctor -- --production` says what to do. Repair it, or name another one in `TRON_NODES`, and deploy.',
    needsLine: true,
  },
  'node-behind': {
    urgency: 'this-week',
    raised:
      'For three minutes a node has had no finalized head, or one that is more than a minute of blocks below that of another node or two minutes older than the clock. The log line names the node, and says where it has no peers.',
    ends: 'Three of its finalized heads in a row are near the newest one, or it is no longer configured.',
    remedy:
      'If it stays, look at the node: whether it has peers, room on its disk, and the right time; or replace it in `TRON_NODES`. If the log line says that it has no peers, let it reach other nodes again: its port for peers, its seed nodes, its firewall. Nothing is lost: where fewer nodes are left than must agree, deposits wait.',
    needsLine: true,
  },
  'node-failing': {
    urgency: 'this-week',
    raised:
      'For three minutes a node has failed at every second answer, or more, to one of the questions that the service asks: `heads`, `blocks`, `logs`, `receipts` or `broadcasting`. An answer without the data counts as a failure.',
    ends: 'It has given what was asked for three times in a row, or is no longer configured. Failures that are an hour old no longer count.',
    remedy:
      'The log line names the node, the question, its state in one word and why; `npm run doctor -- --production` says what to do. If it stays, ask its provider, or replace the node in `TRON_NODES`, and deploy. Nothing is lost: where fewer nodes are left than must agree, deposits wait.',
    needsLine: true,
  },
  'allowance-used-up': {
    urgency: 'today',
    raised:
      'A tick has no request left of those that a node allows in a day. The log line names the node, and until when.',
    remedy: 'Set `perDay` and `perSecond` to what the node really allows, get a larger plan, or scan less often.',
  },
  'decimals-differ': {
    urgency: 'now',
    raised: 'The decimals of a currency in `CURRENCIES` are not those of its contract. None of it is credited.',
    ends: 'They are the same, or the currency is retired or no longer configured.',
    remedy:
      'Nothing is lost: what arrived is held, and its amounts are not certain. `npm run doctor -- --production` shows both numbers, an explorer which is right. If `CURRENCIES` is, wait: it is credited once the contract shows the same. If the contract is: (1) correct `decimals` in `CURRENCIES`; (2) run `npm run operate -- currency --cuy <n> --production`, which says what else must be there; (3) deploy at once. The held deposits are then credited by themselves with the right amounts: post none of them by hand.',
  },
  'deposit-too-large': {
    urgency: 'today',
    raised:
      'A deposit would fill a wallet above 2^53−1 smallest units. It is held. One log line for the oldest in a currency.',
    remedy: 'Decide with the caller. Ask by its txid, where the reason stays.',
  },
  'review-overdue': {
    urgency: 'today',
    raised: 'A deposit that `reviewFrom` holds has waited for a decision for more than an hour.',
    ends: 'None of its currency has.',
    remedy:
      'The log line has the oldest one. Decide about it at the desk, or have a backend do so (`POST /ledger/deposits/decide`): nothing of it is credited before.',
    needsLine: true,
  },
  'corrected-credit': {
    urgency: 'today',
    raised:
      'Blocks that were read again, after a correction or at your request, do not show a credited deposit, or show it or a movement between your own addresses otherwise. What is stored stays.',
    remedy:
      'The log line has what is stored and what the blocks show. Compare both with the chain, and have a backend post the difference as an adjustment (`POST /ledger/entries`, type 9): from the user who is credited, and to the user whom the chain pays.',
    needsLine: true,
  },
  'paid-before-issue': {
    urgency: 'this-week',
    raised: 'A caller asked for a payment that was final before the address was issued to the caller.',
    remedy: 'The payment was made to whoever had the address then. Decide with both.',
  },
  'address-frozen': {
    urgency: 'today',
    raised: 'The issuer of a token has frozen an address that was issued here, or that payouts are paid from.',
    ends: 'The issuer has released it.',
    remedy:
      'The balance of the address in this token cannot be collected, and the issuer can destroy it; the user keeps the credit. Decide whether the user may go on: to lock the balance, have a backend post an adjustment (`POST /ledger/entries`, type 9), which gives it back later. Ask the issuer why, with the txid of the log line. New deposits to the address still arrive, frozen as well: give the user a further one (`fresh=1`).',
    needsLine: true,
  },
  'token-paused': {
    urgency: 'today',
    raised: 'The issuer has paused a token: nobody can transfer it.',
    ends: 'The issuer has resumed it.',
    remedy:
      'Nothing is lost. Deposits in it come again once it is resumed; collect nothing and pay nothing out in it until then.',
  },
  'token-fee-set': {
    urgency: 'today',
    raised: 'The issuer takes a fee for each transfer of a token. No operator has confirmed it yet.',
    ends: 'The issuer has set it to nothing, or an operator has confirmed this fee.',
    remedy:
      'Deposits are credited with what arrives. What leaves arrives short by the fee, in payouts and when collecting. Decide who bears it, then confirm the fee: `npm run operate -- fee confirm --txid <txid> --reason "…" --production`, with the txid of the log line. A later fee must be confirmed again, and so must one whose block a correction has taken back. A payout that was mined before you confirmed its fee is `stuck` although it has paid: neither approve nor cancel it, but have its block read again (`npm run operate -- rescan --from <height> --to <height> --reason "…" --production`). Then it is `paid`.',
    needsLine: true,
  },
  'token-deprecated': {
    urgency: 'today',
    raised:
      'The issuer has replaced the contract of a token. Transfers are shown by its successor, so deposits in it are not seen.',
    ends: 'The currency is retired.',
    remedy:
      'The log line has the successor. Check it with the issuer, retire the currency (`retired: true`), and add the successor to `CURRENCIES` with a `cuy` of its own; deploy, and have the blocks since the height in the log line read again: `npm run operate -- rescan --from <block> --to <block> --reason "…" --production`. That credits what users sent meanwhile.',
    needsLine: true,
  },
  'reconciliation-shortfall': {
    urgency: 'now',
    raised: 'An address holds less than is recorded, by three readings with the same exact amount.',
    ends: 'The difference is gone, or has become another one.',
    remedy:
      'Look for a transfer out of it that is not recorded; a gap can contain it. Without one, ask who has the key.',
  },
  'reconciliation-surplus': {
    urgency: 'this-week',
    raised: 'An address holds more than is recorded, by three readings with the same exact amount.',
    ends: 'The difference is gone, or has become another one.',
    remedy:
      'No money is lost. Often it is TRX that a contract sent: find its transaction with an explorer, among the internal ones of the address, and let its user ask for it (`GET /tron/recharge?txid=…`), which credits it where enough nodes show it. Or a payment from before the first block. Where a gap contains it, it is credited once that is read: then post nothing.',
  },
  'payout-stuck': {
    urgency: 'today',
    raised:
      'The transaction of a payout is final and has failed or paid something else, or three have expired. Its money is taken and was not paid.',
    ends: 'It was approved again or cancelled.',
    remedy:
      'Look at the payout (`GET /ledger/payouts?state=stuck`): `reason` says which, and `moved` what has left the address. Repair the cause (energy, TRX for fees, the signer), then approve it again or cancel it. If `moved` is not empty, money has left: decide who pays for it first.',
  },
  'payout-refused': {
    urgency: 'today',
    raised:
      'A signed payout was sent a minute ago and no node has taken it, or nodes say that they have it and no final block contains it.',
    ends: 'A node takes it and it is in a block, or it has expired.',
    remedy:
      'The log line has what each node says, and which ones have not answered (`answers` of the payout, too). Energy or TRX for fees: send the payout address what is missing. A signature or a reference block: look at the signer and the permissions of the address. `SUCCESS` of every node: look at their connections to other nodes. It is sent again until it expires, and is signed again then.',
    needsLine: true,
  },
  'payouts-unsigned': {
    urgency: 'today',
    raised: 'An approved payout is older than ten minutes.',
    ends: 'None is.',
    remedy:
      'Look at the signer: whether it runs, and what it says. While payouts are stopped it is offered none (`payouts` in `/ledger/summary`).',
  },
  'payout-unknown': {
    urgency: 'now',
    raised:
      'A final transaction has moved money from the payout address, or was sent by it, and no payout names it; or an older copy of the database was restored. No payout is offered to the signer from then on.',
    ends: 'The signer has handed in its bytes, or an operator has resumed; after a restore, when a final block that is an hour later, and each one before it, is read.',
    remedy:
      'Look at the transaction with an explorer, and at the journal of the signer: start it, and what it has signed is handed in. If a payout that it has signed is missing, have the backend ask for it again with the same `uid`, `cuy` and `osn`. If nobody of yours has signed it, the key is in other hands: move what the address holds. Otherwise `npm run operate -- payouts resume --txid <txid> --reason "…" --production`.',
  },
  'payout-wallet-low': {
    urgency: 'today',
    raised:
      'The payout address holds less than what is approved and signed in a currency, or too little TRX for fees. Of the balances that nodes show, the `TRON_QUORUM`-th smallest one counts.',
    ends: 'It holds enough, or nothing is open.',
    remedy:
      "Send it what is missing: the alarm's line and the desk say how much. Nothing is lost meanwhile, but what is signed can fail.",
  },
  'configuration-differs': {
    urgency: 'now',
    raised:
      'The chain id, the key, a currency or the payout address is not that of the stored data, or the database lacks a migration of this version. Nothing is served or credited.',
    ends: 'The configuration is that of the stored data, and the migration is applied.',
    remedy:
      'The log line names the setting, what is stored and what is configured. Set it back, or use the right database. Where it is `migrations`, run `npm run db:migrate -- --production`. Where the decimals of a currency were wrong and are right now, run `npm run operate -- currency --cuy <n> --production`.',
    needsLine: true,
  },
  'key-was-used': {
    urgency: 'now',
    raised: 'The database is empty, and the first addresses of the key hold or held something. No address is issued.',
    ends: '`TRON_FIRST_INDEX` is set, or an address is stored.',
    remedy: 'Restore the old database, or set `TRON_FIRST_INDEX` above every index that was used.',
  },
  misconfigured: {
    urgency: 'now',
    raised: 'A setting is missing or wrong; once for each, whenever the Worker starts. Nothing is served.',
    ends: 'The Worker starts without it.',
    remedy: 'The log line names the setting and what it takes.',
    needsLine: true,
  },
  'database-filling': {
    urgency: 'this-week',
    raised: 'The database has reached 70 % of what D1 stores in one.',
    ends: 'It is smaller again.',
    remedy:
      'Nothing is lost and nothing is slower. The desk shows the day on which it is full at the present rate. Lower `EVENTS_KEEP_DAYS`, or add a database for the users who come (`CELLS`).',
  },
  'database-nearly-full': {
    urgency: 'now',
    raised: 'The database has reached 90 % of what D1 stores in one.',
    ends: 'It is smaller again.',
    remedy:
      'Act now: once it is full nothing is credited and no address is issued, until there is room; then everything goes on where it stopped. Lower `EVENTS_KEEP_DAYS`: the next ticks remove the older events.',
  },
  'endpoint-failing': {
    urgency: 'today',
    raised: 'An endpoint of `WEBHOOKS` has failed for an hour.',
    ends: 'It takes events again, has put one aside, or is no longer configured.',
    remedy:
      'Deposits are credited meanwhile. Its events wait in their order and are sent again by themselves. Since when and why: `npm run operate -- webhooks status --production`.',
  },
  'endpoint-behind': {
    urgency: 'this-week',
    raised: 'The oldest event that an endpoint lacks is more than ten minutes old.',
    ends: 'It is not, or the endpoint is no longer configured.',
    remedy: 'Make the receiver answer sooner: it gets one event after the other.',
  },
  'events-expiring': {
    urgency: 'today',
    raised: 'An endpoint lacks events that will soon be removed, by `EVENTS_KEEP_DAYS`.',
    ends: 'It has got them, they are removed or kept for longer, or it is no longer configured.',
    remedy: 'Repair the receiver, raise `EVENTS_KEEP_DAYS`, or read the events from the feed.',
  },
  'event-set-aside': {
    urgency: 'this-week',
    raised: 'An endpoint has refused one event for three days. The event was put aside, and the next ones go on.',
    remedy:
      'Read it from the feed, or have it sent again: `npm run operate -- webhooks replay --endpoint <n> --from <id> --production`.',
  },
  'archive-behind': {
    urgency: 'today',
    raised: 'For ten minutes nothing could be written to the archive.',
    ends: 'It is written again, or `ARCHIVE` is removed.',
    remedy:
      'Nothing else waits for it, and it goes on where it was. The log line has the cause: look at the bucket, its binding and the right to write. If it says that a row is missing, or that a segment does not follow this archive, somebody has changed the database or the bucket: look for what was changed before anything else.',
    needsLine: true,
  },
} as const satisfies Readonly<Record<AlarmKind, AlarmRule>>

/**
 * The kinds of alarms without `ends`: nothing shows that their fault is over, so `alarms/alarms.ts`
 * ends them after some time.
 */
export const unobservedKinds: ReadonlySet<AlarmKind> = new Set(
  (Object.keys(alarmTable) as AlarmKind[]).filter((kind) => !('ends' in alarmTable[kind])), // safe: the table's keys
)
