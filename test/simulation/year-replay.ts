import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { fileOfD1 } from '../support/database-file.ts'
import type { TickSample } from './year-measures.ts'

/** Rows that a statement has read and written, by D1's own count, each time. */
export interface StatementRows {
  readonly read: number
  readonly written: number
  readonly times: number
}
/** The rows of each statement of a tick. */
export type TickRows = ReadonlyMap<string, StatementRows>

/**
 * Carries out the statements of the smallest tick of a sample again, in a D1 of Miniflare that has
 * the database of that time. SQLite in Node does not count the rows that it reads.
 */
export async function countRows({ smallest: { file, trips } }: TickSample): Promise<TickRows> {
  const folder = mkdtempSync(join(tmpdir(), 'year-'))
  const database = fileOfD1(join(folder, 'd1'), 'DB')
  mkdirSync(dirname(database), { recursive: true })
  writeFileSync(database, file)
  const options = { modules: true, script: 'export default {}', d1Databases: { DB: 'DB' } }
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({ ...options, host: '127.0.0.1', port: 0, cf: false }),
    resourcePersistencePath: folder,
  })
  try {
    const db = await miniflare.getD1Database('DB')
    const rows = new Map<string, StatementRows>()
    for (const { statements, values } of trips) {
      const batch = statements.map((sql, i) => db.prepare(sql).bind(...(values[i] ?? [])))
      for (const [i, { meta }] of (await db.batch(batch)).entries()) {
        const sql = statements[i] ?? ''
        const { read = 0, written = 0, times = 0 } = rows.get(sql) ?? {}
        rows.set(sql, { read: read + meta.rows_read, written: written + meta.rows_written, times: times + 1 })
      }
    }
    return rows
  } finally {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}
