import type { ConfigurationSource } from '../../../src/tools/configuration.ts'
import type { Devnet } from '../../devnet/chain.ts'
import type { RunningServer } from '../../support/loopback.ts'
import { type Alteration, type Responder, serve, serveAltered } from './servers.ts'
import { linesOf, platformAt, sourceOf, startChain, urlSecret, valuesFor } from './support.ts'

/** Variables by name. */
export type Values = Record<string, unknown>

/** A local chain and the servers of one test file. */
export interface DoctorHarness {
  readonly devnet: Devnet
  /** All lines that the doctor has printed so far. */
  readonly printed: readonly string[]
  /** The lines for a valid configuration with these changes, with a clock that is `aheadMs` ahead of the chain. */
  check(changes: Values, more?: Partial<ConfigurationSource>, aheadMs?: number): Promise<string[]>
  /** The variables for one node, some of whose results are altered. */
  alteredNode(alter: Alteration): Promise<Values>
  /** The URL of a new server. */
  serverUrl(respond: Responder): Promise<string>
  close(): Promise<void>
}

/** Starts a local chain. */
export async function openHarness(): Promise<DoctorHarness> {
  const devnet = await startChain()
  const servers: RunningServer[] = []
  const printed: string[] = []
  return {
    devnet,
    printed,
    async check(changes, more = {}, aheadMs = 0) {
      const source = sourceOf({ ...valuesFor(devnet), ...changes }, more)
      const lines = await linesOf(source, await platformAt(devnet, aheadMs))
      printed.push(...lines)
      return lines
    },
    async alteredNode(alter) {
      const server = await serveAltered(devnet, alter)
      servers.push(server)
      return { TRON_NODES: [{ rpc: `${server.url}/${urlSecret}`, api: server.url }] }
    },
    async serverUrl(respond) {
      const server = await serve(respond)
      servers.push(server)
      return server.url
    },
    async close() {
      for (const server of servers) await server.close()
      await devnet.stop()
    },
  }
}

/** The lines of the checks that failed. */
export const failures = (lines: readonly string[]) => lines.filter((line) => line.startsWith('FAIL'))
