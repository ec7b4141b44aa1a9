import type { DatabaseRow } from '../../../src/commands/database.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { createScannerObject, createService, type Platform } from '../../../src/worker/compose.ts'
import { standingSql } from '../../../src/worker/issuer/store.ts'
import { createLogger } from '../../../src/worker/platform/logger.ts'
import { withSessions } from '../../simulation/database.ts'
import { createMemoryHost } from '../../support/memory-host.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../../support/tokens.ts'
import { testSecret } from '../../support/variables.ts'
import { bindingsFor, type CollectChain } from './harness.ts'

/**
 * A platform with the network and the clock of this machine, `skippedMs` later. `lines` gets what
 * is logged.
 */
export function platformAt(skippedMs: () => number, lines: string[]): Platform {
  const clock = {
    now: () => (Date.now() + skippedMs()) as UnixMs, // safe: milliseconds since 1970
    random: () => 0.5,
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()),
  }
  const logger = createLogger((line) => lines.push(line))
  return { clock, fetch, logger, uniqueName: () => crypto.randomUUID(), waitUntil: () => {} }
}

/** The whole service on the local chain, with its own database and a clock that `pass` moves. */
export function startService(chain: CollectChain) {
  const lines: string[] = []
  let skippedMs = 0
  const platform = platformAt(() => skippedMs, lines)
  const store = openSqliteD1()
  const bindings: Record<string, unknown> = {
    ...bindingsFor(chain.devnet),
    DB: withSessions(store.connect(async (work) => work())),
    AUTH_JWT_SECRET: testSecret,
  }
  const scanner = createScannerObject(platform, bindings, createMemoryHost())
  const service = createService(platform)
  Object.assign(bindings, { SCANNER: { getByName: () => scanner } })
  return {
    /** Moves the service's clock and the chain's time forward, and makes blocks. */
    async pass(ms: number) {
      skippedMs += ms
      await chain.devnet.advance(Math.round(ms / 1_000))
      await chain.devnet.mine(4)
    },
    tick: () => scanner.alarm(),
    alarms: () => lines.filter((line) => line.includes('"alarm"')),
    /** The acts of issuers that are still in force, as the query of the commands finds them. */
    // safe: the query returns text and numbers
    standing: () => store.sqlite.prepare(standingSql).all() as unknown as readonly DatabaseRow[],
    /** What issuers have destroyed, in smallest units. */
    destroyed: () => store.sqlite.prepare("SELECT raw FROM issuer_act WHERE kind = 'destroyed'").all(),
    /** Runs a statement as an operator would. */
    run: (statement: string) => store.sqlite.exec(statement),
    /**
     * How many holdings (an address in one currency) have had their balance read for a comparison.
     */
    compared: () => store.sqlite.prepare('SELECT count(*) AS n FROM holding WHERE balance IS NOT NULL').get()?.n,
    async get(path: string, uid: number): Promise<string> {
      const token = await signHs256({ sub: `${uid}`, exp: Math.floor(platform.clock.now() / 1_000) + 600 }, testSecret)
      const request = new Request(`https://wallet.example${path}`, { headers: bearer(token) })
      return (await service.fetch(request, bindings)).text()
    },
  }
}
