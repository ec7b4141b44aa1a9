import { expect, it } from 'vitest'
import { npmRun } from './support/command.ts'

// Beside other tests: alone, these programs leave a core of a small machine without work.
it.each(['lint', 'types', 'unused'])('npm run %s finds nothing', async (script) => {
  const { code, all } = await npmRun([script])
  expect(code, all).toBe(0)
})
