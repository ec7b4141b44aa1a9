import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TronWeb } from 'tronweb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depositPath } from '../../../src/commands/signing/account-key.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { collectCommand } from '../../devnet/local.ts'
import { treasuryBase58 } from '../../devnet/operator.ts'
import { root } from '../../support/project.ts'
import { createTables, databaseId, installQuickWrangler, rowsIn } from '../local-database.ts'
import { createDeployment, type TestDeployment } from './deployment.ts'
import { type CollectChain, destination, gasAddress, startCollectChain, testMnemonic } from './harness.ts'

let chain: CollectChain
let deployment: TestDeployment
let folder = ''

beforeAll(async () => {
  chain = await startCollectChain()
  await chain.deposit([0, '25', 'USDT'], [0, '3.5', 'TRX'], [1, '10', 'USDT'])
  deployment = createDeployment(chain)
  folder = deployment.folder
})
afterAll(async () => {
  deployment.remove()
  await chain.stop()
})

const run: TestDeployment['run'] = (args, options) => deployment.run(args, options)
const call: TestDeployment['call'] = (args, options) => deployment.call(args, options)

/** Every form in which a private key, or part of one, could appear in a file or an output. */
function secrets(): readonly string[] {
  const paths = [depositPath(0, 0), depositPath(0, 1), depositPath(1, 0)]
  const keys = paths.map((path) => TronWeb.fromMnemonic(testMnemonic, path).privateKey.slice(2))
  return [...keys, ...keys.map((key) => key.toUpperCase()), 'test test', 'junk', 'xprv']
}

const actsHere = `Acts on this machine: database x (${databaseId}), chain 0x6465766e.\n`

describe('npm run collect', () => {
  const outputs: string[] = []

  it('plans, signs without a network, and sends', async () => {
    const planned = await run(['plan', '--to', destination, '--min', '0', '--scan', '--out', 'plan.json'])
    outputs.push(planned.all)
    expect(planned.code).toBe(0)
    expect(planned.out).toContain(
      `Destination   ${destination}\nCollects      3.232 TRX in 1 transfer\n              35 USDT in 2 transfers`,
    )

    const answers = `${destination}\n${testMnemonic}\n`
    const signed = await run(['sign', 'plan.json', '--stdin', '--out', 'signed.json'], {
      input: answers,
      withoutNetwork: true,
      processFile: join(folder, 'process.json'),
    })
    outputs.push(signed.all)
    for (const name of ['plan.json', 'signed.json']) {
      expect([name, (statSync(join(folder, name)).mode & 0o777).toString(8)]).toEqual([name, '600'])
    }
    expect(signed.out.split('\n')[0]).toBe(actsHere.trim())
    expect([signed.code, signed.out.includes('Signed 8 transactions: signed.json.')]).toEqual([0, true])
    // All of this is shown before anything is signed.
    const { expiresAt } = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as { expiresAt: string }
    for (const line of [
      `Destination   ${destination}`,
      `Collects      3.232 TRX in 1 transfer\n              35 USDT in 2 transfers, contract ${tokenBase58}`,
      'Transactions  8: 1 × create account, 2 × delegate energy, 2 × take energy back, 3 × transfer',
      `Signed, these transactions can be sent by whoever has the file, until ${expiresAt}; they cannot be changed.`,
    ]) {
      expect(signed.out).toContain(`${line}\n`)
    }
    expect(signed.out.indexOf(expiresAt)).toBeLessThan(signed.out.indexOf('Signed 8 transactions'))

    const sent = await run(['send', 'signed.json'])
    outputs.push(sent.all)
    expect(sent.out).toContain('8 of 8 transactions succeeded')
    expect(sent.all).toContain('8/8 transactions\n') // the end of the progress bar
    expect(sent.out).toContain('Complete, and final.')
    expect(sent.code).toBe(0)
    expect(await chain.balanceOf(destination, 'USDT')).toBe('35')

    const again = await call(['send', 'signed.json'])
    expect([again.code, again.out.includes('8 of 8 transactions succeeded')]).toEqual([0, true])
  }, 300_000)

  it('has left no private key in any file, output or message, nor in the arguments or the environment of `sign`', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['plan.json', 'signed.json', 'process.json']))
    expect(outputs).toHaveLength(3)
    for (const secret of secrets()) {
      for (const text of [...texts, ...outputs]) expect(text.includes(secret)).toBe(false)
    }
  })

  it('finds nothing more to collect, and writes nothing', async () => {
    const { code, out } = await call(['plan', '--to', destination, '--scan', '--out', 'empty.json'])
    expect([code, out.includes('There is nothing to collect')]).toEqual([0, true])
    expect(readdirSync(folder)).not.toContain('empty.json')
  })
})

