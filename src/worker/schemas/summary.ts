import * as z from 'zod/mini'
import { nodeUses } from '../chain/node-status.ts'
import { countedMax } from '../common/counted.ts'
import { entryTypes } from '../common/ids.ts'
import { nodeQuestions, nodeStateNames, nodeStates } from '../common/node-states.ts'
import { openStates } from '../common/payout-states.ts'
import { heldReasons } from '../common/reasons.ts'
import { type AlarmKind, alarmTable, urgencies } from '../platform/alarm-table.ts'
import * as schemas from './parts.ts'

/** Days (UTC) in a summary, including today. */
export const summaryDays = 30
/** Most gaps (ranges of blocks that could not be read) in a summary, from the lowest on. */
export const summaryGapsMax = 20
/** Most alarms in a summary, in the order of their kinds. */
export const summaryAlarmsMax = 50
/** Most addresses in a summary whose balance is reported to differ from the records. */
export const summaryDifferencesMax = 20
/** Most transfers that are counted as seen in one gap. */
export const summaryGapSeenMax = 100
/**
 * The summary counts addresses with transfers after the last reading of their balance. It looks at
 * most at this many addresses of a currency for that.
 */
export const summaryUnreadMax = 200

/** The causes of changes in the sum that addresses hold, in the order in which money flows. */
export const movedKinds = ['credited', 'held', 'refused', 'gas', 'collected', 'fees'] as const

/** The data of `GET /ledger/summary`. */
export type SummaryData = z.output<ReturnType<typeof summarySchema>>

const typeSum = () =>
  z.strictObject({
    type: z.literal(Object.values(entryTypes)),
    sum: schemas.amountSchema('What its entries sum up to, signed.'),
  })

const typeCount = () => z.extend(typeSum(), { count: schemas.countSchema('How many entries.') })

const movedSum = () =>
  z.strictObject({ what: z.enum(movedKinds), sum: schemas.amountSchema('What it sums up to, signed.') })

const day = () =>
  z.strictObject({
    day: schemas.textSchema('The day (UTC).', /^\d{4}-\d\d-\d\d$/),
    deposits: schemas.countSchema('How many deposits were credited.'),
    sum: schemas.amountSchema('What they sum up to, in whole units.'),
    entries: schemas.described(z.array(typeCount()), 'The types of which there are entries; a deposit is of type 1.'),
  })

const nullable = <Schema extends z.ZodMiniType>(schema: Schema, description: string) =>
  schemas.described(z.nullable(schema), description)

const currency = () =>
  schemas.object('CurrencySummary', () => ({
    cuy: schemas.idSchema('The currency.'),
    symbol: schemas.textSchema('Its symbol.'),
    owed: schemas.amountSchema('What the wallets of all users hold.'),
    owed_by: schemas.described(z.array(typeSum()), 'Its entries by their type; together they are `owed`.'),
    held: nullable(
      schemas.amount(),
      'What the addresses held when each was last read. null: none was. It is less than what is owed where money was ' +
        'collected, and more where something arrived that is not credited.',
    ),
    held_at: nullable(schemas.instantSchema(), 'About when the newest of these readings was made.'),
    held_by: schemas.described(
      z.array(movedSum()),
      'What has changed what addresses hold, as it is recorded, signed: transfers to users that are `credited`, `held` or `refused`, ' +
        '`gas` that came otherwise, what was `collected`, and `fees` as far as readings show them. `held` is their sum and `unexplained`, ' +
        'but for what has changed since the addresses were read, and for differences that further readings confirm or not.',
    ),
    compared: schemas.countSchema('How many addresses were read.'),
    unread: schemas.countSchema(
      `Of the ${summaryUnreadMax} addresses that are read next: how many have a transfer that \`held\` may lack.`,
    ),
    frozen: schemas.amountSchema(
      'Of `held`, what is on addresses that the issuer has frozen: it cannot be collected now.',
    ),
    frozen_addresses: schemas.countSchema('How many addresses are frozen.'),
    destroyed: schemas.amountSchema('What the issuer has destroyed on addresses: it is gone, and explained.'),
    unexplained: schemas.amountSchema(
      'The differences between records and readings that have an alarm, added up: more is there (positive), or less.',
    ),
    differing: schemas.countSchema('How many addresses have such a difference.'),
    days: schemas.described(z.array(day()), `The last ${summaryDays} days, oldest first, today included.`),
  }))

const gap = () =>
  z.strictObject({
    from: schemas.countSchema('The first block that is not read yet.'),
    to: schemas.countSchema('The last one.'),
    since: schemas.instantSchema(),
    attempts: schemas.countSchema('Tries since it last went forward.'),
    why: schemas.textSchema('Why it could not be read.'),
    seen: schemas.countSchema(
      `Transfers that were seen in these blocks and wait; ${summaryGapSeenMax} means that many or more.`,
    ),
  })

