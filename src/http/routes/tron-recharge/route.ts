import type { ChainFailure } from '../../../chain/failure.ts'
import type { Pending, PendingReason } from '../../../deposits/deposit.ts'
import { explainPending } from '../../../deposits/explain.ts'
import { formatUnits } from '../../../ledger/amount.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import type { WalletBalance } from '../../../ledger/ledger-store.ts'
import type { CheckNowReport } from '../../../scan/check-now.ts'
import type { CallerRoute } from '../../context.ts'
import { type ApiResponse, failure, successNote } from '../../envelope.ts'
import { toProblem } from '../../errors.ts'
import { parseRechargeQuery } from '../../params.ts'

/** "Check now": for all that is final, or for one transaction. Says what it did, for people. */
export const tronRecharge: CallerRoute = {
  path: '/tron/recharge',
  rateClass: () => 'strict',
  answer: async (parts, uid, url, visit): Promise<ApiResponse> => {
    const query = parseRechargeQuery(url)
    if (!query.ok) return failure(toProblem(query.error))
    if (query.value === null) {
      const report = await parts.recharge(uid, visit)
      return report.ok ? successNote(tell(report.value, parts.currencies)) : failure(toProblem(report.error))
    }
    const report = await parts.rechargeTransaction(uid, query.value, visit)
    if (!report.ok) return failure(toProblem(report.error))
    const { credited, already } = report.value
    return successNote(`${already ? 'credited before:' : 'credited'} ${sums(credited, parts.currencies)}`)
  },
}

function tell(
  { credited, unconfirmed: unfinal, pending, behindBlocks, problem: trouble }: CheckNowReport,
  currencies: Currencies,
): string {
  const told = [
    credited.length === 0 ? 'nothing new' : `credited ${sums(credited, currencies)}`,
    unfinal === null ? null : `${counted(unfinal.count, 'transfer')} seen, final in about ${unfinal.seconds} s`,
    ...waiting(pending),
    trouble === null ? null : explainTrouble(trouble),
    behindBlocks === 0 ? null : `the scan is ${counted(behindBlocks, 'block')} behind`,
  ]
  return told.filter((part) => part !== null).join('; ')
}

/** `25 USDT and 3 TRX`: what was credited in each currency, in the currencies' order. */
function sums(credited: readonly WalletBalance[], currencies: Currencies): string {
  return currencies.list
    .flatMap(({ cuy, scale, symbol }) => {
      const own = credited.filter((one) => one.cuy === cuy)
      const sum = own.reduce((total, one) => total + one.amount, 0n)
      return own.length === 0 ? [] : [`${formatUnits(sum, scale)} ${symbol}`]
    })
    .join(' and ')
}

function waiting(pending: readonly Pending[]): string[] {
  const counts = new Map<PendingReason, number>()
  for (const { reason } of pending) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(
    ([reason, count]) => `${counted(count, 'transfer')} not credited yet: ${explainPending(reason)}`,
  )
}

function explainTrouble(trouble: ChainFailure['kind'] | 'still-running'): string | null {
  switch (trouble) {
    case 'no-answer':
      return 'no node gave a usable answer'
    case 'disagreement':
      return 'the nodes disagree'
    case 'forked':
      return 'the scan has stopped until an operator has looked at the chain'
    case 'still-running':
      return 'a scan is still running'
    case 'out-of-budget':
      return null // how far behind the scan is says it
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