describe('sign', () => {
  const sign = (input: string, file = 'plan.json') => call(['sign', file, '--stdin', '--out', 'never.json'], { input })

  it.each<[string, () => string, string]>([
    ['the end of the destination', () => `${destination.slice(-6)}\n${testMnemonic}\n`, 'that is not the destination'],
    ['another destination', () => `${gasAddress}\n${testMnemonic}\n`, 'that is not the destination of the plan'],
    ['a mistyped mnemonic', () => `${destination}\n${testMnemonic.replace('junk', 'junc')}\n`, 'word 12 is not in'],
    ['another mnemonic', () => `${destination}\n${'abandon '.repeat(11)}about\n${testMnemonic}\n`, 'another mnemonic'],
    ['no answer', () => '', 'the input ended'],
  ])('refuses %s, and shows nothing of it', async (_, input, sentence) => {
    const { code, all } = await sign(input())
    expect([code, all.includes(sentence)]).toEqual([1, true])
    for (const secret of ['junk', 'junc', 'abandon']) expect(all).not.toContain(secret)
    expect(readdirSync(folder)).not.toContain('never.json')
  })

  it('takes the whole destination by --to as well, and compares it', async () => {
    const args = (to: string) => ['sign', 'plan.json', '--to', to, '--stdin', '--out', `to-${to.slice(-6)}.json`]
    const input = `${testMnemonic}\n`
    expect((await call(args(destination), { input })).code).toBe(0)
    const { code, all } = await call(args(gasAddress), { input })
    expect([code, all.includes('that is not the destination of the plan. Nothing was signed')]).toEqual([1, true])
  })

  it('refuses a plan that was changed on its way', async () => {
    const plan = readFileSync(join(folder, 'plan.json'), 'utf8')
    const stranger = 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK'
    writeFileSync(join(folder, 'changed.json'), plan.replace(`"to": "${destination}"`, `"to": "${stranger}"`))
    const { code, all } = await sign(`${stranger}\n${testMnemonic}\n`, 'changed.json')
    expect([code, all.includes('the file was changed. Nothing was signed')]).toEqual([1, true])
  })

  it('refuses a plan that names another chain than the configuration: its bytes name none', async () => {
    const plan = readFileSync(join(folder, 'plan.json'), 'utf8')
    const toml = join(folder, 'wrangler.toml')
    const before = readFileSync(toml, 'utf8')
    // `sign` cannot tell the two cases apart: a plan that was changed on its way, and the
    // configuration of another deployment.
    writeFileSync(join(folder, 'other-chain.json'), plan.replace('"chainId": "0x6465766e"', '"chainId": "0xcd8690dc"'))
    writeFileSync(toml, before.replace(/(\[env\.nile\.vars\]\nTRON_CHAIN_ID = )"0x6465766e"/, '$1"0xcd8690dc"'))
    const answers = { input: `${destination}\n${testMnemonic}\n` }
    const signIn = (file: string, ...place: string[]) =>
      call(['sign', file, '--stdin', '--out', 'never.json', ...place], answers)
    for (const [ended, planned, configured] of [
      [await signIn('other-chain.json'), 'chain 0xcd8690dc (Nile)', 'chain 0x6465766e'],
      [await signIn('other-chain.json', '--production'), 'chain 0xcd8690dc (Nile)', 'chain 0x6465766e'],
      [await signIn('plan.json', '--env', 'nile'), 'chain 0x6465766e', 'chain 0xcd8690dc (Nile)'],
    ] as const) {
      const why = `Stopped: the plan is for ${planned}, and this configuration is for ${configured}.\nWhat to do: `
      expect([ended.code, ended.all]).toEqual([1, expect.stringContaining(why)])
    }
    writeFileSync(toml, before)
    expect(readdirSync(folder)).not.toContain('never.json')
  })

  it('and send refuse a plan whose gas address is the payout address by now: it would stop payouts', async () => {
    const environment = { PAYOUTS: JSON.stringify({ address: gasAddress }) }
    const input = `${destination}\n${testMnemonic}\n`
    const signing = ['sign', 'plan.json', '--stdin', '--out', 'never.json']
    for (const [args, done] of [
      [signing, 'signed'],
      [['send', 'signed.json'], 'sent'],
    ] as const) {
      const { code, all } = await call(args, { input, environment })
      const why = `${gasAddress}, from which the plan pays for gas, is the address of PAYOUTS by now. Nothing was ${done}`
      expect([code, all]).toEqual([1, expect.stringContaining(why)])
    }
    const { code, all } = await call(signing, { input, environment: { PAYOUTS: '{"address":"T1"}' } })
    expect([code, all]).toEqual([1, expect.stringMatching(/Stopped: PAYOUTS.+\. Nothing was signed/)])
    expect(readdirSync(folder)).not.toContain('never.json')
  })

  it('never replaces a file', async () => {
    const before = readFileSync(join(folder, 'signed.json'), 'utf8')
    const input = `${destination}\n${testMnemonic}\n`
    const { code, all } = await call(['sign', 'plan.json', '--stdin', '--out', 'signed.json'], { input })
    expect([code, all.includes('exists already')]).toEqual([1, true])
    expect(readFileSync(join(folder, 'signed.json'), 'utf8')).toBe(before)
  })
})

