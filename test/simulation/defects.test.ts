import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from '../support/project.ts'
import { defects } from './defects.ts'
import { countOccurrences } from './source-patch.ts'

describe('the deliberate mistakes', { timeout: 3_600_000 }, () => {
  it.each(Object.entries(defects))('%s: the text to patch occurs exactly once', (_, defect) => {
    expect(countOccurrences(defect)).toBe(1)
  })

  // In a process of its own, because a test runner loads modules in another way.
  it('are all found by the simulation within 40 seeds', async () => {
    const command = [`${root}test/simulation/simulate.ts`, '--defects', '--seeds', '40']
    const { stdout } = await promisify(execFile)(process.execPath, command)
    expect(stdout.trim().split('\n')).toEqual(Object.keys(defects).map((name) => `${name}: found`))
  })
})
