import type { Address } from '../../src/worker/chain/address.ts'
import {
  addressOf,
  type InternalSpec,
  issuerLog,
  type LogSpec,
  transferLog,
  unindexed,
  usdtAddress,
} from '../support/transaction-spec.ts'
import type { BalanceChange } from './chain-balances.ts'
import { featuredNote } from './node-replies.ts'
import { type Act, multisender, type Parties, type Payment, stranger, type Transfer } from './payments.ts'
import type { Random } from './random.ts'
import { fineToken, operatorWallet } from './scenario.ts'

const issuer = addressOf(0x15)

/**
 * A transaction of an issuer with one to three acts, about deposit addresses that callers were
 * shown.
 */
export function drawActs(random: Random, { shown, balanceOf }: Parties): Payment {
  const acts: Act[] = []
  const logs: LogSpec[] = []
  const left = (address: Address, contract: Address) =>
    acts.reduce(
      (sum, one) => (one.address === address && one.contract === contract ? sum - (one.raw ?? 0n) : sum),
      balanceOf(address, contract),
    )
  for (let count = random.pick([1, 1, 2, 3]); count > 0; count -= 1) {
    const contract = random.pick([usdtAddress, usdtAddress, fineToken])
    const kind = random.pick(kinds)
    const isOfAddress = kind === 'frozen' || kind === 'released' || kind === 'destroyed'
    const target = isOfAddress ? random.pick(shown) : addressOf(0x16)
    const fee = random.pick([0n, 0n, 5n])
    const raw = kind === 'destroyed' ? left(target, contract) : kind === 'fee-set' ? fee : null
    const address = isOfAddress || kind === 'deprecated' ? target : null
    const parameters = kind === 'fee-set' ? [fee, fee] : [address ?? [], raw ?? []].flat()
    const log = issuerLog(contract, kind, ...parameters)
    logs.push(random.chance(0.3) ? unindexed(log) : log)
    acts.push({
      position: acts.length,
      contract,
      kind,
      address,
      raw,
      ...(kind === 'fee-set' ? { basisPoints: fee } : {}),
    })
  }
  const changes = acts.flatMap(({ kind, address, contract, raw }) => {
    if (kind !== 'destroyed' || address === null || raw === null || raw === 0n) return []
    return [{ address, contract, amount: -raw, byIssuer: true as const }]
  })
  return { spec: { kind: 'call', contract: usdtAddress, from: issuer, logs }, transfers: [], changes, acts }
}

/** A transaction of an issuer with one act. */
export function actOf(act: Omit<Act, 'position'>): Payment {
  const { contract, kind, address, raw, basisPoints } = act
  const parameters = kind === 'fee-set' ? [basisPoints ?? 0n, raw ?? 0n] : address === null ? [] : [address]
  const logs = [issuerLog(contract, kind, ...parameters)]
  const spec = { kind: 'call', contract: usdtAddress, from: issuer, logs } as const
  return { spec, transfers: [], changes: [], acts: [{ ...act, position: 0 }] }
}

const kinds: readonly Act['kind'][] = [
  ...Array.from({ length: 5 }, () => 'frozen' as const),
  ...Array.from({ length: 4 }, () => 'released' as const),
  ...(['destroyed', 'destroyed', 'paused', 'unpaused', 'fee-set', 'fee-set', 'deprecated'] as const),
]

/**
 * The kinds of internal transactions. A kind that stands here three times is drawn three times as
 * often.
 */
const internalKinds = [
  ...(['call', 'call', 'call', 'suicide'] as const),
  ...(['create', 'rejected', 'token', 'nothing', featuredNote] as const),
]

/**
 * A call in which a contract sends TRX, among other internal transactions, and sometimes beside a
 * token transfer. If the operator makes the call, the TRX is no deposit.
 */
export function drawSending(random: Random, { shown }: Parties): Payment {
  const from = random.chance(0.2) ? operatorWallet : stranger(random)
  const internals: InternalSpec[] = []
  const sent: Transfer[] = []
  const changes: BalanceChange[] = []
  let places = 0
  for (let left = random.pick([1, 2, 3, 5]); left > 0; left -= 1) {
    const to = random.chance(0.8) ? random.pick(shown) : stranger(random)
    const kind = random.pick(internalKinds)
    const sun = kind === 'nothing' || kind === 'token' ? 0 : random.int(1, 5_000_000)
    const isPaid = sun > 0 && (kind === 'call' || kind === 'suicide')
    const note = kind === 'suicide' || kind === 'create' || kind === featuredNote ? kind : 'call'
    const tokens = kind === 'token' ? { tokens: [{ callValue: 7, tokenId: '1000001' }] } : {}
    internals.push({ note, to, sun, ...tokens, ...(kind === 'rejected' ? { rejected: true } : {}) })
    if (isPaid) changes.push({ address: to, contract: null, amount: BigInt(sun), hidden: true })
    if (isPaid && from !== operatorWallet) {
      sent.push({ position: -1 - places, contract: null, from: multisender, to, raw: BigInt(sun) })
    }
    if (note !== featuredNote) places += 1
  }
  const transfers: Transfer[] = []
  if (random.chance(0.3) && from !== operatorWallet) {
    const to = random.pick(shown)
    transfers.push({ position: 0, contract: usdtAddress, from, to, raw: 5_000_000n })
    changes.push({ address: to, contract: usdtAddress, amount: 5_000_000n })
  }
  const logs = transfers.map(({ to, raw }) => transferLog(usdtAddress, from, to, raw))
  return { spec: { kind: 'call', contract: multisender, from, logs, internals }, transfers, changes, sent }
}
