import { nodeName } from '../../chain/node-name.ts'
import type { NodeStatus } from '../../chain/node-status.ts'
import { entryTypes } from '../../common/ids.ts'
import { endsWithin } from '../../platform/clock.ts'
import { databaseBytesMax } from '../../scan/size.ts'
import * as schemas from '../../schemas/parts.ts'
import { movedKinds, summaryDays, summarySchema } from '../../schemas/summary.ts'
import type { Services } from '../../services.ts'
import { nodeItem, readSummary } from '../../summary/summary.ts'
import { type LedgerRoute, reading } from '../context.ts'
import { success } from '../envelope.ts'
import { toCellProblem } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { payoutAddress } from '../openapi/payout.ts'

/** Time limit for the scanner to report its nodes, in milliseconds. */
const nodesMs = 2_000

/** The summary for operators, from stored state and the scanner's knowledge of its nodes. No node is queried. */
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

/** What the scanner knows about each node. Null if the scanner fails or does not answer in time: the summary is then answered without it. */
async function nodeStatusesOf({ scanner, settings }: Services): Promise<readonly NodeStatus[] | null> {
  const statuses = scanner.nodes()
  return (await endsWithin(statuses, nodesMs, settings.clock)) ? statuses.catch(() => null) : null
}

/** An example of a node that has answered. */
const exampleNode = (host: string, index: number) => ({
  number: index + 1,
  name: nodeName(index + 1, { name: null, host }),
  state: 'answers',
  use: 'first',
  behind: 0,
  answered_at: '2026-09-21T14:14:20.000Z',
  answer_ms: 0,
  failed_at: null,
  failure: null,
  used: 34,
  per_day: 100_000_000,
})

const noCell = (): docs.Failure => ({
  name: 'no-cell',
  problem: toCellProblem({
    kind: 'bad-input',
    why: 'the number of a cell: 1 for users 1 to 999999, 2 for users 1000000 to 1999999, 3 for users from 2000000',
  }),
  cause: 'The deployment has several databases, and the request says of none of them that it is meant.',
  cure: 'Add `cell`, or at other paths a `uid`.',
  given: 'three databases',
})

/** `GET /ledger/summary` in the OpenAPI document. The Worker never calls this function, so its bundle has none of these texts. */
export const ledgerSummaryDocs = () => {
  const sums = (sum: number) => ({
    owed: sum,
    owed_by: Object.values(entryTypes).map((type) => ({ type, sum: type === entryTypes.recharge ? sum : 0 })),
    held: null,
    held_at: null,
    held_by: movedKinds.map((what) => ({ what, sum: what === 'credited' ? sum : 0 })),
    compared: 0,
    unread: 1,
    frozen: 0,
    frozen_addresses: 0,
    destroyed: 0,
    unexplained: 0,
    differing: 0,
    days: withToday(sum),
  })
  const days = Array.from({ length: summaryDays }, (_, i) => {
    const day = new Date(Date.UTC(2026, 7, 23 + i)).toISOString().slice(0, 10)
    return { day, deposits: 0, sum: 0, entries: [] as object[] }
  })
  const today = days.pop()
  const withToday = (sum: number) => [...days, { ...today, deposits: 1, sum, entries: [{ type: 1, count: 1, sum }] }]
  return {
    id: 'readLedgerSummary',
    summary: 'Is all well: sums, alarms, scan, endpoints',
    description:
      'The sums owed and held in each currency and by what, the deposits of the last days, and everything that needs attention. No node ' +
      'is asked. Sums are kept as they arise: the cost does not grow with the history.',
    success: schemas.successBody('LedgerSummaryResponse', summarySchema),
    examples: [
      docs.dataExample('two deposits', 'two deposits, credited', '', {
        currencies: [
          { cuy: 1, symbol: 'TRX', ...sums(3.5) },
          { cuy: 2, symbol: 'USDT', ...sums(25) },
        ],
        addresses: 1,
        transfers: { seen: 0, held: 0, held_for: [] },
        gaps: [],
        alarms: [],
        differences: [],
        newest_event: 2,
        database: { bytes: 413_696, limit: databaseBytesMax, full_on: null },
        scan: {
          status: 'ok',
          scanned: 70_000_019,
          finalized: 70_000_019,
          behind: 0,
          msg: null,
          problem: null,
          finalized_at: '2026-09-21T14:13:23.000Z',
          oldest_held_at: null,
        },
        endpoints: [],
        payouts: { address: payoutAddress, open: [], stopped: null, holds: [] },
        nodes: ['one.example', 'two.example'].map(exampleNode),
        quorum: 2,
        reader: { name: 'shop', scopes: ['ledger:read', 'ledger:post', 'ledger:pay', 'ledger:approve', 'ledger:sign'] },
      }),
    ],
    failures: [noCell()],
  } satisfies docs.Operation
}
