import { spawnSync } from 'node:child_process'
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../support/command.ts'
import { root } from '../../support/project.ts'
import { testXpub } from '../../support/variables.ts'
import { gasAddress, keysOf, testMnemonic } from '../collect/harness.ts'
import { payoutAddress } from '../payout/harness.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const firstLine = 'Acts on no database and no chain: it makes keys on this machine, and stores and sends nothing.\n'

const run = (args: readonly string[], input = '') =>
  runCommand('src/commands/keys/start.ts', args, { input, cwd: folder, withoutNetwork: true })

describe('npm run keys -- show', () => {
  it('prints what the service needs, without a network, and nothing secret', async () => {
    const { code, out, all } = await run(['show', '--stdin', '--allow-pipe'], `${testMnemonic}\n`)
    expect([code, out]).toEqual([
      0,
      `${firstLine}Extended public key of m/44'/195'/0', for TRON_XPUB:
  ${testXpub}
First addresses:
  0  TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6  m/44'/195'/0'/0/0
  1  TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C  m/44'/195'/0'/0/1
  2  TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA  m/44'/195'/0'/0/2
Payout address, for PAYOUTS:
     ${payoutAddress}  m/44'/195'/2'/0/0
Gas address (for OPERATOR_ADDRESSES; wallets show it as the next account):
     ${gasAddress}  m/44'/195'/1'/0/0
`,
    ])
    for (const secret of ['junk', 'xprv']) expect(all).not.toContain(secret)
    expect(readdirSync(folder)).toEqual([])
  })

  it('takes an account number', async () => {
    const { out } = await run(['show', '--account', '3', '--stdin', '--allow-pipe'], testMnemonic)
    expect(out).toContain(`m/44'/195'/3', for TRON_XPUB:\n  ${keysOf(testMnemonic).extendedPublicKey(3)}\n`)
    expect(out).toContain("m/44'/195'/4'/0/0")
  })

  it('names the place of a wrong word', async () => {
    const { code, all } = await run(['show', '--stdin', '--allow-pipe'], testMnemonic.replace('junk', 'junc'))
    expect([code, all.trim().split('\n').slice(-2)]).toEqual([
      1,
      [
        'Stopped: word 12 is not in the BIP-39 list of English words: compare the spelling.',
        'What to do: run the command again, and type all words in their order.',
      ],
    ])
  })
})

describe('npm run keys -- new', () => {
  it('shows the words once, after a warning, and then what belongs to them', async () => {
    const { code, out, all } = await run(['new', '--stdin', '--allow-pipe'], '\n\n')
    const screen = out.slice(out.indexOf('picture of it.'), out.indexOf('Extended'))
    const words = [...screen.matchAll(/(?:^| ) ?(\d{1,2}) ([a-z]{3,8})\b/gm)].map(({ 2: word = '' }) => word)
    expect([code, words.length]).toEqual([0, 24])
    expect(out).toContain(keysOf(words.join(' ')).extendedPublicKey(0))
    expect(out.indexOf('once')).toBeLessThan(out.indexOf(` 1 ${words[0]}`))
    expect(all.split(`24 ${words[23]}`)).toHaveLength(2)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('npm run keys', () => {
  it.each([['show'], ['new']])('%s refuses an output that is a pipe, before it asks for anything', async (command) => {
    const { code, out, all } = await run([command, '--stdin'], testMnemonic)
    expect([code, out]).toEqual([1, ''])
    expect(all).toContain('--allow-pipe')
  })

  it.each([
    [['show', '--allow-pipe'], 1, '--stdin'],
    [[], 2, 'npm run keys'],
    [['export'], 2, 'npm run keys'],
    [['show', '--mnemonic', 'test'], 2, 'npm run keys'],
    [['show', '--account', '-1'], 2, 'npm run keys'],
    [['show', '--account', '2147483648'], 2, 'npm run keys'],
    [['show', '--file', 'k.age'], 2, 'npm run keys'],
  ])('%j ends with %i', async (args, expected, text) => {
    const { code, out, all } = await run(args)
    expect([code, out]).toEqual([expected, expected === 1 ? firstLine : ''])
    expect(all).toContain(text)
  })
})

describe('a program that a package brings', () => {
  /**
   * Installs this Node again as the program of another package, as if a package had brought its own
   * `node`.
   */
  function installOther(): string {
    const program = join(folder, 'node_modules/other/bin/node')
    mkdirSync(join(program, '..'), { recursive: true })
    try {
      linkSync(realpathSync(process.execPath), program)
    } catch {
      copyFileSync(process.execPath, program) // a link is impossible on another file system
    }
    return program
  }

  it.each([
    ['src/commands/keys/start.ts', ['show', '--stdin', '--allow-pipe']],
    ['src/commands/collect/start.ts', ['sign', 'plan.json', '--stdin']],
  ])('does not run %s, which asks for nothing', async (script, args) => {
    const program = installOther()
    const ended = spawnSync(program, [`${root}${script}`, ...args], {
      cwd: folder,
      input: `${testMnemonic}\n`,
      encoding: 'utf8',
    })
    expect([ended.status, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(
      /^Stopped: this runs on .+\/node_modules\/other\/bin\/node, which is neither .+\.\nWhat to do: .+\.\n$/,
    )
  })
})
