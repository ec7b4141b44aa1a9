import { HDKey } from '@scure/bip32'
import { describe, expect, test } from 'vitest'
import { awayDatabase, type RunningService } from '../http/service.ts'
import { scanners, startThreeCells, users } from './three-cells.ts'

/** A key that no cell has. */
const furtherKey = HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/195'/1'").publicExtendedKey

async function issueAndScan(service: RunningService): Promise<void> {
  for (const uid of users) await service.get('/tron/generate', uid)
  for (const scanner of scanners) await service.tick(scanner)
}

describe('a cell that cannot serve', () => {
  test('is named by /health while its database is away, and the others serve', async () => {
    const service = await startThreeCells()
    await issueAndScan(service)
    const away = service.with({ DB_2: awayDatabase() })
    const response = await away.get('/health', null)
    expect([response.status, response.headers.get('x-reason'), response.headers.get('retry-after')]).toEqual([
      503,
      'database-unavailable',
      '10',
    ])
    expect(await response.json()).toEqual({
      code: 503,
      msg: 'cell 2: the database does not answer for now; try again later',
    })
    expect(await Promise.all(users.map(async (uid) => (await away.get('/wallet/list', uid)).status))).toEqual([
      200, 503, 200,
    ])
  })

  test('is named by /health with its setting that differs from what is stored, without a value, and the others serve', async () => {
    const service = await startThreeCells()
    await issueAndScan(service)
    const changed = service.with({ KEY_2: furtherKey })
    const response = await changed.get('/health', null)
    expect([response.status, response.headers.get('x-reason')]).toEqual([503, 'configuration-differs'])
    expect(await response.json()).toEqual({
      code: 503,
      msg: 'cell 2: the configuration differs from the stored data in TRON_XPUB',
    })
    expect(await Promise.all(users.map(async (uid) => (await changed.get('/wallet/list', uid)).status))).toEqual([
      200, 503, 200,
    ])
    const own = await changed.get('/wallet/list', users[1])
    expect(await own.json()).toEqual({ code: 503, msg: 'the service is not configured' })
  })
})
