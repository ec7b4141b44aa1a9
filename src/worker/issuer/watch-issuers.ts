import { formatBase58 } from '../chain/address.ts'
import { formatUnits } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import type { IssuerState } from './state.ts'

/** Most frozen addresses for which alarms are raised: the first ones, by currency and address. */
const frozenAlarmsMax = 100

const kinds = ['address-frozen', 'token-paused', 'token-fee-set', 'token-deprecated'] as const

/**
 * Turns the acts of issuers that no later act has undone into faults, for alarms. A fee that an
 * operator has confirmed is no fault, nor is the deprecation of a token that is retired here.
 */
export function watchIssuers(state: IssuerState, currencies: Currencies): Observation {
  const symbolOf = (cuy: CurrencyId) => currencies.byId.get(cuy)?.symbol ?? String(cuy)
  const frozen = state.frozen.slice(0, frozenAlarmsMax).map(({ cuy, address, txid, height }): Fault => {
    const fields = { address: formatBase58(address), cuy, symbol: symbolOf(cuy), txid, height }
    return { kind: 'address-frozen', subject: { cuy, address }, fields }
  })
  const paused = state.paused.map(({ cuy, txid, height }): Fault => {
    return { kind: 'token-paused', subject: { cuy }, fields: { cuy, symbol: symbolOf(cuy), txid, height } }
  })
  const unconfirmed = state.fees.filter(({ isConfirmed }) => !isConfirmed)
  const fees = unconfirmed.map(({ cuy, txid, height, basisPoints, maximum }): Fault => {
    const most = formatUnits(maximum, currencies.byId.get(cuy)?.decimals ?? 0)
    const percent = formatUnits(basisPoints, 2)
    const fields = { cuy, symbol: symbolOf(cuy), percent, most, txid, height }
    return { kind: 'token-fee-set', subject: { cuy }, fields }
  })
  const accepted = state.deprecated.filter(({ cuy }) => currencies.byId.get(cuy)?.retired === false)
  const deprecated = accepted.map(({ cuy, txid, height, successor }): Fault => {
    const fields = { cuy, symbol: symbolOf(cuy), successor: formatBase58(successor), txid, height }
    return { kind: 'token-deprecated', subject: { cuy }, fields }
  })
  return { kinds, faults: [...frozen, ...paused, ...fees, ...deprecated] }
}
