import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ArchiveBucket, openBucket } from '../../../src/worker/archive/bucket.ts'
import { archiveNext } from '../../../src/worker/archive/write.ts'
import { copyBucket } from '../../devnet/copy-bucket.ts'
import { createMemoryHost } from '../../support/memory-host.ts'
import { createLocalDatabase, databaseFileIn, type LocalDatabase } from '../local-database.ts'
import { type Deployment, lookMs, startWalk, transfer, usdtOf, type Walk } from '../operate/walk.ts'
import { cellName } from './archive-builder.ts'
import { compareDatabases } from './compare-databases.ts'
import { audit } from './run-audit.ts'

let walk: Walk
let old: LocalDatabase
let rebuilt: LocalDatabase
let r2: Miniflare

beforeAll(async () => {
  walk = await startWalk()
  old = createLocalDatabase()
  rebuilt = createLocalDatabase({ hasTables: false })
  r2 = new Miniflare(convertV4MiniflareOptions({ modules: true, script: 'export default {}', r2Buckets: ['ARCHIVE'] }))
})
afterAll(async () => {
  for (const database of [old, rebuilt]) database.remove()
  await Promise.all([walk.stop(), r2.dispose()])
})

/** Writes what is new into the bucket, and copies the bucket into a folder. Returns the folder. */
async function archive({ database }: Deployment): Promise<string> {
  const bucket = await r2.getR2Bucket('ARCHIVE')
  const parts = {
    db: database,
    // safe: the bucket of a Worker, of which Miniflare has its own type
    bucket: openBucket(bucket as unknown as ArchiveBucket, { sleep: () => new Promise(() => {}) }),
    ...{ clock: { now: walk.now }, folder: cellName, cell: 1, seal: null },
  }
  while ((await archiveNext(parts)) === 'more');
  const folder = join(old.folder, 'archive')
  await copyBucket(bucket, folder)
  return folder
}

const issued = (index: number) => ({ code: 200, data: { address: walk.chain.depositAt(index) } })

it('a lost database comes back from its archive, goes on with the scan, and continues the archive', async () => {
  const { deploy, deposit, pass } = walk
  let service = deploy(old, createMemoryHost())
  await service.tick()
  expect([await service.address(7), await service.address(8)]).toMatchObject([issued(0), issued(1)])
  await archive(service)
  await deposit(service, 0, '25')
  await deposit(service, 0, '3.5', 'TRX')
  const entries = transfer(7, 8, '2', 'BEGIN TRANSACTION; COMMIT;')
  expect(await service.post(...entries)).toMatchObject({ code: 200, data: { replayed: false } })
  const folder = await archive(service)
  const copy = join(old.folder, 'lost.sqlite')
  old.rows(`VACUUM INTO '${copy}'`)
  await deposit(service, 1, '4') // is in no archive
  service.close()

  const file = join(old.folder, 'rebuilt.sql')
  const { code, text } = await audit('rebuild', folder, file)
  expect({ code, text }).toMatchObject({ code: 0 })
  const executed = await rebuilt.wrangler('d1', 'execute', 'DB', '--local', '--env=', '--yes', '--file', file)
  expect([executed.code, executed.all]).toMatchObject([0, expect.any(String)])
  const missing = await rebuilt.wrangler('d1', 'migrations', 'list', 'DB', '--local', '--env=')
  expect(missing.out).toContain('No migrations to apply')

  const [lost, found] = [copy, databaseFileIn(rebuilt.folder)].map((path) => new DatabaseSync(path))
  if (lost === undefined || found === undefined) throw new Error('a database is missing')
  expect(compareDatabases(lost, found)).toEqual([])
  for (const db of [lost, found]) db.close()

  // another account: no object remembers anything
  service = deploy(rebuilt, createMemoryHost())
  expect(rebuilt.rows('SELECT restored_at > 0 AS isRestored FROM scan')).toEqual([{ isRestored: 1 }])
  await pass(lookMs)
  for (let tick = 0; tick < 3; tick += 1) await service.tick()
  expect([await usdtOf(service, 7), await usdtOf(service, 8)]).toEqual([23, 6])
  expect(rebuilt.rows('SELECT restored_at > 0 AS isRestored FROM scan')).toEqual([{ isRestored: 1 }])
  expect(await service.post(...entries)).toMatchObject({ code: 200, data: { replayed: true } })
  await deposit(service, 1, '1')
  expect(await usdtOf(service, 8)).toBe(7)
  expect(await service.address(7)).toMatchObject(issued(0))

  await archive(service)
  const verified = await audit('verify', folder)
  expect({ code: verified.code, text: verified.text }).toMatchObject({ code: 0 })
  expect(verified.text).toMatch(
    /Epoch 2 begins after line \d+; no line before it has become untrue\.\n {2}It is complete\./,
  )
  service.close()
}, 180_000)
