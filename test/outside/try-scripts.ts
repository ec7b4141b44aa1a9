import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printLine } from '../support/project.ts'

/**
 * Runs the named scripts (`<name>.sh`) of a folder with these variables, or all of them without
 * names: each in a temporary folder of its own, which is `WORK`; `HERE` is the folder of the
 * scripts. Prints what each one prints, compared with `<name>.expected`; if it differs, this
 * process will end with 1.
 *
 * @throws {Error} if there is no such script
 */
export async function tryScripts(
  here: string,
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const all = readdirSync(here).flatMap((file) => (file.endsWith('.sh') ? [file.slice(0, -3)] : []))
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new Error(`${unknown}: one of ${all.join(', ')}`)
  for (const name of names.length === 0 ? all : names) {
    const work = mkdtempSync(join(tmpdir(), `${name}-`))
    const printed = await runScript(join(here, `${name}.sh`), work, { ...variables, WORK: work, HERE: here })
    rmSync(work, { recursive: true, force: true })
    const isSame = printed === readFileSync(join(here, `${name}.expected`), 'utf8')
    printLine(`${isSame ? 'as expected' : 'NOT AS EXPECTED'}: ${name}\n${printed.replace(/^/gm, '  ').trimEnd()}`)
    if (!isSame) process.exitCode = 1
  }
}

function runScript(script: string, cwd: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 2 ** 26 }
  return new Promise((resolve) => {
    execFile('bash', ['-euo', 'pipefail', script], options, (error, out, errors) => {
      resolve(error === null ? out : `${out}failed (${error.code}):\n${errors.slice(-2_000)}`)
    })
  })
}
