import type { AddressFacts, CollectWishes, GasFacts } from '../../../src/commands/collect/collect-address.ts'
import { decideSteps } from '../../../src/commands/collect/make-plan.ts'
import { type CollectPlan, type GasMode, type PlanCurrency, planHeader } from '../../../src/commands/collect/plan.ts'
import { describeStep } from '../../../src/commands/collect/tables.ts'
import type { TransactionHeader } from '../../../src/commands/collect/transaction.ts'
import type { ChainPrices } from '../../../src/commands/node-replies.ts'
import { formatTrx } from '../../../src/worker/common/amount.ts'
import { formatInstant, type UnixMs } from '../../../src/worker/common/time.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { destination, gasAddress } from './harness.ts'

const currencies: readonly [PlanCurrency, PlanCurrency] = [
  { symbol: 'TRX', contract: null, decimals: 6 },
  { symbol: 'USDT', contract: tokenBase58, decimals: 6 },
]
const trx = currencies[0]
export const usdt = currencies[1]

/** Prices as on mainnet. */
const prices: ChainPrices = {
  sunPerByte: 1_000n,
  sunPerEnergy: 100n,
  createAccountFee: 100_000n,
  newAccountFee: 1_000_000n,
  feeLimitMax: 15_000_000_000n,
  freeBytes: 600,
}

/** The first deposit addresses of the test mnemonic, by index. */
const addresses = [
  'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6',
  'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C',
  'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA',
]

/**
 * An address in a test: its TRX and USDT in whole units, the energy that a transfer of its USDT
 * needs, and whatever else is unusual about it.
 */
export interface TestAddress extends Partial<Omit<AddressFacts, 'tokens' | 'index' | 'address' | 'sun'>> {
  readonly trx?: number
  readonly usdt?: number
  readonly energy?: number
  readonly refused?: string
  readonly isUnknown?: boolean
}

/** A gas address with 10,000 TRX, a stake of 50,000 TRX, and bandwidth for any plan. */
const richGas: GasFacts = {
  address: gasAddress,
  sun: 10_000_000_000n,
  resources: { energy: 0, stakedBytes: 1_000_000, freeBytes: 600 },
  delegatable: 50_000_000_000n,
  perTrx: { energy: 10n, trx: 1n },
}

/** The facts about these addresses; the order gives their indices. */
export function factsOf(...given: readonly TestAddress[]): readonly AddressFacts[] {
  return given.map(({ trx: own = 0, usdt: units = 0, energy = 65_000, refused, isUnknown, ...rest }, index) => ({
    index,
    address: addresses[index] ?? addresses[0] ?? '',
    sun: isUnknown === true ? null : BigInt(Math.round(own * 1e6)),
    tokens:
      units === 0
        ? []
        : [
            {
              currency: usdt,
              units: BigInt(Math.round(units * 1e6)),
              estimate: refused === undefined ? { kind: 'energy', energy } : { kind: 'refused', why: refused },
            },
          ],
    resources: own === 0 ? null : { energy: 0, stakedBytes: 0, freeBytes: 600 },
    hasOwnKey: true,
    delegatedBefore: 0n,
    ...rest,
  }))
}

/**
 * Differences from a plan that takes all balances, whatever they are worth. Without `min` the least
 * balance is 0 for each currency.
 */
export interface TestWishes {
  readonly currencies?: readonly PlanCurrency[]
  readonly gas?: Partial<GasFacts>
  readonly prices?: Partial<ChainPrices>
  readonly min?: Readonly<Record<string, bigint>>
  readonly trxPrice?: Readonly<Record<string, bigint>>
}

const headerOf = (mode: GasMode, wanted: readonly PlanCurrency[]): TransactionHeader => ({
  to: destination,
  gas: { mode, address: gasAddress },
  reference: { height: 100, hash: '0'.repeat(64) },
  timestamp: 1_795_000_000_000,
  expiration: 1_795_000_060_000,
  currencies: [...wanted],
})

/**
 * A plan for an address with both currencies and one that has only a token and no account yet. It
 * needs no chain.
 */
export function samplePlan(mode: GasMode): CollectPlan {
  const header = headerOf(mode, currencies)
  const wishes = { min: new Map([['USDT', 0n]]), trxPrice: new Map() }
  const decided = decideSteps(header, factsOf({ trx: 3.5, usdt: 25 }, { usdt: 10 }), wishes, prices, richGas)
  if (!decided.ok) throw new Error(decided.error)
  // safe: milliseconds since 1970
  const texts = { createdAt: formatInstant(1 as UnixMs), expiresAt: formatInstant(header.expiration as UnixMs) }
  const plan = { ...planHeader, chainId: '0x6465766e', account: 0, ...texts, ...header, ...decided.value }
  return structuredClone(plan)
}

/**
 * The plan as lines: its steps, then the balances that stay and why. If there is no plan, the only
 * line is the reason.
 */
export function planOf(mode: GasMode, facts: readonly AddressFacts[], changes: TestWishes = {}): readonly string[] {
  const header = headerOf(mode, changes.currencies ?? [trx, usdt])
  const { currencies } = header
  const wishes: CollectWishes = {
    min: new Map(Object.entries(changes.min ?? { TRX: 0n, USDT: 0n })),
    trxPrice: new Map(Object.entries(changes.trxPrice ?? {})),
  }
  const decided = decideSteps(header, facts, wishes, { ...prices, ...changes.prices }, { ...richGas, ...changes.gas })
  if (!decided.ok) return [decided.error]
  const { steps, leftOut } = decided.value
  return [
    ...steps.map((step) => {
      const after = step.after.length === 0 ? '' : ` | after ${step.after.join(', ')}`
      return `${step.id} | ${step.index} | ${describeStep({ currencies }, step)} | ${formatTrx(step.fee)}${after}`
    }),
    ...leftOut.map(({ index, symbol, why }) => `${index} | ${symbol} stays: ${why}`),
  ]
}
