import { createService } from './compose.ts'
import { systemClock, uniqueName } from './platform/clock.ts'
import { createLogger } from './platform/logger.ts'

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
