import { checkNow } from '../../../scan/check-now.ts'
import { checkTransaction } from '../../../scan/check-transaction.ts'
import type { RequestContext, Route } from '../../context.ts'
import { refusal, successNote } from '../../envelope.ts'
import { describeReport, describeTransaction } from './message.ts'
import { parseRechargeQuery } from './query.ts'

/** "Check now": credits what is final, or the caller's deposits of one transaction. */
export const tronRecharge = {
  path: '/tron/recharge',
  rateClass: () => 'nodes',
  handle: async (c) => {
    const query = parseRechargeQuery(c.req.url)
    if (!query.ok) return refusal(query.error)
    const txid = query.value
    const { currencies } = c.env.services.settings
    if (txid === null) {
      const report = await check(c)
      return report.ok ? successNote(describeReport(report.value, currencies)) : refusal(report.error)
    }
    const { services } = c.env
    const invocation = c.get('invocation')
    const report = await services.write(invocation, (parts) =>
      checkTransaction({ ...parts, ...services.chains(invocation) }, c.get('uid'), txid),
    )
    return report.ok ? successNote(describeTransaction(report.value, currencies)) : refusal(report.error)
  },
} satisfies Route

/** The scan reads and writes the primary. Only what the caller gets is read in the session of the request. */
function check(c: RequestContext) {
  const { services } = c.env
  const invocation = c.get('invocation')
  return services.write(invocation, (caller) =>
    checkNow({ ...services.primary(invocation), ...services.chains(invocation), caller }, c.get('uid')),
  )
}
