import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runOperate } from '../../../src/commands/operate/command.ts'
import { parseAddress } from '../../../src/worker/chain/address.ts'
import { reasonMax } from '../../../src/worker/d1/state-tables.ts'
import { callCommand, runCommand } from '../../support/command.ts'
import { createLocalDatabase, installWrangler, type LocalDatabase } from '../local-database.ts'

const addressAt = (base58: string) => {
  const address = parseAddress(base58)
  return address.ok ? address.value : ''
}
/** The addresses at index 0 and 1 of the tests' extended public key. */
const [first, second] = ['TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6', 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'].map(addressAt)
const issued = 'c'.repeat(40)
const keys = { old: 'a1'.repeat(32), current: 'b2'.repeat(32) }

describe('npm run operate, with the real migrations', () => {
  let database: LocalDatabase
  const operate = (...args: string[]) => database.operate(...args)
  const rows = (sql: string) => database.rows(sql)

  /** Stores a transfer to user 7 in a block that is not final yet, which also makes an event. */
  const see = (digit: string, height: number) =>
    rows(`INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state,
      amount,
      seconds, created_at, changed_at) VALUES (unhex('${digit.repeat(64)}'), 0, ${height}, 1, 7, unhex('${second}'),
      unhex('${issued}'), '5', 1, 'seen', 0, 9, 5, 5)`)

  beforeAll(() => {
    // its wrangler is a stand-in; busy.test.ts runs the real command with the real wrangler
    database = createLocalDatabase()
    rows(`INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at,
      tried_at)
      VALUES (1, 100, '${'a'.repeat(64)}', 100, 5, 5, 5, 5, 5)`)
  })
  afterAll(() => database.remove())

  it('rescan stores a range that is read again, with its reason', async () => {
    const reason = `it's missing; DROP TABLE flow`
    const { code, out } = await operate('rescan', '--from', '85', '--to', '95', '--reason', reason)
    expect([code, out]).toEqual([0, 'The next ticks read the blocks 85 to 95 again.\n'])
    const stored = 'SELECT kind, from_height, to_height, next_height, reason, finished_at FROM rescan'
    const range = { kind: 'request', from_height: 85, to_height: 95, next_height: 85 }
    expect(rows(stored)).toEqual([{ ...range, reason, finished_at: null }])
  })

  it('rescan refuses blocks that were not read yet, in one sentence', async () => {
    const { code, all } = await operate('rescan', '--from', '85', '--to', '101', '--reason', 'x')
    const what =
      'wait until the scan has read the last of these blocks ("scanned" in GET /health), and run the command again'
    expect([code, all]).toEqual([
      1,
      `Stopped: rescan: blocks above the position are not read yet.\nWhat to do: ${what}.\n`,
    ])
  })

  it('gap list shows the open gaps, and gap close ends one with a reason that is kept', async () => {
    rows(`INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try)
      VALUES ('gap', 90, 92, 90, 'no agreement', 1790000000000, 1790000600000)`)
    expect((await operate('gap', 'list')).out).toBe(
      'Open gap: blocks 90 to 92 since 2026-09-21T14:13:20.000Z, tries: 0, next one 2026-09-21T14:23:20.000Z: no agreement\n',
    )
    const wrong = await operate('gap', 'close', '--from', '91', '--reason', 'x')
    expect([wrong.code, wrong.all.split('\n')]).toEqual([
      1,
      [
        'Stopped: no open gap begins at block 91.',
        'What to do: "npm run operate -- gap list --local" shows the open gaps, each with its first block.',
        '',
      ],
    ])
    const { code, out } = await operate('gap', 'close', '--from', '90', '--reason', 'no node can show it')
    expect([code, out]).toEqual([0, expect.stringContaining('The gap from block 90 to 92 is closed.')])
    expect(rows(`SELECT closed, finished_at IS NOT NULL AS ended FROM rescan WHERE kind = 'gap'`)).toEqual([
      { closed: 'no node can show it', ended: 1 },
    ])
    expect((await operate('gap', 'list')).out).toBe('No gap is open.\n')
  })

  describe('reserve', () => {
    const stored = `SELECT count(*) AS n, min(derivation_index) AS first, max(derivation_index) AS last,
      min(iif(derivation_index = 100, NULL, uid)) AS uid FROM address`
    const own = `TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6 at m/44'/195'/n'/0/0`
    const storeKey = (key: string) => {
      rows('DROP TRIGGER IF EXISTS stored_setting_keeps_its_meaning')
      rows(`INSERT OR IGNORE INTO stored_setting SELECT 'TRON_XPUB', 'none', 1
        WHERE NOT EXISTS (SELECT 1 FROM stored_setting WHERE name = 'TRON_XPUB')`)
      rows(`UPDATE stored_setting SET value = '${key.replaceAll("'", "''")}' WHERE name = 'TRON_XPUB'`)
    }

    it('takes no addresses of another key than the stored one', async () => {
      expect((await operate('reserve', '--to', '3')).all).toContain('the database has no key yet')
      storeKey(own.replace('TWer', 'Tother'))
      const other = await operate('reserve', '--from', '0', '--to', '3')
      expect([other.code, other.all]).toEqual([
        1,
        expect.stringMatching(/^Stopped: TRON_XPUB is another key \(TWer.* than the stored one \(Tother/),
      ])
      expect(rows(stored)).toEqual([{ n: 0, first: null, last: null, uid: null }])
      storeKey(own)
      expect((await operate('reserve', '--to', '3')).all).toContain('the database has no address')
    })

    it('lets no used index be issued, on an empty database: it goes as far as TRON_FIRST_INDEX, from above', async () => {
      const below = (to: string) =>
        database.operateWith({ TRON_FIRST_INDEX: '700' }, 'reserve', '--from', '0', '--to', to)
      const short = await below('698')
      expect([short.code, short.all]).toEqual([
        1,
        expect.stringMatching(
          /TRON_FIRST_INDEX is 700: used indices above 698 .+\nWhat to do: .+: --to 699 comes first\./,
        ),
      ])
      rows(`CREATE TRIGGER full BEFORE INSERT ON stored_address WHEN (SELECT count(*) FROM address) >= 500
        BEGIN SELECT RAISE(ABORT, 'address: full'); END`)
      expect((await below('699')).all).toMatch(
        /500 addresses are reserved\.\nWhat to do: .+; then the same command goes on\.\n$/,
      )
      rows('DROP TRIGGER full')
      expect(rows(stored)).toMatchObject([{ n: 500, last: 699 }])
      expect((await below('699')).out).toBe(
        '200 addresses are reserved, up to index 699: the next one is that of 700.\n',
      )
      rows('DROP TRIGGER address_is_never_deleted')
      rows('DELETE FROM stored_address')
    })

    it('adds the addresses below TRON_FIRST_INDEX, so that what arrives there is recorded', async () => {
      rows(`INSERT INTO stored_address (id, uid, address, issued_height, created_at)
        VALUES (101, 7, unhex('${issued}'), 120, 5)`)
      const { code, out } = await operate('reserve', '--from', '0', '--to', '99')
      expect([code, out]).toEqual([0, '100 addresses are reserved, up to index 99: the next one is that of 101.\n'])
      expect(rows(stored)).toEqual([{ n: 101, first: 0, last: 100, uid: Number.MAX_SAFE_INTEGER }])
      expect(rows('SELECT address FROM address WHERE derivation_index < 2 ORDER BY id')).toEqual([
        { address: first },
        { address: second },
      ])
    })

    it('adds those above the newest one, as after a restore', async () => {
      const { code, out } = await operate('reserve', '--to', '700')
      expect([code, out]).toEqual([0, '600 addresses are reserved, up to index 700: the next one is that of 701.\n'])
      expect(rows(stored)).toEqual([{ n: 701, first: 0, last: 700, uid: Number.MAX_SAFE_INTEGER }])
      expect((await operate('reserve', '--to', '700')).all).toContain('index 700 is stored already; the newest is 700')
      expect((await operate('reserve', '--from', '702', '--to', '703')).all).toContain('without a gap')
    })
  })

  it('correct lowers the scan and shows what is credited above it, which stays, and the open gaps', async () => {
    see('c', 121)
    rows(`UPDATE scan SET height = 130, finalized = 130, hash = '${'b'.repeat(64)}'`)
    rows(`UPDATE stored_transfer SET version = version + 1, state = 'credited', amount = 5`)
    const { code, out } = await operate('correct', '--finalized', '110', '--reason', 'a node lied')
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'The finalized height is 110 now. The scan goes on from there with the next tick.',
        'Credited above it. They stay: compare them with the chain, and post an adjustment for each that is not there:',
        `  block 121  ${'c'.repeat(64)}  position 0  currency 1  user 7`,
        'No gap is open.',
        '',
      ],
    ])
    expect(rows('SELECT finalized, reason FROM correction')).toEqual([{ finalized: 110, reason: 'a node lied' }])
    expect(rows('SELECT height, finalized FROM scan')).toEqual([{ height: 110, finalized: 110 }])
  })

  describe('webhooks', () => {
    const position = () =>
      rows(`SELECT position, attempts, last_failure FROM webhook WHERE endpoint = '${keys.current}'`)

    it('status prints one sentence where no endpoint is known', async () => {
      expect(await operate('webhooks', 'status')).toMatchObject({
        code: 0,
        out: 'No endpoint has been delivered to yet.\n',
      })
    })

    it('status shows how far each endpoint is, since when it fails and why, and earlier ones that are kept', async () => {
      const at = 1_790_000_000_000
      const [{ last }] = rows('SELECT max(id) AS last FROM event') as [{ last: number }]
      for (const [key, seen] of [
        [keys.old, at - 9_000_000],
        [keys.current, at],
      ] as const) {
        rows(
          `INSERT INTO webhook (endpoint, number, position, next_try, seen_at, begins_at) VALUES ('${key}', 1, ${last}, 0, ${seen}, ${seen})`,
        )
      }
      for (const digit of '123') see(digit, 140)
      rows(`UPDATE webhook SET position = ${last + 2}, attempts = 3, failing_since = ${at}, next_try = ${at + 600_000},
        last_failure = 'answered 500' WHERE endpoint = '${keys.current}'`)
      expect((await operate('webhooks', 'status')).out.split('\n')).toEqual([
        `endpoint 1, key b2b2b2b2b2b2: has received the events up to ${last + 2}, waiting: 1; failing since ` +
          '2026-09-21T14:13:20.000Z (answered 500), tries: 3, next one 2026-09-21T14:23:20.000Z',
        `no longer configured since 2026-09-21T11:43:20.000Z, key a1a1a1a1a1a1: has received the events up to ${last}, waiting: 3`,
        '',
      ])
    })

    it('replay gives an endpoint old events again, and skips none', async () => {
      const [{ last }] = rows('SELECT max(id) AS last FROM event') as [{ last: number }]
      const { code, out } = await operate('webhooks', 'replay', '--endpoint', '1', '--from', `${last - 1}`)
      expect([code, out]).toEqual([
        0,
        `endpoint 1, key b2b2b2b2b2b2: has received the events up to ${last - 2}, waiting: 2\n`,
      ])
      expect(position()).toEqual([{ position: last - 2, attempts: 0, last_failure: null }])
      const [{ created_at: first }] = rows(`SELECT created_at FROM event WHERE id = ${last - 1}`) as [
        object & { created_at: number },
      ]
      const begins = () => rows(`SELECT begins_at FROM webhook WHERE endpoint = '${keys.current}'`)
      // the endpoint was registered after this event, so `replay` has moved `begins_at` back
      expect(begins()).toEqual([{ begins_at: first }])
      const why =
        'Stopped: there is no such endpoint, or it has not received that event yet.\n' +
        'What to do: "npm run operate -- webhooks status --local" shows the endpoints, with their numbers, keys and positions.\n'
      for (const [endpoint, from] of [
        ['2', '1'],
        ['1', `${last}`],
      ] as const) {
        expect((await operate('webhooks', 'replay', '--endpoint', endpoint, '--from', from)).all).toBe(why)
      }
      expect(position()).toMatchObject([{ position: last - 2 }])
    })

    it('move gives an endpoint the position that it had under its earlier URL', async () => {
      const [{ oldest }] = rows('SELECT min(id) AS oldest FROM event') as [{ oldest: number }]
      rows(`UPDATE webhook SET position = ${oldest} WHERE endpoint = '${keys.old}'`)
      rows(`UPDATE webhook SET position = ${oldest + 2} WHERE endpoint = '${keys.current}'`)
      const move = (key: string) => operate('webhooks', 'move', '--endpoint', '1', '--from-url-of-key', key)
      expect((await move('c3c3c3c3c3c3')).all).toContain('no earlier one has that key')
      expect((await move(keys.old.slice(0, 12))).code).toBe(0)
      expect(position()).toMatchObject([{ position: oldest }])
    })
  })
})