describe('the options', () => {
  it.each<[string[], number, string]>([
    [[], 2, 'npm run collect'],
    [['steal'], 2, 'npm run collect'],
    [['plan', '--private-key', 'x'], 2, 'npm run collect'],
    [['plan', '--to', destination, '--hours', '25'], 2, '--hours: a whole number from 1 to 24'],
    [['plan', '--to', destination, '--from-index', '5', '--to-index', '4'], 2, '--to-index: a whole number from 5'],
    [['plan', '--to', destination, '--production', '--env', 'nile'], 2, 'either --production or --env'],
    [['sign', 'none.json'], 1, 'none.json cannot be read'],
    [['send', 'plan.json'], 1, 'the file is not a signed plan'],
    [['send', 'signed.json', '--currency', 'TRX'], 2, 'send takes no --currency'],
    [['sign', 'plan.json', '--account', '1', '--stdin'], 2, 'sign takes no --account'],
    [['plan', '--to', destination, '--stdin'], 2, 'plan takes no --stdin'],
  ])('%j', async (args, code, text) => {
    const ended = await call(args)
    expect([ended.code, ended.all.includes(text)]).toEqual([code, true])
  })

  it.each([
    [['steal'], 2, ''],
    [['sign', 'none.json'], 1, actsHere],
  ])('%j end the process with %i and without a stack', async (args, code, out) => {
    const ended = await run(args)
    expect([ended.code, ended.out, ended.all.includes('at file:')]).toEqual([code, out, false])
  })
})

