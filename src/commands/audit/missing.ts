import type { Address } from '../../worker/chain/address.ts'
import { formatBase58 } from '../../worker/chain/address.ts'
import { formatPosition } from '../../worker/chain/block.ts'
import { formatUnits } from '../../worker/common/amount.ts'
import { entryTypes } from '../../worker/common/ids.ts'
import { type DatabaseRow, quoted } from '../database.ts'
import type { QueryRows } from '../reading-database.ts'
import type { LineOf } from './lines.ts'
import { type LostKind, type LostRow, type LostRows, lostKinds } from './lost-lines.ts'

/** How a row that is missing can come back. */
export type Way =
  /** By this command: the row itself, or the step that an order lacks. */
  | { readonly by: 'command'; readonly act: 'insert' | 'cancel' }
  /** Not by this command, for this reason. */
  | { readonly by: 'other'; readonly why: string }

/** A row of the archive that the database lacks, or has otherwise. */
export interface MissingRow<Kind extends LostKind = LostKind> extends LostRow<Kind> {
  readonly kind: Kind
  /** A phrase that says what it is. */
  readonly text: string
  readonly way: Way
}

/** Keys of one call: wrangler takes its statements as one argument. */
const sqlCharsMax = 60_000

/** SQL that finds what the database has under each key; `at(n)` is the n-th part of the key. */
const lookups: Readonly<Record<LostKind, (at: (n: number) => string) => string>> = {
  address: (at) => `(SELECT json_array(uid, lower(hex(address))) FROM stored_address WHERE id = ${at(0)})`,
  order: (at) => `(SELECT json_array(state) FROM payment_order WHERE uid = ${at(0)} AND reference = ${at(1)})`,
  decision: (at) => `(SELECT json_array(1) FROM decision
    WHERE txid = ${at(0)} AND position = ${at(1)} AND decision = ${at(2)})`,
  entry: (at) => `json_array((SELECT amount FROM wallet CROSS JOIN stored_flow AS flow ON flow.wallet_id = wallet.id
      AND flow.type = ${at(2)} AND flow.osn = ${at(3)} WHERE uid = ${at(0)} AND cuy = ${at(1)}),
    (SELECT scale FROM stored_currency WHERE cuy = ${at(1)}),
    EXISTS (SELECT 1 FROM payout WHERE uid = ${at(0)} AND cuy = ${at(1)} AND osn = ${at(3)}))`,
  transfer: (at) => `(SELECT json_array(state, uid) FROM stored_transfer
    WHERE txid = unhex(${at(0)}) AND position = ${at(1)})`,
  payout: (at) => `(SELECT json_array(state) FROM payout
    WHERE uid = ${at(0)} AND cuy = ${at(1)} AND osn = ${at(2)})`,
  correction: (at) => `(SELECT json_array(1) FROM correction WHERE finalized = ${at(0)} AND created_at = ${at(1)})`,
}

/** The values that the database has under a key, by the lookup; null if it has nothing. */
type Found = readonly (string | number | null)[] | null

/** A text as SQL, without a space or a semicolon in it: wrangler searches for words of SQL. */
export const jsonSql = (value: unknown): string =>
  quoted(JSON.stringify(value).replaceAll(' ', '\\u0020').replaceAll(';', '\\u003b'))

/** A row with its kind. */
type KindedRow = LostRow<LostKind> & { readonly kind: LostKind }

/** Looks rows up, one kind after the other, in few calls: wrangler takes seconds to start. */
async function lookUp(read: QueryRows, rows: readonly KindedRow[]): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const part of cutRows(rows)) {
    const statements = [...Map.groupBy(part, ({ kind }) => kind)].map(([kind, ofKind]) => {
      const find = lookups[kind]((n) => `(wanted.value ->> ${n})`)
      const keys = jsonSql(ofKind.map(({ key }) => key))
      return `SELECT ${find} AS found FROM json_each(${keys}) AS wanted ORDER BY wanted.key`
    })
    for (const row of (await read(statements)).flat() as readonly DatabaseRow[]) {
      found.push(row.found == null ? null : (JSON.parse(String(row.found)) as Found)) // safe: the lookups above
    }
  }
  return found
}

function cutRows(rows: readonly KindedRow[]): readonly (readonly KindedRow[])[] {
  const parts: KindedRow[][] = []
  let chars = sqlCharsMax
  for (const row of rows) {
    const { length } = jsonSql(row.key)
    chars += length
    if (chars > sqlCharsMax) {
      parts.push([])
      chars = length
    }
    parts.at(-1)?.push(row)
  }
  return parts
}

/** Compares the rows of lost lines with the database. Returns those that it lacks, by kinds. */
export async function findMissing(read: QueryRows, lost: LostRows): Promise<readonly MissingRow[]> {
  const judges = createJudges(lost)
  const rows = lostKinds.flatMap((kind) => lost[kind].map((row): KindedRow => ({ ...row, kind })))
  const found = await lookUp(read, rows)
  return rows.flatMap((row, i) => {
    const judge = judges[row.kind] as (row: LostRow<LostKind>, found: Found) => Verdict // safe: of this kind
    const verdict = judge(row, found[i] ?? null)
    return verdict === null ? [] : [{ ...row, ...verdict }]
  })
}

