import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { splitFiles } from './fast-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const { fast, left } = splitFiles(root)
const counts = Map.groupBy(left, ({ project }) => project)
const leftOut = [...counts].map(([project, files]) => `${project} ${files.length}`).join(', ')
process.stdout.write(
  `${fast.length} files need no service, browser or process. Left out (npm test has all): ${leftOut}.\n`,
)

export default defineConfig({
  root,
  test: {
    silent: 'passed-only',
    isolate: false, // no test file keeps state in a module, so files can share one process (as in vitest.config.ts)
    maxWorkers: 2,
    testTimeout: 60_000, // only so that a test that hangs ends
    include: fast.map(({ file }) => file),
  },
})
