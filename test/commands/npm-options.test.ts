import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAudit } from '../../src/commands/audit/command.ts'
import { auditOptionNames } from '../../src/commands/audit/options.ts'
import { runCollect } from '../../src/commands/collect/command.ts'
import { collectOptions } from '../../src/commands/collect/command-line.ts'
import { runDeploy, runMigrate } from '../../src/commands/deploy/command.ts'
import { doctorOptions, runDoctor } from '../../src/commands/doctor/command.ts'
import { refuseTakenOptions } from '../../src/commands/npm-options.ts'
import { operateOptions, runOperate } from '../../src/commands/operate/command.ts'
import { runPayout } from '../../src/commands/payout/command.ts'
import { payoutOptions } from '../../src/commands/payout/options.ts'
import { placeOptions } from '../../src/commands/place.ts'
import { callCommand, npmRun, runCommand } from '../support/command.ts'
import { root } from '../support/project.ts'
import { databaseId, installWrangler } from './local-database.ts'
import { objectBindings } from './objects.ts'

let folder = ''
let path = ''

/**
 * Makes a project with the scripts of package.json. Its `wrangler` only records that it was called.
 * Its script `show` prints the arguments and variables that npm gives it.
 */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'npm-'))
  const project = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  project.scripts.show = 'node show.cjs'
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  writeFileSync(
    join(folder, 'show.cjs'),
    'process.stdout.write(JSON.stringify({ args: process.argv.slice(2), env: process.env }))',
  )
  symlinkSync(`${root}src`, join(folder, 'src'))
  const { PATH } = installWrangler(folder, `echo "$*" >> "${folder}/calls"\necho '[{"results":[]}]'`)
  path = [folder, `${root}node_modules/.bin`, PATH, process.env.PATH].join(delimiter)
  const database = `binding = "DB"\ndatabase_name = "x"\ndatabase_id = "${databaseId}"\n`
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\n[[d1_databases]]\n${database}${objectBindings('')}
[env.nile]\n[[env.nile.d1_databases]]\n${database}${objectBindings('env.nile.')}`,
  )
  cpSync(join(folder, 'wrangler.toml'), join(folder, 'plan.json'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the real `npm run` in the project, without the machine's npm settings. */
const npmRunThere = (...words: readonly string[]) =>
  npmRun(words, {
    cwd: folder,
    env: { PATH: path, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
  })

/** The arguments and variables with which npm starts a script. */
async function npmShow(...args: readonly string[]): Promise<{ args: readonly string[]; env: Record<string, string> }> {
  return JSON.parse((await npmRunThere('show', ...args)).out) // safe: printed by `show`
}

const calls = () => existsSync(join(folder, 'calls'))

/** A command of each of the operator's tools, as words after `npm run`. */
const commands = [
  ['keys', 'show'],
  ['collect', 'plan'],
  ['collect', 'sign', 'plan.json'],
  ['collect', 'send', 'plan.json'],
  ['payout', 'run'],
  ['doctor'],
  ['deploy'],
  ['db:migrate'],
  ['operate', 'gap', 'list'],
  ['audit', 'verify', '.'],
]
/**
 * Spellings of an option that names a deployment, for calls without the `--` before it. Each
 * command is tried with one spelling. npm completes `--prod` to `--production`.
 */
const places = [['--production'], ['--prod'], ['--env=nile'], ['--env', 'nile']]
const refusal = /^(npm has taken --env|NODE_ENV is "production")/
/** The scripts of package.json, among them those of the operator's tools. */
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
const tools = Object.keys(scripts).filter((name) => / src\/commands\/\S+\/\w+\.ts$/.test(scripts[name] ?? ''))

describe('an option that npm takes, since -- is missing before it,', () => {
  it.each(commands.map((words, i) => [words.join(' '), words, places[i % places.length] ?? []] as const))(
    'is refused by npm run %s before anything is read',
    async (_, words, place) => {
      const { code, out, all } = await npmRunThere(...words, ...place)
      expect([code, out, all]).toEqual([2, '', expect.stringMatching(refusal)])
      // The usage follows the refusal, and shows the right spelling.
      expect(all).toMatch(/ Write "--" before the options, as here:\nnpm run [\w:]+ (-- |\[-- )/s)
      expect(calls()).toBe(false)
    },
  )

  it('is tried with every tool', () => {
    expect(new Set(commands.map(([tool]) => tool))).toEqual(new Set(tools))
    expect(new Set(Object.keys(options))).toEqual(new Set(tools))
  })

  it('is refused although the command gets others after --', async () => {
    const { code, out } = await npmRunThere('operate', '--env=x', '--', 'gap', 'list', '--env', 'nile')
    expect([code, out, calls()]).toEqual([2, '', false])
    const { args, env } = await npmShow('--production', '--', 'gap', 'list')
    expect(() => refuseTakenOptions([], args, env)).toThrow(refusal)
  })

  it('acts where it says if -- is there', async () => {
    for (const [place, name] of [
      [['--local'], 'this machine'],
      [['--production'], 'production'],
      [['--env=nile'], 'the environment nile'],
    ] as const) {
      const { code, out } = await npmRunThere(
        'operate',
        '--',
        'webhooks',
        'replay',
        '--endpoint=1',
        '--from',
        '1',
        ...place,
      )
      expect([code, out.split(':')[0]]).toEqual([1, `Acts on ${name}`])
    }
    const [local, ...others] = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    expect(local).toMatch(/^d1 execute DB --local --env= /)
    expect(others).toEqual([
      expect.stringMatching(/^d1 execute DB --remote --env= /),
      expect.stringMatching(/^d1 execute DB --remote --env=nile /),
    ])
    expect((await npmShow('--', '--env', 'nile')).args).toEqual(['--env', 'nile'])
  })
})

const options = {
  keys: ['account', 'stdin', 'allow-pipe'],
  collect: Object.keys(collectOptions),
  payout: Object.keys(payoutOptions),
  doctor: Object.keys(doctorOptions),
  deploy: Object.keys(placeOptions),
  'db:migrate': Object.keys(placeOptions),
  operate: Object.keys(operateOptions),
  audit: auditOptionNames,
}
/**
 * All names of options except two that npm does not turn into a variable of the same name:
 * `--production` becomes NODE_ENV, and `--local` leaves no trace, so that `operate` refuses to act
 * because no database is named.
 */
const names = [...new Set(Object.values(options).flat())].filter((name) => !['production', 'local'].includes(name))
/**
 * npm has options of these names, or completes the names to options of npm. Each is tried in a
 * separate call, so that what npm sets comes only from it.
 */
const taken = ['to', 'token', 'gas', 'scan', 'scope', 'name']

describe('what npm makes of each option', () => {
  const ways = [
    ['--name', (name: string) => [`--${name}`]],
    ['--name=value', (name: string) => [`--${name}=5`]],
    ['--name value', (name: string) => [`--${name}`, '5']],
  ] as const
  it.each(ways)('written as %s is what is looked for', async (_, write) => {
    const others = names.filter((name) => !taken.includes(name))
    // each name is written in one of the three ways, and each way is tried
    const alone = taken.filter((_name, i) => ways[i % ways.length]?.[1] === write)
    const runs = [others, ...alone.map((name) => [name])].map(async (some) => {
      const { args, env } = await npmShow(...some.flatMap(write))
      expect(args.filter((arg) => arg.startsWith('--'))).toEqual([])
      for (const name of some) {
        // The command sees only this option's variable, so that it refuses because of this option.
        const own = some.length === 1 ? env : { [variableOf(name)]: env[variableOf(name)] }
        expect(() => refuseTakenOptions([name], [], own)).toThrow(`npm has taken --${name} for itself.`)
      }
    })
    await Promise.all(runs)
  })

  it('is no place on which npm run operate acts, although npm has left no trace of it', async () => {
    const { args, env } = await npmShow('gap', 'list', '-e', 'nile') // npm takes `-e` for its own option `--enjoy-by`
    expect([args, Object.values(env).filter((value) => value.includes('nile'))]).toEqual([['gap', 'list'], []])
    rmSync(join(folder, 'calls'), { force: true })
    for (const place of [['-e', 'nile'], ['-e=nile'], ['--local'], []]) {
      const { code, out, all } = await npmRunThere('operate', 'gap', 'list', ...place)
      expect([code, out, all]).toEqual([2, '', expect.stringMatching(/^on which database\? Name it after "--": /m)])
    }
    expect(calls()).toBe(false)
    const { out } = await npmRunThere('operate', '--', 'gap', 'list', '-e', 'nile')
    expect(out).toMatch(/^Acts on the environment nile: /)
  })

  it('is no reason to refuse what npm itself is configured with', async () => {
    const { env } = await npmShow('--', '--env', 'nile')
    expect(env.npm_lifecycle_event).toBe('show')
    const configured = { ...env, npm_config_min_release_age: '7', npm_config_registry: 'https://registry.example/' }
    expect(() => refuseTakenOptions(names, ['--env', 'nile'], configured)).not.toThrow()
  })
})

const variableOf = (name: string) => `npm_config_${name.replaceAll('-', '_')}`

describe('each option of each command', () => {
  const callable = {
    collect: runCollect,
    payout: runPayout,
    doctor: runDoctor,
    deploy: runDeploy,
    'db:migrate': runMigrate,
    operate: runOperate,
    audit: runAudit,
  }

  it.each(Object.entries(callable))('of npm run %s is looked for', async (tool, run) => {
    for (const name of options[tool as keyof typeof callable].filter((one) => one !== 'production')) {
      const ended = await callCommand(run, [], { cwd: folder, environment: { [variableOf(name)]: 'true' } })
      expect([ended.code, ended.all]).toEqual([2, expect.stringContaining(`npm has taken --${name} for itself.`)])
    }
    const environment = { NODE_ENV: 'production', npm_lifecycle_event: tool }
    const ended = await callCommand(run, [], { cwd: folder, environment })
    expect([ended.code, ended.all]).toEqual([2, expect.stringContaining('NODE_ENV is "production"')])
  })

  it('of npm run keys is looked for', async () => {
    const { all } = await runCommand('src/commands/keys/start.ts', ['no-command'])
    // the usage names all options, so the list above is complete
    expect(new Set(all.match(/(?<=--)[a-z-]+/g))).toEqual(new Set(options.keys))
    const ends = options.keys.map((name) =>
      runCommand('src/commands/keys/start.ts', ['show'], { environment: { [variableOf(name)]: 'true' } }),
    )
    const expected = options.keys.map((name) => [2, expect.stringContaining(`npm has taken --${name} for itself.`)])
    expect((await Promise.all(ends)).map(({ code, all }) => [code, all])).toEqual(expected)
  })

  it('is not looked for where the command is not run by npm, or where it has its own --production', () => {
    const environment = { NODE_ENV: 'production' }
    expect(() => refuseTakenOptions([], [], environment)).not.toThrow()
    const byNpm = { ...environment, npm_lifecycle_event: 'doctor' }
    expect(() => refuseTakenOptions([], ['--production'], byNpm)).not.toThrow()
    expect(() => refuseTakenOptions([], ['--env', 'nile'], byNpm)).toThrow('NODE_ENV is "production"')
  })
})
