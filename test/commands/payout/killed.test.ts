import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createJournal } from '../../../src/commands/payout/journal.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { asReadBefore, type CommandEnd, type CommandOptions } from '../../support/command.ts'
import { dieAt, type PayoutDeployment, startDeployment } from './deployment.ts'
import { chainId, payoutAddress } from './harness.ts'
import { recipient } from './scripted-service.ts'

let deployment: PayoutDeployment
let preloadOfAll = ''
beforeEach(async () => {
  deployment = await startDeployment()
  preloadOfAll = asReadBefore(deployment.path('.'))
  const before = (deployment.time.clock.now() - 1_000) as UnixMs // safe: one second before a time
  createJournal(deployment.path('journal'), { chainId, address: payoutAddress }, before)
})
afterEach(() => deployment.stop())

const args = ['run', '--limits', 'limits.json', '--journal', 'journal', '--stdin']

/**
 * Runs the signer until the preloaded module kills it. With `at`, the service kills it at a request
 * to `at[0]`: after acting on the request if `at[1]` is true, else before.
 */
async function runUntilKilled(
  options: CommandOptions,
  at?: readonly [path: string, isDone: boolean],
): Promise<CommandEnd> {
  let child: ChildProcess | undefined
  deployment.script.onRequest = async (path, isDone) => {
    if (at === undefined || child === undefined || !path.endsWith(at[0]) || isDone !== at[1]) return undefined
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    child = undefined
    await ended
    return { status: 500, body: 'nobody reads it' }
  }
  return deployment.run(args, {
    ...options,
    preloadOfAll,
    onStart: (one) => {
      child = one
    },
  })
}

/** Runs the signer until all payouts are signed, and then interrupts it. */
function runToTheEnd(): Promise<CommandEnd> {
  deployment.script.onRequest = async () => undefined
  return deployment.run(args, {
    preloadOfAll,
    onStart: (child) => {
      let output = ''
      child.stdout?.on('data', (chunk) => {
        output += chunk
      })
      const timer = setInterval(() => {
        if (!output.includes('Running.') || deployment.script.payouts.some(({ state }) => state !== 'signed')) return
        clearInterval(timer)
        child.kill('SIGINT')
      }, 50)
    },
  })
}

const entries = () =>
  readFileSync(deployment.path('journal'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as { readonly osn: string; readonly txid: string })

const kills: readonly (readonly [string, CommandOptions, (readonly [string, boolean])?])[] = [
  ['before it has the first offer', {}, ['/unsigned', false]],
  ['with an offer that it has not read', {}, ['/unsigned', true]],
  ['before it writes to the journal', { preload: dieAt('writeSync', 1, 'before') }],
  ['with half of a line in the journal', { preload: dieAt('writeSync', 2, 'half') }],
  ['before the line is on the disk', { preload: dieAt('fsyncSync', 1, 'before') }],
  ['when lines are on the disk, before it hands anything in', { preload: dieAt('fsyncSync', 2, 'after') }],
  ['when the service gets the bytes', {}, ['/signed', false]],
  ['when the service has taken the bytes, before its answer', {}, ['/signed', true]],
]

it('a signer that is killed at any point has signed no payout twice, and the next one goes on', async () => {
  for (const [name, options, at] of kills) {
    for (let i = 0; i < 3; i += 1) deployment.script.ask({ to: recipient })
    expect([name, (await runUntilKilled(options, at)).code]).toEqual([name, -1])
  }
  const { code, all } = await runToTheEnd()
  expect([code, all.includes('Stopping after the present request')]).toEqual([0, true])

  const signed = entries()
  const asked = deployment.script.payouts
  expect(asked).toHaveLength(3 * kills.length)
  expect(signed.map(({ osn }) => osn).toSorted()).toEqual(asked.map(({ osn }) => osn).toSorted())
  for (const { id, txid } of deployment.script.received) {
    expect(txid).toBe(signed.find(({ osn }) => osn === `payout-${id}`)?.txid)
  }
}, 300_000)
