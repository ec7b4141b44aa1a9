import { WorkerEntrypoint } from 'cloudflare:workers'
import { createService } from './compose.ts'
import { systemClock, uniqueName } from './platform/clock.ts'
import { createLogger } from './platform/logger.ts'
import type { EntriesQuery, EntryToPost, LedgerMethods } from './rpc/ledger-methods.ts'
import type { StartEndpoint } from './webhooks/deliveries.ts'

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      readonly mainModule: { readonly Webhooks: typeof Webhooks }
    }
  }
}

const service = createService({
  clock: systemClock,
  // biome-ignore lint/suspicious/noConsole: the console is where Workers collect log lines
  logger: createLogger((line) => console.log(line)),
  fetch: (input, init) => fetch(input, init),
  uniqueName,
})

export default {
  fetch: (request, bindings) => service.fetch(request, bindings),
  scheduled: (_controller, bindings, { exports }) =>
    service.minute(bindings, (task, nextEvents) => exports.Webhooks.deliver(task, nextEvents)),
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

/** The deliveries to one endpoint: the cron's invocation calls it for each one, so that each has connections of its own. */
export class Webhooks extends WorkerEntrypoint<Record<string, unknown>> {
  deliver(...task: Parameters<StartEndpoint>) {
    return service.deliver(this.env, ...task)
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
