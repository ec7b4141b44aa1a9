import * as z from 'zod/mini'
import { serviceFailures } from '../../openapi/failures.ts'
import { dataExample, operation } from '../../openapi/operation.ts'
import { countSchema, failureBodyWithData, notes, successBody } from '../../openapi/response.ts'

const scanState = z
  .strictObject({
    status: z.enum(['ok', 'behind', 'stopped']),
    scanned: countSchema('Height up to which the chain is scanned.'),
    finalized: countSchema('Newest final height that is known.'),
    behind: countSchema('Blocks between the two.'),
  })
  .register(notes, { id: 'ScanState' })

const position = { scanned: 70_000_019, finalized: 70_000_019, behind: 0 }

/** The documentation of `GET /health`. */
export const healthOperation = operation({
  id: 'readHealth',
  tag: 'Service',
  summary: 'The state of the scan',
  description:
    'For a load balancer or monitoring: reads stored state, requires no token and queries no node. The state is at most a second old.',
  query: z.object({}),
  parameters: {},
  success: successBody('HealthResponse', scanState),
  failure: failureBodyWithData('HealthFailure', scanState),
  examples: [dataExample('healthy', 'two deposits, credited', '', { status: 'ok' as const, ...position })],
  failures: [
    ...serviceFailures,
    {
      status: 503,
      name: 'stopped',
      cause:
        'The scan never began, is stopped, or has not advanced for 3 minutes. Nothing is credited until it does; nothing is lost.',
      cure: 'For the operator: the message has the reason, and the log has the details.',
      given: 'no scan for four minutes',
      msg: 'the scan has not advanced for 240 s',
      data: { status: 'stopped', ...position },
    },
  ],
})