const subject = () =>
  z.strictObject({
    node: z.exactOptional(schemas.idSchema('A node, by its place in `TRON_NODES`.')),
    question: z.exactOptional(schemas.described(z.enum(nodeQuestions), 'What the node fails to answer.')),
    why: z.exactOptional(schemas.textSchema('What is wrong with the node, if that is a fault of its own.')),
    height: z.exactOptional(schemas.countSchema('A block.')),
    from: z.exactOptional(schemas.countSchema('The first block of a gap when it was found.')),
    txid: z.exactOptional(schemas.textSchema('A transaction.')),
    position: z.exactOptional(schemas.positionSchema()),
    cuy: z.exactOptional(schemas.idSchema('A currency.')),
    payout: z.exactOptional(schemas.idSchema('A payout.')),
    address: z.exactOptional(schemas.textSchema('An address.')),
    contract: z.exactOptional(schemas.textSchema('The contract of a token.')),
    setting: z.exactOptional(schemas.textSchema('A setting.')),
    endpoint: z.exactOptional(schemas.idSchema('An endpoint, by its place in `WEBHOOKS`.')),
    event: z.exactOptional(schemas.idSchema('An event.')),
  })

const alarm = () =>
  z.strictObject({
    kind: schemas.described(z.enum(Object.keys(alarmTable) as AlarmKind[]), 'The kind of alarm.'),
    subject: schemas.described(subject(), 'What it is about; empty if there is one alarm of the kind at a time.'),
    since: schemas.instantSchema(),
    urgency: schemas.described(z.enum(urgencies), 'How soon a person must act.'),
    raised: schemas.textSchema('When an alarm of this kind is raised.'),
    remedy: schemas.textSchema('What to do.'),
  })

const difference = () =>
  z.strictObject({
    cuy: schemas.idSchema('The currency.'),
    address: schemas.textSchema('The address.'),
    amt: schemas.amountSchema('How much more (positive) or less it holds than is recorded.'),
    since: schemas.instantSchema(),
  })

const describeStates = () => nodeStateNames.map((name) => `\`${name}\` (${nodeStates[name].word})`).join(', ')

const node = () =>
  z.strictObject({
    number: schemas.idSchema('Its place in `TRON_NODES`.'),
    name: schemas.textSchema('Its name; without one its number, with the end of its host.'),
    state: schemas.described(
      z.enum(nodeStateNames),
      `Its state, from all that the service asks of it: ${describeStates()}.`,
    ),
    use: schemas.described(
      z.enum(nodeUses),
      '`first`: as configured. `behind`, `demoted` (slow, or outvoted) or `resting` (after failures): others are asked before it. ' +
        '`blocked` or `unfit`: it is not asked for a while.',
    ),
    behind: nullable(
      schemas.countSchema('Blocks.'),
      'How far its final blocks are behind those of the others, in blocks; null: not known.',
    ),
    answered_at: nullable(
      schemas.instantSchema(),
      'When it last gave a good answer; null: not since the scanner began.',
    ),
    answer_ms: nullable(z.int(), 'How long that answer took, in milliseconds.'),
    failed_at: nullable(schemas.instantSchema(), 'When it last failed; null: not since the scanner began.'),
    failure: nullable(z.string(), 'Why.'),
    used: schemas.countSchema('Requests that it got within about a day.'),
    per_day: schemas.countSchema('Requests that it allows in a day.'),
  })

const endpoint = () =>
  z.strictObject({
    number: schemas.idSchema('Its place in `WEBHOOKS`.'),
    behind_seconds: schemas.countSchema('The age of the oldest event that it lacks; 0 where it lacks none.'),
    failing_since: nullable(schemas.instantSchema(), 'Since when deliveries fail; null where they do not.'),
    last_failure: nullable(z.string(), 'Why the last failed delivery failed.'),
    begins_at: schemas.described(schemas.instantSchema(), 'Events that were stored before were never sent to it.'),
  })

const held = () =>
  z.strictObject({
    reason: schemas.described(z.enum(heldReasons), 'Why.'),
    cuy: schemas.idSchema('The currency.'),
    count: schemas.countSchema('How many.'),
    oldest_at: schemas.described(schemas.instantSchema(), 'When the oldest of them was found.'),
  })

const database = () =>
  z.strictObject({
    bytes: schemas.countSchema('Its size.'),
    limit: schemas.countSchema('The largest size that it can have.'),
    full_on: nullable(
      schemas.textSchema('A day (UTC).', /^\d{4}-\d\d-\d\d$/),
      'The day (UTC) on which it is full at the rate of the last 30 days. null: it does not grow, that is not known yet, or it is more than a century away.',
    ),
  })

