import { createService } from '../../../src/compose.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLogger } from '../../../src/platform/logger.ts'
import { uniqueName } from '../../../src/platform/unique-name.ts'
import { type Counts, countingDatabase, createCounts } from './counting-database.ts'

type Env = Readonly<Record<string, unknown>> & { readonly DB: D1Database }

const service = createService({
  clock: systemClock,
  // biome-ignore lint/suspicious/noConsole: the console is where the benchmark collects log lines
  log: createLogger((line) => console.log(line)),
  fetch: (input, init) => fetch(input, init),
  uniqueName,
})
const answers = createCounts()
const ticks = createCounts()

/** The bindings with a counting database: one object each for ever, since the service keeps what belongs to its bindings. */
const bindings = new Map<Counts, Readonly<Record<string, unknown>>>()

function countedBy(counts: Counts, env: Env): Readonly<Record<string, unknown>> {
  const known = bindings.get(counts) ?? { ...env, DB: countingDatabase(env.DB, counts) }
  bindings.set(counts, known)
  return known
}

/**
 * The service itself over a D1 that counts: `GET /counts/answers` and `/counts/ticks` give what was counted since the last
 * time. Its speed means nothing; it is never deployed.
 */
export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case '/counts/answers':
        return Response.json(answers.take())
      case '/counts/ticks':
        return Response.json(ticks.take())
      default:
        return await service.fetch(request, countedBy(answers, env))
    }
  },
  scheduled: (_controller, env) => service.tick(countedBy(ticks, env)),
} satisfies ExportedHandler<Env>
