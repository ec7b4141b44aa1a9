import { deriveAddress, type ExtendedPublicKey } from '../../addresses/derive.ts'
import { formatHex } from '../../chain/address.ts'

/** The caller who has the reserved addresses. No user may have this number. */
const reservedUid = Number.MAX_SAFE_INTEGER
/** Addresses of one statement: 100 bytes each, and a statement can have 100 kB. */
const rowsMax = 500

/**
 * The statements that store the addresses at the indices `from` to `to` as those of `reservedUid`. What was final before is not
 * theirs, as with any new address.
 */
export function reserveSql(key: ExtendedPublicKey, from: number, to: number): readonly string[] {
  const indices = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const rows = indices.map((index) => {
    const address = formatHex(deriveAddress(key, index)).slice(-40)
    return `(${index}, ${reservedUid}, '${address}', (SELECT finalized FROM scan), ${now})`
  })
  return Array.from({ length: Math.ceil(rows.length / rowsMax) }, (_, i) => {
    const values = rows.slice(i * rowsMax, (i + 1) * rowsMax).join(', ')
    return `INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES ${values}`
  })
}

const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
