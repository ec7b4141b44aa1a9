import fc from 'fast-check'
import { utils } from 'tronweb'
import { expect, it } from 'vitest'
import { signPayout } from '../../../src/commands/payout/sign-payout.ts'
import { formatBase58, formatHex, parseAddress } from '../../../src/worker/chain/address.ts'
import { encodeSigned, signerOf, txidOf } from '../../../src/worker/chain/transaction.ts'
import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { CurrencyId } from '../../../src/worker/common/ids.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { parseTransaction } from '../../devnet/transaction.ts'
import { anyAddress } from '../../support/arbitraries.ts'
import { unwrap } from '../collect/harness.ts'
import { assets, payoutKey } from './harness.ts'
import { blockAt } from './scripted-service.ts'

const { txJsonToPb, txPbToRawDataHex } = utils.transaction as unknown as {
  readonly txJsonToPb: (transaction: object) => unknown
  readonly txPbToRawDataHex: (message: unknown) => string
}
const hexOf = (base58: string) => formatHex(unwrap(parseAddress(base58)))
const word = (digits: string) => digits.padStart(64, '0')

const anyTerms = fc.record({
  cuy: fc.constantFrom(1, 2),
  to: anyAddress,
  units: fc.bigInt(1n, 2n ** 53n - 1n),
  at: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  minutes: fc.integer({ min: 10, max: 60 }),
  osn: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }),
})

it('signs the bytes that tronweb encodes for the same transfer, whatever it pays', () => {
  fc.assert(
    fc.property(anyTerms, ({ cuy, to: account, units, at, minutes, osn }) => {
      const currency = assets.currencies.byId.get(cuy as CurrencyId)
      if (currency === undefined) throw new Error('it is configured')
      const head = blockAt(at - 57_000)
      const [to, amt] = [formatBase58(account), formatUnits(units, currency.scale)]
      const payout = { id: 1, uid: 7, cuy, osn, amt, to, attempts: 0, created_at: head.created_at, state: 'approved' }
      const terms = { currency, units, feeLimit: 50_000_000n, head, minutes, at }
      const entry = signPayout(payout, terms, payoutKey)

      const chainUnits = cuy === 1 ? units : units * 100n // the token has two decimals more than the ledger
      const owner_address = formatHex(payoutKey.address)
      const data = `a9059cbb${word(account)}${word(chainUnits.toString(16))}`
      const [type, value, limit] =
        cuy === 1
          ? ['TransferContract', { owner_address, to_address: formatHex(account), amount: Number(units) }, {}]
          : [
              'TriggerSmartContract',
              { owner_address, contract_address: hexOf(tokenBase58), data },
              { fee_limit: 50_000_000 },
            ]
      const raw_data = {
        contract: [{ type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }],
        ref_block_bytes: (head.height & 0xffff).toString(16).padStart(4, '0'),
        ref_block_hash: head.hash.slice(16, 32),
        expiration: entry.expiration,
        timestamp: at,
        ...limit,
      }
      const { raw, signatures } = parseTransaction(Buffer.from(entry.transaction, 'hex'))
      expect(raw.rawHex).toBe(txPbToRawDataHex(txJsonToPb({ raw_data })).toLowerCase())
      const [rawData, signature = new Uint8Array()] = [Buffer.from(raw.rawHex, 'hex'), signatures[0]]
      expect(signatures).toHaveLength(1)
      expect(entry.txid).toBe(txidOf(rawData))
      expect(signerOf(rawData, signature)).toBe(payoutKey.address)
      expect(entry.transaction).toBe(encodeSigned(rawData, signature))
      // The transaction expires in the minute that ends `minutes` minutes after the final block.
      const latest = Date.parse(head.created_at) + minutes * 60_000
      expect(entry.expiration).toBeGreaterThan(latest - 60_000)
      expect(entry.expiration).toBeLessThanOrEqual(latest)
    }),
    { numRuns: 200 },
  )
})

it('keeps the payout as it was shown', () => {
  const currency = assets.currencies.list[0]
  if (currency === undefined) throw new Error('there are two')
  const head = blockAt(1_790_000_000_000)
  const shown = { uid: 7, cuy: 1, osn: 'a', amt: '1', to: tokenBase58, attempts: 2, created_at: head.created_at }
  const payout = { ...shown, id: 9, state: 'approved', proof: 'x' }
  const terms = { currency, units: 1_000_000n, feeLimit: 1n, head, minutes: 15, at: 1_790_000_000_001 }
  const { txid: _, transaction: _bytes, expiration: _end, ...kept } = signPayout(payout, terms, payoutKey)
  expect(kept).toEqual({ ...shown, id: 9, at: 1_790_000_000_001, head })
})
