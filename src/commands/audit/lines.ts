import * as z from 'zod/mini'
import { err, ok, parseJson, type Result } from '../../worker/common/result.ts'

// The lines of an archive, as docs/decisions/0091-the-archive.md has them. Which texts a column may
// have, such as a state, is a rule of the database: what is made of the lines must keep it. What a
// newer version has added to the format is named, and nothing is made of it.

const archiveFormat = 'tron-wallet-archive/1'
const max = Number.MAX_SAFE_INTEGER
const whole = z.int().check(z.minimum(0), z.maximum(max))
const number = z.int().check(z.minimum(1), z.maximum(max))
const anyInteger = z.int().check(z.minimum(-max), z.maximum(max))
const flag = z.literal([0, 1])
const text = z.string()
const hash = text.check(z.regex(/^[0-9a-f]{64}$/))
const address = text.check(z.regex(/^[0-9a-f]{40}$/))
const contract = text.check(z.regex(/^([0-9a-f]{40})?$/)) // empty for TRX
const hexBytes = text.check(z.regex(/^([0-9a-f]{2})+$/))
const raw = text.check(z.regex(/^(0|[1-9][0-9]{0,77})$/))
/** Ledger units as a decimal text, which `readUnits` reads by the currency's scale. */
const decimal = text.check(z.regex(/^(0|-?(0\.[0-9]*[1-9]|[1-9][0-9]*(\.[0-9]*[1-9])?))$/))
const json = z.unknown()
const maybe = z.optional
const orNull = z.nullish

const place = z.strictObject({ event: whole, copy: maybe(z.array(z.union([text, anyInteger]))) })

const segment = z.strictObject({
  row: z.literal('segment'),
  format: z.literal(archiveFormat),
  name: text.check(z.regex(/^[^\s+]+$/u)),
  cell: number,
  epoch: number,
  first: whole,
  last: whole,
  before: hash,
  from: place,
  to: place,
  tree: z.array(hash),
  common: maybe(z.int().check(z.minimum(-1), z.maximum(max))),
})

const entry = z.strictObject({
  row: z.literal('entry'),
  id: number,
  wallet_id: number,
  uid: number,
  cuy: number,
  type: z.literal([1, 2, 3, 4, 5, 9]),
  osn: maybe(text.check(z.regex(/^[ -~]{1,200}$/))),
  transfer_id: maybe(number),
  amt: decimal,
  balance: decimal,
  mark: text,
  created_at: whole,
  posted_by: text,
  number,
  type_number: number,
})

const event = z.strictObject({
  row: z.literal('event'),
  id: number,
  type: text,
  uid: number,
  created_at: whole,
  txid: maybe(hash),
  position: maybe(anyInteger),
  cuy: maybe(number),
  raw: maybe(raw),
  address: maybe(address),
  seconds: maybe(whole),
  reason: maybe(text),
  about: maybe(json),
})

const addressLine = z.strictObject({
  row: z.literal('address'),
  id: number.check(z.maximum(2 ** 31)),
  uid: number,
  address,
  issued_height: whole,
  created_at: whole,
  unpaid: maybe(z.array(number)),
  for_orders: flag,
})

const transfer = z.strictObject({
  row: z.literal('transfer'),
  id: number,
  version: number,
  txid: hash,
  position: anyInteger,
  height: whole,
  cuy: number,
  uid: maybe(number),
  from_address: address,
  to_address: address,
  raw,
  native: flag,
  state: text,
  reason: maybe(text),
  amt: maybe(decimal),
  review: maybe(text),
  seconds: maybe(whole),
  seen_by: maybe(number),
  created_at: whole,
  changed_at: whole,
  order_id: maybe(number),
  made_at: maybe(whole),
})

const removed = z.strictObject({
  row: z.literal('removed'),
  id: number,
  txid: hash,
  position: anyInteger,
  created_at: whole,
})

const decision = z.strictObject({
  row: z.literal('decision'),
  txid: hash,
  position: anyInteger,
  decision: text,
  why: text,
  decided_by: text,
  created_at: whole,
})

const payout = z.strictObject({
  row: z.literal('payout'),
  id: number,
  version: number,
  uid: number,
  cuy: number,
  osn: text,
  amt: decimal,
  fee: decimal,
  to_address: address,
  contract,
  raw,
  mark: text,
  proof: maybe(text),
  posted_by: text,
  limit_each: maybe(decimal),
  limit_least: maybe(decimal),
  limit_day: maybe(decimal),
  limit_count: maybe(whole),
  limit_user: maybe(decimal),
  created_at: whole,
  state: text,
  changed_at: whole,
  approved_by: maybe(text),
  approved_at: maybe(whole),
  counted: flag,
  attempts: whole,
  attempts_max: whole,
  txid: maybe(hash),
  expires_at: maybe(whole),
  height: maybe(whole),
  reason: maybe(text),
  moved: maybe(json),
  received: maybe(raw),
  cancelled_by: maybe(text),
  why: maybe(text),
})

const transaction = z.strictObject({
  row: z.literal('transaction'),
  id: number,
  version: number,
  txid: hash,
  address,
  payout_id: maybe(number),
  bytes: maybe(hexBytes),
  reference: maybe(whole),
  expires_at: maybe(whole),
  changed_at: whole,
  past_height: maybe(whole),
  height: maybe(whole),
  succeeded: maybe(flag),
  moved: maybe(json),
  ended: maybe(text),
  result: maybe(text),
  reported: maybe(text),
  excused: maybe(text),
  held_back: flag,
})

