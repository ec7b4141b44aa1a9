import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../support/project.ts'

/** A folder with a `wrangler` that records its arguments and changes nothing: that of a deployment needs an account. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'places-'))
  writeFileSync(join(folder, 'wrangler.toml'), 'name = "x"\n')
  writeFileSync(join(folder, 'wrangler'), `#!/bin/sh\necho "$*" > "${folder}/call"\necho '[]'\n`)
  chmodSync(join(folder, 'wrangler'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The arguments that wrangler gets from `npm run rescan` with these options. */
async function callOf(...options: readonly string[]): Promise<string> {
  const args = [`${root}src/repair/start.ts`, '--from', '5', '--to', '6', '--reason', 'x', ...options]
  const PATH = [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  await new Promise<void>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env: { PATH, HOME: folder } }, () => resolve())
  })
  return readFileSync(join(folder, 'call'), 'utf8')
}

describe('npm run rescan', () => {
  it.each([
    ['this machine', [], 'd1 execute DB --local --env= --json --command INSERT INTO rescan '],
    ['the deployment', ['--production'], 'd1 execute DB --remote --env= --json --command INSERT INTO rescan '],
    ['a test network', ['--env', 'nile'], 'd1 execute DB --remote --env=nile --json --command INSERT INTO rescan '],
  ])('changes the database of %s', async (_place, options, expected) => {
    expect((await callOf(...options)).slice(0, expected.length)).toBe(expected)
  })
})
