import { formatPosition } from '../../worker/chain/block.ts'
import { parseAmount } from '../../worker/common/amount.ts'
import { entryTypes } from '../../worker/common/ids.ts'
import type { Result } from '../../worker/common/result.ts'
import { postEntriesMax } from '../../worker/ledger/parse-post.ts'
import type { ServiceAnswer } from '../operate/service.ts'
import { ToolError, type ToolRefusal } from '../tool-error.ts'
import type { LostKind } from './lost-lines.ts'
import { jsonSql, type MissingRow } from './missing.ts'

export interface PutBackParts {
  /** Runs a statement on the database. */
  readonly run: (sql: string) => Promise<Result<unknown, ToolRefusal>>
  /** The scale of each currency that the database has stored. */
  readonly scales: ReadonlyMap<number, number>
  /** Sends a request to the service, in the name of whoever did it first, with this scope. */
  readonly ask: (name: string, scope: string, path: string, body: object) => Promise<ServiceAnswer>
  /** Takes a line for people. */
  readonly print: (line: string) => void
}

/** Rows in one statement: each takes some 500 bytes, and wrangler takes it as an argument. */
const rowsMax = 100

/**
 * Puts back what this command may, in the order in which it depends on each other. Addresses and
 * orders are rows, because no route gives a user a certain address; decisions, cancellations and
 * entries are asked of the service, which checks the rules. Prints each that is refused. What was
 * put back is not missing any more when the database is read again.
 */
export async function putBack(missing: readonly MissingRow[], parts: PutBackParts): Promise<void> {
  const of = <Kind extends LostKind>(kind: Kind) => {
    const found = missing.filter((row) => row.kind === kind && row.way.by === 'command')
    return found as unknown as readonly MissingRow<Kind>[] // safe: of this kind
  }
  await insertRows(
    of('address').toSorted((a, b) => a.line.id - b.line.id),
    addressSql,
    parts,
  )
  const orders = of('order')
  const toInsert = orders.filter(({ way }) => way.by === 'command' && way.act === 'insert')
  await insertRows(toInsert, (rows) => orderSql(rows, parts.scales), parts)
  for (const row of of('decision')) await decide(row, parts)
  for (const row of orders) if (row.line.state === 'cancelled') await cancel(row, parts)
  for (const post of cutPosts(of('entry'))) await postAgain(post, parts)
}

/**
 * Inserts rows. If the database refuses some of them together, inserts each alone, so that one that
 * is refused keeps no other one from being put back.
 */
async function insertRows<Kind extends LostKind>(
  rows: readonly MissingRow<Kind>[],
  toSql: (rows: readonly MissingRow<Kind>[]) => string,
  parts: PutBackParts,
  count = rowsMax,
): Promise<void> {
  for (let i = 0; i < rows.length; i += count) {
    const part = rows.slice(i, i + count)
    const done = await parts.run(toSql(part))
    if (done.ok) continue
    if (!/: |CHECK/.test(done.error.why)) throw new ToolError(done.error.why, done.error.next)
    const [only, ...others] = part
    if (others.length > 0) await insertRows(part, toSql, parts, 1)
    else if (only !== undefined) parts.print(`  refused: ${only.text}: ${done.error.why}`)
  }
}

const member = (name: string) => `value ->> '${name}'`

/** Each gets its archived height and time, so that it owns what was paid to it since. */
function addressSql(rows: readonly MissingRow<'address'>[]): string {
  const list = rows.map(({ line: { unpaid, ...line } }) => ({
    ...line,
    unpaid: unpaid === undefined ? null : JSON.stringify(unpaid),
  }))
  const names = ['id', 'uid', 'address', 'issued_height', 'created_at', 'unpaid', 'for_orders']
  const values = names.map((name) => (name === 'address' ? `unhex(${member(name)})` : member(name)))
  return `INSERT INTO stored_address (${names.join(', ')}) SELECT ${values.join(', ')}
    FROM json_each(${jsonSql(list)}) ORDER BY key`
}

