import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TronWeb } from 'tronweb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depositPath } from '../../src/keys/key-path.ts'
import type { CommandOptions } from '../support/command.ts'
import { runCommand } from '../support/command.ts'
import { root } from '../support/project.ts'
import { testXpub } from '../support/variables.ts'
import { bindingsFor, type CollectChain, destination, gasAddress, startCollectChain, testMnemonic } from './harness.ts'

let chain: CollectChain
let folder = ''

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
  folder = mkdtempSync(join(tmpdir(), 'collect-'))
  const toml = (list: unknown) => JSON.stringify(list).replace(/"(\w+)":/g, '$1=') // inline tables
  const { TRON_NODES, CURRENCIES } = bindingsFor(chain.devnet)
  const database = `binding = "DB"\ndatabase_name = "x"\ndatabase_id = "0b54dd61-7b1c-4d0c-8d9e-1ad0a25a2f05"`
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"
[[d1_databases]]\n${database}\nmigrations_dir = "${root}migrations"\n[vars]\nTRON_CHAIN_ID = "0x6465766e"
TRON_NODES = ${toml(TRON_NODES)}\nCURRENCIES = ${toml(CURRENCIES)}\nOPERATOR_ADDRESSES = ["${gasAddress}"]\n`,
  )
  writeFileSync(join(folder, '.dev.vars'), `TRON_XPUB="${testXpub}"\n`)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await chain.stop()
})

const run = (args: readonly string[], options: CommandOptions = {}) =>
  runCommand('src/collect/start.ts', args, { cwd: folder, ...options })

/** All that a private key, or a part of it, can look like in a file or an output. */
function secrets(): readonly string[] {
  const paths = [depositPath(0, 0), depositPath(0, 1), depositPath(1, 0)]
  const keys = paths.map((path) => TronWeb.fromMnemonic(testMnemonic, path).privateKey.slice(2))
  return [...keys, ...keys.map((key) => key.toUpperCase()), 'test test', 'junk', 'xprv']
}

/** Makes a block each second, as `npm start` does. */
async function whileMining<T>(work: Promise<T>): Promise<T> {
  let isOver = false
  const mining = (async () => {
    while (!isOver) {
      await chain.devnet.mine(1)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })()
  try {
    return await work
  } finally {
    isOver = true
    await mining
  }
}

describe('npm run collect', () => {
  const outputs: string[] = []

  it('plans, signs without a network, and sends', async () => {
    const planned = await run(['plan', '--to', destination, '--min', '0', '--scan', '--out', 'plan.json'])
    outputs.push(planned.all)
    expect(planned.code).toBe(0)
    expect(planned.out).toContain(
      `Destination   ${destination}\nCollects      3.232 TRX in 1 transfer\n              35 USDT in 2 transfers`,
    )

    const answers = `${destination.slice(-6)}\n${testMnemonic}\n`
    const signed = await run(['sign', 'plan.json', '--stdin', '--out', 'signed.json'], {
      input: answers,
      withoutNetwork: true,
    })
    outputs.push(signed.all)
    expect([signed.code, signed.out.includes('Signed 8 transactions: signed.json.')]).toEqual([0, true])

    const sent = await whileMining(run(['send', 'signed.json']))
    outputs.push(sent.all)
    expect(sent.out).toContain('8 of 8 transactions succeeded')
    expect(sent.out).toContain('Complete, and final.')
    expect(sent.code).toBe(0)
    expect(await chain.balanceOf(destination, 'USDT')).toBe('35')

    const again = await run(['send', 'signed.json'])
    expect([again.code, again.out.includes('8 of 8 transactions succeeded')]).toEqual([0, true])
  })

  it('has left no private key in any file, output or message', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(files.length).toBeGreaterThan(3)
    expect(outputs).toHaveLength(3)
    for (const secret of secrets()) {
      for (const text of [...texts, ...outputs]) expect(text.includes(secret)).toBe(false)
    }
  })

  it('finds nothing more to collect, and writes nothing', async () => {
    const { code, out } = await run(['plan', '--to', destination, '--scan', '--out', 'empty.json'])
    expect([code, out.includes('There is nothing to collect')]).toEqual([0, true])
    expect(readdirSync(folder)).not.toContain('empty.json')
  })
})

describe('sign', () => {
  const sign = (input: string, file = 'plan.json') =>
    run(['sign', file, '--stdin', '--out', 'never.json'], { input, withoutNetwork: true })

  it.each<[string, () => string, string]>([
    ['another end of the destination', () => `abcdef\n${testMnemonic}\n`, 'not the last characters of the destination'],
    [
      'a mistyped mnemonic',
      () => `${destination.slice(-6)}\n${testMnemonic.replace('junk', 'junc')}\n`,
      'word 12 is not in',
    ],
    [
      'another mnemonic',
      () => `${destination.slice(-6)}\n${'abandon '.repeat(11)}about\n${testMnemonic}\n`,
      'another mnemonic',
    ],
    ['no answer', () => '', 'the input ended'],
  ])('refuses %s, and shows nothing of it', async (_, input, sentence) => {
    const { code, all } = await sign(input())
    expect([code, all.includes(sentence)]).toEqual([1, true])
    for (const secret of ['junk', 'junc', 'abandon', 'at file:']) expect(all).not.toContain(secret)
    expect(readdirSync(folder)).not.toContain('never.json')
  })

  it('refuses a plan that was changed on its way', async () => {
    const plan = readFileSync(join(folder, 'plan.json'), 'utf8')
    const stranger = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
    writeFileSync(join(folder, 'changed.json'), plan.replace(`"to": "${destination}"`, `"to": "${stranger}"`))
    const { code, all } = await sign(`${stranger.slice(-6)}\n${testMnemonic}\n`, 'changed.json')
    expect([code, all.includes('the file was changed. Nothing was signed')]).toEqual([1, true])
  })

  it('never replaces a file', async () => {
    const before = readFileSync(join(folder, 'signed.json'), 'utf8')
    const input = `${destination.slice(-6)}\n${testMnemonic}\n`
    const { code, all } = await run(['sign', 'plan.json', '--stdin', '--out', 'signed.json'], { input })
    expect([code, all.includes('exists already')]).toEqual([1, true])
    expect(readFileSync(join(folder, 'signed.json'), 'utf8')).toBe(before)
  })
})

describe('the options', () => {
  it.each<[string[], number, string]>([
    [[], 2, 'npm run collect'],
    [['steal'], 2, 'npm run collect'],
    [['plan', '--private-key', 'x'], 2, 'npm run collect'],
    [['plan'], 1, '--to: a Tron address'],
    [['plan', '--to', destination, '--hours', '25'], 1, '--hours: a whole number from 1 to 24'],
    [['plan', '--to', destination, '--from-index', '5', '--to-index', '4'], 1, '--to-index: a whole number from 5'],
    [['plan', '--to', destination, '--production', '--env', 'nile'], 1, 'either --production or --env'],
    [['sign', 'none.json'], 1, 'none.json cannot be read'],
    [['send', 'plan.json'], 1, 'the file is not a signed plan'],
  ])('%j', async (args, code, text) => {
    const ended = await run(args)
    expect([ended.code, ended.all.includes(text)]).toEqual([code, true])
    expect(ended.all).not.toContain('at file:')
  })
})

describe('the addresses of a deployment', () => {
  it('are read from its database, and must be those of the key', async () => {
    const { spawnSync } = await import('node:child_process')
    const env = { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false' }
    const wrangler = (...args: string[]) =>
      spawnSync(process.execPath, [`${root}node_modules/wrangler/bin/wrangler.js`, 'd1', ...args], {
        cwd: folder,
        env,
        encoding: 'utf8',
      })
    expect(wrangler('migrations', 'apply', 'DB', '--local').status).toBe(0)
    await chain.deposit([0, '1', 'USDT'])
    const hex = chain.config.extendedPublicKey.addressAt(0)
    const insert = (index: number, address: string) =>
      `DROP TRIGGER IF EXISTS address_is_new; INSERT INTO address (id, derivation_index, uid, address, issued_height, created_at) VALUES (${index + 1}, ${index}, 1, '${address}', 1, 1)`
    expect(wrangler('execute', 'DB', '--local', '--command', insert(0, hex)).status).toBe(0)
    const { code, out } = await run(['plan', '--to', destination, '--currency', 'USDT', '--out', 'from-database.json'])
    expect([code, out.includes('1 USDT')]).toEqual([0, true])

    expect(wrangler('execute', 'DB', '--local', '--command', insert(1, hex.replace(/^../, '00'))).status).toBe(0)
    const refused = await run(['plan', '--to', destination])
    expect([refused.code, refused.all.includes('address 1 of the database is not one of TRON_XPUB')]).toEqual([1, true])
  })
})
