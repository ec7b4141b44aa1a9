/** A stand-in for wrangler on the PATH, which records the calls that would change something. */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installWrangler } from '../local-database.ts'

/** What the platform answers to commands that only read: no tables, and no Worker. */
const emptyAccount = `"d1 execute") echo '{"error":{"text":"no such table: x"}}'; exit 1;;
"deployments list") echo "This Worker does not exist on your account. [code: 10007]" >&2; exit 1;;`

/**
 * Installs the stand-in, which answers reads, records every other call, and then runs `command`.
 * `reads` are arms of a shell's `case` over the first two words.
 */
export function fakeWrangler(folder: string, command: string, reads = emptyAccount): void {
  installWrangler(folder, `case "$1 $2" in\n${reads}\nesac\necho "CI=$CI $*" >> "${folder}/calls"\n${command}`)
}

/** The recorded calls, with the variable that keeps wrangler from asking. */
export const callsIn = (folder: string) =>
  existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : []

export const environmentIn = (folder: string) => ({ PATH: [folder, '/usr/bin', '/bin'].join(delimiter) })
