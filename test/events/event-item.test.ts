import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/chain/address.ts'
import { formatBase58 } from '../../src/chain/address.ts'
import type { Txid } from '../../src/chain/block.ts'
import type { Amount } from '../../src/common/amount.ts'
import { formatUnits } from '../../src/common/amount.ts'
import type { BackendName, CurrencyId, EntryId, EventId, Uid, WalletId } from '../../src/common/ids.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { heldReasons, refusedReasons } from '../../src/d1/tables.ts'
import type { EventFact } from '../../src/events/event.ts'
import { eventItem } from '../../src/events/event-item.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import { currencies, trx, twoCurrencies } from '../support/currencies.ts'

const address = 'a'.repeat(40) as Address
const txid = 'b'.repeat(64) as Txid
const place = { txid, position: 1 }
const transfer = { ...place, cuy: 1 as CurrencyId, raw: 1_500_000n, address }
const shown = { ...place, cuy: 1, address: formatBase58(address) }
const entry: Entry = {
  ...{ id: 9 as EntryId, uid: 7 as Uid, wid: 3 as WalletId, osn: txid, type: 1, cuy: 1 as CurrencyId, mark: 'deposit' },
  ...{
    amount: 1_500_000n as Amount,
    balance: 2_500_000n as Amount,
    createdAt: 1000 as UnixMs,
    by: '' as BackendName | '',
  },
}
const entryShown = {
  ...{ id: 9, uid: 7, wid: 3, osn: txid, type: 1, cuy: 1, amt: '1.5', balance: '2.5', mark: 'deposit' },
  ...{ created_at: '1970-01-01T00:00:01.000Z', by: '' },
}
const itemOf = (fact: EventFact, known = currencies) =>
  eventItem({ id: 5 as EventId, uid: 7 as Uid, createdAt: 1000 as UnixMs, fact }, known, formatUnits)

describe('an event', () => {
  it.each<[fact: EventFact, data: object]>([
    [
      { type: 'deposit.seen', ...transfer, seconds: 57 },
      { ...shown, amt: '1.5', seconds: 57 },
    ],
    [{ type: 'deposit.dropped', ...place }, place],
    [
      { type: 'deposit.credited', ...place, address, entry },
      { ...place, address: formatBase58(address), entry: entryShown },
    ],
    [{ type: 'entry.posted', entry }, { entry: entryShown }],
  ])('%o is shown with its data', (fact, data) => {
    expect(itemOf(fact)).toEqual({ id: 5, type: fact.type, uid: 7, created_at: '1970-01-01T00:00:01.000Z', data })
  })

  it('of a token shows its amount in whole units, by the decimals of the chain', () => {
    const fact = { type: 'deposit.seen', ...transfer, cuy: 2 as CurrencyId, raw: 10n ** 18n + 1n, seconds: 1 } as const
    expect(itemOf(fact, twoCurrencies).data).toMatchObject({ amt: '1.000000000000000001' })
  })

  it.each(heldReasons)('held for the reason %s has the word and the sentence', (reason) => {
    const { data } = itemOf({ type: 'deposit.held', ...transfer, reason })
    expect(data).toEqual({ ...shown, reason, why: expect.stringMatching(/^[a-z].{20,}[^.]$/) })
  })

  it.each(refusedReasons)('refused for the reason %s has the word and the sentence with the amount', (reason) => {
    const { data } = itemOf({ type: 'deposit.refused', ...transfer, reason })
    expect(data).toEqual({ ...shown, reason, why: expect.stringMatching(/^1\.5 TRX is .{20,}[^.]$/) })
  })

  it('is a fault where its currency is not configured: an amount without decimals is not shown', () => {
    const fact = { type: 'deposit.seen', ...transfer, cuy: 3 as CurrencyId, seconds: 1 } as const
    expect(() => itemOf(fact)).toThrow('currency 3')
    expect(trx.cuy).toBe(1)
  })
})
