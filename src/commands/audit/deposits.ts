import { entryTypes } from '../../worker/common/ids.ts'
import { type BookContext, type BookPart, shortKey } from './book-part.ts'
import { readUnits, unitsWorth } from './currencies.ts'
import type { LineOf } from './lines.ts'
import { demand } from './wrong-line.ts'

type Transfer = LineOf<'transfer'>

interface TransferRow {
  readonly id: number
  readonly version: number
  readonly key: string
  /** When the row was made: a later one can have its id, txid and position. */
  readonly created: number
  readonly uid: number | null
  readonly cuy: number
  readonly state: Transfer['state']
  /** The credited amount, in ledger units; null in any other state. */
  readonly amount: number | null
  /** The recharge of a credited transfer, once it was read. */
  readonly entry: number | null
}

/**
 * Checks addresses, transfers, decisions and recharges: each address has one user, each transfer is
 * credited at most once and to the owner of its address, with what it is worth, and each recharge
 * has its transfer.
 */
export function takeDeposits(context: BookContext): BookPart {
  const { counts, prepare } = context
  const transfers = createTransfers(context)
  const selectUnpaid = prepare(
    `SELECT line FROM transfer WHERE state = 'credited' AND entry IS NULL ORDER BY line LIMIT 1`,
  )
  const selectOwner = prepare(
    `SELECT transfer.uid, address.uid AS owner FROM transfer LEFT JOIN address ON address = to_address
      WHERE transfer.id = ?`,
  )
  return {
    takers: {
      address: takeAddresses(context),
      transfer: transfers.take,
      removed: transfers.remove,
      decision: takeDecisions(context),
      entry: (line) => {
        if (line.type === entryTypes.recharge) transfers.credit(line)
      },
    },
    checks: {
      address: (id) => {
        const row = selectOwner.get(id) as { uid: number | null; owner: number | null } | undefined
        const { uid = null, owner = null } = row ?? {}
        demand(uid === null || owner === uid, `its recipient is no address of user ${uid}`)
      },
      removed: (id) => demand(false, `transfer ${id} was in its place, and no line says that it was removed`),
    },
    whole: () => {
      if (transfers.credited() === counts.credits) return
      const { line } = (selectUnpaid.get() ?? {}) as { line?: number }
      demand(false, 'the transfer is credited, and no entry is its recharge', line)
    },
  }
}

/** An address stands again only as it was, but for a height that a correction has lowered. */
function takeAddresses({ prepare }: BookContext) {
  const insert = prepare('INSERT OR IGNORE INTO address VALUES (?, ?, ?)')
  const select = prepare('SELECT uid FROM address WHERE id = ? AND address = ?')
  return ({ id, uid, address }: LineOf<'address'>) => {
    if (insert.run(id, uid, address).changes === 1) return
    const { uid: owner } = (select.get(id, address) ?? {}) as { uid?: number }
    demand(owner === uid, 'its id or its address belongs to another row')
  }
}

/** A decision stands again only as it was. */
function takeDecisions({ prepare }: BookContext) {
  const insert = prepare('INSERT OR IGNORE INTO decision VALUES (?, ?)')
  const select = prepare('SELECT 1 FROM decision WHERE key = ? AND content = ?')
  return ({ txid, position, decision, why, decided_by, created_at }: LineOf<'decision'>) => {
    const [key, content] = [shortKey(txid, position, decision), shortKey(created_at, decided_by, why)]
    if (insert.run(key, content).changes === 1) return
    demand(select.get(key, content) !== undefined, 'the transfer has another decision of this kind already')
  }
}

function createTransfers({ counts, prepare, currency, later }: BookContext) {
  const columns = 'id, version, key, created, uid, cuy, state, amount, entry'
  const select = prepare(`SELECT ${columns} FROM transfer WHERE id = ?`)
  const selectByKey = prepare(`SELECT ${columns} FROM transfer WHERE key = ? AND id <> ?`)
  const remove = prepare('DELETE FROM transfer WHERE id = ?')
  const store = prepare(`INSERT INTO transfer (id, version, key, created, uid, cuy, state, amount, to_address, line)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version, uid = excluded.uid,
      cuy = excluded.cuy, state = excluded.state, amount = excluded.amount, to_address = excluded.to_address,
      line = excluded.line`)
  const setEntry = prepare('UPDATE transfer SET entry = ? WHERE id = ?')
  const isTold = prepare(`DELETE FROM pending WHERE kind = 'removed' AND id = ?`)
  let credited = 0
  /** Removes a row in whose place the one of this line is; its line `removed` may still follow. */
  const replace = ({ id, state }: TransferRow, line: number) => {
    demand(state !== 'credited', `transfer ${id}, which is credited, has its id, or its txid and position`)
    remove.run(id)
    later('removed', id, line)
  }
  /** The amount that a transfer line says is credited, in ledger units; null if it is not. */
  const creditOf = ({ state, amt, cuy, raw, uid }: Transfer): number | null => {
    demand((state === 'credited') === (amt !== undefined), 'credited transfers, and only these, have `amt`')
    demand((state === 'moved') === (uid === undefined), 'moved transfers, and only these, have no user')
    if (amt === undefined) return null
    const amount = readUnits(amt, currency(cuy))
    demand(amount > 0 && BigInt(amount) === unitsWorth(raw, currency(cuy)), `${raw} chain units are not worth ${amt}`)
    return amount
  }
  return {
    credited: () => credited,
    remove: ({ id, txid, position, created_at }: LineOf<'removed'>) => {
      isTold.run(id)
      const known = select.get(id) as TransferRow | undefined
      if (known?.key !== shortKey(txid, position) || known.created !== created_at) return
      demand(known.state !== 'credited', 'a credited transfer is never removed')
      remove.run(id)
    },
    take: (line: Transfer, number: number) => {
      const { id, version, txid, position, created_at, cuy, uid = null, state, to_address } = line
      const key = shortKey(txid, position)
      const amount = creditOf(line)
      const stored = select.get(id) as TransferRow | undefined
      const twin = selectByKey.get(key, id) as TransferRow | undefined
      const known = stored?.key === key && stored.created === created_at ? stored : undefined
      if (stored !== undefined && known === undefined) replace(stored, number)
      if (twin !== undefined) replace(twin, number)
      demand(known === undefined || version >= known.version, `version ${known?.version} of it stands before`)
      const isKept = known?.amount == null || (known.amount === amount && known.uid === uid && known.cuy === cuy)
      demand(isKept, 'what it has credited is changed')
      if (amount !== null && known?.amount == null) credited += 1
      store.run(id, version, key, created_at, uid, cuy, state, amount, to_address, number)
      if (uid !== null) later('address', id, number)
    },
    credit: ({ id, transfer_id = 0, uid, cuy, amt }: LineOf<'entry'>) => {
      const transfer = select.get(transfer_id) as TransferRow | undefined
      demand(transfer?.state === 'credited', `transfer ${transfer_id} is not credited`)
      demand(transfer.entry === null, `transfer ${transfer_id} is credited by entry ${transfer.entry} already`)
      const isEqual = transfer.amount === readUnits(amt, currency(cuy)) && transfer.uid === uid && transfer.cuy === cuy
      demand(isEqual, `transfer ${transfer_id} credits another amount, currency or user`)
      setEntry.run(id, transfer_id)
      counts.credits += 1
    },
  }
}
