import type { Address } from '../../src/addresses/address.ts'
import { addressOf, type LogSpec, type TransactionSpec, transferLog, usdt } from '../support/chain-builder.ts'
import type { Random } from './random.ts'
import { fineToken } from './scenario.ts'

/** What a transaction really moves to somebody, in chain units. `contract` null is TRX. */
export interface Move {
  /** 0 for TRX, else the place among the transaction's own logs. */
  readonly position: number
  readonly contract: Address | null
  readonly from: Address
  readonly to: Address
  readonly raw: bigint
}

/** A transaction to build and what it moves: the second is what the oracle believes, whatever nodes say. */
export interface Payment {
  readonly spec: TransactionSpec
  readonly moves: readonly Move[]
}

/** Whom payments may reach. */
export interface Parties {
  /** Deposit addresses that callers were shown. */
  readonly shown: readonly Address[]
  /** Deposit addresses that nobody was shown yet, issued or not. */
  readonly unshown: readonly Address[]
}

const fakeToken = addressOf(0xfa)
const multisender = addressOf(0xca11)
const stranger = (random: Random) => addressOf(0x1000 + random.int(0, 5))

type Draw = (random: Random, to: Address, parties: Parties) => Payment

const trx = (from: Address, to: Address, amount: bigint, moves = true): Payment => ({
  spec: { kind: 'trx', from, to, amount },
  moves: moves ? [{ position: 0, contract: null, from, to, raw: amount }] : [],
})

const token = (contract: Address, from: Address, to: Address, amount: bigint, moves = true): Payment => ({
  spec: { kind: 'token', contract, from, to, amount },
  moves: moves && amount > 0n ? [{ position: 0, contract, from, to, raw: amount }] : [],
})

const drawToken = (random: Random) => random.pick([usdt, fineToken])
const drawAmount = (random: Random, contract: Address | null): bigint => {
  const units = BigInt(random.int(1, 5_000_000))
  if (contract === fineToken) return units * 10n ** BigInt(random.int(10, 15)) + BigInt(random.int(0, 9)) // around 0.5
  if (contract === usdt) return random.chance(0.1) ? BigInt(random.int(1, 9_999)) : units * 137n // dust, or more
  return units
}

/** Several events of one call: payments to several addresses between events that are worth nothing. */
const many: Draw = (random, to, { shown }) => {
  const from = stranger(random)
  const logs: LogSpec[] = []
  const moves: Move[] = []
  const count = random.int(2, 5)
  for (let position = 0; position < count; position += 1) {
    const contract = random.chance(0.7) ? drawToken(random) : fakeToken
    const recipient = random.chance(0.3) ? stranger(random) : random.chance(0.5) ? to : random.pick([to, ...shown])
    const raw = random.chance(0.1) ? 0n : drawAmount(random, contract)
    logs.push(transferLog(contract, from, recipient, raw))
    if (contract !== fakeToken && raw > 0n) moves.push({ position, contract, from, to: recipient, raw })
  }
  return { spec: { kind: 'call', contract: multisender, from, logs }, moves }
}

const malformed = (random: Random, to: Address, change: (log: LogSpec) => LogSpec): Payment => {
  const log = change(transferLog(usdt, stranger(random), to, 5_000_000n))
  return { spec: { kind: 'call', contract: usdt, from: stranger(random), logs: [log] }, moves: [] }
}

const sweep: Draw = (random, from, { shown }) => {
  const to = random.chance(0.5) ? stranger(random) : random.pick([from, ...shown])
  const contract = random.chance(0.5) ? null : drawToken(random)
  const amount = drawAmount(random, contract)
  return contract === null ? trx(from, to, amount, false) : token(contract, from, to, amount, false)
}

/** Every kind of transaction and how often it is drawn. */
const draws: readonly (readonly [weight: number, draw: Draw])[] = [
  [18, (random, to) => trx(stranger(random), to, drawAmount(random, null))],
  [12, (random, to) => token(usdt, stranger(random), to, drawAmount(random, usdt))],
  [10, (random, to) => token(fineToken, stranger(random), to, drawAmount(random, fineToken))],
  [10, many],
  [5, sweep],
  [5, (random, to) => ({ spec: { kind: 'trc10', from: stranger(random), to, amount: 7_000_000n }, moves: [] })],
  [
    4,
    (random, to) => {
      const type = random.pick([0, 9, 11, 12, 57])
      return { spec: { kind: 'other', type, from: stranger(random), to, value: 3_000_000n }, moves: [] }
    },
  ],
  [
    5,
    (random, to) => {
      const { spec } = token(drawToken(random), stranger(random), to, 10n ** 19n)
      return { spec: { ...spec, failed: true, keepsLogs: random.chance(0.7) } as TransactionSpec, moves: [] } // a token's
    },
  ],
  [4, (random, to) => token(fakeToken, stranger(random), to, 9_000_000n, false)],
  [2, (random, to) => token(usdt, stranger(random), to, 0n)],
  [1, (random, to) => malformed(random, to, (log) => ({ ...log, topics: [...log.topics, log.data], data: '0x' }))],
  [
    1,
    (random, to) =>
      malformed(random, to, (log) => ({ ...log, topics: log.topics.map((topic) => topic.replace('0x00', '0x01')) })),
  ],
  [1, (random, to) => ({ spec: { kind: 'call', contract: to, from: stranger(random), value: 8_000_000n }, moves: [] })],
  [1, (random, to) => trx(stranger(random), to, 2n ** 60n)],
  [
    1,
    // What fills a wallet to its last unit, or is one unit too much.
    (random, to) =>
      trx(stranger(random), to, random.chance(0.2) ? 2n ** 53n - BigInt(random.int(0, 2)) : drawAmount(random, null)),
  ],
  [1, (random, to) => token(usdt, stranger(random), to, 2n ** 200n)],
  [8, (random) => trx(stranger(random), stranger(random), 1_000_000n, false)],
  [4, (random) => token(usdt, stranger(random), stranger(random), 1_000_000n, false)],
  [
    5,
    (random, to, { unshown }) => {
      const early = random.pick([to, ...unshown])
      return random.chance(0.5)
        ? trx(stranger(random), early, 4_000_000n)
        : token(usdt, stranger(random), early, 4_000_000n)
    },
  ],
]
const weights = draws.reduce((sum, [weight]) => sum + weight, 0)

/** Any transaction. Where no address was shown yet it is one between strangers, or an early payment. */
export function drawPayment(random: Random, parties: Parties): Payment {
  if (parties.shown.length === 0) {
    const early = random.chance(0.3) && parties.unshown.length > 0
    return trx(stranger(random), early ? random.pick(parties.unshown) : stranger(random), 2_000_000n, early)
  }
  const to = random.pick(parties.shown)
  let left = random.int(1, weights)
  for (const [weight, draw] of draws) {
    left -= weight
    if (left <= 0) return draw(random, to, parties)
  }
  throw new Error('the weights do not add up')
}
