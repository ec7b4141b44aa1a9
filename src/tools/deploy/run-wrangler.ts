import { spawn } from 'node:child_process'

/** How a wrangler command ended: its exit code (null where it did not start), and what it wrote. */
export interface WranglerRun {
  readonly code: number | null
  /** Its standard output alone: JSON where that was asked for. */
  readonly out: string
  /** Both outputs, as a person would see them. */
  readonly output: string
}

/**
 * Runs one wrangler command without questions: in a build there is no person to answer them. Its output is also passed on to
 * this process's streams where `isShown`.
 */
export async function runWrangler(args: readonly string[], { isShown }: { isShown: boolean }): Promise<WranglerRun> {
  const env = { ...process.env, CI: '1' }
  const child = spawn('wrangler', args, { env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let out = ''
  let output = ''
  const collect = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
    output += chunk.toString()
    if (isShown) to.write(chunk)
  }
  child.stdout.on('data', collect(process.stdout))
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', collect(process.stderr))
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)) // no such program: there is no output
    child.once('close', resolve)
  })
  return { code, out, output }
}
