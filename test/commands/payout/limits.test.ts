import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/commands/payout/journal.ts'
import { findExcess, parseLimits, parseOwnNodes } from '../../../src/commands/payout/limits.ts'
import type { CurrencyId } from '../../../src/worker/common/ids.ts'
import { assets } from './harness.ts'
import { blockAt, recipient } from './scripted-service.ts'

const { currencies } = assets

describe('the file of limits', () => {
  it('has amounts of whole units for each currency', () => {
    const limits = parseLimits('[{"cuy":1,"each":"1.5","perDay":"20"},{"cuy":2,"each":"0","perDay":"0"}]', currencies)
    const others = { perUserPerDay: null, least: 0n, countPerDay: 500 }
    expect([...limits]).toEqual([
      [1, { each: 1_500_000n, perDay: 20_000_000n, ...others }],
      [2, { each: 0n, perDay: 0n, ...others }],
    ])
  })

  it('can have what the limits of the service have besides, and the nodes of the signer', () => {
    const entry = { cuy: 2, each: '5', perDay: '20', perUserPerDay: '10', least: '0.5', countPerDay: 30 }
    const nodes = [{ rpc: 'https://node.example/jsonrpc', api: 'https://node.example' }]
    const text = JSON.stringify({ limits: [entry], nodes, quorum: 1 })
    expect([...parseLimits(text, currencies).values()]).toEqual([
      { each: 5_000_000n, perDay: 20_000_000n, perUserPerDay: 10_000_000n, least: 500_000n, countPerDay: 30 },
    ])
    expect(parseOwnNodes(text)).toEqual({ nodes, quorum: 1 })
    expect(parseOwnNodes(JSON.stringify({ limits: [entry] }))).toBeNull()
    expect(parseOwnNodes(JSON.stringify([entry]))).toBeNull()
  })

  it.each([
    ['no JSON', 'each: 1', 'it has another form'],
    ['an amount as a number', '[{"cuy":1,"each":1,"perDay":"1"}]', 'it has another form'],
    ['a missing amount', '[{"cuy":1,"each":"1"}]', 'it has another form'],
    ['a misspelled member beside the limits', '{"limits":[],"node":[]}', 'it has another form'],
    ['a number of payouts as text', '[{"cuy":1,"each":"1","perDay":"1","countPerDay":"5"}]', 'it has another form'],
    ['a number of payouts below 0', '[{"cuy":1,"each":"1","perDay":"1","countPerDay":-1}]', 'it has another form'],
    ['a smallest amount that is none', '[{"cuy":1,"each":"1","perDay":"1","least":"x"}]', 'is not a decimal'],
    ['a misspelled member', '[{"cuy":1,"each":"1","perDay":"1","perday":"1"}]', 'it has another form'],
    [
      'a currency that is not configured',
      '[{"cuy":9,"each":"1","perDay":"1"}]',
      '9 is not in CURRENCIES, or is there twice',
    ],
    ['a currency twice', '[{"cuy":1,"each":"1","perDay":"1"},{"cuy":1,"each":"1","perDay":"1"}]', 'is there twice'],
    ['more digits than the ledger has', '[{"cuy":1,"each":"0.0000001","perDay":"1"}]', 'at most 6 places (TRX)'],
    ['a negative amount', '[{"cuy":1,"each":"-1","perDay":"1"}]', 'is not a decimal'],
    ['an exponent', '[{"cuy":1,"each":"1e3","perDay":"1"}]', 'is not a decimal'],
  ])('is refused with %s', (_, text, why) => {
    expect(() => parseLimits(text, currencies)).toThrow(why)
  })
})

describe('what a signer leaves for a person', () => {
  const now = 1_790_000_000_000
  const usdt = currencies.byId.get(2 as CurrencyId)
  if (usdt === undefined) throw new Error('it is configured')
  let signed = 0
  const entryOf = (changes: Partial<JournalEntry> = {}): JournalEntry => {
    signed += 1
    const shown = { id: signed, uid: 7, cuy: 2, osn: `o${signed}`, amt: '1', to: recipient, attempts: 0 }
    const bytes = { txid: 'ab'.repeat(32), expiration: now, head: blockAt(now), transaction: '0a01' }
    return { at: now - 1_000 + signed, created_at: new Date(now).toISOString(), ...shown, ...bytes, ...changes }
  }
  const limit = { each: 100_000_000n, perDay: 1_000_000_000n, perUserPerDay: null, least: 0n, countPerDay: 500 }
  const excess = (units: bigint, changes: Partial<typeof limit> & object, entries: readonly JournalEntry[] = []) =>
    findExcess({ units, uid: 7 }, usdt, { ...limit, ...changes }, { entries }, now)

  it('is less than the smallest amount that it signs', () => {
    expect(excess(499_999n, { least: 500_000n })).toBe('less than this signer signs of one payout, 0.5 USDT')
    expect(excess(500_000n, { least: 500_000n })).toBeNull()
  })

  it('is a payout more than it signs in a day, whatever their amounts', () => {
    const entries = Array.from({ length: 3 }, () => entryOf({ amt: '0.000001' }))
    expect(excess(1n, { countPerDay: 3 }, entries)).toBe('more payouts than this signer signs in 24 hours: 3 in USDT')
    expect(excess(1n, { countPerDay: 4 }, entries)).toBeNull()
    expect(excess(1n, { countPerDay: 0 })).toContain('0 in USDT')
    const [first] = entries
    const again = first === undefined ? [] : [...entries, { ...first, at: now - 5, attempts: 1 }]
    expect(excess(1n, { countPerDay: 4 }, again)).toBeNull() // the payout that was signed twice counts once
    const trx = entries.map((one) => ({ ...one, cuy: 1 }))
    expect(excess(1n, { countPerDay: 3 }, trx)).toBeNull()
    expect(excess(1n, { countPerDay: 3 }, [entryOf({ at: now - 86_400_001 }), ...entries.slice(1)])).toBeNull()
  })

  it('is more than it signs for one user in a day', () => {
    const entries = [entryOf({ amt: '6' }), entryOf({ amt: '50', uid: 8 })]
    // safe: the type comes from the default limits, in which this limit is null
    const perUserPerDay = 10_000_000n as never
    expect(excess(4_000_001n, { perUserPerDay }, entries)).toBe(
      'more than this signer signs for one user in 24 hours: 6 USDT of 10 USDT',
    )
    expect(excess(4_000_000n, { perUserPerDay }, entries)).toBeNull()
  })

  it('is all of a currency of which the journal has an amount that this configuration cannot read', () => {
    const entries = [entryOf({ amt: '0.0000001' }), entryOf()]
    expect(excess(1n, {}, entries)).toBe(
      'the journal has 0.0000001 USDT, more places than "scale" in CURRENCIES of this machine: correct that first',
    )
    expect(excess(1n, {}, [entryOf({ amt: '0.0000001', cuy: 1 })])).toBeNull()
    expect(excess(1n, {}, [entryOf({ amt: '0.0000001', at: now - 86_400_001 }), entryOf()])).toBeNull()
  })
})
