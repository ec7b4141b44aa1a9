import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { issuerActs } from '../d1/issuer-tables.ts'

/**
 * An act of a token's issuer that no later act has undone. For example, a pause is undone when the
 * issuer ends it.
 */
interface StandingAct {
  readonly cuy: CurrencyId
  readonly txid: Txid
  readonly height: BlockHeight
}

/** An address from which nobody can move tokens of this currency. */
export interface FrozenAddress extends StandingAct {
  readonly address: Address
}

/** A fee that the token's contract takes out of each transfer. */
export interface TokenFee extends StandingAct {
  /** The fee in hundredths of a percent of the amount. */
  readonly basisPoints: bigint
  /** The highest fee of one transfer, in chain units. */
  readonly maximum: bigint
  /**
   * Whether an operator has confirmed exactly this fee. Until then nothing of the token is paid
   * out.
   */
  readonly isConfirmed: boolean
}

/**
 * The acts of issuers that no later act has undone, in all final blocks that were read so far.
 * Tokens with a fee of zero are not in `fees`.
 */
export interface IssuerState {
  readonly frozen: readonly FrozenAddress[]
  readonly paused: readonly StandingAct[]
  readonly fees: readonly TokenFee[]
  /** Deprecated tokens. Their transfers appear in the logs of the successor contract. */
  readonly deprecated: readonly (StandingAct & { readonly successor: Address })[]
}

export const nothingStands: IssuerState = { frozen: [], paused: [], fees: [], deprecated: [] }

/** Why tokens of a currency cannot leave an address, or why less than the amount would arrive. */
export type Stop = 'frozen' | 'paused' | 'fee-unconfirmed' | 'deprecated'

export type ActRow = typeof issuerActs.$inferSelect
/** The columns of the view `standing_act` that are read here. */
export type StandingRow = Pick<
  ActRow,
  'cuy' | 'kind' | 'txid' | 'height' | 'address' | 'raw' | 'basis_points' | 'confirmed_at'
>

/**
 * Groups the rows of the view `standing_act` by kind, and turns amounts into bigints. Throws if a
 * row lacks the address that its kind must have.
 */
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

/** Lists why tokens of this currency cannot leave this address; empty if they can. */
export function stopsOf(state: IssuerState, cuy: CurrencyId, address: Address): readonly Stop[] {
  const isOf = (one: StandingAct) => one.cuy === cuy
  return [
    ...(state.frozen.some((one) => isOf(one) && one.address === address) ? (['frozen'] as const) : []),
    ...(state.paused.some(isOf) ? (['paused'] as const) : []),
    ...(state.fees.some((one) => isOf(one) && !one.isConfirmed) ? (['fee-unconfirmed'] as const) : []),
    ...(state.deprecated.some(isOf) ? (['deprecated'] as const) : []),
  ]
}

/**
 * Returns the address that an act names. Call it only for kinds that must have one, which a CHECK
 * guarantees.
 */
function named({ address, txid }: StandingRow): Address {
  if (address === null) throw new Error(`an act of ${txid} names no address`)
  return address
}
