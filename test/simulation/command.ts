import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../support/project.ts'

const run = promisify(execFile)

/**
 * The output of `npm run simulate` with these options, in a process of its own: a patch is for all of a process, and the modules
 * of a test runner take more than twice the time.
 */
export async function simulate(options: readonly string[]): Promise<string> {
  const ended = run(process.execPath, [`${root}test/simulation/simulate.ts`, ...options]).catch(
    (failure: { readonly stdout: string; readonly stderr: string }) => failure, // status 1: a promise was broken
  )
  const { stdout, stderr } = await ended
  return stdout + stderr
}
