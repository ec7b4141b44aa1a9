import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { RunningWorkers } from '../bench/miniflare.ts'
import { localBackendToken, paymentCommand } from '../devnet/payment-command.ts'
import { listen } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { backendSecret } from '../support/variables.ts'
import { runCurl } from './curl.ts'
import { signBackendToken } from './sign-backend-token-example.ts'
import { startShopWorkers } from './start-workers.ts'

let workers: RunningWorkers
/** What each of two endpoints for events got. */
const received = [[], []] as string[][]
const hooks = received.map((bodies) =>
  createServer((request, response) => {
    text(request).then((body) => {
      bodies.push(body)
      response.end()
    })
  }),
)
beforeAll(async () => {
  const urls = (await Promise.all(hooks.map(listen))).map(({ url }) => url)
  workers = await startShopWorkers(urls)
  const headers = { authorization: `Bearer ${await signBackendToken('till', backendSecret)}` }
  const entries = [{ uid: 7, cuy: 2, type: 9, osn: 'opening', amt: '10' }]
  const response = await fetch(`${workers.url('tron-wallet')}/ledger/entries`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ entries }),
  })
  expect(response.status).toBe(200)
}, 120_000) // two bundles
afterAll(async () => {
  await workers.stop()
  for (const hook of hooks) hook.close()
})

const readme = readFileSync(`${root}README.md`, 'utf8')
const visit = async (path: string) => {
  const response = await fetch(workers.url('shop') + path)
  return { status: response.status, text: await response.text() }
}
const shown = (body: object) => ({ status: 200, text: JSON.stringify(body) })

describe('the shop of the README', () => {
  it('is the one that is shown, with its binding', () => {
    const shop = readFileSync(`${root}test/shop/shop.ts`, 'utf8').replaceAll('../../src/', './src/')
    expect(readme).toContain(`\`\`\`ts\n${shop}\`\`\``)
    const binding = /\[\[services\]\][\s\S]+/.exec(readFileSync(`${root}test/shop/wrangler.toml`, 'utf8'))?.[0]
    expect(readme).toContain(`\`\`\`toml\n${binding}\`\`\``)
  })

  it('takes a payment and gives it back, each once, however often it is asked', async () => {
    expect(await visit('/pay/1')).toEqual(shown({ balance: '7.5', replayed: false }))
    expect(await visit('/pay/1')).toEqual(shown({ balance: '7.5', replayed: true }))
    expect(await visit('/refund/1')).toEqual(shown({ balance: '10', replayed: false }))
    const again = await Promise.all(Array.from({ length: 20 }, () => visit('/refund/1')))
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set(['{"balance":"10","replayed":true}']))
  })

  it('takes no more than the wallet has, whatever is asked at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => visit(`/pay/many-${i}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(200), ...Array(6).fill(402)])
    expect(answers.find(({ status }) => status === 402)?.text).toContain('2.5') // the reason, with what is needed
    for (let i = 0; i < 10; i += 1) if (answers[i]?.status === 200) await visit(`/refund/many-${i}`)
  })
})

describe('the entrypoint', () => {
  const call = async (...words: unknown[]) => {
    const response = await fetch(workers.url('office'), { method: 'POST', body: JSON.stringify(words) })
    return { status: response.status, answer: response.ok ? await response.json() : await response.text() }
  }
  const given = (answer: object) => ({ status: 200, answer })

  it('answers each method over the binding', async () => {
    const entry = { uid: 9, cuy: 1, type: 9, osn: 'office', amt: '1.5' }
    const stored = { ...entry, balance: '1.5', by: 'office' }
    expect(await call('post', [entry], 'office')).toMatchObject(given({ ok: true, replayed: false, entries: [stored] }))
    expect(await call('entries', { uid: 9, cuy: 1 })).toMatchObject(given({ ok: true, list: [stored], count: 1 }))
    expect(await call('wallets', 9)).toMatchObject(given({ ok: true, list: [{ amt: '1.5', cuy: 1 }, { amt: '0' }] }))
    const event = { id: 1, type: 'entry.posted', data: { entry: { amt: '10', by: 'till' } } }
    expect(await call('events', 0, 1)).toMatchObject(given({ ok: true, list: [event], count: 1 }))
  })

  it('refuses by a value over the binding, never by an exception', async () => {
    const kind = (name: string, member?: string) =>
      given({ ok: false, error: { kind: name, ...(member && { member }) } })
    expect(await call('post', [{}], 'office')).toMatchObject(kind('bad-input', 'uid'))
    expect(await call('post', 'x', null)).toMatchObject(kind('bad-input', 'by'))
    expect(await call('entries', null)).toMatchObject(kind('bad-input', 'uid'))
    expect(await call('wallets')).toMatchObject(kind('bad-input', 'uid'))
    expect(await call('events', -1)).toMatchObject(kind('bad-input', 'after'))
    expect(await call('address', 9, { fresh: true })).toMatchObject(kind('chain-unavailable')) // there is no node here
  })

  it('takes no requests: it is no way from outside', async () => {
    expect((await call('fetch', 'https://wallet.example/ledger/wallets?uid=9')).status).toBe(500)
  })
})

