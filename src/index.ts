import { WorkerEntrypoint } from 'cloudflare:workers'
import { createService } from './compose.ts'
import { systemClock, uniqueName } from './platform/clock.ts'
import { createLogger } from './platform/logger.ts'
import type { EntriesQuery, EntryToPost, LedgerMethods } from './rpc/ledger-methods.ts'

const service = createService({
  clock: systemClock,
  // biome-ignore lint/suspicious/noConsole: the console is where Workers collect log lines
  logger: createLogger((line) => console.log(line)),
  fetch: (input, init) => fetch(input, init),
  uniqueName,
})

export default {
  fetch: (request, bindings) => service.fetch(request, bindings),
  scheduled: (_controller, bindings) => service.minute(bindings),
} satisfies ExportedHandler<Record<string, unknown>>

/** The ledger for other Workers of the account, which bind this entrypoint as a service. It is not reachable from outside. */
export class Ledger extends WorkerEntrypoint<Record<string, unknown>> implements LedgerMethods {
  post(entries: readonly EntryToPost[], by: string) {
    return service.ledger(this.env).post(entries, by)
  }
  entries(query: EntriesQuery) {
    return service.ledger(this.env).entries(query)
  }
  events(after: number, limit?: number) {
    return service.ledger(this.env).events(after, limit)
  }
  wallets(uid: number) {
    return service.ledger(this.env).wallets(uid)
  }
  address(uid: number, options?: { readonly fresh?: boolean }) {
    return service.ledger(this.env).address(uid, options)
  }
}

export type {
  EntriesQuery,
  EntryToPost,
  LedgerAnswer,
  LedgerEntry,
  LedgerError,
  LedgerEvent,
} from './rpc/ledger-methods.ts'
