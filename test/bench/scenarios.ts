import type { Address } from '../../src/chain/address.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { firstHeight, foreignAddress } from './block-templates.ts'
import { watchedAddress } from './seeds.ts'

/** Blocks of one round: those of a minute. */
export const roundBlocks = 20
/** Deposits of one round of `mixed`: half of them are TRX. */
export const mixedDeposits = 500
/** Worthless transfers of one round of `storm`. */
export const dustTransfers = 1_200

/** What the blocks of a built chain contain after the first one, which has a deposit of each kind. */
export interface ScenarioOptions {
  /**
   * `mixed`: deposits to as many callers, TRX and USDT in turns. `storm`: TRC-10 transfers to one caller, which look like TRX,
   * and after them one USDT deposit to another caller. `quiet`: transfers between strangers, and one TRX deposit at the end.
   */
  readonly scenario: 'mixed' | 'storm' | 'quiet'
  readonly rounds: number
}

/** Blocks after those of the rounds: so many are not final in a normal rotation. */
export const unconfirmedBlocks = 18

/** The uid of the caller of the deposits in the first block, and of those of `quiet`. */
export const firstUid = 1
/** The uid of the caller whom the USDT deposit of a storm is for. */
export const stormDepositUid = (round: number): number => stormIndex(round) + 2

/** The chain of a scenario, with real bytes of all transactions. */
export function buildScenario({ scenario, rounds }: ScenarioOptions): BuiltChain {
  const chain = createChain({ firstHeight })
  const specsOf = { mixed: mixedSpecs, storm: stormSpecs, quiet: quietSpecs }[scenario]
  chain.add([trxTo(watchedAt(0), 1), usdtTo(watchedAt(0), 2)])
  for (let round = 0; round < rounds; round += 1) {
    const specs = specsOf(round)
    const size = specs.length / roundBlocks
    for (let block = 0; block < roundBlocks; block += 1) {
      chain.add(specs.slice(Math.ceil(block * size), Math.ceil((block + 1) * size)))
    }
  }
  chain.addEmpty(unconfirmedBlocks)
  return chain
}

function mixedSpecs(round: number): readonly TransactionSpec[] {
  return Array.from({ length: mixedDeposits }, (_, i) => {
    return (i % 2 === 0 ? trxTo : usdtTo)(watchedAt(1 + round * mixedDeposits + i), i)
  })
}

function stormSpecs(round: number): readonly TransactionSpec[] {
  const to = watchedAt(stormIndex(round))
  const dust = Array.from({ length: dustTransfers }, (_, i): TransactionSpec => {
    return { kind: 'trc10', from: foreignAddress(-1), to, amount: BigInt(i + 1) }
  })
  return [...dust, usdtTo(watchedAt(stormIndex(round) + 1), 0)]
}

function quietSpecs(round: number): readonly TransactionSpec[] {
  const foreign = Array.from({ length: roundBlocks * 2 - 1 }, (_, i) => usdtTo(foreignAddress(-2 - i), i))
  return [...foreign, trxTo(watchedAt(0), round)]
}

const stormIndex = (round: number) => 1 + round * 2
const watchedAt = (index: number) => watchedAddress(index) as Address // 40 hex digits
const trxTo = (to: Address, n: number): TransactionSpec => {
  return { kind: 'trx', from: foreignAddress(n), to, amount: 3_500_000n }
}
const usdtTo = (to: Address, n: number): TransactionSpec => {
  return { kind: 'token', contract: usdtAddress, from: foreignAddress(n), to, amount: 25_000_000n }
}
