/** A stand-in for wrangler on the PATH, which records the calls that would change something. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { databaseId, installWrangler } from '../local-database.ts'
import { objectBindings } from '../objects.ts'

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

/** The id of a database in the wrangler.toml that is delivered. */
export const placeholder = '00000000-0000-0000-0000-000000000000'

/**
 * Writes a wrangler.toml with production, the environment `nile`, and three that cannot be
 * deployed.
 */
export function writeEnvironments(folder: string): void {
  const database = (path: string, id: string) =>
    `[[${path}d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "${id}"\n`
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\n${database('', databaseId)}${objectBindings('')}
[env.nile]\n${database('env.nile.', databaseId)}${objectBindings('env.nile.')}[env.fresh]\n${database('env.fresh.', placeholder)}
[env.bare]\nname = "x-bare"\n[env.still]\n${database('env.still.', databaseId)}`,
  )
}
