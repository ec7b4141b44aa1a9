import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { result } from '../devnet/support.ts'
import { type LocalService, startLocalService } from '../pages/local-service.ts'
import { listen } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { textOf } from '../support/source-files.ts'

const path = 'test/shop/order-shop-example.mjs'

describe('the shop of the guide to orders', () => {
  it('is the one that is shown, in at most 40 lines, and needs no package', () => {
    const shop = textOf(path)
    expect(textOf('docs/guides/orders.md')).toContain(`\`\`\`js\n${shop}\`\`\``)
    expect(shop.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
    expect([...shop.matchAll(/ from '([^']+)'/g)].filter(([, name]) => !name?.startsWith('node:'))).toEqual([])
  })
})

describe('that shop, over the whole service', () => {
  let service: LocalService
  let shop: { readonly url: string; stop(): Promise<void> }
  beforeAll(async () => {
    const { url, close } = await listen(createServer())
    await close() // the shop listens there
    service = await startLocalService({
      WEBHOOKS: JSON.stringify([{ url: `${url}/hook`, secretVar: 'WEBHOOK_SECRET', types: ['order.paid'] }]),
      PAGE_ORIGINS: JSON.stringify([url]),
    })
    const names = ['AUTH_JWT_SECRET', 'BACKEND_JWT_SECRET', 'WEBHOOK_SECRET']
    const variables = textOf('test/devnet/dev.vars') // those of the service
    const secrets = names.map((name) => [name, new RegExp(`^${name}="(.+)"$`, 'm').exec(variables)?.[1]])
    const env = { ...process.env, ...Object.fromEntries(secrets), WALLET: service.url, SHOP: url }
    const child = spawn(process.execPath, [root + path], { env, stdio: 'inherit' })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const stop = () => {
      child.kill()
      return ended
    }
    shop = { url, stop }
    await vi.waitFor(() => fetch(url), { timeout: 60_000, interval: 100 })
  }, 180_000)
  afterAll(async () => {
    await shop.stop()
    await service.stop()
  })

  const orders = async () => (await fetch(shop.url)).text()
  /** Buys tea, and returns the user's order as the page in the frame reads it. */
  const buy = async () => {
    const page = await (await fetch(shop.url, { method: 'POST' })).text()
    const [, address, token = ''] = /<iframe src="([^"#]+)#token=([^"]+)"/.exec(page) ?? []
    expect(address).toBe(`${service.url}/deposit`)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { order: string }
    const read = await fetch(`${service.url}/tron/orders?order=${claims.order}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data } = (await read.json()) as {
      data: { list: readonly { order: string; address: string; state: string }[] }
    }
    const [order] = data.list
    if (order === undefined) throw new Error(`no order ${claims.order}`)
    expect(order).toMatchObject({ order: claims.order, state: 'open' })
    return order
  }
  const pay = async (to: string, amount: string) => {
    const { timestamp } = await result<{ timestamp: string }>(service.devnet, 'eth_getBlockByNumber', 'latest', false)
    // the chain is of an hour ago, and an order counts what is in blocks made after it
    await service.devnet.advance(Math.floor(Date.now() / 1000) + 2 - Number(timestamp))
    await service.devnet.pay({ to, amount, currency: 'USDT' })
    await service.devnet.mine(3)
    await service.cron()
  }

  it('ships what is paid, and of two open orders of a buyer only that one', async () => {
    const [first, second] = [await buy(), await buy()]
    expect(first.address).not.toBe(second.address)
    await pay(second.address, '24.5') // an exchange has kept half a dollar
    const expected = `${first.order},open,${second.order},shipped`
    await vi.waitFor(async () => expect(await orders()).toBe(expected), { timeout: 120_000, interval: 500 })
  })

  it('takes no event that is not signed', async () => {
    const before = await orders()
    const [open] = /tea-[0-9a-f-]+(?=,open)/.exec(before) ?? []
    const body = JSON.stringify({ type: 'order.paid', data: { order: open, taken: true } })
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${'A'.repeat(43)}=`,
    }
    for (const sent of [headers, {}]) {
      expect((await fetch(`${shop.url}/hook`, { method: 'POST', headers: sent, body })).status).toBe(401)
    }
    expect(await orders()).toBe(before)
  })
})