describe('the same over HTTP, as the README shows it', () => {
  it('signs the token that is shown', () => {
    const example = readFileSync(`${root}test/shop/sign-backend-token-example.ts`, 'utf8')
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  it('takes a payment and gives it back by the commands that are shown', async () => {
    const block = /```sh\n(curl [\s\S]*?\/ledger\/entries[\s\S]*?)```/.exec(readme)?.[1] ?? ''
    const commands = block.split(/\n(?=curl )/)
    expect(commands).toHaveLength(2)
    const shell = { WALLET: workers.url('tron-wallet'), TOKEN: await signBackendToken('shop', backendSecret) }
    const answers: unknown[] = []
    for (const command of [...commands, commands[0] ?? '']) {
      const response = await runCurl(command, shell)
      const { data } = (await response.json()) as { data: unknown }
      answers.push([response.status, data])
    }
    expect(answers).toMatchObject([
      [200, { list: [{ amt: -2.5, balance: 7.5, by: 'shop' }], replayed: false }],
      [200, { list: [{ amt: 2.5, balance: 10, by: 'shop' }], replayed: false }],
      [200, { list: [{ amt: -2.5, balance: 7.5 }], replayed: true }],
    ])
  })
})

describe('npm start', () => {
  it('configures a key for backends and prints a command that posts a payment', async () => {
    const secret = /^BACKEND_JWT_SECRET="?([^"\n]+)"?$/m.exec(readFileSync(`${root}test/devnet/dev.vars`, 'utf8'))?.[1]
    expect(secret?.length).toBeGreaterThanOrEqual(32)
    const base = workers.url('tron-wallet')
    const command = paymentCommand(base, await localBackendToken(backendSecret))
    const entries = [{ uid: 1, cuy: 2, type: 9, osn: 'opening', amt: '10' }]
    const headers = { authorization: `Bearer ${await signBackendToken('till', backendSecret)}` }
    await fetch(`${base}/ledger/entries`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ entries }),
    })
    const response = await runCurl(command, {})
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { data: { list: [{ uid: 1, amt: -2.5, balance: 7.5, by: 'shop' }], replayed: false } },
    ])
  })
})

describe('the isolate', () => {
  it('logs nothing but the answers: no warning of a configuration that is parsed again', () => {
    // Of the tests above: there is no limiter and no node, and one calls a handler that does not exist.
    const expected = ['no-rate-limit', 'node-error', 'does not export a fetch() function']
    expect(workers.warnings.filter((line) => !expected.some((one) => line.includes(one)))).toEqual([])
    const limits = workers.warnings.filter((line) => line.includes('no-rate-limit'))
    expect(limits.length).toBeLessThanOrEqual(8) // four, once for each of the two entry points at most
  })
})

describe('each endpoint', () => {
  it('gets what is stored at once, without the cron', async () => {
    await workers.cron('tron-wallet') // an endpoint begins with the next event
    const before = (await workers.number('tron-wallet', 'SELECT max(id) FROM event')) ?? 0
    await visit('/pay/event')
    const event = { id: before + 1, type: 'entry.posted', data: { entry: { osn: 'order-event', by: 'shop' } } }
    const newest = () =>
      received.map((bodies) => bodies.map((body) => JSON.parse(body) as { id: number }).filter(({ id }) => id > before))
    await vi.waitFor(() => expect(newest()).toMatchObject([[event], [event]]), { timeout: 30_000, interval: 20 })
    expect(workers.warnings.filter((line) => line.includes('webhook'))).toEqual([])
  })
})
