import { expect, it } from 'vitest'
import { npmRun } from './support/command.ts'

// These are tests, so that they run while other tests do: alone, each leaves a core of a small
// machine without work.
it.each(['lint', 'types', 'unused'])('npm run %s finds nothing', async (script) => {
  const { code, all } = await npmRun([script])
  expect(code, all).toBe(0)
})
