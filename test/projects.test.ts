import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { filesByProject, isFast, longer, splitFiles } from './fast-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url).href)
const all = globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).sort()

describe('the projects of the tests', () => {
  it('have every test file once', () => {
    expect(all.length).toBeGreaterThan(200)
    expect([...filesByProject(root).values()].flat().sort()).toEqual(all)
  })

  it('are split into fast files and files that are left out, each in one of both', () => {
    const { fast, left } = splitFiles(root)
    expect([...longer].filter((file) => !all.includes(file))).toEqual([])
    expect(fast.length).toBeGreaterThan(40)
    expect([...fast, ...left].map(({ file }) => file).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(all)
  })

  it.each([
    ['test/common/amount.test.ts', true],
    ['test/d1/payouts.test.ts', false], // needs a database
    ['test/pages/desk.test.ts', false], // needs a browser
    ['test/commands/collect/start.test.ts', false], // starts processes
    ['test/http/auth/authenticate.test.ts', false], // takes long, so `longer` lists its name
  ])('tell by what it imports whether %s is fast: %s', (file, expected) => {
    expect(isFast(file, root)).toBe(expected)
  })
})
