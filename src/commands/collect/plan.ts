import * as z from 'zod/mini'
import { indexMax } from '../../worker/addresses/derive.ts'
import { parseAddress } from '../../worker/chain/address.ts'
import { formatUnits } from '../../worker/common/amount.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { symbolPattern } from '../../worker/ledger/currencies.ts'
import { accountMax } from '../signing/account-key.ts'

/** A node takes no transaction that expires later than 24 hours after its newest block (PROTOCOL.md, Collecting). */
export const planHoursMax = 24

/** A TRX is a million sun. */
export const trxDecimals = 6
/** Milliseconds of an hour. */
export const hourMs = 3_600_000

/** Sun as TRX. */
export const formatTrx = (sun: bigint | string) => formatUnits(BigInt(sun), trxDecimals)

/** How the gas comes to the addresses: energy of the operator's stake, or TRX to burn. */
export type GasMode = 'delegate' | 'transfer'

/** As many as a currency of CURRENCIES can have. */
const decimalsMax = 36

/** A Tron address as a person reads it: Base58Check, 34 characters. */
const address = z.string().check(z.refine((text) => parseAddress(text).ok))
/** Smallest units or sun, in decimal digits: JSON numbers could lose some. */
const digitsUpTo = (max: bigint) =>
  z.string().check(z.refine((text) => /^(0|[1-9]\d{0,77})$/.test(text) && BigInt(text) <= max))
const units = digitsUpTo(2n ** 256n - 1n)
const sun = digitsUpTo(BigInt(Number.MAX_SAFE_INTEGER)) // more than there are
const integer = z.int().check(z.gte(0))
const index = integer.check(z.lte(indexMax))
/** Milliseconds since 1970, until the year 9999. */
const time = integer.check(z.lte(253_402_300_799_999))
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/))
/** A file can be changed on its way: nothing in it can move a terminal's cursor and write over what is shown. */
const printable = z.string().check(z.regex(/^[\x20-\x7e]{0,400}$/))
const symbol = z.string().check(z.regex(symbolPattern))

/** What all steps have. */
const common = {
  /** Its place in the plan, from 1. Its transaction's timestamp is the plan's plus this many milliseconds. */
  id: integer,
  /** The address that is collected, and the last step of its derivation path. */
  address,
  index,
  /** Steps that must be in a block before this one is sent. */
  after: z.array(integer),
  /** Bytes that its bandwidth is charged for. */
  bytes: integer,
  /** The most TRX that it burns, in sun. */
  fee: sun,
  txid: hash,
}

const stepSchema = z.discriminatedUnion('kind', [
  /** The gas address creates the account: one that only received tokens does not exist. */
  z.strictObject({ kind: z.literal('activate'), ...common }),
  /** The gas address sends TRX to burn. */
  z.strictObject({ kind: z.literal('gas'), sun, ...common }),
  /** The gas address delegates energy: the sun of its stake. */
  z.strictObject({ kind: z.literal('delegate'), sun, ...common }),
  z.strictObject({ kind: z.literal('undelegate'), sun, ...common }),
  /** The address sends what it holds of one currency to the destination. `energy` has the headroom; 0 for TRX. */
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
  /** For people. */
  createdAt: printable,
  expiresAt: printable,
  /** Account number of the derivation paths `m/44'/195'/account'/0/index`. */
  account: integer.check(z.lte(accountMax)),
  to: address,
  gas: z.strictObject({ mode: z.enum(['delegate', 'transfer']), address }),
  /** A final block. On a chain without it no transaction of the plan is valid. */
  reference: z.strictObject({ height: integer, hash }),
  /** Milliseconds: that of step `id` is `timestamp + id`. */
  timestamp: time,
  /** Milliseconds. No transaction of the plan is valid after it. */
  expiration: time,
  currencies: z.array(currencySchema),
  steps: z.array(stepSchema),
  leftOut: z.array(z.strictObject({ index, address, symbol, units, why: printable })),
})

const signedSchema = z.strictObject({
  format: z.literal(signedFormat),
  version: z.literal(1),
  plan: planSchema,
  /** One for each step, in their order: 65 bytes, hex digits. */
  signatures: z.array(z.string().check(z.regex(/^[0-9a-f]{130}$/))),
})

/** What will be sent, in order, and what will not. It has no key. */
export type CollectPlan = z.infer<typeof planSchema>
/** One transaction of a plan. */
export type CollectStep = CollectPlan['steps'][number]
/** A currency of a plan. */
export type PlanCurrency = CollectPlan['currencies'][number]
/** A balance that stays where it is, with the reason. */
export type LeftOut = CollectPlan['leftOut'][number]
/** A plan with the signatures of all its transactions: whoever has it can send them, and can change none. */
export type SignedPlan = z.infer<typeof signedSchema>

/** The beginning of every plan. */
export const planHeader = { format: planFormat, version: 1 } as const
/** The beginning of every signed plan. */
export const signedHeader = { format: signedFormat, version: 1 } as const

/** Parses the text of a plan. The error is one sentence. */
export function parsePlan(text: string): Result<CollectPlan, string> {
  return parseFile(planSchema, text, 'a plan of "collect -- plan", version 1')
}

/** Parses the text of a signed plan. The error is one sentence. */
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
