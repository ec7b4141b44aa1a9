import * as z from 'zod/mini'
import { healthOf, readScanState } from '../../scan/health.ts'
import type { Route } from '../context.ts'
import { failure, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'

/** The state of the scan, for a load balancer or monitoring: requires no token and queries no node. */
export const health = {
  path: '/health',
  rateClass: null,
  handle: async (c) => {
    const { services } = c.env
    const state = await readScanState(services.primary(c.get('invocation')), services.sharedHealth)
    const { status, scanned, finalized, behind, msg } = healthOf(state, services.settings.clock.now())
    const data = { status, scanned, finalized, behind }
    return status === 'stopped' ? failure({ status: 503, msg: msg ?? status }, data) : success(data, msg ?? undefined)
  },
} satisfies Route

const scanState = () =>
  docs.object('ScanState', () => ({
    status: z.enum(['ok', 'behind', 'stopped']),
    scanned: docs.countSchema('Height up to which the chain is scanned.'),
    finalized: docs.countSchema('Newest final height that is known.'),
    behind: docs.countSchema(
      'Final blocks that are not scanned: those between the two, and, if the newest final one that is known is old, those that must ' +
        'be final by the clock.',
    ),
  }))

const position = { scanned: 70_000_019, finalized: 70_000_019, behind: 0 }

/** The documentation of `GET /health`. */
export const healthDocs = () =>
  ({
    id: 'readHealth',
    summary: 'The state of the scan',
    description:
      'For a load balancer or monitoring: reads stored state, requires no token and queries no node. The state is at most a second old.',
    success: docs.successBody('HealthResponse', scanState),
    failure: docs.failureBodyWithData('HealthFailure', scanState),
    examples: [docs.dataExample('healthy', 'two deposits, credited', '', { status: 'ok', ...position })],
    failures: [
      {
        name: 'stopped',
        problem: { status: 503, msg: 'the scan has not advanced for 240 s' },
        data: { status: 'stopped', ...position, behind: 60 },
        cause:
          'The scan never began, is stopped, or has not advanced for 3 minutes. Nothing is credited until it does; nothing is lost.',
        cure: 'For the operator: the message has the reason, and the log has the details.',
        given: 'no scan for four minutes',
      },
    ],
  }) satisfies docs.Operation
