import { hc } from 'hono/client'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import type { AppType } from '../../../src/worker/http/openapi/client.ts'
import { signHs256, tokenNow } from '../../support/tokens.ts'
import { testSecret } from '../../support/variables.ts'
import { addressIn, firstAddress, payCaller, payFinal, startService, trxTo, usdtTo } from '../service.ts'
import { newestDeposits } from './client-example.ts'

const base = 'https://wallet.example'

/** A service with two final deposits of user 7, and Hono's typed client with that user's token. */
async function startWithClient() {
  const service = await startService()
  const to = await addressIn(await service.get('/tron/generate'))
  const txids = payFinal(service, trxTo(to, 3_500_000n), usdtTo(to, 25_000_000n))
  const serve: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    return service.get(pathname + search, 7, init as RequestInit) // safe: the client sends plain requests
  }
  return { txids, serve, client: hc<AppType>(base, { fetch: serve }) }
}

/** A service where user 7 has 25 USDT, and Hono's typed client with the token of a backend. */
async function startWithBackend() {
  const service = await startService()
  await payCaller(service)
  await service.get('/tron/recharge')
  const serve: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    const headers = Object.fromEntries(new Headers(init?.headers))
    // safe: the client sends plain requests
    return service.ledger(pathname + search, { ...(init as RequestInit), headers })
  }
  return hc<AppType>(base, { fetch: serve })
}

describe('the typed client', () => {
  test('calls the five routes and reads their data', async () => {
    const { client } = await startWithClient()
    const address = await client.tron.generate.$get({ query: { format: 'base58' } })
    if (address.ok) expect((await address.json()).data).toEqual({ id: 1, address: firstAddress })
    const recharge = await client.tron.recharge.$get()
    if (recharge.ok) expect((await recharge.json()).msg).toBe('success: credited 3.5 TRX and 25 USDT')
    const balance = await client.tron.balance.$get({ query: { cuy: '1' } })
    if (balance.ok) expect((await balance.json()).data.amt).toBe(0)
    const wallets = await client.wallet.list.$get()
    if (wallets.ok) expect((await wallets.json()).data.list.map(({ amt }) => amt)).toEqual([3.5, 25])
    const flows = await client.wallet.flow.list.$get({ query: { page: '2', limit: '1' } })
    if (flows.ok) expect((await flows.json()).data.list.map(({ amt }) => amt)).toEqual([3.5])
    expect([address, recharge, balance, wallets, flows].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  test('distinguishes a failure from a success by `ok` and by status', async () => {
    const { client } = await startWithClient()
    const response = await client.tron.recharge.$get({ query: { txid: 'ab'.repeat(32) } })
    expect(response.status).toBe(404)
    if (response.ok) throw new Error('unexpected')
    expect(await response.json()).toMatchObject({ code: 404 })
    expectTypeOf(response.json).returns.resolves.toEqualTypeOf<{ code: number; msg: string }>()
  })

  test('does not compile with a parameter, a value or a member that the route does not have', async () => {
    const { client } = await startWithClient()
    // @ts-expect-error: no such format
    const format = await client.tron.generate.$get({ query: { format: 'base64' } })
    // @ts-expect-error: no such parameter
    await client.tron.balance.$get({ query: { currency: '1' } })
    // @ts-expect-error: no such route
    const nothing = await client.wallet.flows.$get()
    const wallets = await client.wallet.list.$get()
    // @ts-expect-error: a failure has no data
    const { data } = await wallets.json()
    expect([format.status, nothing.status, typeof data]).toEqual([400, 404, 'object'])
  })

  test('posts entries and reads what backends read', async () => {
    const { ledger } = await startWithBackend()
    const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1', amt: '-2.5' } as const
    const posted = await ledger.entries.$post({ json: { entries: [payment] } })
    if (!posted.ok) throw new Error((await posted.json()).msg)
    const { data } = await posted.json()
    expectTypeOf(data.list[0]?.by).toEqualTypeOf<string | undefined>()
    expect(data).toMatchObject({ list: [{ amt: -2.5, balance: 22.5, by: 'shop' }], count: 1, replayed: false })
    const entries = await ledger.entries.$get({ query: { uid: '7', type: '4' } })
    if (entries.ok) expect((await entries.json()).data.list).toEqual(data.list)
    const wallets = await ledger.wallets.$get({ query: { uid: '7' } })
    if (wallets.ok) expect((await wallets.json()).data.list.map(({ amt }) => amt)).toEqual([0, 22.5])
    const address = await ledger.address.$get({ query: { uid: '7', format: 'base58' } })
    if (address.ok) expect((await address.json()).data).toEqual({ id: 1, address: firstAddress })
    const events = await ledger.events.$get({ query: { after: '1' } })
    if (events.ok) {
      const [event] = (await events.json()).data.list
      if (event?.type !== 'entry.posted') throw new Error('the event of the post')
      expect(event.data.entry).toEqual(data.list[0])
    }
    const statuses = [entries, wallets, address, events].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200, 200])
  })

  test('has the refusals of a post by status', async () => {
    const { ledger } = await startWithBackend()
    const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1', amt: '-25.5' } as const
    const refused = await ledger.entries.$post({ json: { entries: [payment] } })
    expect(refused.status).toBe(422)
    if (refused.ok) throw new Error('unexpected')
    expect(await refused.json()).toMatchObject({ code: 422 })
    // @ts-expect-error: only the chain makes recharges
    const recharge = await ledger.entries.$post({ json: { entries: [{ ...payment, type: 1 }] } })
    // @ts-expect-error: the parameter `uid` is required
    const withoutUser = await ledger.wallets.$get()
    expect([recharge.status, withoutUser.status]).toEqual([400, 400])
  })

  test('runs the example of the documentation', async () => {
    const { txids, serve } = await startWithClient()
    vi.stubGlobal('fetch', serve)
    const token = await signHs256({ sub: '7', exp: tokenNow + 60 }, testSecret)
    const lines = await newestDeposits(base, token)
    vi.unstubAllGlobals()
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^2026-\\d\\d-.*Z \\+25 \\(${txids[1]}:0\\)$`))])
  })
})
