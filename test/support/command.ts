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
}

const noNetwork = `import net from 'node:net'; net.Socket.prototype.connect = () => { process.exit(99) };`

/** Runs a script of the repository as npm does, with the Node of the repository. */
export function runCommand(
  script: string,
  args: readonly string[],
  { input = '', cwd = root, environment = {}, withoutNetwork = false }: CommandOptions = {},
): Promise<CommandEnd> {
  const preload = withoutNetwork ? ['--import', `data:text/javascript,${encodeURIComponent(noNetwork)}`] : []
  const env = { PATH: `${root}node_modules/.bin:${process.env.PATH ?? ''}`, HOME: cwd, ...environment }
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
