import type { Address } from './address.ts'

/** What a currency is on the chain: TRX itself, or the token of a TRC-20 contract. */
export type Asset = { readonly kind: 'native' } | { readonly kind: 'trc20'; readonly contract: Address }

/** TRX itself. */
export const nativeAsset: Asset = { kind: 'native' }

/** The token of a TRC-20 contract. */
export const trc20Asset = (contract: Address): Asset => ({ kind: 'trc20', contract })
