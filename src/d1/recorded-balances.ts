import { sql } from 'drizzle-orm'
import type { RecordedBalance } from '../reconciliation/judge-reading.ts'
import { param, statement } from './statement.ts'
import { addresses, deposits, movements, pendingDeposits } from './tables.ts'

/**
 * Amounts have up to 78 digits and SQLite's integers 18. So each amount is summed in 7 parts of 12 digits, which has room
 * for 9 million rows of one address (with more, SQLite fails). The parts are returned as text, since D1 returns integers
 * as doubles.
 */
const digitsPerPart = 12
const parts = [0, 1, 2, 3, 4, 5, 6]
const digitsMax = parts.length * digitsPerPart
const sumParts = sql.raw(
  parts
    .map((part) => `CAST(sum(CAST(substr(padded, ${1 + part * digitsPerPart}, ${digitsPerPart}) AS INTEGER)) AS TEXT)`)
    .join(', '),
)
const padded = sql.raw(`substr('${'0'.repeat(digitsMax)}' || raw, -${digitsMax}) AS padded`)

/**
 * Sums of what is stored of the spans in `list` (objects with `address`, `fromHeight` and `toHeight`) in one currency, by
 * place in the list and by kind. CROSS JOIN makes the list the outer loop, and INDEXED BY names the inner look-ups: the
 * planner has no statistics.
 */
export const sumRecordedBalances = statement(sql`
WITH span AS (
  SELECT key AS place, value ->> 'address' AS address, value ->> 'fromHeight' AS from_height,
    value ->> 'toHeight' AS to_height
  FROM json_each(${param('list')})
)
SELECT place, kind, count(*), ${sumParts}
FROM (
  SELECT span.place, iif(${deposits.height} <= from_height, 'received', 'received-within') AS kind, ${padded}
  FROM span CROSS JOIN ${deposits} INDEXED BY deposit_to ON ${deposits.to_address} = span.address
  WHERE ${deposits.cuy} = ${param('cuy')} AND ${deposits.height} <= to_height
  UNION ALL
  SELECT span.place, iif(${movements.direction} = 'in', 'received', 'sent')
    || iif(${movements.height} <= from_height, '', '-within') AS kind, ${padded}
  FROM span CROSS JOIN ${movements} ON ${movements.address} = span.address
  WHERE ${movements.cuy} = ${param('cuy')} AND ${movements.height} <= to_height
  UNION ALL
  SELECT span.place, 'pending' AS kind, ${padded}
  FROM span CROSS JOIN ${addresses} INDEXED BY address_address ON ${addresses.address} = span.address
    CROSS JOIN ${pendingDeposits} INDEXED BY pending_uid
    ON ${pendingDeposits.uid} = ${addresses.uid} AND ${pendingDeposits.to_address} = span.address
  WHERE ${pendingDeposits.cuy} = ${param('cuy')} AND ${pendingDeposits.height} <= to_height
)
GROUP BY place, kind`)

type Kind = 'received' | 'received-within' | 'sent' | 'sent-within' | 'pending'
/** A row of `sumRecordedBalances`. Each part has 12 digits of the sum, or more where they carry over. */
export type SumRow = [place: number, kind: Kind, rows: number, ...parts: string[]]

/** The recorded balances of `count` addresses, in the order of the list. */
export function readRecordedBalances(count: number, rows: readonly SumRow[]): readonly RecordedBalance[] {
  const byKey = new Map(rows.map(([place, kind, rowCount, ...sums]) => [`${place} ${kind}`, { rowCount, sums }]))
  return Array.from({ length: count }, (_, place) => {
    const sumOf = (kind: Kind) => joinDigits(byKey.get(`${place} ${kind}`)?.sums ?? [])
    const countOf = (kind: Kind) => byKey.get(`${place} ${kind}`)?.rowCount ?? 0
    return {
      before: sumOf('received') - sumOf('sent'),
      receivedWithin: sumOf('received-within'),
      sentWithin: sumOf('sent-within'),
      pending: sumOf('pending'),
      outgoingBefore: countOf('sent'),
      outgoingWithin: countOf('sent-within'),
    }
  })
}

function joinDigits(sums: readonly string[]): bigint {
  return sums.reduce((sum, part) => sum * 10n ** BigInt(digitsPerPart) + BigInt(part), 0n)
}
