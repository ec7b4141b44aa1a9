import type { Uid } from '../ledger/entry.ts'
import type { FlowFilter, FlowPage } from '../ledger/ledger-store.ts'

/** A statement and the values of its ten parameters. Its first row holds the count, the others an entry each. */
export interface FlowQuery {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

const columns = ['id', 'uid', 'wallet', 'osn', 'type', 'cuy', 'amount', 'balance', 'mark', 'created_at']
const noEntry = columns.map((column) => `NULL AS ${column}`).join(', ')

/**
 * One statement for a page of ledger entries and the number of all that match. Every shape of filter walks an index
 * from its newest end, so a page below an id costs the same at any depth; each index is named, because the planner
 * has no statistics to choose it by. (A join of page and count reads every row twice: SQLite stores the page first.)
 */
export function flowQuery(uid: Uid, filter: FlowFilter, page: FlowPage): FlowQuery {
  const wanted = scope(filter)
  const below = page.kind === 'before' ? ' AND id < ?8' : ''
  return {
    sql: `SELECT ${wanted.count} AS n, ${noEntry} UNION ALL SELECT NULL, * FROM (
      SELECT ${columns.join(', ')} FROM ${wanted.list(below)} ORDER BY id DESC LIMIT ?9 OFFSET ?10)`,
    values: [
      uid,
      filter.cuy,
      filter.wid,
      filter.type,
      filter.osn,
      filter.from,
      filter.to,
      page.kind === 'before' ? page.before : null,
      page.limit,
      page.kind === 'before' ? 0 : (page.page - 1) * page.limit,
    ],
  }
}

/** The entries that match, as what follows FROM, and an expression for their number. */
interface Scope {
  readonly list: (below: string) => string
  readonly count: string
}

function scope(filter: FlowFilter): Scope {
  const oneWallet = filter.cuy !== null || filter.wid !== null
  const cuy = filter.cuy === null ? '' : ' AND cuy = ?2'
  const wid = filter.wid === null ? '' : ' AND id = ?3'
  const wallets = `FROM wallet WHERE uid = ?1${cuy}${wid}`
  const span = spanOfIds(filter)
  const counted = (rows: string): Scope => ({
    list: (below) => rows + below,
    count: `(SELECT count(*) FROM ${rows})`,
  })
  if (filter.osn !== null) {
    const type = filter.type === null ? '' : ' AND type = ?4'
    const osn = isTxid(filter.osn) ? bareTxid : 'osn = ?5'
    return counted(`flow INDEXED BY flow_osn WHERE wallet IN (SELECT id ${wallets}) AND ${osn}${type}${span}`)
  }
  if (filter.type !== null) {
    const typed = (wallet: string) => `flow INDEXED BY flow_type WHERE wallet ${wallet} AND type = ?4${span}`
    if (oneWallet) return counted(typed(`= (SELECT id ${wallets})`))
    return {
      // The newest of each wallet, then the newest of those: an index per wallet can't be walked as one.
      list: (
        below,
      ) => `flow WHERE id IN (SELECT newest.id FROM (SELECT id AS owned ${wallets}) CROSS JOIN flow AS newest
        ON newest.id IN (SELECT id FROM ${typed('= owned')}${below} ORDER BY id DESC LIMIT ?9 + ?10))`,
      count: `(SELECT count(*) FROM ${typed(`IN (SELECT id ${wallets})`)})`,
    }
  }
  const rows = oneWallet
    ? `flow INDEXED BY flow_wallet WHERE wallet = (SELECT id ${wallets})${span}`
    : `flow INDEXED BY flow_uid WHERE uid = ?1${span}`
  if (span !== '') return counted(rows)
  return { list: (below) => rows + below, count: `(SELECT coalesce(sum(flow_count), 0) ${wallets})` }
}

/** `created_at` never falls as ids grow (a trigger's promise), so a span of time is a span of ids: two look-ups. */
function spanOfIds({ from, to }: FlowFilter): string {
  const firstAt = (time: string) =>
    `(SELECT id FROM flow INDEXED BY flow_time WHERE created_at >= ${time} ORDER BY created_at, id LIMIT 1)`
  const lower = from === null ? '' : ` AND id >= ${firstAt('?6')}` // none that late: NULL, and nothing matches
  const upper = to === null ? '' : ` AND id < coalesce(${firstAt('?7')}, 9223372036854775807)`
  return lower + upper
}

/** A bare txid means its own entry and `txid:k` for every k. `;` is the letter after `:`. */
const bareTxid = `osn >= ?5 AND osn < ?5 || ';' AND substr(osn, 65, 1) IN ('', ':')`

function isTxid(osn: string): boolean {
  return /^[0-9a-f]{64}$/.test(osn)
}
