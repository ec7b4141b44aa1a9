import { sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { CurrencyId } from '../common/ids.ts'
import { type ReadDatabase, toStatement, toText } from '../d1/database.ts'
import { issuerActs } from '../d1/issuer-tables.ts'

/** An act of an issuer that nothing has undone. */
interface StandingAct {
  readonly cuy: CurrencyId
  readonly txid: Txid
  readonly height: BlockHeight
}

/** An address whose tokens do not move. */
export interface FrozenAddress extends StandingAct {
  readonly address: Address
}

/** A fee that a transfer of the token pays, unless it is of nothing. */
export interface TokenFee extends StandingAct {
  /** Hundredths of a percent. */
  readonly basisPoints: bigint
  /** Chain units. */
  readonly maximum: bigint
  /** Whether an operator has confirmed exactly this fee. */
  readonly isConfirmed: boolean
}

/** What holds by all final blocks that were read, in whatever order. */
export interface IssuerState {
  readonly frozen: readonly FrozenAddress[]
  readonly paused: readonly StandingAct[]
  readonly fees: readonly TokenFee[]
  /** Each with its successor, whose logs are those of its transfers. */
  readonly deprecated: readonly (StandingAct & { readonly successor: Address })[]
}

/** Nothing that an issuer did stands. */
export const nothingStands: IssuerState = { frozen: [], paused: [], fees: [], deprecated: [] }

/** Why tokens cannot leave an address as they should, for a person and for programs. */
export type Stop = 'frozen' | 'paused' | 'fee-unconfirmed' | 'deprecated'

type Row = typeof issuerActs.$inferSelect
/** What is read of an act that stands. */
export type StandingRow = Pick<
  Row,
  'cuy' | 'kind' | 'txid' | 'height' | 'address' | 'raw' | 'basis_points' | 'confirmed_at'
>

/** What holds now, in one statement: it reads what issuers ever did that concerns this service. */
export async function selectIssuerState(db: ReadDatabase): Promise<IssuerState> {
  const { results } = await toStatement(db, selectStanding).all<Row>()
  return readIssuerState(results)
}

/** The state by the rows of `standingSql`. */
export function readIssuerState(results: readonly StandingRow[]): IssuerState {
  const rows = (kind: Row['kind']) => results.filter((row) => row.kind === kind)
  const standing = ({ cuy, txid, height }: StandingRow) => ({ cuy, txid, height })
  return {
    frozen: rows('frozen').map((row) => ({ ...standing(row), address: named(row) })),
    paused: rows('paused').map(standing),
    fees: rows('fee-set').flatMap((row) => {
      const [basisPoints, maximum] = [BigInt(row.basis_points ?? 0), BigInt(row.raw ?? 0)]
      const isNone = basisPoints === 0n && maximum === 0n
      return isNone ? [] : [{ ...standing(row), basisPoints, maximum, isConfirmed: row.confirmed_at !== null }]
    }),
    deprecated: rows('deprecated').map((row) => ({ ...standing(row), successor: named(row) })),
  }
}

/** What stops tokens of this currency from leaving this address; empty where nothing does. */
export function stopsOf(state: IssuerState, cuy: CurrencyId, address: Address): readonly Stop[] {
  const isOf = (one: StandingAct) => one.cuy === cuy
  return [
    ...(state.frozen.some((one) => isOf(one) && one.address === address) ? (['frozen'] as const) : []),
    ...(state.paused.some(isOf) ? (['paused'] as const) : []),
    ...(state.fees.some((one) => isOf(one) && !one.isConfirmed) ? (['fee-unconfirmed'] as const) : []),
    ...(state.deprecated.some(isOf) ? (['deprecated'] as const) : []),
  ]
}

/** The currencies whose tokens do not leave this address as they should, each with the first reason. */
export function stoppedIn(state: IssuerState, address: Address): ReadonlyMap<CurrencyId, Stop> {
  const acts = Object.values(state).flat() as readonly StandingAct[]
  const currencies = new Set(acts.map(({ cuy }) => cuy)) // few, however many addresses are frozen
  return new Map(
    [...currencies].flatMap((cuy) => {
      const [first] = stopsOf(state, cuy, address)
      return first === undefined ? [] : [[cuy, first]]
    }),
  )
}

/** The currencies in which an address is frozen, in order. */
export async function selectFrozenIn(db: ReadDatabase, address: Address): Promise<readonly CurrencyId[]> {
  const { results } = await toStatement(db, selectFrozen(address)).all<Pick<Row, 'cuy'>>()
  return results.map(({ cuy }) => cuy)
}

/** The CHECKs guarantee that a row of such a kind names one. */
function named({ address, txid }: StandingRow): Address {
  if (address === null) throw new Error(`an act of ${txid} names no address`)
  return address
}

const { cuy, kind, address, height, place, position } = issuerActs

/** Acts that replace each other: about one address, or the same switch of a token. What is destroyed stays destroyed. */
const switchOf = sql`iif(${kind} IN ('frozen', 'released'), ${address},
  iif(${kind} IN ('paused', 'unpaused'), 'pause', ${kind}))`
const newestFirst = sql`${height} DESC, ${place} DESC, ${position} DESC`

/** The acts that nothing has undone, as what follows FROM. */
export const standingActs = sql`(
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY ${cuy}, ${switchOf} ORDER BY ${newestFirst}) AS newness
    FROM ${issuerActs} WHERE ${kind} <> 'destroyed')
  WHERE newness = 1 AND kind IN ('frozen', 'paused', 'fee-set', 'deprecated'))`

const selectStanding = sql`SELECT * FROM ${standingActs} ORDER BY cuy, address`
/** The same statement as one line of text, for the tools. */
export const standingSql = toText(selectStanding).replace(/\s+/g, ' ')

const selectFrozen = (wanted: Address) => sql`
SELECT cuy FROM (
  SELECT ${cuy}, ${kind}, row_number() OVER (PARTITION BY ${cuy} ORDER BY ${newestFirst}) AS newness
  FROM ${issuerActs} INDEXED BY issuer_act_address
  WHERE ${kind} IN ('frozen', 'released') AND ${address} = ${wanted})
WHERE newness = 1 AND kind = 'frozen' ORDER BY cuy`
