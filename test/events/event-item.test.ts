import { describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { formatUnits } from '../../src/worker/common/amount.ts'
import type { CurrencyId, EventId, Uid } from '../../src/worker/common/ids.ts'
import { heldReasons, refusedReasons } from '../../src/worker/common/reasons.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { eventItem } from '../../src/worker/events/events.ts'
import type { StoredEvent } from '../../src/worker/events/store/events.ts'
import { currencies, twoCurrencies } from '../support/currencies.ts'

const address = 'a'.repeat(40) as Address
const txid = 'b'.repeat(64) as Txid
const cuy = (n: number) => n as CurrencyId
const noEntry = { entry_id: null, entry_type: null, wallet_id: null, osn: null, amount: null, balance: null }
const seen: StoredEvent = {
  id: 5 as EventId,
  type: 'deposit.seen',
  uid: 7 as Uid,
  created_at: 1000 as UnixMs,
  txid,
  position: 1,
  cuy: cuy(1),
  raw: '1500000',
  address,
  seconds: 57,
  reason: null,
  about: null,
  order_id: null,
  order: null,
  ...noEntry,
  mark: null,
  posted_by: null,
}
const itemOf = (changes: Partial<StoredEvent>, known = currencies) =>
  eventItem({ ...seen, ...changes }, known, formatUnits)
const shown = { txid, position: 1, cuy: 1, address: formatBase58(address) }

// What each type of event shows of its stored rows is tested in test/d1/events.test.ts.
describe('an event', () => {
  it('of a token shows its amount in whole units, by the decimals of the chain', () => {
    const { data } = itemOf({ cuy: cuy(2), raw: `${10n ** 18n + 1n}` }, twoCurrencies)
    expect(data).toMatchObject({ amt: '1.000000000000000001' })
  })

  it.each([
    ...heldReasons.map((reason) => ({ type: 'deposit.held', reason, why: /^[a-z].{20,}[^.]$/ }) as const),
    ...refusedReasons.map(
      (reason) => ({ type: 'deposit.refused', reason, why: /^1\.5 TRX (is|was) .{20,}[^.]$/ }) as const,
    ),
  ])('$type for the reason $reason has the word and a sentence', ({ type, reason, why }) => {
    expect(itemOf({ type, reason, seconds: null }).data).toEqual({ ...shown, reason, why: expect.stringMatching(why) })
  })

  it('is a fault where its currency is not configured: an amount without decimals is not shown', () => {
    expect(() => itemOf({ cuy: cuy(3) })).toThrow('currency 3')
  })

  it('is a fault where it lacks what its type has', () => {
    expect(() => itemOf({ seconds: null })).toThrow('lacks')
  })
})
