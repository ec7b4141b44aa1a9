/**
 * One local chain for all integration tests: temporary, with blocks on command, so that no test waits for a clock. The tests
 * run in workerd and reach it over HTTP only:
 *
 *   const { rpcUrl, apiUrl, token } = inject('devnet')          // from 'vitest'
 *   await fetch(`${apiUrl}/devnet/pay`, { method: 'POST', body: JSON.stringify({ to, amount: '25', currency: 'USDT' }) })
 *   await fetch(`${apiUrl}/devnet/mine`, { method: 'POST', body: JSON.stringify({ blocks: 3 }) })   // and it is final
 *
 * Every control is described at `Devnet` in test/devnet/chain.ts. The chain is shared: a test looks at what it has sent
 * itself, to addresses of its own, and starts its scan at the height it has found.
 */
import type { TestProject } from 'vitest/node'
import { startDevnet, temporary } from '../devnet/chain.ts'
import { tokenBase58 } from '../devnet/control.ts'

declare module 'vitest' {
  /** What `inject('devnet')` answers. */
  interface ProvidedContext {
    readonly devnet: {
      readonly rpcUrl: string
      readonly apiUrl: string
      /** The test token's address in Base58Check, as `CURRENCIES` takes it. */
      readonly token: string
    }
  }
}

/** Starts the chain before the project's first test; what it returns stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { rpcUrl, apiUrl, stop } = await startDevnet(temporary)
  project.provide('devnet', { rpcUrl, apiUrl, token: tokenBase58 })
  return stop
}
