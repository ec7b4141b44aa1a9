import type { DatabaseSync } from 'node:sqlite'
import { listArchives } from '../../src/commands/audit/archive-files.ts'
import { lostRanges, readLost } from '../../src/commands/audit/lost-lines.ts'
import { findMissing, type MissingRow } from '../../src/commands/audit/missing.ts'
import { putBack } from '../../src/commands/audit/put-back.ts'
import { writeSql } from '../../src/commands/audit/sql-file.ts'
import type { CellReport } from '../../src/commands/audit/verify.ts'
import { readAnswer } from '../../src/commands/operate/service.ts'
import { entryTypes } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { createEndpointObject, createScannerObject, createService, type Platform } from '../../src/worker/compose.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { backendSecret } from '../support/variables.ts'
import { withSessions } from './database.ts'
import type { Environment } from './environment.ts'
import { variablesOf } from './isolate.ts'
import type { Random } from './random.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** A copy of the database as SQL, and how many restores there had been. */
interface Copy {
  readonly sql: string
  readonly restores: number
}

const copies = new WeakMap<Environment, Copy>()

/** Copies the database of an archived run at one moment of its faulty phase. */
export function copyLater({ env, archive, store, stored }: SimulatedRun, random: Random): void {
  if (archive === null || env.scenario.neighbour !== null) return
  env.scheduler.after(random.int(5_000, env.scenario.blocks * env.blockMs), () => {
    if (stored.scan() !== undefined && stored.countSettings() > 0)
      copies.set(env, { sql: sqlOf(store.sqlite), restores: env.restores })
  })
}

function sqlOf(db: DatabaseSync): string {
  const parts: string[] = []
  writeSql(db, (text) => parts.push(text))
  return parts.join('')
}

/** The rows that a copy can lack, by kind: SQL for their keys and their contents. */
const followed = {
  address: 'SELECT id AS k0, uid AS k1, hex(address) AS content FROM stored_address',
  order: 'SELECT uid AS k0, reference AS k1, amount AS content FROM payment_order',
  decision: 'SELECT txid AS k0, position AS k1, decision AS k2, why AS content FROM decision',
  entry: `SELECT uid AS k0, cuy AS k1, type AS k2, osn AS k3, amount AS content
    FROM stored_flow JOIN wallet ON wallet.id = wallet_id WHERE osn IS NOT NULL`,
  transfer: `SELECT lower(hex(txid)) AS k0, position AS k1, amount AS content FROM stored_transfer
    WHERE state = 'credited'`,
  payout: 'SELECT uid AS k0, cuy AS k1, osn AS k2, amount AS content FROM payout',
  correction: 'SELECT finalized AS k0, created_at AS k1, reason AS content FROM correction',
} as const

/** The rows of a database: kind and key, with the content. */
function rowsOf(db: DatabaseSync): ReadonlyMap<string, string> {
  const kinds = Object.entries(followed)
  return new Map(
    kinds.flatMap(([kind, sql]) =>
      db
        .prepare(sql)
        .all()
        .map(({ content, ...key }) => [nameOf(kind, Object.values(key)), String(content)] as const),
    ),
  )
}

const nameOf = (kind: string, key: readonly unknown[]) => `${kind} ${key.join(' ')}`

/**
 * Lets a copy of the database lack what came after it: `missing` must name exactly that, and
 * `--put-back` must give each address to the user who had it, and post and decide once what the
 * rules allow. Returns the fault, or null. `folder` has the archive of the run.
 */
export async function drillPutBack({ env, nodes, store }: SimulatedRun, folder: string, report: CellReport) {
  const copy = copies.get(env)
  // after another restore the copy has what the database itself has lost
  if (copy === undefined || copy.restores !== env.restores) return null
  const { sqlite, connect } = openSqliteD1(':memory:')
  try {
    sqlite.exec(copy.sql)
    const lost = rowsOf(store.sqlite)
    const before = rowsOf(sqlite)
    const find = async () => {
      const [row = null] = sqlite.prepare('SELECT epoch, lines, common FROM archive').all()
      const [files] = listArchives(folder)
      const rows = readLost(files?.segments ?? [], lostRanges(report, row as Parameters<typeof lostRanges>[1]))
      return findMissing(async (statements) => statements.map((sql) => sqlite.prepare(sql).all() as never), rows)
    }
    const missing = await find()
    const named = new Set(missing.map(({ kind, key }) => nameOf(kind, key)))
    const lacking = [...lost.keys()].filter((name) => !before.has(name))
    env.count(`put back: a copy lacks ${lacking.length === 0 ? 'nothing' : 'rows'}`)
    const unnamed = lacking.find((name) => !named.has(name))
    if (unnamed !== undefined) return `the copy lacks ${unnamed}, and "missing" does not name it`
    const had = [...named].find((name) => !lost.has(name))
    if (had !== undefined && env.restores === 0) return `"missing" names ${had}, which there never was`
    const refused: string[] = []
    const parts = { ...createParts(env, sqlite, connect, nodes), print: (line: string) => void refused.push(line) }
    const open = openReviews(sqlite)
    // the second time only what had lacked money is put back: the first one can have brought it
    await putBack(missing, parts)
    await putBack(await find(), parts)
    const after = rowsOf(sqlite)
    const strange = [...after.keys()].find((name) => !before.has(name) && !lost.has(name) && !named.has(name))
    if (strange !== undefined) return `${strange} was put back, and was not lost`
    return faultAfter(missing, lost, after, { refused, open }, env)
  } finally {
    sqlite.close()
  }
}

