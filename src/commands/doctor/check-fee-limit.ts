import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import { transferArguments } from '../../worker/chain/transaction.ts'
import { formatTrx } from '../../worker/common/amount.ts'
import { ok } from '../../worker/common/result.ts'
import type { PayoutRules } from '../../worker/ledger/context.ts'
import type { Currency } from '../../worker/ledger/currencies.ts'
import { firstAnswer } from '../../worker/tron/agreement.ts'
import { askApi } from '../../worker/tron/ask.ts'
import type { Pool } from '../../worker/tron/node.ts'
import { nodeError } from '../../worker/tron/node-errors.ts'
import { sessionOf } from '../node-pool.ts'
import { parseEstimate, parsePrices, transferCall } from '../node-replies.ts'
import { type CheckResult, passed, warned } from './check-settings.ts'

/** Time limit of the check of one token. */
const checkMs = 20_000
/**
 * An address that holds no token, so that the estimate is of a transfer to somebody new, which
 * takes most.
 */
const stranger = 'fe'.repeat(20) as Address // safe: 20 bytes

/**
 * Compares `feeLimit` with what a transfer of the token takes now: its energy, staked or not, at
 * the chain's price. One node's word is enough for a warning. Yields nothing if no transfer can be
 * estimated, as while the payout address does not hold the token.
 */
export async function* checkFeeLimit(
  pool: Pool,
  { address, feeLimit }: PayoutRules,
  { symbol, cuy }: Currency,
  contract: Address,
): AsyncGenerator<CheckResult, void> {
  const session = sessionOf(pool, checkMs)
  const ask = <T>(path: string, body: object, parse: (reply: unknown) => T | undefined) =>
    firstAnswer(session, 'api', (node) =>
      askApi(session, node, `/wallet/${path}`, body, (reply) => {
        const value = parse(reply)
        return value === undefined ? nodeError('bad-answer', 'an unknown reply') : ok(value)
      }),
    )
  const parameter = transferArguments(stranger, 1n)
  const body = transferCall({ from: address, contract, parameter })
  const estimate = await ask('triggerconstantcontract', body, parseEstimate)
  if (!estimate.ok || estimate.value.kind !== 'energy') return
  const prices = await ask('getchainparameters', {}, parsePrices)
  if (!prices.ok) return
  const { energy } = estimate.value
  const { sunPerEnergy } = prices.value
  const needed = BigInt(energy) * sunPerEnergy
  const trx = (sun: bigint) => `${formatTrx(sun)} TRX`
  const name = `payouts from ${formatBase58(address)}`
  const takes = `a transfer of ${symbol} (${cuy}) takes ${trx(needed)} now (${energy} energy at ${sunPerEnergy} sun)`
  if (needed <= feeLimit) yield passed(`${name}: ${takes}, within feeLimit of ${trx(feeLimit)}`)
  else
    yield warned(
      `${name}: ${takes}, and feeLimit is ${trx(feeLimit)}: such payouts fail, and burn it. Raise feeLimit of PAYOUTS`,
    )
}
