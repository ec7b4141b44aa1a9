import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { accountIn, bytesOf, numberOf, readFields } from '../../src/worker/chain/contract.ts'
import { txidOf } from '../../src/worker/chain/transaction.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { addressOf, transferLog, usdtAddress } from '../support/transaction-spec.ts'
import type { Chain } from './chain.ts'
import type { KnownWrong } from './known-wrong.ts'
import type { Act, Payment } from './payments.ts'
import type { Random } from './random.ts'
import { currencies, fineToken, type Scenario } from './scenario.ts'
import type { StoredPayout } from './stored.ts'

/**
 * The variable `PAYOUTS`: small payouts of two currencies are approved at once, payouts of the
 * third currency never.
 */
export const payoutVariable = {
  address: payoutBase58,
  limits: [
    { cuy: 1, each: '1', perDay: '1000', perUserPerDay: '500' },
    { cuy: 2, each: '200', perDay: '50000' },
  ],
}

/** What the payout address holds on the chain: more than backends ever ask for. */
export const payoutFunds = [null, usdtAddress, fineToken].map((contract) => {
  return { address: payoutAddress, contract, amount: contract === fineToken ? 10n ** 32n : 8n * 10n ** 15n }
})

/** The key of a payout (user, currency and `osn`), as one text. */
export const keyOf = (one: { readonly uid: number; readonly cuy: number; readonly osn: string }) =>
  `${one.uid} ${one.cuy} ${one.osn}`

/** A payout request of a backend. */
export interface Asking {
  readonly uid: number
  readonly cuy: number
  readonly osn: string
  readonly amount: bigint
  readonly fee: bigint
  readonly to: Address
  /** Whether an answer has said that the payout is stored. */
  isAccepted: boolean
  isAnswered: boolean
  /** How many more times a backend will ask for the payout if no answer comes. */
  calls: number
}

/**
 * Whether no backend will send a payout request any more: each request has an answer, or its
 * backend has given up.
 */
export const isAllAsked = ({ asked }: PayoutWorld): boolean =>
  [...asked.values()].every(({ isAnswered, calls }) => isAnswered || calls === 0)

/** A transaction that is on the disk of a signer. */
export interface Signed {
  readonly key: string
  readonly signer: number
  readonly transaction: string
  readonly expiration: number
}

/** Which block will contain the transaction: one soon, the last one that can, or none. */
type Fate = 'soon' | 'last' | 'never'

/**
 * A broadcast transaction that no block contains: what its bytes say, and what will become of it.
 */
interface Pending {
  readonly rawData: Uint8Array
  readonly txid: Txid
  readonly contract: Address | null
  readonly to: Address
  readonly raw: bigint
  readonly expiration: number
  /** The time from which on a block can contain the transaction, in milliseconds since 1970. */
  readonly from: number
  readonly fate: Fate
  /** `short`: the transaction succeeds but moves less than the payout's amount. */
  readonly result: 'paid' | 'failed' | 'short'
}

/**
 * An outflow from the payout address in a transaction that a block has, in chain units of its
 * currency.
 */
interface Left {
  readonly all: bigint
  readonly toPayee: bigint
  /** The fee that the token takes in the transaction, as a key of `feesConfirmed`. */
  readonly fee: string
}

/**
 * The state of payouts outside of the service: the requests of backends, the transactions of
 * signers, and the transactions that nodes know.
 */
