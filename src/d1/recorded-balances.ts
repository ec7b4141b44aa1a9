import type { RecordedBalance } from '../reconciliation/judge-reading.ts'

/**
 * Amounts have up to 78 digits and SQLite's integers 18: each is summed in 7 parts of 12 digits, which leaves room for 9
 * million entries of one address (beyond, SQLite fails rather than be wrong). The parts leave as text, since D1
 * hands integers back as doubles.
 */
const digitsPerPart = 12
const parts = [0, 1, 2, 3, 4, 5, 6]
const sumParts = parts
  .map((part) => `CAST(sum(CAST(substr(padded, ${1 + part * digitsPerPart}, ${digitsPerPart}) AS INTEGER)) AS TEXT)`)
  .join(', ')
const padded = `substr('${'0'.repeat(parts.length * digitsPerPart)}' || raw, -${parts.length * digitsPerPart}) AS padded`

/**
 * Sums of what is stored of the asked addresses (?1: `{address, low, high}` each) in currency ?2, by place in the list and by kind.
 * Every look-up is driven by the asked addresses, so each index is named: the planner has no statistics.
 */
export const sumRecordedBalances = `
WITH asked AS (
  SELECT key AS place, value ->> 'address' AS hex, value ->> 'low' AS low, value ->> 'high' AS high FROM json_each(?1)
)
SELECT place, kind, count(*), ${sumParts}
FROM (
  SELECT asked.place, iif(height <= low, 'in', 'in-span') AS kind, ${padded}
  FROM asked CROSS JOIN deposit INDEXED BY deposit_to ON to_address = asked.hex
  WHERE cuy = ?2 AND height <= high
  UNION ALL
  SELECT asked.place, direction || iif(height <= low, '', '-span') AS kind, ${padded}
  FROM asked CROSS JOIN movement ON movement.address = asked.hex
  WHERE cuy = ?2 AND height <= high
  UNION ALL
  SELECT asked.place, 'pending' AS kind, ${padded}
  FROM asked CROSS JOIN address INDEXED BY address_hex ON address.hex = asked.hex
    CROSS JOIN pending INDEXED BY pending_uid ON pending.uid = address.uid AND to_address = asked.hex
  WHERE cuy = ?2 AND height <= high
)
GROUP BY place, kind`

type Kind = 'in' | 'in-span' | 'out' | 'out-span' | 'pending'
/** A row of `sumBooks`. Each part holds 12 digits of the sum, or more where they carry over. */
export type SumRow = [place: number, kind: Kind, entries: number, ...parts: string[]]
type Sums = Record<Kind, { readonly entries: number; readonly sum: bigint }>

const none = { entries: 0, sum: 0n }
const noSums: Sums = { in: none, 'in-span': none, out: none, 'out-span': none, pending: none }

/** The books of `count` addresses, in the order in which they were asked for. */
export function readRecordedBalances(count: number, rows: readonly SumRow[]): readonly RecordedBalance[] {
  const all = Array.from({ length: count }, (): Sums => ({ ...noSums }))
  for (const [place, kind, entries, ...sums] of rows) {
    const own = all[place]
    if (own !== undefined) own[kind] = { entries, sum: joinDigits(sums) }
  }
  return all.map((sums) => ({
    before: sums.in.sum - sums.out.sum,
    receivedWithin: sums['in-span'].sum,
    sentWithin: sums['out-span'].sum,
    pending: sums.pending.sum,
    outgoingBefore: sums.out.entries,
    outgoingWithin: sums['out-span'].entries,
  }))
}

function joinDigits(sums: readonly string[]): bigint {
  return sums.reduce((sum, part) => sum * 10n ** BigInt(digitsPerPart) + BigInt(part), 0n)
}
