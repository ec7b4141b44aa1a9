import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { AlarmKind } from '../../src/worker/platform/alarm-table.ts'
import type { LogFields } from '../../src/worker/platform/logger.ts'
import { payoutAddress } from '../support/payouts.ts'
import type { Environment, MinedAct } from './environment.ts'
import type { Act } from './payments.ts'
import { currencies } from './scenario.ts'
import type { Stored } from './stored.ts'

const cuyOf = (contract: Address) => currencies.find((one) => one.contract === contract)?.cuy

/**
 * An act of a token's issuer that is stored, and whether an operator has confirmed the fee that it
 * sets.
 */
type KnownAct = MinedAct & { readonly isConfirmed: boolean }

/**
 * The alarms that must be raised after the acts up to a height, sorted. The service's rules are
 * written a second time here, so that a mistake is found.
 */
function standing(acts: Iterable<KnownAct>, height: number): readonly string[] {
  const newest = new Map<string, KnownAct>()
  const ordered = [...acts].filter((one) => one.height <= height && one.kind !== 'destroyed')
  ordered.sort((a, b) => a.height - b.height || a.place - b.place || a.position - b.position)
  for (const act of ordered)
    newest.set(`${act.contract} ${alarmOf[act.kind]} ${act.kind === 'deprecated' ? '' : act.address}`, act)
  const left = [...newest.values()].flatMap(({ kind, contract, address, raw, isConfirmed }) => {
    if (kind === 'released' || kind === 'unpaused' || (kind === 'fee-set' && (raw === 0n || isConfirmed))) return []
    return [`${alarmOf[kind]} ${cuyOf(contract)} ${kind === 'frozen' ? address : ''}`]
  })
  return left.sort()
}

const alarmOf: Readonly<Record<Act['kind'], AlarmKind | null>> = {
  frozen: 'address-frozen',
  released: 'address-frozen',
  destroyed: null,
  paused: 'token-paused',
  unpaused: 'token-paused',
  'fee-set': 'token-fee-set',
  deprecated: 'token-deprecated',
}

/** Whether an issuer ever did what an alarm says. */
export function hasActed({ acts }: Environment, kind: AlarmKind, { cuy, address }: LogFields): boolean {
  return [...acts.values()].some((one) => {
    const isOf = one.address !== null && formatBase58(one.address) === address
    return alarmOf[one.kind] === kind && cuyOf(one.contract) === cuy && (kind !== 'address-frozen' || isOf)
  })
}

/**
 * The fault of the stored acts, or null. Each `promised` act in a scanned block must be stored, at
 * its place and with its event. No act may be stored that the chain lacks. The raised alarms must
 * be those that follow from the acts in scanned blocks.
 */
export function auditActs(env: Environment, stored: Stored): string | null {
  const position = stored.scan()?.height ?? 0
  const found = new Map(stored.acts().map((one) => [`${one.txid}:${one.position}`, one]))
  for (const [key, { height, promised }] of env.acts) {
    const isRead = height <= position && !env.openGaps.has(height)
    if (promised && isRead && !found.has(key)) return `what an issuer did in ${key} is not stored`
  }
  const reported = stored.events().filter(({ type }) => type.startsWith('address.'))
  const events = new Set(reported.map(({ type, txid, position: at }) => `${type} ${txid}:${at}`))
  if (events.size < reported.length) return 'what an issuer did was reported twice'
  for (const [key, { kind, cuy, address, raw, height, place }] of found) {
    const act = env.acts.get(key)
    const expected = act && [act.kind, cuyOf(act.contract), act.address, act.raw, act.height, act.place]
    const actual = [kind, cuy, address, raw, height, place]
    if (expected?.join() !== actual.join()) return `${key} is ${expected} by an issuer, and ${actual} is stored`
    const isOfUser = alarmOf[kind] === 'address-frozen' && address !== payoutAddress
    if (isOfUser && !events.has(`address.${kind} ${key}`)) return `${key} has no event`
  }
  const known = [...env.acts].flatMap(([key, act]) => {
    const row = found.get(key)
    return row === undefined ? [] : [{ ...act, isConfirmed: row.isConfirmed === 1 }]
  })
  const raised = alarmsOf(stored).map(({ kind, cuy, address }) => `${kind} ${cuy} ${address}`)
  const [left, shown] = [standing(known, position).join(), raised.sort().join()]
  return left === shown ? null : `issuers left "${left}", and "${shown}" is raised`
}

/** Whether an alarm says why tokens of this currency do not leave this address. */
export function isStoppedByIssuer(stored: Stored, cuy: number, from: Address): boolean {
  return alarmsOf(stored).some((one) => one.cuy === cuy && (one.kind !== 'address-frozen' || one.address === from))
}

/** The alarms about what issuers do. */
function alarmsOf(stored: Stored) {
  const kinds = Object.values(alarmOf)
  return stored.alarms().flatMap(({ kind, subject }) => {
    // safe: the service has written it
    const { cuy, address = '' } = JSON.parse(subject) as { cuy?: number; address?: string }
    return kinds.some((one) => one === kind) ? [{ kind, cuy, address }] : []
  })
}