export interface PayoutWorld {
  readonly random: Random
  /**
   * The random numbers for `further` in the scenario. They are a separate stream, so that drawing
   * one changes no other draw.
   */
  readonly further: Random
  /** The outflows from the payout address, by transaction. */
  readonly left: Map<Txid, Left>
  /** Transactions that nodes had, and that no block contained in time. */
  readonly expired: Set<Txid>
  /** For each payout key, whether every node refuses its transactions. */
  readonly refused: Map<string, boolean>
  /**
   * Keys of payouts whose transactions never come into a block. `drawn` has the keys of all payouts
   * for which this was drawn, either way.
   */
  readonly unmined: Set<string>
  readonly drawn: Set<string>
  /**
   * Fees that an operator has confirmed, by contract and highest amount as one text. The value is
   * the time of the confirmation.
   */
  readonly feesConfirmed: Map<string, number>
  /** The reasons for which money may not leave (`known-wrong.ts`). */
  known: KnownWrong
  /** The key of a stored payout by its id. */
  keyOfPayout: (id: number) => string | null
  /**
   * What the user's wallet has paid for a payout, less what was given back, by the ledger's
   * entries. Null if the ledger has no such payout.
   */
  debitOf: (key: string) => bigint | null
  readonly asked: Map<string, Asking>
  readonly signed: Map<Txid, Signed>
  /** The transactions that nodes have and no block contains. */
  readonly pool: Map<Txid, Pending>
  /** To be called with each payout that is signed for the first time. */
  onSigned: (payout: StoredPayout) => void
  /** The bytes that the database has of a transaction. */
  bytesOf: (txid: Txid) => string | undefined
  /** When the service decided to send a transaction first, by the database; 0 if it has not. */
  sentAt: (txid: Txid) => number
  /** The transactions that nodes have received. */
  readonly sendings: Map<Txid, Sending>
  /** Whether signers wait: see `endOtherwise`. */
  isPaused: boolean
  /** Whether blocks contain no transaction of payouts for now. */
  isHeld: boolean
  /** Whether troubles are over: nodes pass on every transaction, and it succeeds. */
  isCalm: boolean
  /**
   * How many times longer than intended a signer sleeps between two requests to the service, as on
   * a busy machine.
   */
  sleepFactor: number
  /**
   * When a copy of the database was restored that lacks transactions which were sent before; 0 if
   * that never happened.
   */
  lackingSince: number
  /** Whether payouts are over: no signer runs any more. */
  isOver: boolean
}

/** What nodes have answered to the broadcasts of a transaction. */
interface Sending {
  /** When the first node received it. */
  readonly at: number
  /** The nodes whose last answer was that they have it. */
  readonly takers: ReadonlySet<number>
  /** Until when there was last no such node: Infinity if there is none now. */
  readonly untakenUntil: number
}

/** What payouts need of a run's environment. */
export interface Around {
  readonly payouts: PayoutWorld | null
  readonly chain: Chain
  readonly scheduler: { now(): number }
  readonly scenario: Pick<Scenario, 'payouts' | 'further' | 'rates' | 'hardships' | 'nodes'>
  readonly hard: Random
  readonly restores: number
  /** The acts of issuers in the canonical chain. */
  readonly acts: ReadonlyMap<string, Act & { readonly height: number; readonly place: number }>
  finalized(): number
  count(event: string): void
  violate(promise: string): void
}

/** Makes the state of payouts for a run; null for a run without payouts. */
export function createPayoutWorld(isNeeded: boolean, random: Random, further: Random): PayoutWorld | null {
  if (!isNeeded) return null
  const nothingKnown: KnownWrong = { note: () => undefined, find: () => null, endedAt: () => 0 }
  const [asked, signed, pool] = [new Map<string, Asking>(), new Map<Txid, Signed>(), new Map<Txid, Pending>()]
  return {
    random,
    further,
    asked,
    signed,
    pool,
    left: new Map(),
    sendings: new Map(),
    refused: new Map(),
    expired: new Set(),
    unmined: new Set(),
    drawn: new Set(),
    feesConfirmed: new Map(),
    known: nothingKnown,
    keyOfPayout: () => null,
    debitOf: () => null,
    onSigned: () => undefined,
    bytesOf: () => undefined,
    sentAt: () => 0,
    isPaused: false,
    isHeld: false,
    isCalm: false,
    sleepFactor: 6,
    lackingSince: 0,
    isOver: false,
  }
}

/** Draws a payout request to a stranger. */
export function drawAsking({ random, asked }: PayoutWorld, uid: number, cuy: number, balance: bigint): Asking {
  const same = [...asked.values()].find((one) => one.uid === uid && one.cuy === cuy)
  const osn = `w${asked.size + 1}`
  // Often the same payout as an earlier one of the user, under another key.
  if (same !== undefined && random.chance(0.3)) return { ...same, osn, isAccepted: false, isAnswered: false, calls: 0 }
  const most = Math.min(Number(balance), 10 ** 12)
  const amount = BigInt(random.int(1, Math.max(3, Math.ceil(most * 0.4))))
  const fee = random.chance(0.3) ? BigInt(random.int(1, 5)) : 0n
  const to = addressOf(0x3000 + random.int(0, 2))
  return { uid, cuy, osn, amount, fee, to, isAccepted: false, isAnswered: false, calls: 0 }
}