describe('the options of npm run operate', () => {
  /**
   * A folder whose `wrangler` only records its arguments: the real one would need an account for a
   * deployment.
   */
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'places-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const section = (name: string) =>
    `binding = "DB"\ndatabase_name = "${name}"\ndatabase_id = "id-of-${name}"\npreview_database_id = "here"\n`
  const wranglerToml = `[vars]\nTRON_CHAIN_ID = "0x2b6653dc"\n[[d1_databases]]\n${section('wallet')}
[env.nile.vars]\nTRON_CHAIN_ID = "0xcd8690dc"\n[[env.nile.d1_databases]]\n${section('wallet-nile')}`
  const firstLines: Readonly<Record<string, string>> = {
    'this machine': 'Acts on this machine: database wallet (here), chain 0x2b6653dc (mainnet).',
    'the deployment': 'Acts on production: database wallet (id-of-wallet), chain 0x2b6653dc (mainnet).',
    'a test network':
      'Acts on the environment nile: database wallet-nile (id-of-wallet-nile), chain 0xcd8690dc (Nile).',
  }
  const run = (...args: readonly string[]) => {
    const environment = installWrangler(folder, `echo "$*" > "${folder}/call"\necho '[{"results":[]}]'`)
    return callCommand(runOperate, args, { cwd: folder, environment })
  }

  it.each([
    ['this machine', ['--local'], 'd1 execute DB --local --env= --json --command INSERT INTO rescan '],
    ['the deployment', ['--production'], 'd1 execute DB --remote --env= --json --command INSERT INTO rescan '],
    [
      'a test network, in short',
      ['-e', 'nile'],
      'd1 execute DB --remote --env=nile --json --command INSERT INTO rescan ',
    ],
    ['a test network', ['--env', 'nile'], 'd1 execute DB --remote --env=nile --json --command INSERT INTO rescan '],
  ])('choose the database of %s, and the first line names it', async (where, place, expected) => {
    writeFileSync(join(folder, 'wrangler.toml'), wranglerToml)
    const { code, out } = await run('rescan', '--from', '5', '--to', '5', '--reason', 'x', ...place)
    expect([code, out.split('\n')[0]]).toEqual([0, firstLines[where.split(',')[0] ?? '']])
    expect(readFileSync(join(folder, 'call'), 'utf8').slice(0, expected.length)).toBe(expected)
  })

  it.each<[string[], string]>([
    [[], 'which command?'],
    [['forget'], 'which command?'],
    [['gap'], 'which command?'],
    [['webhooks', 'status', 'replay'], 'which command?'],
    [['gap', 'list', '--from', '1'], 'this command takes no --from'],
    [['webhooks', 'status', '--forever'], '--forever'],
    [['rescan', '--from', '1', '--to', '2'], '--reason is required'],
    [['rescan', '--from', '1', '--to', '2', '--reason', ' '], '--reason is required'],
    [['rescan', '--from', '1', '--to', '2', '--reason', '\u2800'], '--reason is required'],
    [['rescan', '--from', '1', '--to', '2', '--reason', 'x'.repeat(reasonMax + 1)], '--reason: at most'],
    [['rescan', '--from', '1', '--to', '2', '--reason', 'a\nb'], '--reason: at most'],
    [['rescan', '--reason', 'x'], '--from is required'],
    [['rescan', '--from', '1', '--reason', 'x'], '--to is required'],
    [['rescan', '--from', 'one', '--to', '2', '--reason', 'x'], '--from: a block number'],
    [['rescan', '--from', '1', '--to', '2.5', '--reason', 'x'], '--to: a block number'],
    [['rescan', '--from', '3', '--to', '2', '--reason', 'x'], '--from must not be above --to'],
    [['correct', '--reason', 'x'], '--finalized is required'],
    [['correct', '--finalized=-1', '--reason', 'x'], '--finalized: a block number'],
    [['gap', 'close', '--reason', 'x'], '--from is required'],
    [['reserve', '--to=-1'], '--to: an index'],
    [['reserve', '--to', '2147483648'], '--to: an index'],
    [['reserve', '--from', '3', '--to', '2'], '--from must not be above --to'],
    [['reserve', '--to', '5', '--env', 'x', '--production'], 'either --production or --env'],
    [['gap', 'list'], 'on which database? Name it after "--": --production, --env <name>, or --local for this machine'],
    [['reserve', '--to', '5'], 'on which database?'],
    [['gap', 'list', '--local', '-e', 'nile'], 'either --local, or --production or --env'],
    [['gap', 'list', '--local', '--production'], 'either --local, or --production or --env'],
    [['gap', 'list', '--env='], '--env: the name of an environment'],
    [['currency'], '--cuy: the number of a currency'],
    [['currency', '--cuy', 'USDT'], '--cuy: the number of a currency'],
    [['webhooks', 'replay', '--endpoint', '0', '--from', '1'], '--endpoint: its number'],
    [['webhooks', 'replay', '--from', '1'], '--endpoint: its number'],
    [['webhooks', 'replay', '--endpoint', '1', '--from', '1; DROP TABLE flow'], '--from: the id of an event'],
    [['webhooks', 'replay', '--endpoint', '1'], '--from: the id of an event'],
    [['webhooks', 'move', '--endpoint', '1'], '--from-url-of-key: the key'],
    [['webhooks', 'move', '--endpoint', '1', '--from-url-of-key', "a'; DROP TABLE flow"], '--from-url-of-key: the key'],
    [['webhooks', 'move', '--endpoint', '1', '--from-url-of-key', 'abc'], '--from-url-of-key: the key'],
  ])('%j are refused and explained, and nothing is run', async (args, why) => {
    const { code, all } = await run(...args)
    expect([code, all.split('\n')[0]]).toEqual([2, expect.stringContaining(why)])
    expect(all).toContain('npm run operate -- <command>')
  })

  it('name no environment that is not defined: wrangler would change the database of the top level', async () => {
    writeFileSync(join(folder, 'wrangler.toml'), 'name = "x"\n')
    rmSync(join(folder, 'call'), { force: true })
    const { code, all } = await run('rescan', '--from', '5', '--to', '5', '--reason', 'x', '--env', 'nile')
    expect([code, all]).toEqual([
      1,
      expect.stringMatching(/^Stopped: wrangler.toml has no \[env.nile\]\.\nWhat to do: .+\.\n$/),
    ])
    expect(existsSync(join(folder, 'call'))).toBe(false)
  })

  it('end the process with the exit code', async () => {
    expect(await runCommand('src/commands/operate/start.ts', ['forget'])).toMatchObject({ code: 2, out: '' })
  })
})
