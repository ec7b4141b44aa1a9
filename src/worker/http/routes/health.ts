import * as z from 'zod/mini'
import { serviceVersion } from '../../platform/version.ts'
import { healthOf, type ScanHealth } from '../../scan/health.ts'
import * as schemas from '../../schemas/parts.ts'
import type { Route } from '../context.ts'
import { failure, success } from '../envelope.ts'
import { inCell } from '../errors.ts'
import { inEachCell } from '../middleware/cells.ts'
import type * as docs from '../openapi/docs.ts'
import { refused } from '../openapi/failures.ts'

/**
 * The state of the scan, for a load balancer or monitoring. Requires no token and queries no node.
 * With several cells it is the state of the worst scan.
 */
export const health = {
  path: '/health',
  rateClass: null,
  handle: async (c) => {
    const all = await inEachCell(c.env.cells, async ({ number, services }) => {
      const { scan, migration } = await services.storedHealth(c.get('invocation'))
      return { number, migration, scan: healthOf(scan, services.settings.clock.now()) }
    })
    const { number, scan } = all.reduce((worst, one) => (isWorse(one.scan, worst.scan) ? one : worst))
    const { status, scanned, finalized, behind } = scan
    const migration = Math.min(...all.map((one) => one.migration))
    const data = { status, scanned, finalized, behind, version: serviceVersion, migration }
    if (scan.status === 'stopped') {
      const { reason, msg } = scan
      return failure(inCell(number, { status: 503, reason, msg }), data)
    }
    return success(data, scan.msg === null || number === null ? (scan.msg ?? undefined) : `cell ${number}: ${scan.msg}`)
  },
} satisfies Route

const badness = { ok: 0, behind: 1, stopped: 2 } as const satisfies Record<ScanHealth['status'], number>

function isWorse(one: ScanHealth, other: ScanHealth): boolean {
  const difference = badness[one.status] - badness[other.status]
  return difference === 0 ? one.behind > other.behind : difference > 0
}

const scanState = () =>
  schemas.object('ScanState', () => ({
    status: z.enum(['ok', 'behind', 'stopped']),
    scanned: schemas.countSchema('Height up to which the chain is scanned.'),
    finalized: schemas.countSchema('Newest final height that is known.'),
    behind: schemas.countSchema(
      'Final blocks that are not scanned: those between the two, and, if the newest final one that is known is old, those that must ' +
        'be final by the clock.',
    ),
    version: schemas.textSchema('The version of the service.'),
    migration: schemas.countSchema(
      'The number of the newest migration that the database has whole; with several databases, of the one that has the fewest.',
    ),
  }))

/**
 * `GET /health` in the OpenAPI document. The Worker never calls this function, so its bundle has
 * none of these texts.
 */
export const healthDocs = () =>
  ({
    id: 'readHealth',
    summary: 'The state of the scan',
    description:
      'For a load balancer or monitoring: reads stored state, requires no token and queries no node. The state is at most a second old. ' +
      'With several databases it is that of the worst one, which the message names. There is no `data` while the database is away, or ' +
      'the configuration is wrong or differs from what is stored.',
    success: schemas.successBody('HealthResponse', scanState),
    failure: schemas.failureBodyWithData('HealthFailure', scanState),
    examples: [{ name: 'healthy', given: 'two deposits, credited' }],
    failures: [
      refused('scan-not-started', { given: 'a new caller' }),
      refused('scan-stalled', { given: 'no scan for four minutes' }),
      refused('chain-forked', { given: 'a chain that has forked' }),
    ],
  }) satisfies docs.Operation
