import { createService } from '../../../src/compose.ts'
import { systemClock, uniqueName } from '../../../src/platform/clock.ts'
import { createLogger } from '../../../src/platform/logger.ts'
import { type Counts, countingDatabase, createCounts } from './counting-database.ts'

type Env = Readonly<Record<string, unknown>> & { readonly DB: D1Database }

const service = createService({
  clock: systemClock,
  // biome-ignore lint/suspicious/noConsole: the benchmark collects log lines from the console
  logger: createLogger((line) => console.log(line)),
  fetch: (input, init) => fetch(input, init),
  uniqueName,
})
const requests = createCounts()
const ticks = createCounts()

/**
 * The bindings with a counting database. The objects stay the same, because the service caches its state by bindings.
 */
const bindings = new Map<Counts, Readonly<Record<string, unknown>>>()

function countedBy(counts: Counts, env: Env): Readonly<Record<string, unknown>> {
  const counted = bindings.get(counts) ?? { ...env, DB: countingDatabase(env.DB, counts) }
  bindings.set(counts, counted)
  return counted
}

/**
 * The service with a counting D1: `GET /counts/requests` and `/counts/ticks` return the counts since the last call. Its
 * speed is not measured, and it is never deployed.
 */
export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case '/counts/requests':
        return Response.json(requests.take())
      case '/counts/ticks':
        return Response.json(ticks.take())
      default:
        return await service.fetch(request, countedBy(requests, env))
    }
  },
  scheduled: (_controller, env) => service.tick(countedBy(ticks, env)),
} satisfies ExportedHandler<Env>
