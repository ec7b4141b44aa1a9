import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { payFinal, type RunningService } from '../http/service.ts'
import { addressOf, issuerLog, type LogSpec, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { tickLater } from './harness.ts'

/** A transaction in which the USDT contract emits these logs, as its issuer's calls do. */
export const acting = (...logs: readonly LogSpec[]): TransactionSpec => ({
  kind: 'call',
  contract: usdtAddress,
  from: addressOf(60),
  logs,
})

/**
 * The logs of USDT's issuer, each for one act. A fee is in hundredths of a percent, and at most
 * `most` smallest units.
 */
export const freeze = (address: Address) => issuerLog(usdtAddress, 'frozen', address)
export const release = (address: Address) => issuerLog(usdtAddress, 'released', address)
export const destroy = (address: Address, amount: bigint) => issuerLog(usdtAddress, 'destroyed', address, amount)
export const fee = (basisPoints: bigint, most: bigint) => issuerLog(usdtAddress, 'fee-set', basisPoints, most)
export const pause = issuerLog(usdtAddress, 'paused')
export const unpause = issuerLog(usdtAddress, 'unpaused')
export const deprecate = (successor: Address) => issuerLog(usdtAddress, 'deprecated', successor)

/** Scans these logs of the issuer in one final transaction; returns its txid. */
export async function act(service: RunningService, ...logs: readonly LogSpec[]): Promise<string> {
  const [txid = ''] = payFinal(service, acting(...logs))
  await tickLater(service)
  return txid
}

/** The `cuy` in which the address is frozen, as `GET /ledger/address` shows it to backends. */
export async function frozenIn(service: RunningService, address: Address): Promise<readonly number[]> {
  const response = await service.ledger(`/ledger/address?address=${formatBase58(address)}`)
  return (await response.json<{ data: { frozen: number[] } }>()).data.frozen
}

/** All events as `GET /ledger/events` shows them, oldest first. */
export async function eventList(service: RunningService) {
  const response = await service.ledger('/ledger/events')
  return (await response.json<{ data: { list: { type: string; uid: number; data: object }[] } }>()).data.list
}
