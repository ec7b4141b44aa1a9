import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import { root } from './support/project.ts'

/** Runs a script of package.json to its end. Returns its exit code and all that it prints. */
function npmRun(script: string): Promise<{ readonly code: unknown; readonly all: string }> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', script], { cwd: root }, (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, all: `${out}${errors}` }),
    )
  })
}

// Beside other tests: alone, these programs leave a core of a small machine without work.
it.each(['lint', 'types', 'unused'])('npm run %s finds nothing', async (script) => {
  const { code, all } = await npmRun(script)
  expect(code, all).toBe(0)
})
