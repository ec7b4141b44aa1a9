import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from '../support/project.ts'
import { defects } from './defects.ts'
import { countOccurrences } from './source-patch.ts'

const run = promisify(execFile)

/** The output of the simulation with a defect, in a process of its own: a patch is for all of a process. */
async function simulate(defect: string, from: number): Promise<string> {
  const options = ['--defect', defect, '--seeds', '1000', '--from', String(from)]
  const ended = run(process.execPath, [`${root}test/simulation/simulate.ts`, ...options]).catch(
    (failure: { readonly stdout: string; readonly stderr: string }) => failure, // status 1: a promise was broken
  )
  const { stdout, stderr } = await ended
  return stdout + stderr
}

describe('the deliberate mistakes', () => {
  it.each(Object.entries(defects))('%s: the text to patch occurs exactly once', (_, defect) => {
    expect(countOccurrences(defect)).toBe(1)
  })
})

describe.concurrent('the simulation finds within 1,000 seeds that', { timeout: 240_000 }, () => {
  it.each(Object.entries(defects))('%s', async (name, { from }) => {
    expect(await simulate(name, from)).toMatch(/^seed \d+ broke a promise: /m)
  })
})
