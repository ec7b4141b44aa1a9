import { signBackendToken } from './sign-backend-token-example.ts'

/** An event as a webhook delivers it. */
interface LedgerEvent {
  readonly type: string
  readonly data: { readonly txid: string; readonly position: number | string; readonly reason?: string }
}

/**
 * Makes the handler of webhook events. For each deposit held for review it asks a screening
 * service, and decides. If it throws, the event comes again.
 */
export function createScreening(wallet: string, secret: string, screeningUrl: string) {
  return async ({ type, data: { txid, position, reason } }: LedgerEvent): Promise<void> => {
    if (type !== 'deposit.held' || reason !== 'review') return
    const answer = await fetch(`${screeningUrl}?txid=${txid}`)
    if (!answer.ok) throw new Error('no answer of the screening service')
    const { verdict, report } = (await answer.json()) as { verdict: 'clean' | 'listed' | 'unclear'; report: string }
    if (verdict === 'unclear') return // the deposit waits for a person; the alarm `review-overdue` comes after an hour
    const decision = verdict === 'clean' ? 'credit' : 'refuse'
    const token = await signBackendToken('screening', secret, 'ledger:approve')
    const decided = await fetch(`${wallet}/ledger/deposits/decide`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ deposits: [{ txid, position, decision, why: `screening report ${report}` }] }),
    })
    // 409: a person has decided otherwise. A repeated decision is no failure: it is answered like
    // the first.
    if (!decided.ok && decided.status !== 409) throw new Error(`not decided: ${decided.status}`)
  }
}
