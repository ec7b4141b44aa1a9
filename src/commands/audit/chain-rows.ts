import { DatabaseSync } from 'node:sqlite'
import type { NumberedFile } from './archive-files.ts'
import type { LineOf } from './lines.ts'
import { readTrueLines } from './true-lines.ts'

/** A row that the chain must have: a credited deposit, or a paid payout with who has paid it. */
export type ChainRow =
  | {
      readonly kind: 'deposit'
      readonly number: number
      readonly line: LineOf<'transfer'>
      /** The contract of its currency; empty for TRX. */
      readonly contract: string
    }
  | {
      readonly kind: 'payout'
      readonly number: number
      readonly line: LineOf<'payout'>
      /** The transaction that has paid it. */
      readonly payment: LineOf<'transaction'>
    }

/** The rows of a verified archive that the chain must have, each as its newest line has it. */
export interface ChainRows {
  readonly count: number
  /** In the order of their lines, from this number on. */
  after(line: number): Iterable<ChainRow>
  /** The contracts of all tokens that were ever configured. */
  readonly contracts: readonly string[]
  readonly chainId: string
  close(): void
}

/** Rows are in a temporary file, so that an archive of any size takes the same memory. */
const tables = `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
PRAGMA temp_store = FILE;
CREATE TABLE found (kind TEXT, id INTEGER, line INTEGER, content TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE payment (txid TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID;
BEGIN`

interface StoredRow {
  readonly kind: ChainRow['kind']
  readonly line: number
  readonly content: string
}

/** Reads the rows of a verified archive that the chain must have. */
export function readChainRows(segments: readonly NumberedFile[]): ChainRows {
  const db = new DatabaseSync('') // a file of its own, which SQLite removes
  db.exec(tables)
  const store = db.prepare('INSERT OR REPLACE INTO found VALUES (?, ?, ?, ?)')
  const pay = db.prepare('INSERT OR REPLACE INTO payment VALUES (?, ?)')
  const contracts = new Map<number, string>()
  let chainId = ''
  for (const { number, line } of readTrueLines(segments)) {
    if (line.row === 'transfer' && line.state === 'credited')
      store.run('deposit', line.id, number, JSON.stringify(line))
    if (line.row === 'payout' && line.state === 'paid') store.run('payout', line.id, number, JSON.stringify(line))
    if (line.row === 'transaction' && line.ended === 'paid') pay.run(line.txid, JSON.stringify(line))
    if (line.row !== 'configuration') continue
    for (const { cuy, contract } of line.currencies) contracts.set(cuy, contract ?? '')
    chainId = line.settings.find(({ name }) => name === 'TRON_CHAIN_ID')?.value ?? chainId
  }
  db.exec('CREATE INDEX found_line ON found (line)')
  const { count } = db.prepare('SELECT count(*) AS count FROM found').get() as { count: number }
  const rows = db.prepare('SELECT kind, line, content FROM found WHERE line >= ? ORDER BY line')
  const paymentOf = db.prepare('SELECT content FROM payment WHERE txid = ?')
  return {
    count,
    contracts: [...contracts.values()].filter((contract) => contract !== ''),
    chainId,
    close: () => db.close(),
    *after(from) {
      // safe, here and below: the texts that were stored above
      for (const { kind, line: number, content } of rows.iterate(from) as Iterable<StoredRow>) {
        if (kind === 'deposit') {
          const line = JSON.parse(content) as LineOf<'transfer'>
          yield { kind, number, line, contract: contracts.get(line.cuy) ?? '' }
        } else {
          const line = JSON.parse(content) as LineOf<'payout'>
          const payment = paymentOf.get(line.txid ?? '') as Pick<StoredRow, 'content'>
          yield { kind, number, line, payment: JSON.parse(payment.content) as LineOf<'transaction'> }
        }
      }
    },
  }
}
