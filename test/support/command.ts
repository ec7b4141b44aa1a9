import { type ChildProcess, execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { readTarget } from '../../src/commands/target.ts'
import type { TargetReader } from '../../src/commands/target-apart.ts'
import { root } from './project.ts'

/** The end of a command. `all` is everything that it wrote. */
export interface CommandEnd {
  /** The exit code, or -1 where a signal ended it. */
  readonly code: number
  readonly out: string
  readonly all: string
}

/** How a command is run. */
export interface CommandOptions {
  readonly input?: string
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Ends the command, and each Node that it starts, with code 99 at its first connection. */
  readonly withoutNetwork?: boolean
  /** The file to which the command writes its arguments and its environment at its end. */
  readonly processFile?: string
  /** A URL that makes a block: the command posts to it where it waits for one (three seconds). */
  readonly blocksBy?: string
  /** The text of a module that runs before the command. */
  readonly preload?: string
  /** The same, which also runs before each Node that the command starts. */
  readonly preloadOfAll?: string
  /** Gets the process, which it can signal. */
  readonly onStart?: (child: ChildProcess) => void
}

const noNetwork = `import net from 'node:net'; net.Socket.prototype.connect = () => { process.exit(99) };`
const recorded = (file: string) => `import { writeFileSync } from 'node:fs'
process.on('exit', () => {
  writeFileSync(${JSON.stringify(file)}, JSON.stringify([process.argv, process.execArgv, process.env]))
})`

const madeBlocks = (url: string) => `const wait = globalThis.setTimeout
globalThis.setTimeout = (act, ms, ...given) => {
  if (ms !== 3_000 || given.length > 0) return wait(act, ms, ...given) // the time-outs of fetch have something given
  void fetch(${JSON.stringify(url)}, { method: 'POST' }).finally(act)
}`

/**
 * Node parses all exports of drizzle-orm, which are 180 kB, for each of its hundred files, to know that they are modules: half a second
 * in each command. With this it knows.
 */
const knownModules = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    const from = context.parentURL ?? ''
    if (!name.startsWith('.') || !from.includes('/node_modules/drizzle-orm/')) return next(name, context)
    return { url: new URL(name, from).href, format: 'module', shortCircuit: true }
  },
})`

/** The options with which Node runs the text of a module first. */
const importOf = (module: string) => ['--import', `data:text/javascript,${encodeURIComponent(module)}`]

/**
 * The text of a module for `preloadOfAll`: a Node has what wrangler reads in a folder, without loading wrangler. That takes most of a
 * second, and most of the time of commands that are killed early.
 */
export function asReadBefore(folder: string): string {
  const { unstable_getVarsForDev, unstable_readConfig } = requireHere('wrangler') as typeof import('wrangler')
  const config = unstable_readConfig({ config: join(folder, 'wrangler.toml'), env: '' }, { hideWarnings: true })
  const { configPath, vars, secrets } = config
  const secretVars = unstable_getVarsForDev(configPath, undefined, vars, undefined, true, secrets)
  const file = join(folder, 'as-read-before.cjs')
  const answers = { unstable_readConfig: config, unstable_getVarsForDev: secretVars }
  const lines = Object.entries(answers).map(([name, answer]) => `exports.${name} = () => (${JSON.stringify(answer)})`)
  writeFileSync(file, lines.join('\n'))
  return `import { registerHooks } from 'node:module'
registerHooks({ resolve: (name, context, next) => next(name === 'wrangler' ? ${JSON.stringify(file)} : name, context) })`
}

const path = `${root}node_modules/.bin:${process.env.PATH ?? ''}`

/** Runs a script of the repository as npm does, with the Node of the repository. */
export function runCommand(
  script: string,
  args: readonly string[],
  {
    input = '',
    cwd = root,
    environment = {},
    withoutNetwork = false,
    processFile,
    blocksBy,
    preload = '',
    preloadOfAll = '',
    onStart,
  }: CommandOptions = {},
): Promise<CommandEnd> {
  const modules = [
    knownModules,
    processFile === undefined ? '' : recorded(processFile),
    blocksBy === undefined ? '' : madeBlocks(blocksBy),
    preload,
  ]
  const importAll = (some: readonly string[]) => some.flatMap((module) => (module === '' ? [] : importOf(module)))
  const env = {
    PATH: path,
    HOME: cwd,
    NODE_OPTIONS: importAll([withoutNetwork ? noNetwork : '', preloadOfAll]).join(' '),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', // it begins faster with it (`vitest.config.ts`)
    ...environment,
  }
  const node = `${root}node_modules/.bin/node`
  return execute(node, [...importAll(modules), `${root}${script}`, ...args], { cwd, env }, input, onStart)
}

/** Runs `npm run` with these words, and prints nothing of npm itself. */
export function npmRun(
  words: readonly string[],
  { cwd = root, env = process.env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandEnd> {
  return execute('npm', ['run', '--silent', ...words], { cwd, env })
}

/** Runs a program to its end. */
function execute(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  input = '',
  onStart?: CommandOptions['onStart'],
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...options, maxBuffer: 64 * 1024 * 1024 }, (error, out, errors) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, out, all: `${out}${errors}` })
    })
    child.stdin?.end(input)
    onStart?.(child)
  })
}

/** The streams of a command that runs in this process. */
interface CalledStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

/** The configuration as a process of its own would read it, without that process: the scripts themselves have it. */
export const readTargetHere: TargetReader = async (env, cell) => readTarget(env, cell)

const requireHere = createRequire(import.meta.url)

/**
 * Runs the function of a command in this process, in a folder and with variables of its own: a process for each run would take most
 * of the time of a test. `runCommand` runs the scripts themselves.
 */
export async function callCommand(
  command: (args: readonly string[], streams: CalledStreams) => Promise<number>,
  args: readonly string[],
  { input = '', cwd = root, environment = {} }: Pick<CommandOptions, 'input' | 'cwd' | 'environment'> = {},
): Promise<CommandEnd> {
  let [out, all] = ['', '']
  const streamTo = (add: (text: string) => void) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        add(chunk.toString())
        all += chunk.toString()
        done()
      },
    })
  const stdout = streamTo((text) => {
    out += text
  })
  const streams = { stdin: Readable.from(input === '' ? [] : [input]), stdout, stderr: streamTo(() => {}) }
  const folder = process.cwd()
  const before = Object.entries({ PATH: path, ...environment }).map(([name, value]) => {
    const old = process.env[name]
    process.env[name] = value
    return [name, old] as const
  })
  requireHere('wrangler') // with it esbuild, which starts in the folder where it was loaded: that of a test is removed
  process.chdir(cwd)
  try {
    return { code: await command(args, streams), out, all }
  } finally {
    process.chdir(folder)
    for (const [name, old] of before) {
      if (old === undefined) delete process.env[name]
      else process.env[name] = old
    }
  }
}