const scan = () =>
  z.strictObject({
    status: schemas.described(z.enum(['ok', 'behind', 'stopped']), 'As `/health`.'),
    scanned: schemas.countSchema('Height up to which the chain is scanned.'),
    finalized: schemas.countSchema('Newest final height that is known.'),
    behind: schemas.countSchema('Blocks between the two.'),
    finalized_at: nullable(
      schemas.instantSchema(),
      'The time of that block on the chain: about a minute ago where the nodes follow the chain. null: not known.',
    ),
    msg: nullable(z.string(), 'What is wrong; null where nothing is.'),
    problem: nullable(
      z.enum(['no-answer', 'disagreement', 'forked', 'limited', 'out-of-time']),
      'Why the newest tick did not read every final block; null where it did.',
    ),
    oldest_held_at: nullable(
      schemas.instantSchema(),
      'When the oldest held transfer was found; null where none is held.',
    ),
  })

const payouts = () =>
  z.strictObject({
    address: schemas.textSchema('The address that payouts are paid from.', /^T\w{33}$/),
    open: schemas.described(
      z.array(
        z.strictObject({
          state: schemas.described(z.enum(openStates), 'The state.'),
          cuy: schemas.idSchema('The currency.'),
          count: schemas.countSchema('How many.'),
          sum: schemas.amountSchema('What they sum up to, in whole units, without fees.'),
          oldest_at: schemas.described(
            schemas.instantSchema(),
            'Since when the one that has been in this state for longest is in it.',
          ),
        }),
      ),
      'The open payouts, by state and currency.',
    ),
    stopped: nullable(
      z.strictObject({
        why: schemas.described(
          z.enum(['unknown-transaction', 'restored']),
          'No payout names a transaction that has moved money from the address; or an older copy of the database was restored.',
        ),
        since: schemas.instantSchema(),
        txids: schemas.described(
          z.array(schemas.textSchema('A transaction.', /^[0-9a-f]{64}$/)),
          'The transactions of the address that no payout names, the oldest 50 first.',
        ),
      }),
      'Why no payout is offered to the signer; null where they are.',
    ),
    holds: schemas.described(
      z.array(
        z.strictObject({
          symbol: schemas.textSchema('The symbol of the currency.'),
          amt: schemas.amountSchema('What the address held.'),
          read_at: schemas.instantSchema(),
        }),
      ),
      'What the address held when one node was last asked, which is only done while something is open.',
    ),
  })

/**
 * The schema of the data of `GET /ledger/summary`. Its descriptions say what each number counts.
 */
export const summarySchema = () =>
  schemas.object('Summary', () => ({
    currencies: schemas.described(z.array(currency()), 'In the order of the configuration.'),
    addresses: schemas.countSchema('How many addresses were issued.'),
    transfers: z.strictObject({
      seen: schemas.countSchema(`Transfers that are not final; ${countedMax} means that many or more.`),
      held: schemas.countSchema(`Held transfers; ${countedMax} means that many or more.`),
      held_for: z.array(held()),
    }),
    gaps: schemas.described(z.array(gap()), `Blocks that could not be read: the lowest ${summaryGapsMax} ranges.`),
    alarms: schemas.described(z.array(alarm()), `Raised alarms, at most ${summaryAlarmsMax}, ordered by their kind.`),
    differences: schemas.described(
      z.array(difference()),
      `Addresses that hold something else than is recorded, and have an alarm: the first ${summaryDifferencesMax}.`,
    ),
    newest_event: schemas.countSchema('The id of the newest event, for `/ledger/events`; 0 where there is none.'),
    database: schemas.described(database(), 'The size of the database, in bytes.'),
    scan: scan(),
    endpoints: schemas.described(z.array(endpoint()), 'The configured endpoints.'),
    payouts: nullable(payouts(), 'Payouts; null without `PAYOUTS`.'),
    nodes: nullable(
      z.array(node()),
      'The nodes of `TRON_NODES`, as the scanner has found them; null if the scanner has not said it in time.',
    ),
    quorum: schemas.idSchema('How many nodes must agree before money is credited.'),
    reader: schemas.described(
      z.strictObject({
        name: schemas.textSchema('The name of the backend, or the e-mail address of the person at the desk.'),
        scopes: schemas.described(z.array(z.string()), 'What the token, or `DESK_ACCESS`, allows.'),
      }),
      'Who asks.',
    ),
    cells: z.exactOptional(
      schemas.described(
        z.array(
          z.strictObject({
            cell: schemas.idSchema('The number of the cell.'),
            from: schemas.idSchema('Its first user.'),
            to: schemas.idSchema('Its last user.'),
          }),
        ),
        'The databases of the deployment, where it has several; this is the summary of the one that was asked.',
      ),
    ),
  }))