const correction = z.strictObject({
  row: z.literal('correction'),
  id: number,
  finalized: whole,
  reason: text,
  created_at: whole,
})

const act = z.strictObject({
  row: z.literal('act'),
  txid: hash,
  position: anyInteger,
  height: whole,
  place: whole,
  cuy: number,
  kind: text,
  address: maybe(address),
  raw: maybe(raw),
  basis_points: maybe(raw),
  confirmed_at: maybe(whole),
  confirmation: maybe(text),
  created_at: whole,
})

const sent = z.strictObject({ row: z.literal('sent'), txid: hash, address, height: whole, cuy: number })

const order = z.strictObject({
  row: z.literal('order'),
  id: number,
  uid: number,
  cuy: number,
  reference: text,
  amt: decimal,
  at_least: decimal,
  address_id: number,
  after_height: whole,
  until: whole,
  take: flag,
  return_to: maybe(text),
  mark: text,
  posted_by: text,
  created_at: whole,
  state: text,
  credited: decimal,
  newest_entry: whole,
  held_until: whole,
  late: flag,
  taken: flag,
  ended_at: maybe(whole),
  cancelled_by: maybe(text),
  why: maybe(text),
})

const configuration = z.strictObject({
  row: z.literal('configuration'),
  settings: z.array(z.strictObject({ name: text, value: text, stored_at: whole })),
  currencies: z.array(
    z.strictObject({ cuy: number, contract: orNull(address), decimals: whole, scale: whole, stored_at: whole }),
  ),
  decimals: z.array(z.strictObject({ contract: address, decimals: whole, stored_at: whole })),
  kept: z.array(z.strictObject({ kind: text, address, height: orNull(whole), stored_at: whole })),
  ranges: z.array(z.strictObject({ id: number, first: number, last: number, stored_at: whole })),
})

const rescan = z.strictObject({
  id: number,
  kind: text,
  from_height: whole,
  to_height: whole,
  next_height: whole,
  reason: orNull(text),
  why: orNull(text),
  created_at: whole,
  next_try: whole,
  tried_at: orNull(whole),
  attempts: whole,
  receipts: whole,
  unread: orNull(json),
  finished_at: orNull(whole),
  closed: orNull(text),
})

const scan = z.strictObject({
  row: z.literal('scan'),
  height: maybe(anyInteger),
  hash: maybe(hash),
  finalized: maybe(whole),
  finalized_time: maybe(whole),
  finalized_hash: maybe(hash),
  finalized_at: maybe(whole),
  advanced_at: maybe(whole),
  caught_up_at: maybe(whole),
  tried_at: maybe(whole),
  halted: maybe(text),
  corrected_by: maybe(whole),
  restored_at: maybe(whole),
  rescans: z.array(rescan),
})

const schemas = {
  segment,
  entry,
  event,
  address: addressLine,
  transfer,
  removed,
  decision,
  payout,
  transaction,
  correction,
  act,
  sent,
  order,
  configuration,
  scan,
}

type LineKind = keyof typeof schemas

/** A line can say more than this version knows: a newer one has written it. */
type Newer = {
  /** What this version does not know, as a phrase. */
  readonly unknown?: string
}

/** A line of a kind that this version does not know. */
interface UnknownLine extends Required<Newer> {
  readonly row: 'unknown'
}

/** A line of one kind. */
export type LineOf<Kind extends LineKind | 'unknown'> = Kind extends LineKind
  ? z.infer<(typeof schemas)[Kind]> & Newer
  : UnknownLine
/** A line; `row` names its kind. */
export type ArchiveLine = { [Kind in LineKind | 'unknown']: LineOf<Kind> }[LineKind | 'unknown']

/** Parses a line without its line break, or says in a phrase why it is none. */
export function parseLine(line: string): Result<ArchiveLine, string> {
  const value = parseJson(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return err('it is no JSON object')
  // a member that stands twice, or another spelling, would be read differently by other programs
  if (JSON.stringify(value) !== line) return err('it is not written as the archive writes it')
  const { row: kind, format } = value as { readonly row?: unknown; readonly format?: unknown }
  if (typeof kind !== 'string') return err('`row` names no kind of line')
  if (!Object.hasOwn(schemas, kind)) return ok({ row: 'unknown', unknown: `the kind ${JSON.stringify(kind)}` })
  if (kind === 'segment' && /^tron-wallet-archive\/[0-9]+$/.test(String(format)) && format !== archiveFormat)
    return err(`it is written in ${format}, which only a newer version of this command reads`)
  const parsed = schemas[kind as LineKind].safeParse(value) // safe: the lines above
  if (parsed.success) return ok(parsed.data)
  const { issues } = parsed.error
  const [{ path = [], message = '', ...first } = {}] = issues
  if (issues.every(({ code }) => code === 'unrecognized_keys') && 'keys' in first) {
    const member = [...path, first.keys[0]].join('.')
    // safe: all members that this version knows were checked
    return ok({ ...(value as LineOf<LineKind>), unknown: `the member ${JSON.stringify(member)} of ${kind}` })
  }
  return err(`${kind}: \`${path.join('.') || 'members'}\` has another form (${message})`)
}
