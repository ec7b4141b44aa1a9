import { sql } from 'drizzle-orm'
import { formatBase58 } from '../../worker/chain/address.ts'
import { type ReadDatabase, toStatement } from '../../worker/d1/database.ts'
import { payoutSums } from '../../worker/d1/payout-tables.ts'
import { alarmRows } from '../../worker/d1/state-tables.ts'
import type { PayoutRules } from '../../worker/ledger/context.ts'
import type { Currencies } from '../../worker/ledger/currencies.ts'
import { findStopOfAll, stoppedCurrencies, stopRules } from '../../worker/payouts/leaving.ts'
import { selectLeavingFacts } from '../../worker/payouts/store/facts.ts'
import { type AlarmKind, alarmTable } from '../../worker/platform/alarm-table.ts'
import { ToolError } from '../tool-error.ts'
import { type CheckResult, passed, warned } from './check-settings.ts'

/**
 * The alarms about payouts that a line names while they are raised. The other causes of a stop have
 * lines of their own.
 */
const named = ['payout-stuck', 'payout-refused', 'payouts-unsigned', 'payout-wallet-low'] as const satisfies AlarmKind[]

interface RaisedRow {
  readonly kind: (typeof named)[number]
  readonly count: number
}
interface StuckRow {
  readonly count: number
}

/**
 * Says whether money may leave the payout address, by the function with which the service decides
 * (`payouts/leaving.ts`), and what else is wrong with payouts. All are warnings: the configuration
 * may be deployed, and a person must act.
 */
export async function* checkPayouts(
  { address }: PayoutRules,
  currencies: Currencies,
  db: ReadDatabase,
): AsyncGenerator<CheckResult, void> {
  const name = `payouts from ${formatBase58(address)}`
  try {
    const facts = await selectLeavingFacts(db, address)
    const ofAll = findStopOfAll(facts, 'send') ?? findStopOfAll(facts, 'offer')
    if (ofAll !== null) yield warned(`${name}: none is offered to the signer: ${stopRules[ofAll].why}`)
    const ofCurrency = ofAll === null ? stoppedCurrencies(facts, currencies.list, 'offer') : new Map()
    for (const { cuy, symbol } of currencies.list) {
      const stop = ofCurrency.get(cuy) as keyof typeof stopRules | undefined
      if (stop !== undefined)
        yield warned(`${name}: none of ${symbol} (${cuy}) is offered to the signer: ${stopRules[stop].why}`)
    }
    const [raised, stuck] = await db.batch([toStatement(db, selectRaised), toStatement(db, selectStuck)])
    const alarms = raised?.results as unknown as readonly RaisedRow[] // safe: the statement selects these columns
    const [{ count = 0 } = {}] = (stuck?.results ?? []) as unknown as readonly Partial<StuckRow>[] // safe: as above
    for (const alarm of alarms) {
      const number = alarm.count === 1 ? '' : ` (${alarm.count} times)`
      yield warned(`${name}: ${alarm.kind}${number}: ${alarmTable[alarm.kind].raised} ${alarmTable[alarm.kind].remedy}`)
    }
    if (count > 0 && !alarms.some(({ kind }) => kind === 'payout-stuck')) {
      yield warned(`${name}: ${count} are stuck: ${alarmTable['payout-stuck'].remedy}`)
    }
    if (ofAll === null && ofCurrency.size === 0 && alarms.length === 0 && count === 0)
      yield passed(`${name}: they may leave`)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    yield warned(`${name}: whether they may leave is not known: ${error.why}; ${error.next}`)
  }
}

const selectRaised = sql`SELECT ${alarmRows.kind} AS kind, count(*) AS count FROM ${alarmRows}
WHERE ${alarmRows.raised_at} IS NOT NULL AND ${alarmRows.kind} IN (${sql.join(
  named.map((kind) => sql`${kind}`),
  sql`, `,
)}) GROUP BY ${alarmRows.kind}`

const selectStuck = sql`SELECT coalesce(sum(${payoutSums.count}), 0) AS count FROM ${payoutSums}
  WHERE ${payoutSums.state} = 'stuck'`
