import * as z from 'zod/mini'
import type { EventId } from '../../../common/ids.ts'
import { eventsMax } from '../../../events/event-store.ts'
import { textParam, wholeNumber } from '../../query.ts'

const afterTakes = `0 or the id of an event: a whole number up to ${Number.MAX_SAFE_INTEGER}`
const after = z.pipe(
  textParam(afterTakes, /^(0|[1-9]\d{0,15})$/, Number),
  z.int(afterTakes).check(z.maximum(Number.MAX_SAFE_INTEGER, afterTakes)),
) as unknown as z.ZodMiniType<EventId | 0, string> // safe: the range is the definition

/** The parameters of `GET /ledger/events`. */
export const ledgerEventsQuery = z.object({ after: z.optional(after), limit: z.optional(wholeNumber(eventsMax)) })
