import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { payFinal, type RunningService } from '../http/service.ts'
import { addressOf, issuerLog, type LogSpec, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { tickLater } from './harness.ts'

/** A transaction of the issuer of USDT with these logs. */
export const acting = (...logs: readonly LogSpec[]): TransactionSpec => ({
  kind: 'call',
  contract: usdtAddress,
  from: addressOf(60),
  logs,
})

export const freeze = (address: Address) => issuerLog(usdtAddress, 'frozen', address)
export const release = (address: Address) => issuerLog(usdtAddress, 'released', address)
export const destroy = (address: Address, amount: bigint) => issuerLog(usdtAddress, 'destroyed', address, amount)
export const fee = (basisPoints: bigint, most: bigint) => issuerLog(usdtAddress, 'fee-set', basisPoints, most)
export const pause = issuerLog(usdtAddress, 'paused')
export const unpause = issuerLog(usdtAddress, 'unpaused')
export const deprecate = (successor: Address) => issuerLog(usdtAddress, 'deprecated', successor)

/** These acts in one transaction of a final block that is scanned. Returns its txid. */
export async function act(service: RunningService, ...logs: readonly LogSpec[]): Promise<string> {
  const [txid = ''] = payFinal(service, acting(...logs))
  await tickLater(service)
  return txid
}

/** The currencies in which the address is frozen, as the door for backends has it. */
export async function frozenIn(service: RunningService, address: Address): Promise<readonly number[]> {
  const response = await service.ledger(`/ledger/address?address=${formatBase58(address)}`)
  return (await response.json<{ data: { frozen: number[] } }>()).data.frozen
}

/** All events, in order. */
export async function eventList(service: RunningService) {
  const response = await service.ledger('/ledger/events')
  return (await response.json<{ data: { list: { type: string; uid: number; data: object }[] } }>()).data.list
}
