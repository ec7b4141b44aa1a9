import type { NodeStatus } from '../../chain/node-status.ts'
import { endsWithin } from '../../platform/clock.ts'
import * as schemas from '../../schemas/parts.ts'
import { summarySchema } from '../../schemas/summary.ts'
import type { Services } from '../../services.ts'
import { nodeItem, readSummary } from '../../summary/summary.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { success } from '../envelope.ts'
import type * as docs from '../openapi/docs.ts'

/** Time limit for the scanner to report its nodes, in milliseconds. */
const nodesMs = 2_000

/**
 * The summary for operators, from stored state and the scanner's knowledge of its nodes. No node is
 * queried.
 */
export const ledgerSummary = {
  path: '/ledger/summary',
  method: 'GET',
  usersIn: null,
  scope: () => 'ledger:read',
  handle: async (c) => {
    const { endpoints, quorum, ranges } = c.env.services
    const { name, scopes } = c.get('decider')
    const [summary, nodes] = await Promise.all([
      reading(c, (context) => readSummary(context, endpoints, () => c.env.services.storedHealth(c.get('invocation')))),
      nodeStatusesOf(c.env.services),
    ])
    return success({
      ...summary,
      nodes: nodes?.map(nodeItem) ?? null,
      quorum,
      reader: { name, scopes },
      ...(ranges.length < 2 ? {} : { cells: ranges.map(({ number, users }) => ({ cell: number ?? 1, ...users })) }),
    })
  },
} satisfies LedgerRoute

/**
 * What the scanner knows about each node. Null if the scanner fails or does not answer in time: the
 * summary is then answered without it.
 */
async function nodeStatusesOf({ scanner, settings }: Services): Promise<readonly NodeStatus[] | null> {
  const statuses = scanner.nodes()
  return (await endsWithin(statuses, nodesMs, settings.clock)) ? statuses.catch(() => null) : null
}

const noCell = (): docs.Failure => ({
  name: 'no-cell',
  cause: 'The deployment has several databases, and the request says of none of them that it is meant.',
  cure: 'Add `cell`, or at other paths a `uid`.',
  given: 'three databases',
})

/**
 * `GET /ledger/summary` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerSummaryDocs = () => {
  return {
    id: 'readLedgerSummary',
    summary: 'Is all well: sums, alarms, scan, endpoints',
    description:
      'The sums owed and held in each currency and by what, the deposits of the last days, and everything that needs attention. No node ' +
      'is asked. Sums are kept as they arise: the cost does not grow with the history.',
    success: schemas.successBody('LedgerSummaryResponse', summarySchema),
    examples: [{ name: 'two deposits', given: 'two deposits, credited' }],
    failures: [noCell()],
  } satisfies docs.Operation
}
