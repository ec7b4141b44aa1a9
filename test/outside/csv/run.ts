/**
 * `node test/outside/csv/run.ts [name …]`: starts the service, posts entries whose marks are
 * formulas, reads its statement as CSV in pages, and has each named script (all of them without
 * names) read the file with the CSV readers of one language, and add it up. What a script prints is
 * compared with `<name>.expected`. It installs pinned packages in a temporary folder, and is no
 * part of the tests.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localBackendToken } from '../../devnet/local.ts'
import { startLocalService } from '../../pages/local-service.ts'
import { tryScripts } from '../try-scripts.ts'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const secret = 'a secret of backends, for these runs'
/** Of 1,234,567.890123 TRX, 1.000001 and 12.5 are paid, so that 1,234,554.390122 are left. */
const amounts = ['1234567.890123', '-1.000001', '-12.5']
const marks = ["=cmd|' /C calc'!A0", 'tea; =1+1, "hot"', '＝1+1']

/** The statement of the user, whose pages have two entries each. */
async function readStatement(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${await localBackendToken(secret)}`, 'content-type': 'application/json' }
  const entries = amounts.map((amt, n) => ({ uid: 7, cuy: 1, type: 9, osn: `order;${n}`, amt, mark: marks[n] }))
  await fetch(`${url}/ledger/entries`, { method: 'POST', headers, body: JSON.stringify({ entries }) })
  const pageAfter = async (after: string) => {
    const page = await fetch(`${url}/ledger/statement?uid=7&cuy=1&format=csv&limit=2${after}`, { headers })
    return page.text()
  }
  const first = await pageAfter('')
  const last = /"entry","(\d+)"[^\n]*\n$/.exec(first)?.[1]
  return first + (await pageAfter(`&after=${last}`))
}

const folder = mkdtempSync(join(tmpdir(), 'csv-'))
try {
  const service = await startLocalService({ BACKEND_JWT_SECRET: secret })
  const statement = join(folder, 'statement.csv')
  writeFileSync(statement, await readStatement(service.url).finally(service.stop))
  await tryScripts(here, process.argv.slice(2), { STATEMENT: statement })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
