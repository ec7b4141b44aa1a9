import fc from 'fast-check'
import type { Address } from '../../src/worker/chain/address.ts'
import { type BlockHeight, nativeAsset, type Txid, trc20Asset } from '../../src/worker/chain/block.ts'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import type { Currency } from '../../src/worker/ledger/currencies.ts'

const hex = (digits: number) =>
  fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''))

export const anyAddress = hex(40).map((text) => text as Address)
export const anyTxid = hex(64).map((text) => text as Txid)
/** Any height that the chain reaches in the next thousand years. */
export const anyHeight = fc.nat(10_000_000_000).map((height) => height as BlockHeight)
/** Any amount above zero in smallest units, up to 2^256 − 1. */
export const anyRaw = fc.oneof(
  fc.bigInt({ min: 1n, max: 10_000n }),
  fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
)
/** Any currency that a configuration can have. */
export const anyCurrency: fc.Arbitrary<Currency> = fc
  .record({
    cuy: fc.integer({ min: 1, max: 99 }),
    asset: fc.oneof(fc.constant(nativeAsset), anyAddress.map(trc20Asset)),
    decimals: fc.nat(30),
    scale: fc.nat(8),
    minDeposit: fc.oneof(fc.constant(0n), anyRaw),
  })
  .map(({ cuy, decimals, scale, ...rest }) => ({
    ...rest,
    cuy: cuy as CurrencyId,
    symbol: `C${cuy}`,
    name: `Currency ${cuy}`,
    reviewFrom: null,
    retired: false,
    decimals,
    scale: Math.min(scale, decimals),
  }))
/** Texts that lax parsers read as numbers, and that the service must refuse. */
export const nearNumbers = ['', ' ', '+1', '-1', '1e3', '1E3', '0x', '٣', '１', 'Infinity', 'NaN', '1_000', '1,5', '1 ']
