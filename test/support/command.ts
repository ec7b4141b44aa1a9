import { type ChildProcess, execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { CommandParts } from '../../src/commands/signing/command-parts.ts'
import { readTarget } from '../../src/commands/target.ts'
import type { TargetReader } from '../../src/commands/target-apart.ts'
import { type CommandTime, createCommandTime } from './command-time.ts'
import { root } from './project.ts'

/** How a command ended. `out` is its standard output, `all` that and its standard error. */
export interface CommandEnd {
  /** The exit code, or -1 if a signal ended it. */
  readonly code: number
  readonly out: string
  readonly all: string
}

export interface CommandOptions {
  readonly input?: string
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  /**
   * The command, and each Node process that it starts, exits with code 99 when it opens a
   * connection.
   */
  readonly withoutNetwork?: boolean
  /**
   * A file: when the command exits it writes its arguments, Node's options and its environment
   * there, as a JSON list.
   */
  readonly processFile?: string
  /**
   * When the command would pause for three seconds to wait for a block, it posts to this URL
   * instead, which makes one.
   */
  readonly blocksBy?: string
  /** The source of a module that the command loads first. */
  readonly preload?: string
  /** The source of a module that the command, and each Node process that it starts, loads first. */
  readonly preloadOfAll?: string
  /** Called with the process when it has started, so that a test can signal it. */
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
 * The source of a module that tells Node that the files of drizzle-orm are ES modules. Otherwise
 * Node finds out by parsing its 180 kB of exports again for each of a hundred files, which takes
 * every command half a second.
 */
const knownModules = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    const from = context.parentURL ?? ''
    if (!name.startsWith('.') || !from.includes('/node_modules/drizzle-orm/')) return next(name, context)
    return { url: new URL(name, from).href, format: 'module', shortCircuit: true }
  },
})`

/** Options that make Node load this source as a module before its program. */
const importOf = (module: string) => ['--import', `data:text/javascript,${encodeURIComponent(module)}`]

/**
 * The source of a module for `preloadOfAll` that replaces wrangler: it returns what wrangler has
 * read from `folder`. Loading wrangler takes most of a second, which would be most of the run of a
 * command that a test kills early. Writes a file into `folder`.
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

/**
 * Runs a script of the repository with the repository's Node, in an environment of its own. Never
 * rejects: see `CommandEnd`.
 */
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
    // Node's cache of compiled code: commands start faster (`vitest.config.ts`)
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    ...environment,
  }
  const node = `${root}node_modules/.bin/node`
  return execute(node, [...importAll(modules), `${root}${script}`, ...args], { cwd, env }, input, onStart)
}

/** Runs `npm run` with these words, without npm's own output. */
export function npmRun(
  words: readonly string[],
  { cwd = root, env = process.env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandEnd> {
  return execute('npm', ['run', '--silent', ...words], { cwd, env })
}

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

interface CalledStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

/**
 * Reads the configuration in this process. The commands themselves start another process for it.
 */
const readTargetHere: TargetReader = async (env, cell) => readTarget(env, cell)

const requireHere = createRequire(import.meta.url)

/** How a command is run in this process. */
export interface CallOptions extends Pick<CommandOptions, 'input' | 'cwd' | 'environment'> {
  /** Virtual time that several calls share. Without it, each call has a time of its own. */
  readonly time?: CommandTime
  /** The command is stopped in order, as by Ctrl-C, once it has written this. */
  readonly stopAt?: string
}

/**
 * Runs a command's function in this process, with its own folder and variables: starting a process
 * would take most of a test's time. Its clock is virtual, so it waits for nothing but answers. It
 * changes the folder and the environment of this process meanwhile, so two calls must not overlap.
 * `runCommand` runs the script itself.
 */
export async function callCommand(
  command: (args: readonly string[], streams: CalledStreams, parts: CommandParts) => Promise<number>,
  args: readonly string[],
  { input = '', cwd = root, environment = {}, time = createCommandTime(), stopAt }: CallOptions = {},
): Promise<CommandEnd> {
  let [out, all] = ['', '']
  const stop = new AbortController()
  const streamTo = (add: (text: string) => void) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        add(chunk.toString())
        all += chunk.toString()
        if (stopAt !== undefined && all.includes(stopAt)) stop.abort()
        done()
      },
    })
  const stdout = streamTo((text) => {
    out += text
  })
  const streams = { stdin: Readable.from(input === '' ? [] : [input]), stdout, stderr: streamTo(() => {}) }
  const { clock, fetch } = time
  const parts = { clock, fetch, stopsInOrder: () => stop.signal, readTarget: readTargetHere }
  const folder = process.cwd()
  const before = Object.entries({ PATH: path, ...environment }).map(([name, value]) => {
    const old = process.env[name]
    process.env[name] = value
    return [name, old] as const
  })
  // loads esbuild before `chdir`: it keeps running in the present folder, and the test's folder is
  // removed
  requireHere('wrangler')
  process.chdir(cwd)
  try {
    return { code: await time.run(command(args, streams, parts)), out, all }
  } finally {
    process.chdir(folder)
    for (const [name, old] of before) {
      if (old === undefined) delete process.env[name]
      else process.env[name] = old
    }
  }
}