type Verdict = Pick<MissingRow, 'text' | 'way'> | null

const insert: Way = { by: 'command', act: 'insert' }
const other = (why: string): Way => ({ by: 'other', why })
const byScan = other('the scan credits it; if its block was read before, rescan')
const byPerson = other('a person asks for it again: docs/guides/repair.md, "Backup and restore"')

/** For each kind: whether a row is missing, by what the database has under its key. */
function createJudges(lost: LostRows) {
  const newestOf = new Map(lost.address.map(({ line }) => [line.id, line.uid]))
  const payoutKeys = new Set(lost.payout.map(({ line: { uid, cuy, osn } }) => `${uid} ${cuy} ${osn}`))
  const takenKeys = new Set(
    lost.order.flatMap(({ line: { uid, cuy, reference, take } }) => (take === 1 ? `${uid} ${cuy} ${reference}` : [])),
  )
  const judges: { readonly [Kind in LostKind]: (row: LostRow<Kind>, found: Found) => Verdict } = {
    address: ({ line: { id, uid, address, issued_height } }, found) => {
      const [owner = null, stored] = found ?? []
      if (owner === uid && stored === address) return null
      // safe: 40 hex digits
      const text = `address ${formatBase58(address as Address)} (index ${id - 1}) of user ${uid}, issued at height ${issued_height}`
      if (owner !== null) return { text, way: other(`user ${owner} has it now`) }
      if (newestOf.get(id) === uid) return { text, way: insert }
      return { text, way: other(`user ${newestOf.get(id)} was given it later`) }
    },
    order: ({ line: { uid, cuy, reference, amt, state } }, found) => {
      const text = `order ${reference} of user ${uid}, ${amt} of currency ${cuy}, ${state}`
      if (found === null) return { text, way: insert }
      if (found[0] === state || state === 'open' || state === 'expired') return null
      if (state === 'cancelled') return { text, way: { by: 'command', act: 'cancel' } }
      if (found[0] === 'paid') return null
      return {
        text,
        way: other('it counts its deposits with the scan; those that are credited already count for none'),
      }
    },
    decision: ({ line: { txid, position, decision, decided_by } }, found) =>
      found !== null
        ? null
        : { text: `decision to ${decision} deposit ${txid} ${formatPosition(position)} by ${decided_by}`, way: insert },
    entry: ({ line }, found) => judgeEntry(line, found, payoutKeys, takenKeys),
    transfer: ({ line: { txid, position, uid, cuy, amt, state, height } }, found) => {
      const [stored = null, owner = null] = found ?? []
      if (state !== 'credited' || (stored === 'credited' && owner === uid)) return null
      const text = `deposit ${txid} ${formatPosition(position)} of user ${uid}, ${amt} of currency ${cuy}, in block ${height}`
      if (stored === 'credited') return { text, way: other(`it is credited to user ${owner}`) }
      if (position < 0) return { text, way: other('its user asks for its txid again: /tron/recharge?txid=') }
      return { text, way: byScan }
    },
    payout: ({ line: { uid, cuy, osn, amt, state, txid } }, found) => {
      if (isAsFar(String(found?.[0]), state)) return null
      const sent = txid === undefined ? '' : `, transaction ${txid}`
      return { text: `payout ${osn} of user ${uid}, ${amt} of currency ${cuy}, ${state}${sent}`, way: byPerson }
    },
    correction: ({ line: { finalized, reason } }, found) =>
      found !== null
        ? null
        : { text: `correction to height ${finalized}: ${reason}`, way: other('a person decides whether it is needed') },
  }
  return judges
}

/** The states of a payout in the order in which it gets further. The last two are for good. */
const payoutSteps = ['waiting', 'approved', 'signed', 'stuck', 'paid', 'cancelled']

/** Whether a payout in the stored state has come as far as it had in the lost one. */
function isAsFar(stored: string, lost: string): boolean {
  const isEnd = payoutSteps.indexOf(lost) >= payoutSteps.indexOf('paid')
  return isEnd ? stored === lost : payoutSteps.indexOf(stored) >= payoutSteps.indexOf(lost)
}

function judgeEntry(
  { uid, cuy, type, osn, amt }: LineOf<'entry'>,
  found: Found,
  payoutKeys: ReadonlySet<string>,
  takenKeys: ReadonlySet<string>,
): Verdict {
  const [amount = null, scale = null, isOfPayout] = found ?? []
  const text = `entry ${osn} of user ${uid}, type ${type}, ${amt} of currency ${cuy}`
  if (amount !== null) {
    const stored = formatUnits(BigInt(amount), Number(scale))
    return stored === amt ? null : { text, way: other(`the database has ${stored} under its key`) }
  }
  const key = `${uid} ${cuy} ${osn}`
  const mayBePayout = type === entryTypes.withdraw || type === entryTypes.payment || type === entryTypes.refund
  if (mayBePayout && (isOfPayout === 1 || payoutKeys.has(key))) return { text, way: other('it comes with its payout') }
  if (type === entryTypes.payment && takenKeys.has(key)) return { text, way: other('it comes with its order') }
  return { text, way: insert }
}
