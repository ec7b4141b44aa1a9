import * as z from 'zod/mini'
import { nodeUses } from '../../chain/node-status.ts'
import { entryTypes } from '../../common/ids.ts'
import { nodeQuestions, nodeStateNames, nodeStates } from '../../common/node-states.ts'
import { heldReasons } from '../../common/reasons.ts'
import { countedMax } from '../../deposits/store/lists.ts'
import { type AlarmKind, alarmTable, urgencies } from '../../platform/alarm-table.ts'
import {
  movedKinds,
  summaryAlarmsMax,
  summaryDays,
  summaryDifferencesMax,
  summaryGapSeenMax,
  summaryGapsMax,
  summaryUnreadMax,
} from '../../summary/summary.ts'
import * as docs from './docs.ts'

/** The data of `GET /ledger/summary`, before it is written as JSON. */
export type SummaryData = z.output<ReturnType<typeof summarySchema>>

const typeSum = () =>
  z.strictObject({
    type: z.literal(Object.values(entryTypes)),
    sum: docs.amountSchema('What its entries sum up to, signed.'),
  })

const typeCount = () => z.extend(typeSum(), { count: docs.countSchema('How many entries.') })

const movedSum = () =>
  z.strictObject({ what: z.enum(movedKinds), sum: docs.amountSchema('What it sums up to, signed.') })

const day = () =>
  z.strictObject({
    day: docs.textSchema('The day (UTC).', /^\d{4}-\d\d-\d\d$/),
    deposits: docs.countSchema('How many deposits were credited.'),
    sum: docs.amountSchema('What they sum up to, in whole units.'),
    entries: docs.described(z.array(typeCount()), 'The types of which there are entries; a deposit is of type 1.'),
  })

const nullable = <Schema extends z.ZodMiniType>(schema: Schema, description: string) =>
  docs.described(z.nullable(schema), description)

const currency = () =>
  docs.object('CurrencySummary', () => ({
    cuy: docs.idSchema('The currency.'),
    symbol: docs.textSchema('Its symbol.'),
    owed: docs.amountSchema('What the wallets of all users hold.'),
    owed_by: docs.described(z.array(typeSum()), 'Its entries by their type; together they are `owed`.'),
    held: nullable(
      z.number(),
      'What the addresses held when each was last read. null: none was. It is less than what is owed where money was ' +
        'collected, and more where something arrived that is not credited.',
    ),
    held_at: nullable(docs.instantSchema(), 'About when the newest of these readings was made.'),
    held_by: docs.described(
      z.array(movedSum()),
      'What has changed what addresses hold, as it is recorded, signed: transfers to users that are `credited`, `held` or `refused`, ' +
        '`gas` that came otherwise, what was `collected`, and `fees` as far as readings show them. `held` is their sum and `unexplained`, ' +
        'but for what has changed since the addresses were read, and for differences that further readings confirm or not.',
    ),
    compared: docs.countSchema('How many addresses were read.'),
    unread: docs.countSchema(
      `Of the ${summaryUnreadMax} addresses that are read next: how many have a transfer that \`held\` may lack.`,
    ),
    frozen: docs.amountSchema(
      'Of `held`, what is on addresses that the issuer has frozen: it cannot be collected now.',
    ),
    frozen_addresses: docs.countSchema('How many addresses are frozen.'),
    destroyed: docs.amountSchema('What the issuer has destroyed on addresses: it is gone, and explained.'),
    unexplained: docs.amountSchema(
      'The differences between records and readings that have an alarm, added up: more is there (positive), or less.',
    ),
    differing: docs.countSchema('How many addresses have such a difference.'),
    days: docs.described(z.array(day()), `The last ${summaryDays} days, oldest first, today included.`),
  }))

const gap = () =>
  z.strictObject({
    from: docs.countSchema('The first block that is not read yet.'),
    to: docs.countSchema('The last one.'),
    since: docs.instantSchema(),
    attempts: docs.countSchema('Tries since it last went forward.'),
    why: docs.textSchema('Why it could not be read.'),
    seen: docs.countSchema(
      `Transfers that were seen in these blocks and wait; ${summaryGapSeenMax} means that many or more.`,
    ),
  })