const holdMs = 86_400_000
/** Each is as open as it was first: its deposits and its time make the rest of it again. */
function orderSql(rows: readonly MissingRow<'order'>[], scales: ReadonlyMap<number, number>): string {
  const list = rows.map(({ line }) => {
    const units = (text: string) => {
      const amount = parseAmount(text, scales.get(line.cuy) ?? 0)
      if (!amount.ok) throw new ToolError(`currency ${line.cuy} is not stored`, 'start the service with it once')
      return Number(amount.value)
    }
    return { ...line, amount: units(line.amt), at_least: units(line.at_least), held_until: line.until + holdMs }
  })
  const names = [
    ...['uid', 'cuy', 'reference', 'amount', 'at_least', 'address_id', 'after_height', 'until', 'take', 'return_to'],
    ...['mark', 'posted_by', 'created_at', 'held_until'],
  ]
  return `INSERT INTO payment_order (${names.join(', ')}) SELECT ${names.map(member).join(', ')}
    FROM json_each(${jsonSql(list)}) ORDER BY key`
}

/**
 * Whether it was done. Prints why the rules refuse it. Throws if the service does not let this
 * command ask at all, or fails.
 */
function isDone(answer: ServiceAnswer, text: string, { print }: PutBackParts): boolean {
  if (answer.ok) return true
  const { status, why } = answer
  if (![400, 404, 409, 422].includes(status)) {
    const next = 'give the secret and the URL of this service; then the same command goes on, and does nothing twice'
    throw new ToolError(`${status}: ${why}`, next)
  }
  print(`  refused: ${text}: ${status}, ${why}`)
  return false
}

async function decide({ line, text }: MissingRow<'decision'>, parts: PutBackParts): Promise<void> {
  const { txid, position, decision, why, decided_by: name } = line
  const body = { deposits: [{ txid, position: formatPosition(position), decision, why }] }
  isDone(await parts.ask(name, 'ledger:approve', '/ledger/deposits/decide', body), text, parts)
}

async function cancel({ line, text }: MissingRow<'order'>, parts: PutBackParts): Promise<void> {
  const { uid, reference, cancelled_by: name = line.posted_by, why } = line
  const body = { orders: [{ uid, order: reference }], ...(why === undefined ? {} : { why }) }
  isDone(await parts.ask(name, 'ledger:post', '/ledger/orders/cancel', body), text, parts)
}

type Entries = readonly MissingRow<'entry'>[]

/** Entries of one backend and time: these were one post, or a few. */
function cutPosts(entries: Entries): readonly Entries[] {
  const posts: MissingRow<'entry'>[][] = []
  for (const entry of entries) {
    const last = posts.at(-1)?.at(-1)?.line
    const { posted_by: name, created_at: time } = entry.line
    if (last?.posted_by === name && last.created_at === time) posts.at(-1)?.push(entry)
    else posts.push([entry])
  }
  return posts
}

const { transfer } = entryTypes

/** The least that can be posted: the entries of a transfer, which sum to zero, or one entry. */
function cutTransfers(entries: Entries): readonly Entries[] {
  const parts = Map.groupBy(entries, ({ line, number }) =>
    line.type === transfer ? `${transfer} ${line.osn}` : `${number}`,
  )
  return [...parts.values()]
}

/** Posts entries in their order, together as they were; if that is refused, the parts of them. */
async function postAgain(entries: Entries, parts: PutBackParts): Promise<void> {
  const pieces = cutTransfers(entries)
  if (entries.length <= postEntriesMax) {
    const answer = await post(entries, parts)
    if (answer.ok || pieces.length <= 1) {
      isDone(answer, describe(entries), parts)
      return
    }
  }
  for (const piece of pieces) isDone(await post(piece, parts), describe(piece), parts)
}

const describe = (entries: Entries) => entries.map(({ text }) => text).join(' and ')

function post(entries: Entries, parts: PutBackParts): Promise<ServiceAnswer> {
  const list = entries.map(({ line: { uid, cuy, type, osn, amt, mark } }) => ({ uid, cuy, type, osn, amt, mark }))
  return parts.ask(entries[0]?.line.posted_by ?? '', 'ledger:post', '/ledger/entries', { entries: list })
}
