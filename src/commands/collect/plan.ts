import * as z from 'zod/mini'
import { indexMax } from '../../worker/addresses/derive.ts'
import { parseAddress } from '../../worker/chain/address.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { symbolPattern } from '../../worker/ledger/currencies.ts'
import { accountMax } from '../signing/account-key.ts'

/**
 * Nodes refuse a transaction that expires more than 24 hours after their newest block (PROTOCOL.md,
 * Collecting).
 */
export const planHoursMax = 24

/** How the addresses get gas: energy from the operator's stake, or TRX to burn. */
export type GasMode = 'delegate' | 'transfer'

/** The most decimals that a currency in CURRENCIES can have. */
const decimalsMax = 36

/** A Tron address as a person reads it: Base58Check, 34 characters. */
const address = z.string().check(z.refine((text) => parseAddress(text).ok))
/**
 * An integer of smallest units or sun, as text of decimal digits, because JSON numbers could lose
 * digits.
 */
const digitsUpTo = (max: bigint) =>
  z.string().check(z.refine((text) => /^(0|[1-9]\d{0,77})$/.test(text) && BigInt(text) <= max))
const units = digitsUpTo(2n ** 256n - 1n)
const sun = digitsUpTo(BigInt(Number.MAX_SAFE_INTEGER)) // more sun than exist
const integer = z.int().check(z.gte(0))
const index = integer.check(z.lte(indexMax))
/** Milliseconds since 1970, until the year 9999. */
const time = integer.check(z.lte(253_402_300_799_999))
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/))
/**
 * A plan file may have been changed on its way between machines. Printable text cannot move the
 * cursor of a terminal and overwrite the screen.
 */
const printable = z.string().check(z.regex(/^[\x20-\x7e]{0,400}$/))
const symbol = z.string().check(z.regex(symbolPattern))

/** The members of every step. */
const common = {
  /**
   * The number of the step in the plan, from 1. The timestamp of its transaction is that of the
   * plan plus this many milliseconds.
   */
  id: integer,
  /** The address that is collected; its index is the last step of the derivation path. */
  address,
  index,
  /** The steps that must be in a block before this one is sent. */
  after: z.array(integer),
  /** The bytes for which bandwidth is charged. */
  bytes: integer,
  /** The most sun that the transaction burns. */
  fee: sun,
  txid: hash,
}

const stepSchema = z.discriminatedUnion('kind', [
  /**
   * The gas address creates the account. An address that has only received tokens has no account.
   */
  z.strictObject({ kind: z.literal('activate'), ...common }),
  /** The gas address sends TRX, which the collected address burns for its transfers. */
  z.strictObject({ kind: z.literal('gas'), sun, ...common }),
  /**
   * The gas address delegates energy to the collected address. `sun` is the stake, which
   * `undelegate` takes back.
   */
  z.strictObject({ kind: z.literal('delegate'), sun, ...common }),
  z.strictObject({ kind: z.literal('undelegate'), sun, ...common }),
  /**
   * The address sends its balance of one currency to the destination. `energy` includes the
   * headroom; it is 0 for TRX.
   */
  z.strictObject({ kind: z.literal('transfer'), symbol, units, energy: integer, feeLimit: sun, ...common }),
])

const currencySchema = z.strictObject({
  symbol,
  /** Null for TRX. */
  contract: z.nullable(address),
  decimals: integer.check(z.lte(decimalsMax)),
})

const planFormat = 'tron-wallet-service/collect-plan'
const signedFormat = 'tron-wallet-service/collect-signed'

const planSchema = z.strictObject({
  format: z.literal(planFormat),
  version: z.literal(1),
  chainId: z.string().check(z.regex(/^0x[0-9a-f]{1,16}$/)),
  /** Times as text, for people. The transactions follow `timestamp` and `expiration`. */
  createdAt: printable,
  expiresAt: printable,
  /** Account number of the derivation paths `m/44'/195'/account'/0/index`. */
  account: integer.check(z.lte(accountMax)),
  to: address,
  gas: z.strictObject({ mode: z.enum(['delegate', 'transfer']), address }),
  /** A final block. On a chain that lacks this block every transaction of the plan is invalid. */
  reference: z.strictObject({ height: integer, hash }),
  /** Milliseconds. The timestamp of step `id` is `timestamp + id`. */
  timestamp: time,
  /** Milliseconds. After this time every transaction of the plan is invalid. */
  expiration: time,
  currencies: z.array(currencySchema),
  steps: z.array(stepSchema),
  leftOut: z.array(z.strictObject({ index, address, symbol, units, why: printable })),
})

const signedSchema = z.strictObject({
  format: z.literal(signedFormat),
  version: z.literal(1),
  plan: planSchema,
  /** One signature for each step, in the order of the steps: 65 bytes as hex digits. */
  signatures: z.array(z.string().check(z.regex(/^[0-9a-f]{130}$/))),
})

/** A plan: the transactions to send, in order, and the balances that stay. It contains no key. */
export type CollectPlan = z.infer<typeof planSchema>
/** One transaction of a plan. */
export type CollectStep = CollectPlan['steps'][number]
export type PlanCurrency = CollectPlan['currencies'][number]
/** A balance that is not collected, with the reason. */
export type LeftOut = CollectPlan['leftOut'][number]
/**
 * A plan with the signatures of all its transactions. Its holder can send them, but cannot change
 * any.
 */
export type SignedPlan = z.infer<typeof signedSchema>

export const planHeader = { format: planFormat, version: 1 } as const
export const signedHeader = { format: signedFormat, version: 1 } as const

/**
 * Parses the text of a plan. It checks the form only; `findPlanFault` checks the content. The error
 * is one sentence.
 */
export function parsePlan(text: string): Result<CollectPlan, string> {
  return parseFile(planSchema, text, 'a plan of "collect -- plan", version 1')
}

/**
 * Parses the text of a signed plan. It checks the form only; `findSignatureFault` checks the
 * signatures. The error is one sentence.
 */
export function parseSignedPlan(text: string): Result<SignedPlan, string> {
  return parseFile(signedSchema, text, 'a signed plan of "collect -- sign", version 1')
}

function parseFile<T>(schema: z.ZodMiniType<T>, text: string, what: string): Result<T, string> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return err(`the file is not ${what}: it is not JSON`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  return err(`the file is not ${what}: ${parsed.error.issues[0]?.path.join('.') || 'its members'} differ`)
}
