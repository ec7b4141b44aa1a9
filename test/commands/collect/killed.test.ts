import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asReadBefore, type CommandEnd, type CommandOptions } from '../../support/command.ts'
import type { RunningServer } from '../../support/loopback.ts'
import { serve } from '../doctor/harness.ts'
import { installQuickWrangler } from '../local-database.ts'
import { createDeployment, type TestDeployment } from './deployment.ts'
import { type CollectChain, destination, startCollectChain } from './harness.ts'
import { minedCounts, twoUsers } from './send-harness.ts'

let chain: CollectChain
let deployment: TestDeployment
/** Options that replace wrangler in a command, because wrangler takes seconds for each start. */
let quick: CommandOptions = {}
let node: RunningServer
/** Called when the node has received a transaction, before it answers. */
let onSent = async () => {}

beforeAll(async () => {
  chain = await startCollectChain()
  node = await serve(async (body, path) => {
    const answer = await fetch(`${chain.devnet.apiUrl}${path}`, { method: 'POST', body })
    const reply = { status: answer.status, body: await answer.text() }
    if (path.endsWith('/broadcasthex')) await onSent()
    return reply
  })
  deployment = createDeployment({ devnet: { rpcUrl: chain.devnet.rpcUrl, apiUrl: node.url } })
  const { folder } = deployment
  quick = { environment: installQuickWrangler(folder), preloadOfAll: asReadBefore(folder) }
})
afterAll(async () => {
  deployment.remove()
  await node.close()
  await chain.stop()
})

/**
 * Runs `send` and signals it when the node has received its transaction number `count`, but has not
 * answered.
 */
function sendUntil(count: number, signal: 'SIGKILL' | 'SIGINT'): Promise<CommandEnd> {
  let sent = 0
  const onStart = (child: ChildProcess) => {
    onSent = async () => {
      sent += 1
      if (sent !== count) return
      const noticed = signal === 'SIGKILL' ? once(child, 'close') : stopping(child)
      child.kill(signal)
      await noticed
    }
  }
  return deployment.run(['send', 'signed.json'], { ...quick, onStart })
}

/** Resolves when the command has printed that it is stopping. */
function stopping({ stderr }: ChildProcess): Promise<void> {
  let text = ''
  return new Promise((resolve) => {
    stderr?.on('data', (chunk) => {
      text += chunk
      if (text.includes('Stopping after the present request')) resolve()
    })
  })
}

it('a command that is killed or stopped at any point has sent nothing twice, and the next one goes on', async () => {
  const signed = await twoUsers(chain)
  writeFileSync(deployment.path('signed.json'), JSON.stringify(signed))
  expect(await sendUntil(2, 'SIGKILL')).toMatchObject({ code: -1 }) // it was killed, so it could not clean up

  const stopped = await sendUntil(4, 'SIGINT')
  expect(stopped.code).toBe(1)
  expect(stopped.all).toContain(
    'Interrupted: stopped at the terminal. Run the same command again: nothing is sent twice.',
  )
  expect(stopped.all).toMatch(/1 +T\w{33} +delegate energy.* done in block \d+/)

  expect(await sendUntil(2, 'SIGKILL')).toMatchObject({ code: -1 })
  onSent = async () => {}
  const last = await deployment.run(['send', 'signed.json'], quick)
  expect([last.code, last.out.includes('8 of 8 transactions succeeded')]).toEqual([0, true])
  expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  expect(await chain.balanceOf(destination, 'USDT')).toBe('35')
}, 300_000)
