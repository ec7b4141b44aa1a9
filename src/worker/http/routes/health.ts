import * as z from 'zod/mini'
import { healthOf, readScanState, type ScanHealth } from '../../scan/health.ts'
import type { Route } from '../context.ts'
import { failure, success } from '../envelope.ts'
import * as docs from '../openapi/docs.ts'
import { refused } from '../openapi/failures.ts'

/** The state of the scan, for a load balancer or monitoring. Requires no token and queries no node. With several cells it is the state of the worst scan. */
export const health = {
  path: '/health',
  rateClass: null,
  handle: async (c) => {
    const all = await Promise.all(
      c.env.cells.map(async ({ number, services }) => {
        const state = await readScanState(services.primary(c.get('invocation')), services.sharedHealth)
        return { number, scan: healthOf(state, services.settings.clock.now()) }
      }),
    )
    const { number, scan } = all.reduce((worst, one) => (isWorse(one.scan, worst.scan) ? one : worst))
    const { status, scanned, finalized, behind } = scan
    const msg = number === null || scan.msg === null ? scan.msg : `cell ${number}: ${scan.msg}`
    const data = { status, scanned, finalized, behind }
    if (scan.status === 'stopped') return failure(stopped(scan.reason, msg ?? scan.msg), data)
    return success(data, msg ?? undefined)
  },
} satisfies Route

const badness = { ok: 0, behind: 1, stopped: 2 } as const satisfies Record<ScanHealth['status'], number>

function isWorse(one: ScanHealth, other: ScanHealth): boolean {
  const difference = badness[one.status] - badness[other.status]
  return difference === 0 ? one.behind > other.behind : difference > 0
}

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

const stopped = (reason: Extract<ScanHealth, { status: 'stopped' }>['reason'], msg: string) =>
  ({ status: 503, reason, msg }) as const

const position = { scanned: 70_000_019, finalized: 70_000_019, behind: 0 }

/** `GET /health` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
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
        ...refused(stopped('scan-not-started', 'no scan has started yet'), { given: 'a new caller' }),
        data: { status: 'stopped', scanned: 0, finalized: 0, behind: 0 },
      },
      {
        ...refused(stopped('scan-stalled', 'the scan has not advanced for 240 s'), {
          given: 'no scan for four minutes',
        }),
        data: { status: 'stopped', ...position, behind: 60 },
      },
      {
        ...refused(stopped('chain-forked', 'the scan is halted: block 70000020 does not follow the stored one'), {
          given: 'a chain that has forked',
        }),
        data: { status: 'stopped', ...position },
      },
    ],
  }) satisfies docs.Operation
