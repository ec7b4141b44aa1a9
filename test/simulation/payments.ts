import type { Address } from '../../src/worker/chain/address.ts'
import { addressOf, type LogSpec, type TransactionSpec, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import type { BalanceChange } from './chain-balances.ts'
import type { Random } from './random.ts'
import { currencies, fineToken, operatorWallet } from './scenario.ts'

/** A transfer that a transaction really makes, in chain units. `contract` null is TRX. */
export interface Transfer {
  /**
   * For TRX 0, for a token the index among the transaction's own logs. For the k-th TRX that a
   * contract sends, -1 - k, with k from 0.
   */
  readonly position: number
  readonly contract: Address | null
  readonly from: Address
  readonly to: Address
  readonly raw: bigint
}

/** What the issuer of a token does, by one log of a transaction. */
export interface Act {
  readonly position: number
  readonly contract: Address
  readonly kind: 'frozen' | 'released' | 'destroyed' | 'paused' | 'unpaused' | 'fee-set' | 'deprecated'
  /** Null if the act is about the token as a whole. */
  readonly address: Address | null
  /** In chain units: the destroyed amount, or the highest fee of a transfer. */
  readonly raw: bigint | null
  /** The part of each transfer that a fee takes, in hundredths of a percent. Only for `fee-set`. */
  readonly basisPoints?: bigint | undefined
}

/**
 * A transaction to build, and what it really does. The oracle judges the service by what it really
 * does, whatever nodes reply.
 */
export interface Payment {
  readonly spec: TransactionSpec
  /** Transfers from outside the service that can be deposits. */
  readonly transfers: readonly Transfer[]
  readonly changes: readonly BalanceChange[]
  /**
   * TRX from outside the service that contracts send in this transaction. It is credited only after
   * a caller has asked about the transaction.
   */
  readonly sent?: readonly Transfer[]
  /** What issuers of tokens do in the transaction. */
  readonly acts?: readonly Act[]
  /** What the same bytes do on a branch of the chain, where their contract is in another state. */
  readonly otherwise?: TransactionSpec
  /** Whether the transaction has more logs than a node's reply can hold. */
  readonly isUnreadable?: boolean
}

/** The addresses that payments may concern. */
export interface Parties {
  /** Deposit addresses that callers were shown. */
  readonly shown: readonly Address[]
  /** Deposit addresses that no caller was shown yet, issued or not. */
  readonly unshown: readonly Address[]
  /** What an address has now, in chain units. */
  readonly balanceOf: (address: Address, contract: Address | null) => bigint
}

const fakeToken = addressOf(0xfa)
/** A contract that makes several transfers in one call. */
export const multisender = addressOf(0xca11)
/** The address of one of six people who pay. */
export const stranger = (random: Random) => addressOf(0x1000 + random.int(0, 5))

type Draw = (random: Random, to: Address, parties: Parties) => Payment

/** A transaction that moves nothing. */
const worthless = (spec: TransactionSpec): Payment => ({ spec, transfers: [], changes: [] })

/** A transaction that makes transfers from strangers. */
const paying = (spec: TransactionSpec, transfers: readonly Transfer[]): Payment => ({
  spec,
  transfers,
  changes: transfers.map(({ to, contract, raw }) => ({ address: to, contract, amount: raw })),
})

/** A payment of TRX from a stranger. */
export const payTrx = (from: Address, to: Address, amount: bigint): Payment =>
  paying({ kind: 'trx', from, to, amount }, [{ position: 0, contract: null, from, to, raw: amount }])

const token = (contract: Address, from: Address, to: Address, amount: bigint): Payment =>
  paying({ kind: 'token', contract, from, to, amount }, [{ position: 0, contract, from, to, raw: amount }])

/** A payment of `raw` chain units of a currency from a stranger. */
export function payCurrency(random: Random, cuy: number, to: Address, raw: bigint): Payment {
  const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
  return contract === null ? payTrx(stranger(random), to, raw) : token(contract, stranger(random), to, raw)
}

const drawToken = (random: Random) => random.pick([usdtAddress, fineToken])
const drawAmount = (random: Random, contract: Address | null): bigint => {
  const units = BigInt(random.int(1, 5_000_000))
  // some below the minimum deposit of 0.5, some above
  if (contract === fineToken) return units * 10n ** BigInt(random.int(10, 15)) + BigInt(random.int(0, 9))
  // some below the ledger's smallest amount
  if (contract === usdtAddress) return random.chance(0.1) ? BigInt(random.int(1, 9_999)) : units * 137n
  return units
}

/**
 * A call with several events: transfers to several addresses, and events that are worth nothing.
 */
const multisend: Draw = (random, to, { shown }) => {
  const from = stranger(random)
  const logs: LogSpec[] = []
  const transfers: Transfer[] = []
  const count = random.int(2, 5)
  for (let position = 0; position < count; position += 1) {
    const contract = random.chance(0.7) ? drawToken(random) : fakeToken
    const recipient = random.chance(0.3) ? stranger(random) : random.chance(0.5) ? to : random.pick([to, ...shown])
    const raw = random.chance(0.1) ? 0n : drawAmount(random, contract)
    logs.push(transferLog(contract, from, recipient, raw))
    if (contract !== fakeToken && raw > 0n) transfers.push({ position, contract, from, to: recipient, raw })
  }
  return paying({ kind: 'call', contract: multisender, from, logs }, transfers)
}

const malformedEvent = (random: Random, to: Address, change: (log: LogSpec) => LogSpec): Payment => {
  const log = change(transferLog(usdtAddress, stranger(random), to, 5_000_000n))
  return worthless({ kind: 'call', contract: usdtAddress, from: stranger(random), logs: [log] })
}

/** A failed token transfer, whose log some nodes show. */
const failedTransfer: Draw = (random, to) => {
  const [contract, from, keepsLogs] = [drawToken(random), stranger(random), random.chance(0.7)]
  return worthless({ kind: 'token', contract, from, to, amount: 10n ** 19n, failed: true, keepsLogs })
}

/**
 * Money that leaves a deposit address, to a stranger or to a deposit address, which may be the same
 * one. Its sender pays a fee in TRX.
 */
const sweep: Draw = (random, from, { shown, balanceOf }) => {
  const to = random.chance(0.5) ? stranger(random) : random.pick([from, ...shown])
  const contract = random.chance(0.5) ? null : drawToken(random)
  const fee = smaller(BigInt(random.pick([0, random.int(1, 30_000_000)])), balanceOf(from, null))
  const available = contract === null ? smaller(balanceOf(from, null) - fee, trxMax) : balanceOf(from, contract)
  if (available <= 0n) return payTrx(stranger(random), from, drawAmount(random, null))
  const part = (available * BigInt(random.int(1, 99))) / 100n
  const amount = random.chance(0.5) || part === 0n ? available : part
  return {
    spec: contract === null ? { kind: 'trx', from, to, amount } : { kind: 'token', contract, from, to, amount },
    transfers: [],
    changes: [
      { address: from, contract, amount: -amount },
      { address: to, contract, amount },
      { address: from, contract: null, amount: -fee },
    ],
  }
}

/**
 * The most sun that one transaction can move. An address can have more, after several payments of
 * 2^60.
 */
const trxMax = 2n ** 63n - 1n

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** A payment from the operator's own wallet, which is never a deposit: TRX for gas, or tokens. */
const operatorPayment: Draw = (random, to) => {
  const contract = random.chance(0.7) ? null : drawToken(random)
  const amount = drawAmount(random, contract)
  const { spec, changes } =
    contract === null ? payTrx(operatorWallet, to, amount) : token(contract, operatorWallet, to, amount)
  return { spec, transfers: [], changes }
}

/** A token transfer in a transaction with more logs than any reply can hold. */
export function payUnreadably(random: Random, to: Address): Payment {
  const amount = drawAmount(random, usdtAddress)
  const from = stranger(random)
  const logs = [transferLog(usdtAddress, from, to, amount)]
  return {
    spec: { kind: 'call', contract: multisender, from: stranger(random), logs },
    transfers: [{ position: 0, contract: usdtAddress, from, to, raw: amount }],
    changes: [{ address: to, contract: usdtAddress, amount, hidden: true }],
    isUnreadable: true,
  }
}

/**
 * TRX that a contract sends inside a call: JSON-RPC shows nothing of it (PROTOCOL.md, Internal
 * transactions).
 */
const internalTransfer: Draw = (random, to) => {
  const amount = drawAmount(random, null)
  const internals = [{ to, sun: Number(amount) }]
  return {
    ...worthless({ kind: 'call', contract: multisender, from: stranger(random), logs: [], internals }),
    changes: [{ address: to, contract: null, amount, hidden: true }],
    sent: [{ position: -1, contract: null, from: multisender, to, raw: amount }],
  }
}

/** Tokens that their issuer takes from an address, with an event that the service does not know. */
const seizure: Draw = (random, from, { balanceOf }) => {
  const contract = drawToken(random)
  const amount = balanceOf(from, contract)
  const taken = { contract, topics: [`0x${'5e12'.repeat(16)}`], data: `0x${from.padStart(64, '0')}` }
  return {
    ...worthless({ kind: 'call', contract, from: stranger(random), logs: [taken] }),
    changes: amount > 0n ? [{ address: from, contract, amount: -amount, hidden: true }] : [],
  }
}

/** A payment to an address that no caller was shown. */
const earlyPayment: Draw = (random, to, { unshown }) => {
  const early = random.pick([to, ...unshown])
  return random.chance(0.5)
    ? payTrx(stranger(random), early, 4_000_000n)
    : token(usdtAddress, stranger(random), early, 4_000_000n)
}

const otherType: Draw = (random, to) => {
  const type = random.pick([0, 9, 11, 12, 57])
  return worthless({ kind: 'other', type, from: stranger(random), to, value: 3_000_000n })
}

/** A payment that fills a wallet to the last unit, or that is one unit too much for it. */
const fillingPayment: Draw = (random, to) =>
  payTrx(stranger(random), to, random.chance(0.2) ? 2n ** 53n - BigInt(random.int(0, 2)) : drawAmount(random, null))

const fourthTopic = (log: LogSpec): LogSpec => ({ ...log, topics: [...log.topics, log.data], data: '0x' })
const dirtyTopics = (log: LogSpec): LogSpec => ({
  ...log,
  topics: log.topics.map((topic) => topic.replace('0x00', '0x01')),
})

/** Every kind of transaction and how often it is drawn. */
const draws: readonly (readonly [weight: number, draw: Draw])[] = [
  [18, (random, to) => payTrx(stranger(random), to, drawAmount(random, null))],
  [12, (random, to) => token(usdtAddress, stranger(random), to, drawAmount(random, usdtAddress))],
  [10, (random, to) => token(fineToken, stranger(random), to, drawAmount(random, fineToken))],
  [10, multisend],
  [6, sweep],
  [5, (random, to) => worthless({ kind: 'trc10', from: stranger(random), to, amount: 7_000_000n })],
  [4, otherType],
  [5, failedTransfer],
  [
    4,
    (random, to) => worthless({ kind: 'token', contract: fakeToken, from: stranger(random), to, amount: 9_000_000n }),
  ],
  [2, (random, to) => worthless({ kind: 'token', contract: usdtAddress, from: stranger(random), to, amount: 0n })],
  [1, (random, to) => malformedEvent(random, to, fourthTopic)],
  [1, (random, to) => malformedEvent(random, to, dirtyTopics)],
  [1, (random, to) => worthless({ kind: 'call', contract: to, from: stranger(random), value: 8_000_000n })],
  [1, (random, to) => payTrx(stranger(random), to, 2n ** 60n)],
  [1, fillingPayment],
  [1, (random, to) => token(usdtAddress, stranger(random), to, 2n ** 200n)],
  [3, operatorPayment],
  [1, internalTransfer],
  [1, seizure],
  [8, (random) => payTrx(stranger(random), stranger(random), 1_000_000n)],
  [4, (random) => token(usdtAddress, stranger(random), stranger(random), 1_000_000n)],
  [5, earlyPayment],
]
const weights = draws.reduce((sum, [weight]) => sum + weight, 0)

/**
 * Any transaction. Before the first address is shown, it is one between strangers, or an early
 * payment.
 */
export function drawPayment(random: Random, parties: Parties): Payment {
  if (parties.shown.length === 0) {
    const early = random.chance(0.3) && parties.unshown.length > 0
    return payTrx(stranger(random), early ? random.pick(parties.unshown) : stranger(random), 2_000_000n)
  }
  const to = random.pick(parties.shown)
  let left = random.int(1, weights)
  for (const [weight, draw] of draws) {
    left -= weight
    if (left <= 0) return draw(random, to, parties)
  }
  throw new Error('the weights do not add up')
}
