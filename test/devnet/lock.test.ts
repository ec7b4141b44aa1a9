import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { localFolders } from './local.ts'
import { lockFolder } from './lock.ts'

let folder = ''
beforeEach(() => {
  folder = `${mkdtempSync(join(tmpdir(), 'lock-'))}/chain/`
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Another process that holds the lock of the folder until it is killed. */
async function startHolder() {
  const source = `import { lockFolder } from ${JSON.stringify(new URL('lock.ts', import.meta.url).href)}
process.stdout.write(typeof lockFolder(${JSON.stringify(folder)}))
setInterval(() => {}, 1_000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = (await once(holder.stdout, 'data')) as [Buffer]
  expect(printed.toString()).toBe('object')
  return holder
}

it('a folder has one holder, whose process a second one is told', async () => {
  const holder = await startHolder()
  expect(() => lockFolder(folder)).toThrow(
    `npm start runs already in this folder, as process ${holder.pid}: stop it first.`,
  )
  holder.kill('SIGKILL')
})

it('a killed holder leaves the folder free', async () => {
  const holder = await startHolder()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  lockFolder(folder).release()
  lockFolder(folder).release()
})

it('npm start is refused while another one runs in its folder', async () => {
  const { chain } = localFolders(9) // a folder that no other test uses
  const lock = lockFolder(chain)
  const { code, out } = await runCommand('test/devnet/start.ts', ['--cells', '9'], { withoutNetwork: true })
  lock.release()
  rmSync(chain, { recursive: true, force: true })
  expect([code, out]).toEqual([1, `npm start runs already in this folder, as process ${process.pid}: stop it first.\n`])
})
