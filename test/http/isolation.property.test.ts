import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Address, formatBase58, formatHex, formatNumber } from '../../src/worker/chain/address.ts'
import { blockSeconds } from '../../src/worker/chain/block.ts'
import { payoutRequest, payoutsSetting } from '../payouts/harness.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, trxTo, usdtTo } from './service.ts'

/**
 * What belongs to one caller: two addresses, and one deposit in each currency. No two callers have
 * deposits of the same amount.
 */
interface Holding {
  readonly uid: number
  readonly addresses: readonly Address[]
  readonly txids: readonly string[]
  readonly wids: readonly number[]
  readonly ids: readonly number[]
  /**
   * The `osn` of a payout and the reference of an order that were asked for in this caller's name.
   */
  readonly orders: readonly string[]
  /** Amounts as responses write them; no other caller has the same. */
  readonly amounts: readonly string[]
}

const uids = [700_000_001, 700_000_002, 700_000_003]
const runs = 200
let service: RunningService
let holdings: readonly Holding[]

beforeAll(async () => {
  service = await startService({ PAYOUTS: payoutsSetting })
  const owned = await Promise.all(
    uids.map(async (uid) => [
      await addressIn(await service.get('/tron/generate', uid)),
      await addressIn(await service.get('/tron/generate?fresh=1', uid)),
    ]),
  )
  const paid = owned.map(([first, second], i) => {
    if (!first || !second) throw new Error('two addresses')
    const part = BigInt(i + 1) * 111_111n
    return payFinal(service, trxTo(first, 5_000_000_000n + part), usdtTo(second, 8_000_000_000n + part))
  })
  await service.tick()
  const payouts = uids.map((uid) => ({ ...payoutRequest(), uid, osn: `out-${uid}` }))
  expect((await service.send('/ledger/payouts', { payouts })).status).toBe(200)
  const orders = uids.map((uid) => ({ uid, cuy: 2, amt: '3', order: `in-${uid}` }))
  expect((await service.send('/ledger/orders', { orders })).status).toBe(200)
  // Each caller also has a deposit that is not final: recharge must mention it to nobody else.
  for (const [, second] of owned) if (second) service.chain.add([usdtTo(second, 1_000_000n)])
  holdings = await Promise.all(
    uids.map(async (uid, i) => {
      const { data } = await (await service.get('/wallet/flow/list', uid)).json<{
        data: { list: { id: number; wid: number }[] }
      }>()
      const part = `${(i + 1) * 111_111}`
      return {
        uid,
        addresses: owned[i] ?? [],
        txids: paid[i] ?? [],
        wids: data.list.map(({ wid }) => wid),
        ids: data.list.map(({ id }) => id),
        orders: [`out-${uid}`, `in-${uid}`],
        amounts: [`5000.${part}`, `8000.${part}`],
      }
    }),
  )
})

/**
 * Patterns that only responses to this caller may match. Ids are small numbers, so they count only
 * in members that hold such ids.
 */
function marksOf({ uid, addresses, txids, wids, ids, amounts }: Holding): readonly RegExp[] {
  const written = addresses.flatMap((address) => [
    address,
    formatHex(address),
    formatBase58(address),
    formatNumber(address),
  ])
  return [
    ...[...written, ...txids, ...amounts, String(uid)].map((text) => new RegExp(text.replace('.', '\\.'), 'i')),
    ...wids.map((wid) => new RegExp(`"wid":${wid}\\b`)),
    ...ids.map((id) => new RegExp(`"id":${id},"uid":\\d+,"wid"`)),
  ]
}

/** Chooses among all callers' values, as a curious caller would. */
const place = fc.nat({ max: 1_000_000 })
const pick = <T>(values: readonly T[], at: number) => values[at % values.length]
const anyOf = (read: (holding: Holding) => readonly (string | number)[]) =>
  place.map((at) => () => {
    const all = holdings.flatMap(read)
    return String(pick(all, at))
  })

const addressValue = anyOf(({ addresses }) => addresses.map(formatBase58))
const txidValue = anyOf(({ txids }) => txids)
const osnValue = anyOf(({ txids, orders }) => [...txids.flatMap((txid) => [txid, `${txid}:0`, `${txid}:1`]), ...orders])
const widValue = anyOf(({ wids }) => wids)
const idValue = anyOf(({ ids }) => ids.flatMap((id) => [id, id + 1]))
const oneOf = (...values: string[]) => fc.constantFrom(...values).map((value) => () => value)

