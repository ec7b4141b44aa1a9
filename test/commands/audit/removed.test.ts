import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listArchives } from '../../../src/commands/audit/archive-files.ts'
import { rebuildCell } from '../../../src/commands/audit/rebuild.ts'
import { verifyCell } from '../../../src/commands/audit/verify.ts'
import { archiveNext } from '../../../src/worker/archive/write.ts'
import { formatBase58 } from '../../../src/worker/chain/address.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { writable } from '../../../src/worker/d1/database.ts'
import { addressIn, finalityLag, payer, type RunningService, startService, trxTo, usdtTo } from '../../http/service.ts'
import { correct, tickLater, usdtWith } from '../../scan/harness.ts'
import { withSessions } from '../../simulation/database.ts'
import { openSqliteD1, type SqliteD1 } from '../../support/sqlite-d1.ts'
import { cellName } from './archive-builder.ts'
import { compareDatabases } from './compare-databases.ts'
import { folderBucket } from './folder-bucket.ts'

let folder: string
let store: SqliteD1
let service: RunningService
/** The same deployment, whose operator has named the payer as an address of the service. */
let listed: RunningService
/** The block with the payments. */
let height: number

const archive = async () => {
  const parts = {
    ...{ db: writable(service.db), bucket: folderBucket(folder), folder: cellName, cell: 1, seal: null },
    clock: { now: () => (service.clock.seconds * 1000) as UnixMs }, // safe: a time
  }
  while ((await archiveNext(parts)) === 'more');
}

/** The transfers: ids and states. */
const transfers = () =>
  store.sqlite
    .prepare(`SELECT id, state FROM stored_transfer ORDER BY id`)
    .all()
    .map(({ id, state }) => `${id} ${state}`)

/** Verifies the archive, and compares the database that is rebuilt from it with the service's. */
function expectEqual(): void {
  const [cell] = listArchives(folder)
  if (cell === undefined) throw new Error('no archive')
  const report = verifyCell(cell, { keys: new Map(), kept: [] }, () => undefined)
  expect(report).toMatchObject({ counts: { completeTo: expect.any(Number) } })
  const path = join(folder, 'rebuilt.sql')
  rebuildCell(cell, 'counts' in report ? report.counts.completeTo : 0, path, 1)
  const rebuilt = new DatabaseSync(':memory:')
  rebuilt.exec(readFileSync(path, 'utf8'))
  expect(compareDatabases(store.sqlite, rebuilt)).toEqual([])
  rebuilt.close()
}

/** The nodes show other blocks from the one with the payments on, without these. */
function replaceBlocks(): void {
  const fork = service.chain.fork(height - 1)
  fork.addEmpty(service.chain.tip().height - fork.tip().height + 30)
  for (const node of service.nodes) node.chain = fork
}

/** Corrects the height so that the block with the payments is read again. */
async function readAgain(by: RunningService): Promise<void> {
  await correct(service, height - 1)
  await tickLater(by, 60)
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'))
  store = openSqliteD1()
  const db = withSessions(store.connect(async (work) => work()))
  service = await startService({ CURRENCIES: usdtWith({ reviewFrom: '0' }) }, { db })
  listed = service.with({ OPERATOR_ADDRESSES: [formatBase58(payer)] })
  const { chain, clock } = service
  clock.seconds = chain.tip().timeMs / 1000 + 3
  const own = await addressIn(await service.get('/tron/generate'))
  await service.tick()
  await archive()
  height = chain.add([usdtTo(own, 25_000_000n), trxTo(own, 1_000_000n)]).height
})

afterEach(() => {
  store.sqlite.close()
  rmSync(folder, { recursive: true })
})

describe('a held transfer that moved in a block that a correction removes', () => {
  beforeEach(async () => {
    service.chain.addEmpty(finalityLag + 3)
    await tickLater(service, 60)
    await archive()
    expect(transfers()).toEqual(['1 held', '2 credited'])
    await readAgain(listed) // it has moved now, and no line says so
  })

  it('is gone from the rebuilt database where no block has it any more', async () => {
    replaceBlocks()
    await readAgain(listed)
    expect(transfers()).toEqual(['2 credited'])
    await archive()
    expectEqual()
  })

  it('comes again with another id where it is read again', async () => {
    await readAgain(listed)
    expect(transfers()).toEqual(['2 credited', '3 moved'])
    await archive()
    expectEqual()
  })
})

it('a refused transfer that moves, is removed and comes again stands before its own removal', async () => {
  service.chain.addEmpty(finalityLag + 3)
  await tickLater(service, 60)
  await archive()
  const { txid, position } = store.sqlite.prepare('SELECT txid, position FROM transfer WHERE id = 1').get() ?? {}
  const deposits = [{ txid, position, decision: 'refuse', why: 'a test' }]
  expect((await service.send('/ledger/deposits/decide', { deposits })).status).toBe(200)
  for (let i = 0; i < 2; i += 1) await readAgain(listed)
  expect(transfers()).toEqual(['2 credited', '3 moved'])
  await archive()
  expectEqual()
})

describe('a dropped transfer', () => {
  it('is gone from the rebuilt database once it is removed, also if it was never archived as dropped', async () => {
    await tickLater(service, 30)
    await archive()
    expect(transfers()).toEqual(['1 seen', '2 seen'])
    replaceBlocks()
    await tickLater(service, 60)
    expect(transfers()).toEqual(['1 dropped', '2 dropped'])
    await tickLater(service, 2 * 86_400)
    expect(transfers()).toEqual([])
    await archive()
    expectEqual()
  })

  it('is in the rebuilt database until then', async () => {
    await tickLater(service, 30)
    replaceBlocks()
    await tickLater(service, 60)
    await archive()
    expect(transfers()).toEqual(['1 dropped', '2 dropped'])
    expectEqual()
  })
})
