import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runDoctor } from '../../src/commands/doctor/command.ts'
import { runOperate } from '../../src/commands/operate/command.ts'
import { runPayout } from '../../src/commands/payout/command.ts'
import { createJournal } from '../../src/commands/payout/journal.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { type CallOptions, type CommandEnd, callCommand, runCommand } from '../support/command.ts'
import { createDeployment } from './collect/deployment.ts'
import { type CollectChain, destination, startCollectChain, testMnemonic } from './collect/harness.ts'
import { databaseId, installQuickWrangler } from './local-database.ts'
import { chainId, payoutAddress } from './payout/harness.ts'
import { recipient, type ScriptedService, startPayoutService } from './payout/scripted-service.ts'
import {
  cellList,
  cells,
  createTwoCells,
  secondAccount,
  secondAddressAt,
  secondId,
  secondPath,
  secondPayoutAddress,
  type TwoCells,
} from './two-cells.ts'

let chain: CollectChain
let deployment: TwoCells
let quick: Record<string, string>

beforeAll(async () => {
  chain = await startCollectChain()
  deployment = createTwoCells(chain.devnet)
  quick = installQuickWrangler(deployment.folder)
  for (const cell of [1, 2] as const) {
    deployment.rows(
      cell,
      `INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
        VALUES (1, 100, '${'a'.repeat(64)}', 100, 5, 5, 5, 5, 5)`,
    )
  }
  deployment.rows(
    2,
    `INSERT INTO stored_address (id, uid, address, issued_height, created_at)
      VALUES (1, 1000000, unhex('${secondAddressAt(0)}'), 100, 5)`,
  )
})
afterAll(async () => {
  deployment.remove()
  await chain.stop()
})

/**
 * Calls a command's function in the folder of a deployment, with the quick stand-in for wrangler.
 */
function call(
  [name, ...args]: readonly string[],
  options: CallOptions = {},
  { folder, call: collect }: Pick<TwoCells, 'folder' | 'call'> = deployment,
): Promise<CommandEnd> {
  const given = { cwd: folder, ...options, environment: { ...quick, ...options.environment } }
  if (name === 'doctor') return callCommand(runDoctor, args, given)
  if (name === 'operate') return callCommand(runOperate, [...args, '--local'], given)
  return name === 'collect' ? collect(args, given) : callCommand(runPayout, args, given)
}

const actsOnSecond = `Acts on this machine, cell 2 (users from 1000000): database x-2 (${secondId}), chain ${chainId}.\n`

const commands: readonly string[][] = [
  ['doctor'],
  ['operate', 'gap', 'list'],
  ['operate', 'desk-token', '--name', 'anna', '--scope', 'read'],
  ['collect', 'plan', '--to', destination],
  ['collect', 'sign', 'plan.json', '--stdin'],
  ['collect', 'send', 'signed.json'],
  ['payout', 'run', '--limits', 'limits.json', '--stdin'],
  ['payout', 'fetch'],
  ['payout', 'sign', 'payouts.json', '--limits', 'limits.json', '--stdin'],
  ['payout', 'submit', 'signed.json'],
]

describe('--cell', () => {
  it.each(commands.map((words) => [words.join(' '), words] as const))(
    'chooses among several cells, so without it nothing is done: %s',
    async (_, words) => {
      expect(await call(words)).toEqual({
        code: 1,
        out: '',
        all: `Stopped: --cell is missing, and there are several cells: ${cellList}.\nWhat to do: name one of these numbers with --cell.\n`,
      })
      for (const cell of ['0', '3', '01', 'DB_2']) {
        const { code, all } = await call([...words, '--cell', cell])
        expect([code, all]).toEqual([1, expect.stringContaining(`Stopped: there is no cell ${cell}: ${cellList}.\n`)])
      }
    },
  )

  it.each(commands.map((words) => [words.join(' '), words] as const))(
    'is refused where there is one cell, with CELLS or without: %s',
    async (_, words) => {
      const one = createDeployment(chain)
      const only = [{ ...cells[0], uids: '1-' }]
      for (const CELLS of ['', JSON.stringify(only)]) {
        const end = await call([...words, '--cell', '1'], { environment: { CELLS } }, one)
        const refused =
          'Stopped: there is only one cell here, so --cell has no meaning.\nWhat to do: leave --cell out.\n'
        expect(end).toEqual({ code: 1, out: '', all: refused })
      }
      one.remove()
    },
  )

  it('is refused with a CELLS that the service would refuse, which is named', async () => {
    const CELLS = JSON.stringify(cells.map((cell) => ({ ...cell, uids: '1-999999' })))
    expect((await call(['operate', 'gap', 'list', '--cell', '1'], { environment: { CELLS } })).all).toBe(
      'Stopped: CELLS: two ranges with user 1.\nWhat to do: correct CELLS in wrangler.toml; docs/guides/settings.md says what it takes.\n',
    )
  })
})

