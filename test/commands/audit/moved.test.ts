import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { listArchives } from '../../../src/commands/audit/archive-files.ts'
import { rebuildCell } from '../../../src/commands/audit/rebuild.ts'
import { verifyCell } from '../../../src/commands/audit/verify.ts'
import { archiveNext } from '../../../src/worker/archive/write.ts'
import { formatBase58 } from '../../../src/worker/chain/address.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { writable } from '../../../src/worker/d1/database.ts'
import { addressIn, finalityLag, payer, startService, trxTo, usdtTo } from '../../http/service.ts'
import { correct, tickLater, usdtWith } from '../../scan/harness.ts'
import { withSessions } from '../../simulation/database.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { cellName } from './archive-builder.ts'
import { compareDatabases } from './compare-databases.ts'
import { folderBucket } from './folder-bucket.ts'

it('what was held, moved and was removed before its line was written comes again with another id', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const { sqlite, connect } = openSqliteD1()
  const db = withSessions(connect(async (work) => work()))
  const service = await startService({ CURRENCIES: usdtWith({ reviewFrom: '0' }) }, { db })
  const { chain, clock } = service
  const now = () => (clock.seconds * 1000) as UnixMs // safe: a time
  const parts = {
    db: writable(db),
    bucket: folderBucket(folder),
    clock: { now },
    folder: cellName,
    cell: 1,
    seal: null,
  }
  const archive = async () => {
    while ((await archiveNext(parts)) === 'more');
  }
  clock.seconds = chain.tip().timeMs / 1000 + 3
  const own = await addressIn(await service.get('/tron/generate'))
  await service.tick()
  await archive()
  const { height } = chain.add([usdtTo(own, 25_000_000n), trxTo(own, 1_000_000n)])
  chain.addEmpty(finalityLag + 3)
  await tickLater(service, 60)
  await archive()
  const listed = service.with({ OPERATOR_ADDRESSES: [formatBase58(payer)] })
  for (let i = 0; i < 2; i += 1) {
    await correct(service, height - 1)
    await tickLater(listed, 60)
  }
  expect(sqlite.prepare('SELECT id, state FROM stored_transfer').all()).toEqual([
    { id: 2, state: 'credited' },
    { id: 3, state: 'moved' },
  ])
  await archive()
  const [cell] = listArchives(folder)
  if (cell === undefined) throw new Error('no archive')
  const report = verifyCell(cell, { keys: new Map(), kept: [] }, () => undefined)
  expect(report).toMatchObject({ counts: { credits: 1 } })
  const path = join(folder, 'rebuilt.sql')
  rebuildCell(cell, 'counts' in report ? report.counts.completeTo : 0, path, 1)
  const rebuilt = new DatabaseSync(':memory:')
  rebuilt.exec(readFileSync(path, 'utf8'))
  expect(compareDatabases(sqlite, rebuilt)).toEqual([])
  for (const one of [sqlite, rebuilt]) one.close()
  rmSync(folder, { recursive: true })
})
