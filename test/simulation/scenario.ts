import type { Address } from '../../src/addresses/address.ts'
import { nativeAsset, trc20Asset } from '../../src/ledger/asset.ts'
import { type Currencies, type Currency, type CurrencyId, indexCurrencies } from '../../src/ledger/currencies.ts'
import { addressOf, usdt } from '../support/chain-builder.ts'
import type { Random } from './random.ts'

/** A token with more decimals than the ledger keeps and a smallest deposit. */
export const fineToken = addressOf(0xf1)

/** TRX, a token of which the ledger keeps 2 of 6 decimals, and one with 18 of which it keeps 6, from 0.5 on. */
export const currencies: Currencies = indexCurrencies([
  currency(1, null, 6, 6, 0n),
  currency(2, usdt, 6, 2, 0n),
  currency(3, fineToken, 18, 6, 5n * 10n ** 17n),
])

function currency(cuy: number, contract: Address | null, decimals: number, scale: number, minDeposit: bigint) {
  return {
    cuy: cuy as CurrencyId,
    symbol: `C${cuy}`,
    asset: contract === null ? nativeAsset : trc20Asset(contract),
    decimals,
    scale,
    minDeposit,
  } satisfies Currency // small
}

/** How often each kind of trouble comes, as probabilities. All are 0 once the world is healed. */
export interface Rates {
  /** A node's answer is rubbish. */
  readonly rubbish: number
  /** A node goes away, lags or forks, at each block. */
  readonly change: number
  /** A liar lies, at each request. */
  readonly lie: number
  /** A round trip to the database goes wrong. */
  readonly database: number
  /** An invocation is killed. */
  readonly kill: number
}

/** One node. */
export interface NodePlan {
  /** It may lie. */
  readonly liar: boolean
  readonly hasApi: boolean
  /** It kept the logs of failed transactions. */
  readonly keepsFailedLogs: boolean
}

/** What a seed decides before anything happens. */
export interface Scenario {
  readonly nodes: readonly NodePlan[]
  readonly quorum: number
  /** Blocks from the chain's newest to its newest final one. */
  readonly finalityLag: number
  /** Empty blocks before the first that counts: more than one step of the scan holds, where it starts at the first. */
  readonly blocksBefore: number
  /** Transactions in one block of the run, more than one invocation can ask about; 0 for no such block. */
  readonly crowd: number
  /** Blocks that are made while things go wrong. */
  readonly blocks: number
  readonly users: number
  /** `TRON_START_BLOCK` as blocks after the chain's first, or null. */
  readonly startAfter: number | null
  readonly tickEveryMs: number
  /** The fine token's contract has other decimals than configured: nothing of it may be credited. */
  readonly decimalsDiffer: boolean
  /** Transactions of one block at most. */
  readonly transactionsMax: number
  /** Requests of callers per block, on average. */
  readonly requestsPerBlock: number
  readonly rates: Rates
}

/**
 * A scenario of 2 to 4 nodes. Liars are fewer than the quorum and the same ones all through the run: that is exactly
 * what a quorum promises to survive. With a quorum of 1 no node lies, though all may lag, fail and send rubbish.
 */
export function drawScenario(random: Random): Scenario {
  const count = random.int(2, 4)
  const quorum = random.pick([1, 2, 2, 2, random.int(2, count)])
  const liars = new Set<number>()
  if (random.chance(0.8)) {
    // The first in the configuration's order is asked first: a liar does most harm there.
    for (let i = 1; i < quorum; i += 1) liars.add(random.chance(0.4) ? 0 : random.int(0, count - 1))
  }
  const withApi = random.int(0, count - 1)
  const nodes = Array.from({ length: count }, (_, i) => ({
    liar: liars.has(i),
    hasApi: i === withApi || random.chance(0.7),
    keepsFailedLogs: random.chance(0.8),
  }))
  const rate = (light: number, heavy: number) => random.pick([0, light, light, heavy])
  return {
    nodes,
    quorum,
    finalityLag: random.int(2, random.chance(0.3) ? 18 : 7),
    blocksBefore: random.chance(0.1) ? random.int(40, 120) : random.int(1, 5),
    crowd: random.chance(0.03) ? random.int(20, 70) : 0,
    blocks: random.int(30, random.chance(0.1) ? 120 : 40),
    users: random.int(5, 15),
    startAfter: random.chance(0.3) ? random.int(1, 30) : null,
    tickEveryMs: random.pick([20_000, 60_000]),
    decimalsDiffer: random.chance(0.05),
    transactionsMax: random.int(1, 4),
    requestsPerBlock: random.pick([0.1, 0.2, 0.2, 0.5]),
    rates: {
      rubbish: rate(0.02, 0.2),
      change: rate(0.02, 0.1),
      lie: random.pick([0.1, 0.5, 0.9, 1]),
      database: rate(0.02, 0.08),
      kill: rate(0.05, 0.2),
    },
  }
}