describe('npm run operate -- … --cell 2', () => {
  const rescan = ['rescan', '--from', '85', '--to', '95', '--reason', 'x', '--local', '--cell', '2']

  it('acts on the database of the second cell only, by the real wrangler', async () => {
    const environment = { WRANGLER_SEND_METRICS: 'false', CI: '1' }
    const end = await runCommand('src/commands/operate/start.ts', rescan, { cwd: deployment.folder, environment })
    expect(end).toMatchObject({ code: 0, out: `${actsOnSecond}The next ticks read the blocks 85 to 95 again.\n` })
    const stored = 'SELECT from_height FROM rescan'
    expect([deployment.rows(1, stored), deployment.rows(2, stored)]).toEqual([[], [{ from_height: 85 }]])
  }, 120_000)

  it('names the cell in the commands that it advises', async () => {
    const { all } = await call(['operate', 'gap', 'close', '--from', '9', '--reason', 'x', '--cell', '2'])
    expect(all).toContain('"npm run operate -- gap list --local --cell 2" shows')
  })

  it('asks the service about the second cell', async () => {
    const service = await startPayoutService(secondPayoutAddress, Date.now)
    const paths: string[] = []
    service.script.onRequest = async (path) => {
      paths.push(path)
      return { status: 404, body: '{"msg":"no such payout"}' }
    }
    const words = ['payouts', 'approve', '7', '--name', 'anna', '--service', service.url]
    expect((await call(['operate', ...words, '--cell', '2'])).all).toContain('Stopped: 404: no such payout.\n')
    expect(paths).toEqual(['/ledger/payouts/approve?cell=2'])
    await service.close()
  })
})

describe('npm run doctor -- --cell 2', () => {
  const doctor = (environment = {}) => call(['doctor', '--cell', '2'], { environment })

  it('checks the key of the second cell and its share of what the nodes allow', async () => {
    const { out } = await doctor()
    const first = [0, 1, 2].map((index) => formatBase58(secondAddressAt(index))).join(', ')
    expect(out.startsWith(actsOnSecond)).toBe(true)
    expect(out).toContain(`ok    key: account m/44'/195'/${secondAccount}', first addresses ${first}: `)
    expect(out).toContain('allows 50000 requests a second and 500000000 a day')
    expect(out).toContain('ok    configuration: every variable is valid\n')
  })

  it('names a fault by the entry of its cell, whichever that is', async () => {
    deployment.setVariables({ SECOND_KEY: '' })
    for (const cell of ['1', '2']) {
      expect((await call(['doctor', '--cell', cell])).out).toMatch(/^FAIL {2}CELLS\.1\.xpub: /m)
    }
    deployment.setVariables()
  })

  it('fails where the database has users of another cell', async () => {
    expect((await doctor()).out).toContain('ok    stored data: none yet\n')
    const CELLS = JSON.stringify([cells[0], { ...cells[1], uids: '1000001-' }]).replace('1-999999', '1-1000000')
    expect((await doctor({ CELLS })).out).toContain(
      'FAIL  stored data: CELLS is "1000001-9007199254740991", stored is "user 1000000 has an address or a wallet": nothing would be served\n',
    )
  })
})

