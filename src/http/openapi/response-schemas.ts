import * as z from 'zod/mini'
import { flowTypes } from '../../ledger/entry.ts'
import { bookmarkCharsMax, bookmarkForm } from '../middleware/bookmark.ts'

/** What the document says beside a schema: an `id` makes it a component, under that name. */
export const notes = z.registry<{ id?: string; description?: string }>()

const number = (description: string) => z.int().check(z.minimum(1)).register(notes, { description })
const blocks = (description: string) => z.int().check(z.minimum(0)).register(notes, { description })
const units = (description: string) => z.number().register(notes, { description })
const text = (form: RegExp, description: string) => z.string().check(z.regex(form)).register(notes, { description })
const total = (what: string) => z.int().check(z.minimum(0)).register(notes, { description: what })

const successMsg = () => text(/^success/, '`success`; after a colon it may say, for people, what happened.')

/** The body of a success that carries data. */
const success = <Data extends z.ZodMiniType>(id: string, data: Data) =>
  z.strictObject({ code: z.literal(200), msg: successMsg(), data }).register(notes, { id })

/** What `x-d1-bookmark` holds, in requests and in answers. */
export const bookmark = z.string().check(z.maxLength(bookmarkCharsMax), z.regex(bookmarkForm))

/** `GET /tron/generate` */
export const addressAnswer = success(
  'AddressAnswer',
  z.strictObject({
    id: number("The address record's identifier."),
    address: z
      .union([
        text(/^T[1-9A-HJ-NP-Za-km-z]{33}$/, 'Base58Check, as wallets show it.'),
        text(/^41[0-9a-f]{40}$/, 'With `format=hex`: the 21 address bytes.'),
        units('With `format=number`: the integer value of the 21 bytes. It has more digits than a double keeps.'),
      ])
      .register(notes, { description: 'The address, in the format that was asked for.' }),
  }),
)

/** `GET /tron/balance` */
export const balanceAnswer = success(
  'BalanceAnswer',
  z.strictObject({ amt: units('What the addresses hold on the chain now, in whole units.') }),
)

/** `GET /tron/recharge`, the one success without data. */
export const rechargeAnswer = z
  .strictObject({ code: z.literal(200), msg: successMsg() })
  .register(notes, { id: 'RechargeAnswer' })

const wallet = z
  .strictObject({
    amt: units('The balance, in whole units: exact decimal digits, never an exponent.'),
    cuy: number('The currency: 1 is TRX and 2 is USDT as shipped.'),
  })
  .register(notes, { id: 'Wallet' })

/** `GET /wallet/list` */
export const walletListAnswer = success(
  'WalletListAnswer',
  z.strictObject({ list: z.array(wallet), count: total('How many wallets the list has.') }),
)

const flow = z
  .strictObject({
    id: number('The entry. Newer entries have higher ones.'),
    uid: number('The caller.'),
    wid: number('The wallet: one per user and currency.'),
    osn: z.string().register(notes, {
      description:
        'The serial reference, unique per type and wallet. A recharge has its txid for TRX, and `txid:k` for a token, k ' +
        "being the place of the log among the transaction's own.",
    }),
    type: z.literal(Object.values(flowTypes)).register(notes, {
      description:
        '1 recharge, 2 withdraw, 3 transfer between wallets, 4 payment, 5 refund, 9 adjustment by an operator.',
    }),
    cuy: number('The currency.'),
    amt: units('What the entry moved, signed, in whole units: entries can be summed.'),
    balance: units("The wallet's balance after the entry."),
    mark: z.string().register(notes, { description: 'A remark for people.' }),
    created_at: z.iso.datetime({ precision: 3 }).register(notes, { description: 'UTC, with milliseconds.' }),
  })
  .register(notes, { id: 'Flow' })

/** `GET /wallet/flow/list` */
export const flowListAnswer = success(
  'FlowListAnswer',
  z.strictObject({ list: z.array(flow), count: total('How many entries match, on this page or not.') }),
)

const scanState = z
  .strictObject({
    status: z.enum(['ok', 'behind', 'stopped']),
    scanned: blocks('Height up to which deposits have been looked for.'),
    finalized: blocks('Newest final height that was seen.'),
    behind: blocks('Blocks between the two.'),
  })
  .register(notes, { id: 'ScanState' })

/** `GET /health` */
export const healthAnswer = success('HealthAnswer', scanState)

const failureMembers = {
  code: z.int().check(z.minimum(400), z.maximum(599)).register(notes, { description: 'The HTTP status.' }),
  msg: text(/./, 'What is wrong, in one sentence.'),
}

/** The body of every failure of a caller's route. */
export const failureAnswer = z.strictObject(failureMembers).register(notes, { id: 'Failure' })

/** The body of a failing health check, the one failure that can have data; a crash has none. */
export const unhealthyAnswer = z
  .strictObject({ ...failureMembers, data: z.optional(scanState) })
  .register(notes, { id: 'UnhealthyAnswer' })
