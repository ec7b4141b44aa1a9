import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { npmRun } from '../support/command.ts'
import { root } from '../support/project.ts'

let folder = ''

/** A clone of the project before `npm ci`, with what a script needs to begin. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clone-'))
  mkdirSync(join(folder, 'src/commands'), { recursive: true })
  for (const file of ['package.json', 'src/commands/check-node.cjs']) cpSync(root + file, join(folder, file))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }

it.each(['start', 'pay', 'doctor'])('npm run %s before npm ci says so in one sentence', async (name) => {
  const { code, all } = await npmRun([name], { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder } })
  expect([code, all]).toEqual([
    1,
    'Run "npm ci" first: it installs the packages, and the Node.js that the scripts need.\n',
  ])
})

it('every script of Node begins with the check, but for the one that npm ci itself runs', () => {
  const unchecked = Object.entries(scripts).filter(
    ([name, script]) =>
      name !== 'postinstall' &&
      script.startsWith('node ') &&
      !script.startsWith('node -r ./src/commands/check-node.cjs '),
  )
  expect(unchecked).toEqual([])
})

it('an old Node is named in one sentence', async () => {
  mkdirSync(join(folder, 'node_modules/hono'), { recursive: true })
  const old = join(folder, 'old.cjs')
  writeFileSync(
    old,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })
Object.defineProperty(process, 'version', { value: 'v20.1.0' })`,
  )
  const check = join(folder, 'src/commands/check-node.cjs')
  const ended = await promisify(execFile)(process.execPath, ['-r', old, '-r', check, '-e', '']).catch(
    (error: { code: number; stderr: string }) => error,
  )
  expect(ended).toMatchObject({
    code: 1,
    stderr: 'This is Node.js v20.1.0, and the scripts need 24: install it, or run "npm ci" without --omit=optional.\n',
  })
})
