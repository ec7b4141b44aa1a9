import type { Pending } from '../../../deposits/deposit.ts'
import { explainPending } from '../../../deposits/explain.ts'
import { formatUnits } from '../../../common/amount.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import type { WalletBalance } from '../../../ledger/ledger-reader.ts'
import type { CheckNowReport, UnconfirmedTransfers } from '../../../scan/check-now.ts'
import type { TransactionReport } from '../../../scan/check-transaction.ts'

/** The result of "check now" in one line: what was credited, what is to come, and why the scan is not caught up. */
export function describeReport(report: CheckNowReport, currencies: Currencies): string {
  const { credited, unconfirmed, pending, problem, behindBlocks } = report
  return [
    credited.length === 0 ? 'nothing new' : `credited ${formatSums(credited, currencies)}`,
    unconfirmed && describeUnconfirmed(unconfirmed, currencies),
    ...describePending(pending),
    describeProblem(problem, behindBlocks),
    behindBlocks > 0 && `the scan is ${count(behindBlocks, 'block')} behind`,
  ]
    .filter(Boolean)
    .join('; ')
}

/** The credited deposits of one transaction in one line. */
export function describeTransaction({ credited, already }: TransactionReport, currencies: Currencies): string {
  return `${already ? 'already credited' : 'credited'} ${formatSums(credited, currencies)}`
}

/** `25 USDT and 3 TRX`: the sum in each currency, in the order of the currencies. */
function formatSums(credited: readonly WalletBalance[], currencies: Currencies): string {
  return currencies.list
    .flatMap(({ cuy, scale, symbol }) => {
      const own = credited.filter((one) => one.cuy === cuy)
      const sum = own.reduce((total, one) => total + one.amount, 0n)
      return own.length === 0 ? [] : [`${formatUnits(sum, scale)} ${symbol}`]
    })
    .join(' and ')
}

/** A TRC-10 transfer looks like one of TRX until it is verified, so such transfers are counted as possible ones. */
function describeUnconfirmed(unconfirmed: UnconfirmedTransfers, { native }: Currencies): string {
  const kinds = [
    unconfirmed.count > 0 && count(unconfirmed.count, 'transfer'),
    unconfirmed.unproven > 0 && count(unconfirmed.unproven, `possible ${native?.symbol ?? 'TRX'} transfer`),
  ]
  return `${kinds.filter(Boolean).join(' and ')} found, final in about ${unconfirmed.seconds} s`
}

function describePending(pending: readonly Pending[]): string[] {
  return [...Map.groupBy(pending, ({ reason }) => reason)].map(
    ([reason, group]) => `${count(group.length, 'transfer')} not credited yet: ${explainPending(reason)}`,
  )
}

function describeProblem(problem: CheckNowReport['problem'], behindBlocks: number): string | null {
  switch (problem) {
    case 'no-answer':
      return 'no node gave a usable response'
    case 'disagreement':
      return 'the nodes disagree'
    case 'forked':
      return 'the scan is stopped until an operator has checked the chain'
    case 'still-running':
      return 'a scan is still running'
    case 'out-of-budget': // where the scan is behind, the number of blocks shows it
      return behindBlocks > 0 ? null : 'the scan did not finish in time'
    case null:
      return null
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