/**
 * The members of a payout request as they are sent, without the amounts, which the caller formats.
 */
export const sentAsking = ({ uid, cuy, osn, to }: Asking) => ({ uid, cuy, osn, to: formatBase58(to) })

/** The amount of a payout request in chain units. */
export function rawOf({ cuy, amount }: Pick<Asking, 'cuy' | 'amount'>): bigint {
  const { decimals = 0, scale = 0 } = currencies.find((one) => one.cuy === cuy) ?? {}
  return amount * 10n ** BigInt(decimals - scale)
}

/** Parses the bytes of a signed transaction. */
export function readTransaction(transaction: string) {
  const rawData = bytesOf(readFields(hexToBytes(transaction), { 1: 'bytes' }), 1)
  const raw = readFields(rawData, { 1: 'bytes', 4: 'bytes', 8: 'number', 11: 'bytes' })
  const any = readFields(bytesOf(readFields(bytesOf(raw, 11), { 2: 'bytes' }), 2), { 2: 'bytes' })
  const call = readFields(bytesOf(any, 2), { 1: 'bytes', 2: 'bytes', 3: 'number', 4: 'bytes' })
  const data = bytesToHex(bytesOf(call, 4))
  const target = accountIn(call, 2) as Address // safe: a signer has encoded it
  const [contract, to, amount] =
    data === ''
      ? [null, target, numberOf(call, 3)]
      : [target, data.slice(32, 72) as Address, BigInt(`0x${data.slice(72)}`)]
  const reference = { low: Number(`0x${bytesToHex(bytesOf(raw, 1))}`), hash: bytesToHex(bytesOf(raw, 4)) }
  return { rawData, txid: txidOf(rawData), contract, to, raw: amount, reference, expiration: Number(numberOf(raw, 8)) }
}

/**
 * Takes the transactions of the next block out of `pool`, in random order. Those that had expired
 * at the time of the parent block are only removed.
 */
export function minePayouts(env: Around): readonly Payment[] {
  const { payouts: world, chain, scheduler } = env
  if (world === null || world.isHeld) return []
  const now = Math.floor(scheduler.now() / 1_000) * 1_000
  const parent = chain.tip().seconds * 1_000
  const mined: Payment[] = []
  for (const pending of [...world.pool.values()]) {
    const { txid, expiration, fate, from } = pending
    const isOver = expiration <= parent
    const isDue = fate === 'last' ? expiration <= now : fate === 'soon' && (world.isCalm || world.random.chance(0.7))
    if (isOver || (isDue && from <= now)) world.pool.delete(txid)
    if (isOver) world.expired.add(txid)
    if (isOver) env.count(`payout expired: ${fate}`)
    else if (isDue && from <= now) mined.splice(world.random.int(0, mined.length), 0, execute(env, world, pending))
  }
  return mined
}

function execute(env: Around, world: PayoutWorld, { rawData, txid, contract, to, raw, result }: Pending): Payment {
  env.count(`payout mined: ${result}`)
  const moves = result === 'failed' ? 0n : result === 'short' ? raw - 1n : raw
  if (result !== 'failed') checkPaid(env, world, txid, { contract, to, raw })
  const fee = contract === null ? 0n : feeOf(env, contract, moves)
  world.left.set(txid, {
    all: moves,
    toPayee: moves - fee,
    fee: `${contract} ${contract && feeActOf(env, contract)?.raw}`,
  })
  const parts = [
    { address: to, amount: moves - fee },
    { address: feeCollector, amount: fee },
  ].filter(({ amount }) => amount > 0n)
  if (fee > 0n) env.count('payout mined: with a fee')
  const logs =
    contract === null ? [] : parts.map((part) => transferLog(contract, payoutAddress, part.address, part.amount))
  const isFailed = result === 'failed'
  const whole = contract === null ? [] : [transferLog(contract, payoutAddress, to, raw)]
  return {
    spec: { kind: 'signed', rawData, failed: isFailed, logs },
    // A transfer of TRX does on each branch what it says.
    ...(contract !== null && {
      otherwise: { kind: 'signed', rawData, failed: !isFailed, logs: isFailed ? whole : [] } as const,
    }),
    transfers: [],
    changes: [
      { address: payoutAddress, contract, amount: -moves },
      ...parts.map(({ address, amount }) => ({ address, contract, amount })),
      { address: payoutAddress, contract: null, amount: contract === null ? 0n : -7_000_000n },
    ],
  }
}

