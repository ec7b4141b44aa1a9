import type { ConfigurationSource } from '../../src/doctor/read-configuration.ts'
import type { Devnet } from '../devnet/chain.ts'
import { type Answer, type Change, type Server, serve, serveChanged } from './servers.ts'
import { linesOf, machineAt, sourceOf, startChain, urlSecret, valuesFor } from './support.ts'

/** Variables by name. */
export type Values = Record<string, unknown>

/** A local chain, the servers around it, and every line that the doctor said of them. */
export interface Clinic {
  readonly devnet: Devnet
  readonly seen: readonly string[]
  /** The lines for a green configuration with these changes, by a clock that is `aheadMs` ahead of the chain's. */
  examined(changes: Values, more?: Partial<ConfigurationSource>, aheadMs?: number): Promise<string[]>
  /** The variables for one node whose calls are answered as `change` says. */
  changedNode(change: Change): Promise<Values>
  /** The URL of a server of this clinic. */
  served(answer: Answer): Promise<string>
  close(): Promise<void>
}

/** A clinic for one test file. */
export async function openClinic(): Promise<Clinic> {
  const devnet = await startChain()
  const servers: Server[] = []
  const seen: string[] = []
  return {
    devnet,
    seen,
    async examined(changes, more = {}, aheadMs = 0) {
      const source = sourceOf({ ...valuesFor(devnet), ...changes }, more)
      const lines = await linesOf(source, await machineAt(devnet, aheadMs))
      seen.push(...lines)
      return lines
    },
    async changedNode(change) {
      const server = await serveChanged(devnet.rpcUrl, change)
      servers.push(server)
      return { TRON_NODES: [{ rpc: `${server.url}/${urlSecret}`, api: devnet.apiUrl }] }
    },
    async served(answer) {
      const server = await serve(answer)
      servers.push(server)
      return server.url
    },
    async close() {
      for (const server of servers) await server.close()
      await devnet.stop()
    },
  }
}

/** The lines that fail. */
export const failed = (lines: readonly string[]) => lines.filter((line) => line.startsWith('FAIL'))
