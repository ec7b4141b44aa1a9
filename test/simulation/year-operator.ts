import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { AlarmKind } from '../../src/worker/platform/alarm-table.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { confirmFees } from './payout-events.ts'
import type { SimulatedRun } from './simulated-run.ts'
import { configure, moveNode, type YearAct } from './year-plan.ts'

/** The hour (UTC) at which an operator looks at the raised alarms. */
const looksAt = 9

/** The members of the subjects of alarms about which an operator does something. */
interface Subject {
  readonly node?: number
  readonly endpoint?: number
  /** 40 hex digits. */
  readonly address?: Address
}

/** Does something about an alarm, as docs/operate.md says. Returns what; null: it waits. */
type Remedy = (run: SimulatedRun, subject: Subject) => string | null

const remedies: Partial<Record<AlarmKind, Remedy>> = {
  'node-failing': replaceNode,
  'endpoint-failing'(run, { endpoint }) {
    const { deployed, deadEndpoints } = run.env
    configure(run, { endpoints: deployed.endpoints.filter((url) => !deadEndpoints.has(url)) })
    return `endpoint ${endpoint} taken out of WEBHOOKS`
  },
  'token-fee-set'(run) {
    if (run.env.payouts !== null) confirmFees(run, run.env.payouts)
    return 'the fee confirmed'
  },
  'reconciliation-surplus': askForSent,
}

/** The operator, who looks at the alarms once a day. */
export function createYearOperator(run: SimulatedRun) {
  const acts: YearAct[] = []
  const handled = new Set<string>()
  return {
    /** What was done so far, each with the kind of its alarm. */
    acts,
    look(hour: number, day: number): void {
      if (new Date(hour).getUTCHours() !== looksAt) return
      const raised = new Map(run.stored.alarms().map((one) => [`${one.kind} ${one.subject}`, one]))
      for (const key of handled) if (!raised.has(key)) handled.delete(key)
      for (const [key, { kind, subject }] of raised) {
        if (handled.has(key)) continue
        // safe: as the service has stored them
        const what = remedies[kind as AlarmKind]?.(run, JSON.parse(subject) as Subject) ?? null
        if (what === null) continue
        handled.add(key)
        acts.push({ day, what: `${kind}: ${what}` })
      }
    },
  }
}

/** Only a node whose provider has ended is replaced: another one comes back by itself. */
function replaceNode(run: SimulatedRun, { node: number }: Subject): string | null {
  const node = run.nodes.list.find((one) => one.number === number)
  if (node === undefined || node.awayUntil.rpc !== Infinity) return null
  moveNode(run, node, `another-provider-${number}.test`, `key-of-another-provider-${number}`)
  Object.assign(node.awayUntil, { rpc: 0, api: 0 })
  run.deploy()
  return `node ${number} replaced by one of another provider`
}

/** The user of the address asks for the transactions in which contracts have sent TRX to it. */
function askForSent({ env, request }: SimulatedRun, { address }: Subject): string | null {
  const sent = [...env.sent.values()].filter(({ to }) => to === address)
  for (const { to, txid } of sent) {
    const uid = env.owners.get(to)
    if (uid !== undefined) void request('transaction', (client) => checkTransaction(client, uid, txid))
  }
  return address === undefined ? null : `${sent.length} transactions of contracts to ${formatBase58(address)} asked for`
}
