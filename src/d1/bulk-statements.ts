import type { IncomingDeposit, IncomingPending } from './rows.ts'
import type { movements, sightings } from './tables.ts'

// Statements that take a list as one JSON text (?1). The names in a list's objects are the columns' names.

const place = ['txid', 'position', 'height', 'block_hash', 'cuy'] as const
const transfer = ['uid', 'from_address', 'to_address', 'raw'] as const
const depositColumns = [...place, ...transfer, 'native', 'outcome', 'amount'] satisfies (keyof IncomingDeposit)[]
const pendingColumns = [...place, ...transfer, 'reason'] satisfies (keyof IncomingPending)[]
const sightingColumns = [...place, 'to_address'] satisfies (keyof typeof sightings.$inferSelect)[]
const movementColumns = [...place, 'address', 'direction', 'raw'] satisfies (keyof typeof movements.$inferSelect)[]

const names = (columns: readonly string[]) => columns.join(', ')
const fields = (columns: readonly string[]) => columns.map((column) => `value ->> '${column}' AS ${column}`).join(', ')

/**
 * Stores deposits at time ?2, in the list's order, but for those whose credit key is known; triggers make the entries
 * and balances. One that its wallet has no room for (2^53 − 1) is kept uncredited as `too-large`: a person decides,
 * and the scan goes on. After such a one the list's later ones for the same wallet count as too large as well.
 * Answers what was stored.
 */
export const insertDeposits = `
INSERT INTO deposit (${names(depositColumns)}, created_at)
SELECT ${names([...place, ...transfer, 'native'])}, iif(fits, outcome, 'too-large'), iif(fits, amount, 0), ?2
FROM (
  SELECT incoming.*, outcome <> 'credited' OR 9007199254740991 >=
    coalesce((SELECT balance FROM wallet WHERE wallet.uid = incoming.uid AND wallet.cuy = incoming.cuy), 0)
    + total(amount) OVER (PARTITION BY uid, cuy ORDER BY place ROWS UNBOUNDED PRECEDING) AS fits
  FROM (SELECT key AS place, ${fields(depositColumns)} FROM json_each(?1)) AS incoming
  WHERE NOT EXISTS (
    SELECT 1 FROM deposit AS known WHERE known.txid = incoming.txid AND known.position = incoming.position)
)
ORDER BY place
RETURNING txid, position, outcome`

/** Keeps candidates as pending from ?2 on; of one that is pending already only the reason changes. */
export const upsertPending = `
INSERT INTO pending (${names(pendingColumns)}, since, next_try)
SELECT ${names(pendingColumns)}, ?2, ?2
FROM (SELECT ${fields(pendingColumns)} FROM json_each(?1)) AS incoming
WHERE NOT EXISTS (
  SELECT 1 FROM deposit AS known WHERE known.txid = incoming.txid AND known.position = incoming.position)
ON CONFLICT (txid, position) DO UPDATE SET reason = excluded.reason`

/** Stores movements; a known one is left as it is. */
export const insertMovements = `
INSERT INTO movement (${names(movementColumns)})
SELECT ${fields(movementColumns)} FROM json_each(?1) WHERE true
ON CONFLICT DO NOTHING`

/** Stores sightings, each credit key once. */
export const insertSightings = `
INSERT INTO sighting (${names(sightingColumns)})
SELECT ${fields(sightingColumns)} FROM json_each(?1) WHERE true
ON CONFLICT DO NOTHING`

/** Removes the pending rows with the listed credit keys. */
export const deletePending = `
DELETE FROM pending
WHERE (txid, position) IN (SELECT value ->> 'txid', value ->> 'position' FROM json_each(?1))`
