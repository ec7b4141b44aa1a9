import { execFile } from 'node:child_process'
import { root } from './project.ts'

/** The end of a command. `all` is everything that it wrote. */
export interface CommandEnd {
  readonly code: number
  readonly out: string
  readonly all: string
}

/** How a command is run. */
export interface CommandOptions {
  readonly input?: string
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Ends the command with code 99 at its first connection. */
  readonly withoutNetwork?: boolean
  /** The file to which the command writes its arguments and its environment at its end. */
  readonly processFile?: string
}

const noNetwork = `import net from 'node:net'; net.Socket.prototype.connect = () => { process.exit(99) };`
const recorded = (file: string) => `import { writeFileSync } from 'node:fs'
process.on('exit', () => {
  writeFileSync(${JSON.stringify(file)}, JSON.stringify([process.argv, process.execArgv, process.env]))
})`

/** The part of a command's environment with which it begins faster (`vitest.config.ts`). */
export const compileCache = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }

/** Runs a script of the repository as npm does, with the Node of the repository. */
export function runCommand(
  script: string,
  args: readonly string[],
  { input = '', cwd = root, environment = {}, withoutNetwork = false, processFile }: CommandOptions = {},
): Promise<CommandEnd> {
  const modules = [withoutNetwork ? noNetwork : '', processFile === undefined ? '' : recorded(processFile)]
  const preload = modules.flatMap((module) => {
    return module === '' ? [] : ['--import', `data:text/javascript,${encodeURIComponent(module)}`]
  })
  const env = {
    PATH: `${root}node_modules/.bin:${process.env.PATH ?? ''}`,
    HOME: cwd,
    ...compileCache,
    ...environment,
  }
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(
      `${root}node_modules/.bin/node`,
      [...preload, `${root}${script}`, ...args],
      options,
      (error, out, errors) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, all: `${out}${errors}` })
      },
    )
    child.stdin?.end(input)
  })
}
