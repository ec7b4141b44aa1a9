import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createDeployment, type TestDeployment, whileMining } from './deployment.ts'
import { type CollectChain, destination, startCollectChain } from './harness.ts'
import { minedCounts, twoUsers } from './send-harness.ts'

let chain: CollectChain
let deployment: TestDeployment

beforeEach(async () => {
  chain = await startCollectChain()
  deployment = createDeployment(chain)
})
afterEach(async () => {
  deployment.remove()
  await chain.stop()
})

/** Runs `send` until the progress bar shows `done` transactions, and ends it there. */
async function sendUntil(done: number, signal: 'SIGKILL' | 'SIGINT'): Promise<{ code: number | null; all: string }> {
  const child = deployment.start(['send', 'signed.json'])
  let all = ''
  let isSignalled = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      all += chunk.toString()
      if (isSignalled || Number(/(\d+)\/8 transactions\n$/.exec(all)?.[1] ?? -1) < done) return
      isSignalled = true
      child.kill(signal)
    })
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, all }
}

it('a command that is killed or stopped at any point has sent nothing twice, and the next one goes on', async () => {
  const signed = await twoUsers(chain)
  writeFileSync(deployment.path('signed.json'), JSON.stringify(signed))
  const killed = await whileMining(chain, sendUntil(1, 'SIGKILL'))
  expect(killed.code).toBeNull() // it had no chance to do anything

  const stopped = await whileMining(chain, sendUntil(3, 'SIGINT'))
  expect(stopped.code).toBe(1)
  expect(stopped.all).toContain(
    'Interrupted: stopped at the terminal. Run the same command again: nothing is sent twice.',
  )
  expect(stopped.all).toMatch(/1 +T\w{33} +delegate energy.* done in block \d+/)

  const again = await whileMining(chain, sendUntil(6, 'SIGKILL'))
  expect(again.code).toBeNull()
  const last = await whileMining(chain, deployment.run(['send', 'signed.json']))
  expect([last.code, last.out.includes('8 of 8 transactions succeeded')]).toEqual([0, true])
  expect(await minedCounts(chain, signed)).toEqual(signed.plan.steps.map(() => 1))
  expect(await chain.balanceOf(destination, 'USDT')).toBe('35')
}, 300_000)