describe('npm run collect -- … --cell 2', () => {
  it('collects what the addresses of the second cell hold, and nothing of a plan of another cell', async () => {
    const { devnet } = chain
    const to = formatBase58(secondAddressAt(0))
    for (const address of [to, chain.depositAt(0)]) await devnet.pay({ to: address, amount: '25', currency: 'USDT' })
    await devnet.mine(3)
    const planned = await call([
      'collect',
      'plan',
      '--to',
      destination,
      '--min',
      '0',
      '--out',
      'plan.json',
      '--cell',
      '2',
    ])
    expect(planned.out).toContain(`Destination   ${destination}\nCollects      25 USDT in 1 transfer, `)
    expect(planned.out).toMatch(/npm run collect -- sign plan\.json --cell 2\n$/)
    // safe: the command's own format
    const plan = JSON.parse(readFileSync(deployment.path('plan.json'), 'utf8')) as { account: number }
    expect(plan.account).toBe(secondAccount)

    const sign = (cell: string) =>
      call(['collect', 'sign', 'plan.json', '--to', destination, '--out', `${cell}.json`, '--stdin', '--cell', cell], {
        input: `${testMnemonic}\n`,
      })
    const otherCell = `Stopped: ${to} is no address of cell 1: the plan is for another cell. Nothing was `
    expect(await sign('1')).toMatchObject({ code: 1, all: expect.stringContaining(`${otherCell}signed.\n`) })
    expect((await sign('2')).out).toMatch(/Next, with a network: npm run collect -- send 2\.json --cell 2\n$/)
    const sent = await call(['collect', 'send', '2.json', '--cell', '1'])
    expect([sent.code, sent.all]).toEqual([1, expect.stringContaining(`${otherCell}sent.\n`)])
    const done = await call(['collect', 'send', '2.json', '--cell', '2'], { time: chain.timeOfBlocks })
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('Complete, and final.')])
    expect([await chain.balanceOf(destination, 'USDT'), await chain.balanceOf(chain.depositAt(0), 'USDT')]).toEqual([
      '25',
      '25',
    ])
  }, 120_000)
})

describe('npm run payout -- … --cell 2', () => {
  let service: ScriptedService
  const paths: string[] = []
  beforeAll(async () => {
    service = await startPayoutService(secondPayoutAddress, Date.now)
    service.script.onRequest = async (path) => {
      paths.push(path)
      return undefined
    }
    service.script.ask({ to: recipient, uid: 1_000_000, amt: '2.5' })
    writeFileSync(deployment.path('limits.json'), '[{ "cuy": 1, "each": "100", "perDay": "1000" }]')
    for (const [name, address] of [
      ['first-journal', payoutAddress],
      [`payout-journal-${secondPayoutAddress}.jsonl`, secondPayoutAddress],
    ] as const) {
      // safe: milliseconds since 1970
      createJournal(deployment.path(name), { chainId, address }, (Date.now() - 1_000) as UnixMs)
    }
  })
  afterAll(() => service.close())

  const signing = (cell: string, ...more: readonly string[]) =>
    call(
      [
        'payout',
        'sign',
        'payouts.json',
        '--limits',
        'limits.json',
        '--beside-network',
        '--stdin',
        '--cell',
        cell,
        ...more,
      ],
      { input: `${testMnemonic}\n` },
    )

  it('fetches, signs and hands in payouts of the second cell, with a journal of its own', async () => {
    const at = ['--service', service.url, '--cell', '2']
    const fetched = await call(['payout', 'fetch', '--out', 'payouts.json', ...at])
    expect([fetched.code, fetched.out]).toEqual([
      0,
      expect.stringMatching(/npm run payout -- sign payouts\.json --limits limits\.json --cell 2\n$/),
    ])
    expect(fetched.out.startsWith(`${actsOnSecond}Payouts from ${secondPayoutAddress}.\n`)).toBe(true)

    expect((await signing('1')).all).toContain(`payouts.json is for ${secondPayoutAddress} on chain ${chainId}, and `)
    const mixed = await signing('2', '--path', secondPath, '--journal', 'first-journal')
    expect(mixed.all).toContain(`first-journal is the journal of ${payoutAddress} on chain ${chainId}, not of `)
    const signed = await signing('2', '--path', secondPath)
    expect(signed.out).toContain(`Journal payout-journal-${secondPayoutAddress}.jsonl: 0 transactions signed before.\n`)
    expect(signed.out).toMatch(/Next, with a network: npm run payout -- submit payouts\.signed\.json --cell 2\n$/)

    const submitted = await call(['payout', 'submit', 'payouts.signed.json', ...at])
    expect([submitted.code, service.script.payouts[0]?.state]).toEqual([0, 'signed'])
    expect(new Set(paths)).toEqual(
      new Set(['/ledger/payouts/unsigned?cell=2', '/ledger/payouts?limit=100&cell=2', '/ledger/payouts/signed?cell=2']),
    )
  })
})

it('a deployment with one entry in CELLS is as one without: it has one cell, whose database and key it names', async () => {
  const one = createTwoCells(chain.devnet)
  one.setVariables({ CELLS: JSON.stringify([{ ...cells[1], uids: '1-' }]) })
  expect((await call(['operate', 'gap', 'list'], {}, one)).out).toBe(
    `Acts on this machine: database x-2 (${secondId}), chain ${chainId}.\nNo gap is open.\n`,
  )
  expect((await call(['doctor'], {}, one)).out).toContain(`ok    key: account m/44'/195'/${secondAccount}', `)
  expect(databaseId).not.toBe(secondId)
  one.remove()
})
