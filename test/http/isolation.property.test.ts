import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Address, formatBase58, formatHex, formatNumber } from '../../src/addresses/address.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, trxTo, usdtTo } from './service.ts'

/** What one caller has: two addresses, and a deposit of each currency that nobody else's figures look like. */
interface Holding {
  readonly uid: number
  readonly addresses: readonly Address[]
  readonly txids: readonly string[]
  readonly wids: readonly number[]
  readonly ids: readonly number[]
  /** As an answer writes them; no two callers have one in common. */
  readonly amounts: readonly string[]
}

const uids = [700_000_001, 700_000_002, 700_000_003]
const runs = 500
let service: RunningService
let holdings: readonly Holding[]

beforeAll(async () => {
  service = await startService()
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
  // Not final: what recharge tells of it must be its owner's alone as well.
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
        amounts: [`5000.${part}`, `8000.${part}`],
      }
    }),
  )
})

/** Texts that may stand in an answer to nobody but this caller. Row numbers count only under their own member. */
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
    ...ids.map((id) => new RegExp(`"id":${id},"uid"`)),
  ]
}

/** One value out of anything that any caller has, or nonsense: what a curious caller would put there. */
const place = fc.nat({ max: 1_000_000 })
const pick = <T>(values: readonly T[], at: number) => values[at % values.length]
const anyOf = (read: (holding: Holding) => readonly (string | number)[]) =>
  place.map((at) => () => {
    const all = holdings.flatMap(read)
    return String(pick(all, at))
  })

const addressValue = anyOf(({ addresses }) => addresses.map(formatBase58))
const txidValue = anyOf(({ txids }) => txids)
const osnValue = anyOf(({ txids }) => txids.flatMap((txid) => [txid, `${txid}:0`, `${txid}:1`]))
const widValue = anyOf(({ wids }) => wids)
const idValue = anyOf(({ ids }) => ids.flatMap((id) => [id, id + 1]))
const oneOf = (...values: string[]) => fc.constantFrom(...values).map((value) => () => value)

const shapes: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<() => string>>>>> = {
  '/tron/generate': { format: oneOf('base58', 'hex', 'number', 'x') },
  '/tron/balance': { cuy: oneOf('1', '2', '3'), address: addressValue },
  '/tron/recharge': { txid: txidValue },
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
// The list with most parameters is asked most, and with few of them at a time: many together match nothing.
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

describe('no answer to one caller', () => {
  test('ever contains another’s data, whatever is asked, alone or at the same time', async () => {
    let successes = 0
    let ownSeen = 0
    const check = async (who: number, { path, query, headers }: { path: string; query: object; headers: object }) => {
      const asking = pick(holdings, who)
      if (!asking) throw new Error('a caller')
      const url = `${path}?${new URLSearchParams(filled(query))}`
      const answer = await service.get(url, asking.uid, { headers: Object.fromEntries(filled(headers)) })
      const seen = `${JSON.stringify([...answer.headers])}\n${await answer.text()}`
      for (const other of holdings) {
        const found = marksOf(other).filter((mark) => mark.test(seen))
        if (other.uid === asking.uid) ownSeen += Math.sign(found.length)
        else expect(found, `${asking.uid} asked ${url} and was told of ${other.uid}: ${seen}`).toEqual([])
      }
      expect(answer.status).toBeLessThan(500)
      if (answer.status === 200) successes += 1
    }
    const together = fc.array(fc.tuple(place, anyRequest), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(together, async (requests) => {
        await Promise.all(requests.map(([who, request]) => check(who, request)))
      }),
      { numRuns: runs },
    )
    // The property would hold of a service that says nothing at all.
    expect(successes).toBeGreaterThan(runs / 4)
    expect(ownSeen).toBeGreaterThan(runs / 8)
  })

  test('changes by what another caller does', async () => {
    const [asking, other] = holdings
    const to = other?.addresses[1]
    if (!asking || !to) throw new Error('two callers')
    const paths = [
      '/wallet/list',
      '/wallet/flow/list?limit=100',
      '/tron/balance?cuy=2',
      '/tron/generate',
      `/tron/recharge?txid=${asking.txids[0]}`,
      `/tron/recharge?txid=${other.txids[0]}`,
    ]
    const readAll = () => Promise.all(paths.map(async (path) => (await service.get(path, asking.uid)).text()))
    service.chain.addEmpty(finalityLag)
    await service.tick() // what was not final yet is credited to all of them
    const before = await readAll()
    payFinal(service, usdtTo(to, 77_000_000n))
    expect(await (await service.get('/tron/recharge', other.uid)).text()).toContain('77 USDT')
    expect(await (await service.get('/tron/recharge', asking.uid)).text()).not.toContain('77')
    expect(await readAll()).toEqual(before)
  })
})
