import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { issuerActs } from '../d1/issuer-tables.ts'

/** An act of an issuer that no later act has undone. */
interface StandingAct {
  readonly cuy: CurrencyId
  readonly txid: Txid
  readonly height: BlockHeight
}

/** An address whose tokens cannot be moved. */
export interface FrozenAddress extends StandingAct {
  readonly address: Address
}

/** A fee that transfers of the token pay. A fee of zero is left out. */
export interface TokenFee extends StandingAct {
  /** Hundredths of a percent. */
  readonly basisPoints: bigint
  /** Chain units. */
  readonly maximum: bigint
  /** Whether an operator has confirmed exactly this fee. */
  readonly isConfirmed: boolean
}

/** The standing acts, judged by all final blocks read so far, in whatever order they were read. */
export interface IssuerState {
  readonly frozen: readonly FrozenAddress[]
  readonly paused: readonly StandingAct[]
  readonly fees: readonly TokenFee[]
  /** Deprecated tokens. Their transfers appear in the logs of the successor contract. */
  readonly deprecated: readonly (StandingAct & { readonly successor: Address })[]
}

/** No standing act. */
export const nothingStands: IssuerState = { frozen: [], paused: [], fees: [], deprecated: [] }

/** Why tokens cannot leave an address as they should: a code for programs. */
export type Stop = 'frozen' | 'paused' | 'fee-unconfirmed' | 'deprecated'

/** A row of `issuer_act`. */
export type ActRow = typeof issuerActs.$inferSelect
/** The columns of a standing act. */
export type StandingRow = Pick<
  ActRow,
  'cuy' | 'kind' | 'txid' | 'height' | 'address' | 'raw' | 'basis_points' | 'confirmed_at'
>

/** Makes the state from rows of `standing_act`. */
export function readIssuerState(results: readonly StandingRow[]): IssuerState {
  const rows = (kind: ActRow['kind']) => results.filter((row) => row.kind === kind)
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

/** The stops for tokens of this currency at this address; empty if there are none. */
export function stopsOf(state: IssuerState, cuy: CurrencyId, address: Address): readonly Stop[] {
  const isOf = (one: StandingAct) => one.cuy === cuy
  return [
    ...(state.frozen.some((one) => isOf(one) && one.address === address) ? (['frozen'] as const) : []),
    ...(state.paused.some(isOf) ? (['paused'] as const) : []),
    ...(state.fees.some((one) => isOf(one) && !one.isConfirmed) ? (['fee-unconfirmed'] as const) : []),
    ...(state.deprecated.some(isOf) ? (['deprecated'] as const) : []),
  ]
}

/** A CHECK guarantees that a row of this kind has an address. */
function named({ address, txid }: StandingRow): Address {
  if (address === null) throw new Error(`an act of ${txid} names no address`)
  return address
}
