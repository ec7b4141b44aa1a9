import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseLimits } from '../../../src/commands/payout/limits.ts'
import { root } from '../../support/project.ts'
import { assets } from './harness.ts'

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const guide = read('docs/guides/signers.md')

describe('the guide of other signers', () => {
  it.each([
    ['python', 'test/outside/signers/own/signer.py'],
    ['java', 'test/outside/signers/own/Signer.java'],
  ])('has the signer in %s as it was run, in at most 25 lines', (language, path) => {
    const program = read(path)
    expect(guide).toContain(`\`\`\`${language}\n${program}\`\`\``)
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(25)
  })

  it('names each library that a script runs, with its version', () => {
    const scripts = ['signers', 'keys'].map((name) => read(`test/outside/${name}/run.sh`)).join('\n')
    const named = [...scripts.matchAll(/row '([^']+)'/g)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThanOrEqual(7)
    expect(named.filter((name) => !guide.includes(`| ${name} `))).toEqual([])
  })
})

it('the guide of payouts has a file of limits that a signer reads', () => {
  const file = /```json\n([\s\S]*?)```/.exec(read('docs/guides/payouts.md'))?.[1] ?? ''
  expect([...parseLimits(file, assets.currencies)]).toMatchObject([
    [1, { least: 1_000_000n, countPerDay: 500 }],
    [2, { perUserPerDay: 2_000_000_000n, countPerDay: 200 }],
  ])
})
