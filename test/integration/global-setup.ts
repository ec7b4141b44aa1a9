/**
 * One local chain for all integration tests: in memory, with blocks on command, so that no test waits for a timer.
 * The tests run in workerd and reach it only over HTTP:
 *
 *   const { rpcUrl, apiUrl, token } = inject('devnet') // from 'vitest'
 *   const body = JSON.stringify({ to, amount: '25', currency: 'USDT' })
 *   await fetch(`${apiUrl}/devnet/pay`, { method: 'POST', body })
 *   await fetch(`${apiUrl}/devnet/mine`, { method: 'POST', body: JSON.stringify({ blocks: 3 }) }) // makes it final
 *
 * `Devnet` in test/devnet/chain.ts describes all controls. The tests share the chain: each test uses addresses of its
 * own, reads only its own transactions, and starts its scan at the current height.
 */
import type { TestProject } from 'vitest/node'
import { startDevnet, temporary } from '../devnet/chain.ts'
import { tokenBase58 } from '../devnet/control.ts'

declare module 'vitest' {
  /** The value of `inject('devnet')`. */
  interface ProvidedContext {
    readonly devnet: {
      readonly rpcUrl: string
      readonly apiUrl: string
      /** The test token's address in Base58Check, as in `CURRENCIES`. */
      readonly token: string
    }
  }
}

/** Starts the chain before the project's first test; the returned function stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { rpcUrl, apiUrl, stop } = await startDevnet(temporary)
  project.provide('devnet', { rpcUrl, apiUrl, token: tokenBase58 })
  return stop
}