describe('the addresses of a deployment', () => {
  it('are read from its database, also those for orders, and must be those of the key', async () => {
    createTables(folder)
    const environment = installQuickWrangler(folder)
    const issue = (index: number, address: string, isForOrders = false) =>
      rowsIn(
        folder,
        `INSERT INTO stored_address (id, uid, address, issued_height, created_at, for_orders)
          VALUES (${index + 1}, ${index + 1}, unhex('${address}'), 1, 1, ${isForOrders ? 1 : 0})`,
      )
    await chain.deposit([5, '1', 'USDT'], [6, '3', 'USDT'])
    issue(5, chain.config.extendedPublicKey.addressAt(5))
    issue(6, chain.config.extendedPublicKey.addressAt(6), true)
    const args = ['plan', '--to', destination, '--currency=USDT', '--min=0', '--out', 'from-database.json']
    const { code, out } = await call(args, { environment })
    expect(code).toBe(0)
    expect(out).toContain('4 USDT in 2 transfers')

    issue(7, '0'.repeat(40))
    const refused = await call(['plan', '--to', destination], { environment })
    expect([refused.code, refused.all.includes('address 7 of the database is not one of TRON_XPUB')]).toEqual([1, true])
  })

  it.each([
    [['--production'], '--env='],
    [['--env', 'nile'], '--env=nile'],
  ])('%j are read from its database at the provider', async (option, env) => {
    await chain.deposit([4, '1', 'USDT'])
    const rows = [{ i: 4, address: chain.config.extendedPublicKey.addressAt(4) }]
    const wrangler = deployment.replaceWrangler(
      `A line before.\n${JSON.stringify([{ results: rows }, { results: [] }])}`,
    )
    const out = `from${env.slice(5)}.json`
    const planned = await call(
      ['plan', '--to', destination, '--min=0', ...option, '--from-index=3', '--out', out],
      wrangler,
    )
    expect([planned.code, planned.out.includes(`4      ${chain.depositAt(4)}`)]).toEqual([0, true])
    expect(wrangler.calls().map((call) => call.slice(0, 7))).toEqual([
      ['d1', 'execute', 'DB', '--remote', env, '--json', '--command'],
    ])
    expect(wrangler.calls()[0]?.join(' ')).toMatch(/ BETWEEN 3 AND 2147483647 ORDER BY i; SELECT /)
  })

  it('are those of the command that npm start prints, with the settings that it has', async () => {
    const { rpcUrl: rpc, apiUrl: api } = chain.devnet
    const command = collectCommand(JSON.stringify([{ rpc, api, perSecond: 1_000, perDay: 10_000_000 }]))
    const [, nodes = '', words = ''] = /^TRON_NODES='(.+)' npm run collect -- (.+)$/.exec(command) ?? []
    const settings = readFileSync(`${root}test/devnet/dev.vars`, 'utf8').matchAll(/^(\w+)=(["'])(.*)\2$/gm)
    const variables = Object.fromEntries([...settings].map(([, name = '', , value = '']) => [name, value]))
    const own = createDeployment(chain)
    createTables(own.folder)
    const environment = { ...variables, TRON_NODES: nodes, ...installQuickWrangler(own.folder) }
    rowsIn(
      own.folder,
      `INSERT INTO stored_address (id, uid, address, issued_height, created_at)
        VALUES (10, 1, unhex('${chain.config.extendedPublicKey.addressAt(9)}'), 1, 1)`,
    )
    await chain.deposit([9, '25', 'USDT'], [9, '3.5', 'TRX']) // as after the deposits that `npm start` suggests
    const { code, all } = await own.call(words.split(' '), { environment })
    own.remove()
    expect([code, all]).toEqual([0, expect.stringContaining(`Destination   ${treasuryBase58}`)])
    expect(all).toContain('Written to plan.json.')
  })

  it('that cannot be read are no addresses', async () => {
    const unread = 'wrangler cannot use the database'
    const wrong = 'address 0 of the database is not one of TRON_XPUB'
    for (const [output, why] of [
      ['', unread],
      ['[]x', unread],
      ['[{"results":[{"i":0}]},{"results":[]}]', wrong],
    ] as const) {
      const { environment } = deployment.replaceWrangler(output)
      const { code, all } = await call(['plan', '--to', destination], { environment })
      expect([code, all.includes(why)]).toEqual([1, true])
    }
  })
})