/**
 * Payments of a branch by transactions that the canonical chain does not contain, or not yet: it
 * can contain them in another block, or never.
 */
export function mineOnBranch(
  { hard }: { readonly hard: Random },
  { pool }: PayoutWorld,
  branch: Chain,
): readonly (Payment & { readonly rawData: Uint8Array })[] {
  const parent = branch.tip().seconds * 1_000
  return [...pool.values()].flatMap(({ rawData, txid, contract, to, raw, expiration }) => {
    if (expiration <= parent || branch.blockOf(txid) !== undefined || !hard.chance(0.2)) return []
    const failed = contract !== null && hard.chance(0.5)
    const logs = contract === null || failed ? [] : [transferLog(contract, payoutAddress, to, raw)]
    return [{ spec: { kind: 'signed', rawData, failed, logs } as const, rawData, transfers: [], changes: [] }]
  })
}

/** The address that gets the fees of tokens. */
const feeCollector = addressOf(0x17)

/**
 * The fee that a transfer of this amount pays, by the acts of the token's issuer in earlier blocks.
 */
function feeOf(env: Around, contract: Address, amount: bigint): bigint {
  const { raw = 0n, basisPoints = 0n } = feeActOf(env, contract) ?? {}
  const share = (amount * (basisPoints ?? 0n)) / 10_000n
  return share > (raw ?? 0n) ? (raw ?? 0n) : share
}

/** The newest act that has set the fee of a token. */
function feeActOf({ acts }: Around, contract: Address): Act | undefined {
  const ofToken = [...acts.values()].filter((act) => act.kind === 'fee-set' && act.contract === contract)
  ofToken.sort((a, b) => a.height - b.height || a.place - b.place || a.position - b.position)
  return ofToken.at(-1)
}

/**
 * Checks a payment. At most one transaction of a payout may succeed, it must pay what was asked
 * for, and the user's wallet must have paid for it.
 */
function checkPaid(
  env: Around,
  world: PayoutWorld,
  txid: Txid,
  { contract, to, raw }: Pick<Pending, 'contract' | 'to' | 'raw'>,
): void {
  const { key = '' } = world.signed.get(txid) ?? {}
  const asking = world.asked.get(key)
  const other = [...world.signed].find(([one, signed]) => signed.key === key && one !== txid && hasSucceeded(env, one))
  if (other !== undefined) env.violate(`the payout ${key} is paid by ${txid} after ${other[0]}`)
  const token = currencies.find(({ cuy }) => cuy === asking?.cuy)?.contract
  const isAsked = asking !== undefined && token === contract && asking.to === to && rawOf(asking) === raw
  if (!isAsked) env.violate(`${txid} pays ${raw} to ${to}, which nobody has asked for as ${key}`)
  const debit = world.debitOf(key)
  const isTaken = debit === null ? env.restores > 0 : debit >= (asking?.amount ?? 0n)
  if (!isTaken) env.violate(`${txid} pays ${key}, and its wallet has paid ${debit}`)
}

/** Whether nodes or a block have a signed transaction that the database lacks. */
export function isLacking(env: Around, world: PayoutWorld): boolean {
  return [...world.signed.keys()].some((txid) => {
    const isSent = world.pool.has(txid) || env.chain.blockOf(txid) !== undefined
    return isSent && world.bytesOf(txid) === undefined
  })
}

/**
 * Whether the block of a transaction is final, and what the transaction did in it; null if no block
 * contains it.
 */
export function minedAs({ chain, finalized }: Around, txid: string) {
  const block = chain.blockOf(txid)
  const transaction = block?.transactions.find((one) => one.txid === txid)
  if (block === undefined || transaction === undefined) return null
  return { isFinal: block.height <= finalized(), succeeded: !transaction.failed, logs: transaction.logs }
}

const hasSucceeded = (env: Around, txid: string) => minedAs(env, txid)?.succeeded === true

/**
 * Whether a transaction can still come into a block: no block contains it, and every final block is
 * earlier than its expiration.
 */
export function canBeMined(env: Around, txid: string, expiration: number): boolean {
  if (minedAs(env, txid) !== null) return false
  return (env.chain.at(env.finalized())?.seconds ?? 0) * 1_000 < expiration
}