function faultAfter(
  missing: readonly MissingRow[],
  lost: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  { refused, open }: { readonly refused: readonly string[]; readonly open: ReadonlySet<string> },
  env: Environment,
): string | null {
  // What was issued below the final height of a copy waits for the correction that the copy lacks.
  const isUncorrected = missing.some(({ kind }) => kind === 'correction')
  for (const row of missing) {
    const { kind, key, text, way } = row
    const name = nameOf(kind, key)
    const waits = isUncorrected && (kind === 'address' || kind === 'order')
    if (!lost.has(name) || way.by !== 'command') continue
    const isRefused = refused.some((line) => line.includes(text))
    const content = after.get(name)
    env.count(`put back: ${kind} ${content === undefined ? 'refused' : 'is there'}`)
    if (content === undefined && !isRefused) return `${text} was not put back, and not refused`
    if (content === undefined && !waits && mustComeBack(row, lost.get(name) ?? '', open))
      return `${text} was refused: ${refused[0]}`
    if (content !== undefined && content !== lost.get(name)) return `${text} was put back with ${content}`
  }
  const other = [...after].find(
    ([name, content]) => name.startsWith('address') && (lost.get(name) ?? content) !== content,
  )
  return other === undefined ? null : `${other[0]} has another address`
}

/** The deposits that wait for a decision, by their keys, where one can be made. */
const openReviews = (db: DatabaseSync) =>
  new Set(
    db
      .prepare(`SELECT txid, position FROM transfer WHERE state = 'held' AND review = 'open'
        AND NOT EXISTS (SELECT 1 FROM scan WHERE halted IS NOT NULL)`)
      .all()
      .map(({ txid, position }) => `${txid} ${position}`),
  )

/**
 * Whether the rules allow a row on each copy. What takes money can lack its deposit, and so can a
 * decision.
 */
function mustComeBack({ kind, key }: MissingRow, content: string, open: ReadonlySet<string>): boolean {
  if (kind === 'decision') return open.has(`${key[0]} ${key[1]}`)
  return kind === 'entry' ? key[2] !== entryTypes.transfer && BigInt(content) > 0n : true
}

/** The service over the copy, which reaches no node. */
function createParts(
  env: Environment,
  sqlite: DatabaseSync,
  connect: ReturnType<typeof openSqliteD1>['connect'],
  nodes: SimulatedRun['nodes'],
) {
  const quiet = () => undefined
  const now = () => env.scheduler.now() as UnixMs // safe: a time
  const platform: Platform = {
    clock: { now, random: () => 0.5, sleep: () => new Promise(() => {}) },
    logger: { info: quiet, warn: quiet, error: quiet, alarm: quiet },
    fetch: () => Promise.reject(new TypeError('fetch failed')),
    uniqueName: () => crypto.randomUUID(),
    waitUntil: quiet,
  }
  // the copy may be older than the stored entry of the operator's wallet
  const deployed: Environment = Object.create(env, { listsOperator: { value: true } })
  const bindings = {
    ...variablesOf(deployed, nodes.list),
    DB: withSessions(connect(async (work) => work())),
    SCANNER: { getByName: (name: string) => createScannerObject(platform, bindings, createMemoryHost(), name) },
    ENDPOINT: { getByName: (name: string) => createEndpointObject(platform, bindings, createMemoryHost(), name) },
  }
  const service = createService(platform)
  const scales = sqlite.prepare('SELECT cuy, scale FROM stored_currency').all()
  return {
    scales: new Map(scales.map(({ cuy, scale }) => [Number(cuy), Number(scale)])),
    run: async (sql: string) => {
      try {
        return { ok: true, value: sqlite.exec(sql) } as const
      } catch (error) {
        return { ok: false, error: { why: `D1_ERROR: ${error}`, next: '' } } as const
      }
    },
    ask: async (sub: string, scope: string, path: string, body: object) => {
      const token = await signHs256({ sub, scope, exp: Math.floor(now() / 1_000) + 600 }, backendSecret)
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      const request = new Request(`https://wallet.example${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return readAnswer(await service.fetch(request, bindings))
    },
  }
}