const subject = () =>
  z.strictObject({
    node: z.exactOptional(docs.idSchema('A node, by its place in `TRON_NODES`.')),
    question: z.exactOptional(docs.described(z.enum(nodeQuestions), 'What the node fails to answer.')),
    why: z.exactOptional(docs.textSchema('What is wrong with the node, if that is a fault of its own.')),
    height: z.exactOptional(docs.countSchema('A block.')),
    from: z.exactOptional(docs.countSchema('The first block of a gap when it was found.')),
    txid: z.exactOptional(docs.textSchema('A transaction.')),
    position: z.exactOptional(docs.positionSchema()),
    cuy: z.exactOptional(docs.idSchema('A currency.')),
    payout: z.exactOptional(docs.idSchema('A payout.')),
    address: z.exactOptional(docs.textSchema('An address.')),
    contract: z.exactOptional(docs.textSchema('The contract of a token.')),
    setting: z.exactOptional(docs.textSchema('A setting.')),
    endpoint: z.exactOptional(docs.idSchema('An endpoint, by its place in `WEBHOOKS`.')),
    event: z.exactOptional(docs.idSchema('An event.')),
  })

const alarm = () =>
  z.strictObject({
    kind: docs.described(z.enum(Object.keys(alarmTable) as AlarmKind[]), 'The kind of alarm.'),
    subject: docs.described(subject(), 'What it is about; empty if there is one alarm of the kind at a time.'),
    since: docs.instantSchema(),
    urgency: docs.described(z.enum(urgencies), 'How soon a person must act.'),
    raised: docs.textSchema('When an alarm of this kind is raised.'),
    remedy: docs.textSchema('What to do.'),
  })

const difference = () =>
  z.strictObject({
    cuy: docs.idSchema('The currency.'),
    address: docs.textSchema('The address.'),
    amt: docs.amountSchema('How much more (positive) or less it holds than is recorded.'),
    since: docs.instantSchema(),
  })

const describeStates = () => nodeStateNames.map((name) => `\`${name}\` (${nodeStates[name].word})`).join(', ')

const node = () =>
  z.strictObject({
    number: docs.idSchema('Its place in `TRON_NODES`.'),
    name: docs.textSchema('Its name; without one its number, with the end of its host.'),
    state: docs.described(
      z.enum(nodeStateNames),
      `Its state, from all that the service asks of it: ${describeStates()}.`,
    ),
    use: docs.described(
      z.enum(nodeUses),
      '`first`: as configured. `behind`, `demoted` (slow, or outvoted) or `resting` (after failures): others are asked before it. ' +
        '`blocked` or `unfit`: it is not asked for a while.',
    ),
    behind: nullable(
      docs.countSchema('Blocks.'),
      'How far its final blocks are behind those of the others, in blocks; null: not known.',
    ),
    answered_at: nullable(docs.instantSchema(), 'When it last gave a good answer; null: not since the scanner began.'),
    answer_ms: nullable(z.int(), 'How long that answer took, in milliseconds.'),
    failed_at: nullable(docs.instantSchema(), 'When it last failed; null: not since the scanner began.'),
    failure: nullable(z.string(), 'Why.'),
    used: docs.countSchema('Requests that it got within about a day.'),
    per_day: docs.countSchema('Requests that it allows in a day.'),
  })

const endpoint = () =>
  z.strictObject({
    number: docs.idSchema('Its place in `WEBHOOKS`.'),
    behind_seconds: docs.countSchema('The age of the oldest event that it lacks; 0 where it lacks none.'),
    failing_since: nullable(docs.instantSchema(), 'Since when deliveries fail; null where they do not.'),
    last_failure: nullable(z.string(), 'Why the last failed delivery failed.'),
    begins_at: docs.described(docs.instantSchema(), 'Events that were stored before were never sent to it.'),
  })

const held = () =>
  z.strictObject({
    reason: docs.described(z.enum(heldReasons), 'Why.'),
    cuy: docs.idSchema('The currency.'),
    count: docs.countSchema('How many.'),
    oldest_at: docs.described(docs.instantSchema(), 'When the oldest of them was found.'),
  })

const database = () =>
  z.strictObject({
    bytes: docs.countSchema('Its size.'),
    limit: docs.countSchema('The largest size that it can have.'),
    full_on: nullable(
      docs.textSchema('A day (UTC).', /^\d{4}-\d\d-\d\d$/),
      'The day (UTC) on which it is full at the rate of the last 30 days. null: it does not grow, that is not known yet, or it is more than a century away.',
    ),
  })