const shapes: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<() => string>>>>> = {
  '/tron/generate': { format: oneOf('base58', 'hex', 'number', 'x') },
  '/tron/balance': { cuy: oneOf('1', '2', '3'), address: addressValue },
  '/tron/recharge': { txid: txidValue },
  '/tron/deposits': {
    limit: oneOf('1', '100'),
    before: idValue,
    state: oneOf('seen', 'credited'),
    cuy: oneOf('1', '2'),
    uid: anyOf(({ uid }) => [uid]),
    address: addressValue,
    txid: txidValue,
  },
  '/tron/orders': {
    limit: oneOf('1', '100'),
    before: idValue,
    order: osnValue,
    state: oneOf('open', 'paid'),
    address: addressValue,
    uid: anyOf(({ uid }) => [uid]),
  },
  '/tron/payouts': {
    limit: oneOf('1', '100'),
    before: idValue,
    osn: osnValue,
    state: oneOf('waiting', 'approved'),
    uid: anyOf(({ uid }) => [uid]),
  },
  '/wallet/list': { uid: anyOf(({ uid }) => [uid]) },
  '/wallet/flow/list': {
    page: oneOf('1', '2'),
    limit: oneOf('1', '2', '100'),
    before: idValue,
    cuy: oneOf('1', '2'),
    wid: widValue,
    type: oneOf('1', '9'),
    osn: osnValue,
    from: oneOf('2020-01-01T00:00:00Z'),
    to: oneOf('2099-01-01T00:00:00Z'),
    uid: anyOf(({ uid }) => [uid]),
  },
  '/wallet/statement': {
    month: oneOf('2026-09', '2026-08'),
    day: oneOf('2026-09-21'),
    cuy: oneOf('1', '2'),
    after: idValue,
    limit: oneOf('1', '100'),
    format: oneOf('json', 'csv'),
    uid: anyOf(({ uid }) => [uid]),
  },
  '/health': { uid: anyOf(({ uid }) => [uid]) },
  '/nothing': { osn: osnValue },
}

const anyHeaders = fc.record(
  {
    'x-user-id': anyOf(({ uid }) => [uid]),
    cookie: anyOf(({ uid }) => [`uid=${uid}`]),
    'x-d1-bookmark': oneOf('00000000-00000000-00000000-00000000000000000000000000000000', 'ffffffff', 'first-primary'),
  },
  { requiredKeys: [] },
)
// `/wallet/flow/list` has the most parameters, so it is drawn most often. Each request has few
// parameters: many together would match nothing.
const anyPath = fc.constantFrom(...Object.keys(shapes), '/wallet/flow/list', '/wallet/flow/list', '/wallet/flow/list')
const anyRequest = anyPath.chain((path) => {
  const parameters = Object.entries(shapes[path] ?? {})
  return fc
    .subarray(parameters, { maxLength: Math.min(3, parameters.length) })
    .chain((some) =>
      fc.record({ path: fc.constant(path), query: fc.record(Object.fromEntries(some)), headers: anyHeaders }),
    )
})

const filled = (texts: object): [string, string][] =>
  Object.entries(texts).map(([name, read]: [string, () => string]) => [name, read()])

describe('a response to one caller', () => {
  test('never has data of another caller, for any request, alone or at the same time', async () => {
    let successes = 0
    let ownSeen = 0
    const check = async (who: number, { path, query, headers }: { path: string; query: object; headers: object }) => {
      const caller = pick(holdings, who)
      if (!caller) throw new Error('a caller')
      const url = `${path}?${new URLSearchParams(filled(query))}`
      const response = await service.get(url, caller.uid, { headers: Object.fromEntries(filled(headers)) })
      const seen = `${JSON.stringify([...response.headers])}\n${await response.text()}`
      for (const other of holdings) {
        const found = marksOf(other).filter((mark) => mark.test(seen))
        if (other.uid === caller.uid) ownSeen += Math.sign(found.length)
        else expect(found, `the response to ${caller.uid} at ${url} has data of ${other.uid}: ${seen}`).toEqual([])
      }
      expect(response.status).toBeLessThan(500)
      if (response.status === 200) successes += 1
    }
    const together = fc.array(fc.tuple(place, anyRequest), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(together, async (requests) => {
        await Promise.all(requests.map(([who, request]) => check(who, request)))
      }),
      { numRuns: runs },
    )
    // A service that never returns data would pass the checks above.
    expect(successes).toBeGreaterThan(runs / 4)
    expect(ownSeen).toBeGreaterThan(runs / 8)
  })

  test('does not change with the deposits of another caller', async () => {
    const [caller, other] = holdings
    const to = other?.addresses[1]
    if (!caller || !to) throw new Error('two callers')
    const paths = [
      '/wallet/list',
      '/wallet/flow/list?limit=100',
      '/tron/deposits?limit=100',
      '/tron/deposits?state=credited&cuy=2',
      '/tron/orders',
      '/tron/payouts',
      '/tron/balance?cuy=2',
      '/tron/generate',
      `/tron/recharge?txid=${caller.txids[0]}`,
      `/tron/recharge?txid=${other.txids[0]}`,
    ]
    const readAll = () => Promise.all(paths.map(async (path) => (await service.get(path, caller.uid)).text()))
    service.chain.addEmpty(finalityLag)
    await service.tick() // the deposits that were not final are credited
    const before = await readAll()
    payFinal(service, usdtTo(to, 77_000_000n))
    service.clock.seconds += blockSeconds // otherwise the scan of a moment ago would answer
    expect(await (await service.get('/tron/recharge', other.uid)).text()).toContain('77 USDT')
    expect(await (await service.get('/tron/recharge', caller.uid)).text()).not.toContain('77')
    expect(await readAll()).toEqual(before)
  })
})
