import { entryTypes } from '../../worker/common/ids.ts'
import { type BookContext, type BookPart, shortKey } from './book-part.ts'
import { readUnits } from './currencies.ts'
import type { LineOf } from './lines.ts'
import { demand } from './wrong-line.ts'

type Entry = LineOf<'entry'>

/** The sign that an amount must have, by the type of its entry; 0: either. */
const signs = { 1: 1, 2: -1, 3: 0, 4: -1, 5: 1, 9: 0 } as const satisfies Record<Entry['type'], number>

/**
 * Checks entries and events: one numbering without holes, each wallet's count and running balance
 * from its first entry on, each key once, and transfers that sum to zero.
 */
export function takeEntries(context: BookContext): BookPart {
  const { counts, currency } = context
  const numbers = createNumbering()
  const transfers = createTransferSums()
  const wallets = createWallets(context)
  const addKey = context.prepare('INSERT OR IGNORE INTO entry VALUES (?, ?)')
  let newest = 0
  const entry = (line: Entry, number: number) => {
    numbers.take(line.id, false)
    demand(line.created_at >= newest, 'it is older than the entry before it')
    newest = line.created_at
    const { type, uid, cuy } = line
    const amount = readUnits(line.amt, currency(cuy))
    demand(amount !== 0 && Math.sign(amount) !== -signs[type], `an entry of type ${type} has no such amount`)
    const isRecharge = type === entryTypes.recharge
    demand(isRecharge === (line.posted_by === ''), 'recharges, and only these, are posted by nobody')
    demand(
      isRecharge === (line.osn === undefined) && isRecharge === (line.transfer_id !== undefined),
      'recharges have `transfer_id`, and all others `osn`',
    )
    wallets.add(line, amount)
    if (line.osn !== undefined) {
      const isNew = addKey.run(shortKey(uid, cuy, type, line.osn), amount).changes === 1
      demand(isNew, `the wallet has an entry of type ${type} with this osn already`)
    }
    transfers.add(line, amount, number)
    counts.entries += 1
  }
  return {
    takers: {
      entry,
      event: ({ id }) => {
        numbers.take(id, true)
        transfers.end()
      },
    },
    whole: transfers.end,
  }
}

/**
 * The numbers of entries and events. Events that are old are removed, and the archive may have
 * begun after that: so numbers may be missing before the first event, but not after it.
 */
function createNumbering() {
  let last = 0
  let isWhole = false
  return {
    take: (id: number, isEvent: boolean) => {
      demand(id > last, `number ${id} stands after number ${last}`)
      demand(!isWhole || id === last + 1, `number ${last + 1} is missing: ${id} stands in its place`)
      last = id
      isWhole ||= isEvent
    },
  }
}

/** A wallet by the entries so far. */
interface Wallet {
  readonly uid: number
  readonly cuy: number
  balance: number
  entries: number
  /** How many entries of each type there are. */
  readonly ofType: number[]
}

/** Wallets that are kept in memory: most entries are of few wallets. The others are stored. */
const walletsKept = 20_000

/** The wallets with their balances and counts. */
function createWallets({ prepare, currency }: BookContext) {
  const select = prepare('SELECT uid, cuy, balance, entries, of_type FROM wallet WHERE id = ?')
  const insert = prepare(`INSERT OR IGNORE INTO wallet VALUES (?, ?, ?, 0, 0, '[]')`)
  const update = prepare('UPDATE wallet SET balance = ?, entries = ?, of_type = ? WHERE id = ?')
  const kept = new Map<number, Wallet>()
  const storeAll = () => {
    for (const [id, { balance, entries, ofType }] of kept) update.run(balance, entries, JSON.stringify(ofType), id)
    kept.clear()
  }
  const load = ({ wallet_id, uid, cuy }: Entry): Wallet => {
    const row = select.get(wallet_id) as (Omit<Wallet, 'ofType'> & { readonly of_type: string }) | undefined
    if (row !== undefined) return { ...row, ofType: JSON.parse(row.of_type) as number[] } // as `storeAll` writes it
    demand(insert.run(wallet_id, uid, cuy).changes === 1, `user ${uid} has another wallet in currency ${cuy}`)
    return { uid, cuy, balance: 0, entries: 0, ofType: [] }
  }
  const open = (line: Entry): Wallet => {
    const known = kept.get(line.wallet_id)
    if (known !== undefined) return known
    if (kept.size >= walletsKept) storeAll()
    const wallet = load(line)
    kept.set(line.wallet_id, wallet)
    return wallet
  }
  return {
    add: (line: Entry, amount: number) => {
      const { type, wallet_id, uid, cuy } = line
      const wallet = open(line)
      const isOwn = wallet.uid === uid && wallet.cuy === cuy
      demand(isOwn, `wallet ${wallet_id} belongs to user ${wallet.uid}, currency ${wallet.cuy}`)
      const balance = wallet.balance + amount
      demand(balance >= 0, `it takes more than the ${wallet.balance} units that the wallet has`)
      demand(Number.isSafeInteger(balance), 'its balance is too large')
      demand(readUnits(line.balance, currency(cuy)) === balance, `the balance after it is ${balance} units`)
      demand(line.number === wallet.entries + 1, `it is entry ${wallet.entries + 1} of its wallet`)
      const ofType = (wallet.ofType[type] ?? 0) + 1
      demand(line.type_number === ofType, `it is entry ${ofType} of its type in its wallet`)
      wallet.balance = balance
      wallet.entries += 1
      wallet.ofType[type] = ofType
    },
  }
}

/**
 * The sums of transfers (type 3). Those of one post stand one after the other, with one time, one
 * backend and one `osn`, and sum to zero in each currency.
 */
function createTransferSums() {
  let post = ''
  let first = 0
  const sums = new Map<string, bigint>()
  const end = () => {
    for (const sum of sums.values()) demand(sum === 0n, 'the transfers of its post do not sum to zero', first)
    sums.clear()
    post = ''
  }
  return {
    end,
    add: ({ type, created_at, posted_by, osn, cuy }: Entry, amount: number, line: number) => {
      if (post !== `${created_at} ${posted_by}`) end()
      if (type !== entryTypes.transfer) return
      if (sums.size === 0) first = line
      post = `${created_at} ${posted_by}`
      const key = `${cuy} ${osn}`
      sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount))
    },
  }
}