const scan = () =>
  z.strictObject({
    status: docs.described(z.enum(['ok', 'behind', 'stopped']), 'As `/health`.'),
    scanned: docs.countSchema('Height up to which the chain is scanned.'),
    finalized: docs.countSchema('Newest final height that is known.'),
    behind: docs.countSchema('Blocks between the two.'),
    finalized_at: nullable(
      docs.instantSchema(),
      'The time of that block on the chain: about a minute ago where the nodes follow the chain. null: not known.',
    ),
    msg: nullable(z.string(), 'What is wrong; null where nothing is.'),
    problem: nullable(
      z.enum(['no-answer', 'disagreement', 'forked', 'limited', 'out-of-time']),
      'Why the newest tick did not read every final block; null where it did.',
    ),
    oldest_held_at: nullable(docs.instantSchema(), 'When the oldest held transfer was found; null where none is held.'),
  })

const payouts = () =>
  z.strictObject({
    address: docs.textSchema('The address that payouts are paid from.', /^T\w{33}$/),
    open: docs.described(
      z.array(
        z.strictObject({
          state: docs.described(z.enum(['waiting', 'approved', 'signed', 'stuck']), 'The state.'),
          cuy: docs.idSchema('The currency.'),
          count: docs.countSchema('How many.'),
          sum: docs.amountSchema('What they sum up to, in whole units, without fees.'),
          oldest_at: docs.described(
            docs.instantSchema(),
            'Since when the one that has been in this state for longest is in it.',
          ),
        }),
      ),
      'The open payouts, by state and currency.',
    ),
    stopped: nullable(
      z.strictObject({
        why: docs.described(
          z.enum(['unknown-transaction', 'restored']),
          'No payout names a transaction that has moved money from the address; or an older copy of the database was restored.',
        ),
        since: docs.instantSchema(),
        txids: docs.described(
          z.array(docs.textSchema('A transaction.', /^[0-9a-f]{64}$/)),
          'The transactions of the address that no payout names, the oldest 50 first.',
        ),
      }),
      'Why no payout is offered to the signer; null where they are.',
    ),
    holds: docs.described(
      z.array(
        z.strictObject({
          symbol: docs.textSchema('The symbol of the currency.'),
          amt: docs.amountSchema('What the address held.'),
          read_at: docs.instantSchema(),
        }),
      ),
      'What the address held when one node was last asked, which is only done while something is open.',
    ),
  })

/** The schema of the data of `GET /ledger/summary`. Its descriptions say what each number counts. */
export const summarySchema = () =>
  docs.object('Summary', () => ({
    currencies: docs.described(z.array(currency()), 'In the order of the configuration.'),
    addresses: docs.countSchema('How many addresses were issued.'),
    transfers: z.strictObject({
      seen: docs.countSchema(`Transfers that are not final; ${countedMax} means that many or more.`),
      held: docs.countSchema(`Held transfers; ${countedMax} means that many or more.`),
      held_for: z.array(held()),
    }),
    gaps: docs.described(z.array(gap()), `Blocks that could not be read: the lowest ${summaryGapsMax} ranges.`),
    alarms: docs.described(z.array(alarm()), `Raised alarms, at most ${summaryAlarmsMax}, ordered by their kind.`),
    differences: docs.described(
      z.array(difference()),
      `Addresses that hold something else than is recorded, and have an alarm: the first ${summaryDifferencesMax}.`,
    ),
    newest_event: docs.countSchema('The id of the newest event, for `/ledger/events`; 0 where there is none.'),
    database: docs.described(database(), 'The size of the database, in bytes.'),
    scan: scan(),
    endpoints: docs.described(z.array(endpoint()), 'The configured endpoints.'),
    payouts: nullable(payouts(), 'Payouts; null without `PAYOUTS`.'),
    nodes: nullable(
      z.array(node()),
      'The nodes of `TRON_NODES`, as the scanner has found them; null if the scanner has not said it in time.',
    ),
    quorum: docs.idSchema('How many nodes must agree before money is credited.'),
    reader: docs.described(
      z.strictObject({
        name: docs.textSchema('The name of the backend, or the e-mail address of the person at the desk.'),
        scopes: docs.described(z.array(z.string()), 'What the token, or `DESK_ACCESS`, allows.'),
      }),
      'Who asks.',
    ),
    cells: z.exactOptional(
      docs.described(
        z.array(
          z.strictObject({
            cell: docs.idSchema('The number of the cell.'),
            from: docs.idSchema('Its first user.'),
            to: docs.idSchema('Its last user.'),
          }),
        ),
        'The databases of the deployment, where it has several; this is the summary of the one that was asked.',
      ),
    ),
  }))
