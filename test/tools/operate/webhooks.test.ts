import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseWebhookCommand } from '../../../src/tools/operate/webhooks-sql.ts'
import { createLocalDatabase, type LocalDatabase } from './local-database.ts'

// The command with the real wrangler, on a local database with the real migrations.

let database: LocalDatabase
const webhooks = (...args: string[]) => database.command('webhooks.ts', ...args)
const position = () => database.rows('SELECT position, attempts, lease FROM webhook')

beforeAll(async () => {
  database = await createLocalDatabase()
}, 120_000)
afterAll(() => database.remove())

describe('npm run webhooks', () => {
  it('prints one sentence where no endpoint is known', async () => {
    expect(await webhooks('status')).toMatchObject({ code: 0, out: 'No endpoint has been delivered to yet.\n' })
  }, 60_000)

  it('shows how far each endpoint is, without its URL', async () => {
    const dropped = (n: number) => `('deposit.dropped', 1, 5, '${`${n}`.repeat(64)}', 0)`
    await database.rows(
      `INSERT INTO webhook (endpoint, number, position, next_try) VALUES ('${'e'.repeat(64)}', 1, 0, 0)`,
    )
    await database.rows(`INSERT INTO event (type, uid, created_at, txid, position) VALUES ${[1, 2, 3].map(dropped)}`)
    await database.rows(
      `UPDATE webhook SET position = 2, attempts = 3, failing_since = 1790000000000, next_try = 1790000600000, lease = 'a'`,
    )
    const { code, out } = await webhooks('status')
    expect([code, out]).toEqual([
      0,
      'endpoint 1: has received the events up to 2, waiting: 1; failing since 2026-09-21T14:13:20.000Z, tries: 3, next one 2026-09-21T14:23:20.000Z\n',
    ])
  }, 60_000)

  it('gives an endpoint old events again', async () => {
    const { code, out } = await webhooks('replay', '--endpoint', '1', '--from', '2')
    expect([code, out]).toEqual([0, 'endpoint 1: has received the events up to 1, waiting: 2\n'])
    expect(await position()).toEqual([{ position: 1, attempts: 0, lease: '' }])
  }, 60_000)

  it('refuses an endpoint that does not exist, and skips no event', async () => {
    const why = 'Nothing is changed: there is no such endpoint, or it has not received that event yet.\n'
    expect(await webhooks('replay', '--endpoint', '2', '--from', '1')).toMatchObject({ code: 1, errors: why })
    expect(await webhooks('replay', '--endpoint', '1', '--from', '3')).toMatchObject({ code: 1, errors: why })
    expect(await position()).toEqual([{ position: 1, attempts: 0, lease: '' }])
  }, 60_000)

  it('explains wrong options', async () => {
    const { code, errors } = await webhooks('replay', '--endpoint', '1')
    expect(code).toBe(2)
    expect(errors).toContain('npm run webhooks -- replay --endpoint <number> --from <id>')
  }, 60_000)
})

describe('the options of npm run webhooks', () => {
  it.each([
    [[], {}],
    [['status', 'replay'], {}],
    [['forget'], {}],
    [['status'], { from: '1' }],
    [['replay'], { endpoint: '0', from: '1' }],
    [['replay'], { endpoint: '1', from: '1; DROP TABLE flow' }],
    [['replay'], { from: '1' }],
  ])('refuse %j with %j', (words, options) => {
    expect(parseWebhookCommand({ words, ...options }).ok).toBe(false)
  })
})
