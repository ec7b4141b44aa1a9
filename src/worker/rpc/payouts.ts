import { formatUnits } from '../common/amount.ts'
import type { BackendName } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Invocation } from '../d1/sessions.ts'
import { withoutNulls } from '../http/body.ts'
import { ledgerPayoutsQuery } from '../http/routes/ledger-payouts.ts'
import { backendNameExpected, parseBackendName } from '../ledger/entry.ts'
import { askPayouts } from '../payouts/ask.ts'
import { approvePayouts, cancelPayouts, type DecisionContext } from '../payouts/decide.ts'
import type { PayoutFailure } from '../payouts/failure.ts'
import { listPayouts } from '../payouts/list.ts'
import { type Payout, payoutItem } from '../payouts/payout.ts'
import type { Services } from '../services.ts'
import { type Call, readQuery } from './call.ts'
import type { LedgerError, LedgerMethods, LedgerPayouts, StepOptions } from './ledger-methods.ts'

const notHere = { kind: 'not-found', why: 'payouts are not configured' } as const satisfies LedgerError

/** Makes the RPC methods about payouts. Requests of a signer have no RPC method: a signer uses HTTP. */
export function createPayoutMethods(
  services: Services,
  call: Call,
): Pick<LedgerMethods, 'payouts' | 'askPayouts' | 'approvePayouts' | 'cancelPayouts'> {
  const { currencies, clock, payouts: rules } = services.settings
  const listed = (list: readonly Payout[], count = list.length): LedgerPayouts => {
    return { list: list.map((payout) => payoutItem(payout, currencies, formatUnits)), count }
  }
  const step = async (
    by: unknown,
    invocation: Invocation,
    work: (context: DecisionContext, name: BackendName) => Promise<Result<readonly Payout[], PayoutFailure>>,
  ): Promise<Result<LedgerPayouts, LedgerError>> => {
    const name = parseBackendName(by)
    if (rules === null) return err(notHere)
    if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameExpected })
    const taken = await services.write(invocation, 'note-and-wake', (context) =>
      work({ ...context, address: rules.address }, name),
    )
    return taken.ok ? ok(listed(taken.value)) : taken
  }
  return {
    payouts: (query) =>
      call('payouts', undefined, async (invocation) => {
        if (rules === null) return err(notHere)
        const request = readQuery(ledgerPayoutsQuery, query, currencies)
        if (!request.ok) return request
        const { list, count } = await services.read(invocation, (context) => listPayouts(context, request.value))
        return ok(listed(list, count))
      }),
    askPayouts: (list, by, options) =>
      call('askPayouts', options, async (invocation) => {
        const name = parseBackendName(by)
        if (rules === null) return err(notHere)
        if (name === null) return err({ kind: 'bad-input', member: 'by', why: backendNameExpected })
        const answer = await services.write(invocation, 'note-and-wake', (context) =>
          askPayouts({ ...context, payouts: rules }, withoutNulls(list), name, clock.now()),
        )
        if (!answer.ok) return answer
        return ok({ ...listed(answer.value.payouts), replayed: answer.value.replayed })
      }),
    approvePayouts: (ids, by, options) =>
      call('approvePayouts', options, (invocation) =>
        step(by, invocation, (context, name) => approvePayouts(context, bodyOf(options, { ids }), name)),
      ),
    cancelPayouts: (ids, why, by, options) =>
      call('cancelPayouts', options, (invocation) =>
        step(by, invocation, (context, name) =>
          // Every Worker that is bound to this entrypoint has every scope.
          cancelPayouts({ ...context, mayApprove: true }, bodyOf(options, { ids, why }), name),
        ),
      ),
  }
}

/** The body of the HTTP route for the same step. `cell` is no part of it: it only chooses a database, and a deployment with one database ignores it. */
function bodyOf(options: StepOptions | undefined, members: object): unknown {
  const { cell: _, ...others } = options ?? {}
  return withoutNulls({ ...others, ...members })
}
