import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseLimits } from '../../src/commands/payout/limits.ts'
import { payoutOptions } from '../../src/commands/payout/options.ts'
import { findProofFault, parseBackendKeys } from '../../src/commands/payout/proof.ts'
import type { RunningWorkers } from '../bench/miniflare.ts'
import { assets } from '../commands/payout/harness.ts'
import { localBackendToken, paymentCommand } from '../devnet/local.ts'
import { listen } from '../support/loopback.ts'
import { root } from '../support/project.ts'
import { repositoryFiles, textOf } from '../support/source-files.ts'
import { signHs256 } from '../support/tokens.ts'
import { backendSecret } from '../support/variables.ts'
import { runCurl } from './curl.ts'
import { provePayout } from './proof-example.ts'
import { createScreening } from './screening-example.ts'
import { signBackendToken } from './sign-backend-token-example.ts'
import { startShopWorkers } from './start-workers.ts'
import { heldBy, type Payout, withdraw } from './withdrawal-example.ts'

let workers: RunningWorkers
/** The bodies that each of two webhook endpoints has received. */
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
  const urls = (await Promise.all(hooks.map((hook) => listen(hook)))).map(({ url }) => url)
  workers = await startShopWorkers(urls)
  for (const uid of [7, 1, 8]) await open(uid)
}, 120_000) // bundling the service takes long
afterAll(async () => {
  await workers.stop()
  for (const hook of hooks) hook.close()
})

/** Posts an entry of 10 USDT, or of `amt`, to a user's wallet as the backend `till`. */
async function open(uid: number, osn = 'opening', amt = '10') {
  const authorization = `Bearer ${await signBackendToken('till', backendSecret)}`
  const response = await fetch(`${workers.url('tron-wallet')}/ledger/entries`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ entries: [{ uid, cuy: 2, type: 9, osn, amt }] }),
  })
  expect(response.status).toBe(200)
}

const page = readFileSync(`${root}docs/guides/backends.md`, 'utf8')
const pages = repositoryFiles.filter((file) => file.endsWith('.md')).map(textOf)
const visit = async (path: string, method = 'POST') => {
  const response = await fetch(workers.url('shop') + path, { method })
  return { status: response.status, text: await response.text() }
}
const shown = (body: object) => ({ status: 200, text: JSON.stringify(body) })

describe('the shop of the page for backends', () => {
  it('is the one that is shown, with its binding', () => {
    const shop = readFileSync(`${root}test/shop/shop.ts`, 'utf8').replaceAll('../../src/', './src/')
    expect(page).toContain(`\`\`\`ts\n${shop}\`\`\``)
    const binding = /\[\[services\]\][\s\S]+/.exec(readFileSync(`${root}test/shop/wrangler.toml`, 'utf8'))?.[0]
    expect(page).toContain(`\`\`\`toml\n${binding}\`\`\``)
  })

  it('takes a payment and gives it back, each once, however often it is asked', async () => {
    expect(await visit('/pay/1')).toEqual(shown({ balance: '7.5', replayed: false }))
    expect(await visit('/pay/1')).toEqual(shown({ balance: '7.5', replayed: true }))
    expect(await visit('/refund/1')).toEqual(shown({ balance: '10', replayed: false }))
    const again = await Promise.all(Array.from({ length: 20 }, () => visit('/refund/1')))
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set(['{"balance":"10","replayed":true}']))
    // the user does not pay a second time
    expect(await visit('/pay/1')).toEqual(shown({ balance: '7.5', replayed: true }))
  })

  it('gives nothing back for an order that was not paid', async () => {
    expect(await visit('/refund/unpaid')).toEqual({ status: 404, text: 'order unpaid was not paid' })
  })

  it.each(['/pay/get', '/refund/1'])('does nothing by GET %s', async (path) => {
    const flows = () => workers.number('tron-wallet', 'SELECT count(*) FROM flow')
    const before = await flows()
    expect(await visit(path, 'GET')).toEqual({ status: 405, text: 'POST only' })
    expect(await flows()).toBe(before)
  })

  it('takes no more than the wallet has, whatever is asked at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => visit(`/pay/many-${i}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(200), ...Array(6).fill(402)])
    // the refusal says which amount the wallet lacks
    expect(answers.find(({ status }) => status === 402)?.text).toContain('2.5')
    for (let i = 0; i < 10; i += 1) if (answers[i]?.status === 200) await visit(`/refund/many-${i}`)
  })
})

/**
 * Calls a method of the entrypoint `Ledger` through the Worker `office`, which has a service
 * binding to it.
 */
const call = async (...words: unknown[]) => {
  const response = await fetch(workers.url('office'), { method: 'POST', body: JSON.stringify(words) })
  return { status: response.status, answer: response.ok ? await response.json() : await response.text() }
}

describe('the withdrawal that a page shows', () => {
  // each call goes through the service binding
  const ledger = { post: async (...given: unknown[]) => (await call('post', ...given)).answer as never }
  const wallet = async (uid: number) => (await call('wallets', uid)).answer as { list: { amt: string; cuy: number }[] }
  const usdtOf = async (uid: number) => (await wallet(uid)).list.find(({ cuy }) => cuy === 2)?.amt
  /**
   * A payout tool whose transactions all succeed or all fail (`isPaid`), and the set of
   * transactions that it has sent.
   */
  const toolThat = (isPaid: boolean) => {
    const signed = new Map<string, string>()
    const chain = new Set<string>()
    const payout: Payout = {
      sign: async ({ id }) => signed.get(id) ?? signed.set(id, `${id} signed ${signed.size}`).get(id) ?? '',
      send: async (bytes) => ({ txid: chain.add(bytes).size > 0 ? 'ab'.repeat(32) : '', isPaid }),
    }
    return { payout, chain }
  }
  /**
   * Wraps `target` so that call number `at` throws, as in a crash: before its work, or with
   * `isAfter` after it. `count` counts the calls.
   */
  const crashing = <T extends object>(target: T, count: { calls: number }, at: number, isAfter: boolean): T =>
    new Proxy(target, {
      get:
        (_, name) =>
        async (...given: unknown[]) => {
          count.calls += 1
          const isNow = count.calls === at
          if (isNow && !isAfter) throw new Error('crash')
          const answer = await (target[name as keyof T] as (...all: unknown[]) => Promise<unknown>)(...given)
          if (isNow) throw new Error('crash')
          return answer
        },
    })

  it('is shown', () => {
    const example = textOf('test/shop/withdrawal-example.ts').replaceAll('../../src/', './src/')
    expect(pages.filter((page) => page.includes(`\`\`\`ts\n${example}\`\`\``))).toHaveLength(1)
  })

  it.each([
    { isPaid: true, outcome: 'paid', balance: '9', entries: 4 },
    { isPaid: false, outcome: 'given back', balance: '10', entries: 3 },
  ])(
    'is $outcome once, wherever it crashes and whatever runs beside it',
    async ({ isPaid, outcome, balance, entries }) => {
      for (const at of [1, 2, 3, 4]) {
        for (const isAfter of [false, true]) {
          const uid = 100 + 10 * at + 2 * Number(isAfter) + Number(isPaid)
          await open(uid)
          const withdrawal = { id: `withdrawal-${uid}`, uid, cuy: 2, amt: '1', to: 'T…' }
          const { payout, chain } = toolThat(isPaid)
          const count = { calls: 0 }
          const first = withdraw(crashing(ledger, count, at, isAfter), crashing(payout, count, at, isAfter), withdrawal)
          await expect(first).rejects.toThrow('crash')
          const again = Array.from({ length: 3 }, () => withdraw(ledger, payout, withdrawal))
          expect(await Promise.all(again)).toEqual([outcome, outcome, outcome])
          const { count: stored } = (await call('entries', { uid })).answer as { count: number }
          expect([at, await usdtOf(uid), stored, chain.size]).toEqual([at, balance, entries, 1])
        }
      }
      expect(await usdtOf(heldBy)).toBe('0')
    },
  )

  it('has one end: what was paid is never given back', async () => {
    const withdrawal = { id: 'withdrawal-once', uid: 8, cuy: 2, amt: '1', to: 'T…' }
    expect(await withdraw(ledger, toolThat(true).payout, withdrawal)).toBe('paid')
    await expect(withdraw(ledger, toolThat(false).payout, withdrawal)).rejects.toThrow('another amount or mark')
    const other = { ...withdrawal, id: 'withdrawal-other' }
    expect(await withdraw(ledger, toolThat(false).payout, other)).toBe('given back')
    await expect(withdraw(ledger, toolThat(true).payout, other)).rejects.toThrow('another amount or mark')
    expect(await usdtOf(8)).toBe('9')
  })

  it('is refused before anything is signed where the wallet holds less, and is held while it is not final', async () => {
    const { payout, chain } = toolThat(true)
    const withdrawal = { id: 'withdrawal-large', uid: 8, cuy: 2, amt: '9.5', to: 'T…' }
    expect([await withdraw(ledger, payout, withdrawal), chain.size]).toEqual(['refused', 0])
    const small = { ...withdrawal, id: 'withdrawal-open', amt: '0.5' }
    const open = { ...payout, send: async () => null }
    expect(await withdraw(ledger, open, small)).toBe('sent')
    expect([await usdtOf(8), await usdtOf(heldBy)]).toEqual(['8.5', '0.5'])
    expect(await withdraw(ledger, payout, small)).toBe('paid')
    expect([await usdtOf(8), await usdtOf(heldBy)]).toEqual(['8.5', '0'])
  })
})

describe('the entrypoint', () => {
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
    const withNull = { uid: 9, cuy: 2, type: 4, osn: 'tea', amt: '-1000000', mark: null }
    expect(await call('post', [withNull], 'office')).toMatchObject(kind('insufficient'))
    expect(await call('entries', null)).toMatchObject(kind('bad-input', 'query'))
    expect(await call('wallets')).toMatchObject(kind('bad-input', 'uid'))
    expect(await call('events', -1)).toMatchObject(kind('bad-input', 'after'))
    // the Workers of this test have no node
    expect(await call('address', 9, { fresh: true })).toMatchObject(kind('chain-unavailable'))
  })

  it('takes no requests: it is no way from outside', async () => {
    expect((await call('fetch', 'https://wallet.example/ledger/wallets?uid=9')).status).toBe(500)
  })
})

describe('the same over HTTP, as the page shows it', () => {
  it('signs the token that is shown', () => {
    const example = readFileSync(`${root}test/shop/sign-backend-token-example.ts`, 'utf8')
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  it('takes a payment and gives it back by the commands that are shown', async () => {
    const block = /```sh\n(curl [\s\S]*?\/ledger\/entries[\s\S]*?)```/.exec(page)?.[1] ?? ''
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

describe('the statements that a page shows', () => {
  it('are had by its commands: the day of all as JSON, the month of a user as a table', async () => {
    const block =
      /```sh\n(curl [\s\S]*?\/ledger\/statement[\s\S]*?)```/.exec(page.split('## Statements')[1] ?? '')?.[1] ?? ''
    const shell = { WALLET: workers.url('tron-wallet'), TOKEN: await signBackendToken('shop', backendSecret) }
    const [day, month] = await Promise.all(block.split(/\n(?=curl )/).map((command) => runCurl(command, shell)))
    expect(await day?.json()).toMatchObject({
      code: 200,
      data: { from: '2026-11-27T00:00:00.000Z', balances: [{ cuy: 1 }, { cuy: 2 }] },
    })
    expect([month?.status, (await month?.text())?.split(',')[0]]).toEqual([200, '"kind"'])
  })
})

describe('the page for payouts', () => {
  const guide = textOf('docs/guides/payouts.md')
  const tokenOf = (sub: string, scope: string) =>
    signHs256({ sub, scope, exp: Math.floor(Date.now() / 1000) + 600 }, backendSecret)

  it('has commands that ask, approve and cancel, with its own settings', async () => {
    await open(7, 'payouts', '100')
    const commands = [...guide.matchAll(/```sh\n(curl [\s\S]*?)```/g)].flatMap(([, block = '']) =>
      block.split(/\n(?=curl )/),
    )
    expect(commands).toHaveLength(5)
    const shell = {
      WALLET: workers.url('tron-wallet'),
      TOKEN: await tokenOf('shop', 'ledger:pay'),
      OFFICE: await tokenOf('office', 'ledger:read ledger:approve'),
    }
    const answers: unknown[] = []
    for (const command of commands) {
      const response = await runCurl(command, shell)
      answers.push([response.status, ((await response.json()) as { data: unknown }).data])
    }
    const [small, large] = [
      { id: 1, amt: 5, fee: 0.5, state: 'approved', approved_by: 'limits', osn: 'payout-1001' },
      { id: 2, amt: 51, state: 'waiting', osn: 'payout-1002' },
    ]
    expect(answers).toMatchObject([
      [200, { list: [small], replayed: false }],
      [200, { list: [large] }],
      [200, { list: [large], count: 1 }],
      [200, { list: [{ ...large, state: 'approved', approved_by: 'office' }] }],
      [200, { list: [{ ...large, state: 'cancelled', why: 'the user has changed their mind' }] }],
    ])
  })

  it('has a file of limits that a signer takes, and a proof that it believes', async () => {
    const file = /```json\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
    expect([...parseLimits(file, assets.currencies).keys()]).toEqual([1, 2])
    expect(guide).toContain(`\`\`\`ts\n${textOf('test/shop/proof-example.ts')}\`\`\``)
    const { publicKey, privateKey } = await generateKeyPair('EdDSA')
    const keys = parseBackendKeys(JSON.stringify({ keys: [await exportJWK(publicKey)] }))
    const payout = { uid: 7, cuy: 2, amt: '5', to: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK', osn: 'payout-1001' }
    const proof = await provePayout(payout, privateKey)
    const shown = { ...payout, id: 1, state: 'approved', attempts: 0, created_at: '2026-11-25T12:00:00.000Z', proof }
    expect(await findProofFault(shown, keys)).toBeNull()
    expect(await findProofFault({ ...shown, amt: '50' }, keys)).toBe('its proof is of another payout')
  })

  it('names every option of npm run payout', () => {
    const missing = Object.keys(payoutOptions).filter((name) => !guide.includes(`--${name}`))
    expect(missing).toEqual([])
  })
})

describe('npm start', () => {
  it('configures a key for backends, and has a command that posts a payment', async () => {
    const secret = /^BACKEND_JWT_SECRET="?([^"\n]+)"?$/m.exec(readFileSync(`${root}test/devnet/dev.vars`, 'utf8'))?.[1]
    expect(secret?.length).toBeGreaterThanOrEqual(32)
    const base = workers.url('tron-wallet')
    const response = await runCurl(paymentCommand(base), { TOKEN: await localBackendToken(backendSecret) })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { data: { list: [{ uid: 1, amt: -2.5, balance: 7.5, by: 'shop' }], replayed: false } },
    ])
  })
})

describe('the isolate', () => {
  it('logs nothing but the answers: no warning of a configuration that is parsed again', () => {
    // The warnings that the tests above cause: there is no rate limiter and no node, and one test
    // calls a handler that does not exist.
    const expected = ['no-rate-limit', 'node-error', 'does not export a fetch() function']
    expect(workers.warnings.filter((line) => !expected.some((one) => line.includes(one)))).toEqual([])
    const limits = workers.warnings.filter((line) => line.includes('no-rate-limit'))
    expect(limits.length).toBeLessThanOrEqual(8) // HTTP and RPC each log the missing rate limiters, at most four lines
  })
})

describe('each endpoint', () => {
  it('gets what is stored at once, without the cron', async () => {
    await workers.cron('tron-wallet') // registers the endpoints: each gets only later events
    const before = (await workers.number('tron-wallet', 'SELECT max(id) FROM event')) ?? 0
    await visit('/pay/event')
    const event = { id: before + 1, type: 'entry.posted', data: { entry: { osn: 'order-event', by: 'shop' } } }
    const newest = () =>
      received.map((bodies) => bodies.map((body) => JSON.parse(body) as { id: number }).filter(({ id }) => id > before))
    await vi.waitFor(() => expect(newest()).toMatchObject([[event], [event]]), { timeout: 30_000, interval: 20 })
    expect(workers.warnings.filter((line) => line.includes('webhook'))).toEqual([])
  })
})

describe('the screening that a page shows', () => {
  const txids = { clean: 'c'.repeat(64), listed: 'd'.repeat(64), unclear: 'e'.repeat(64) }
  /** A screening service that is down at first. */
  let isDown = true
  const screening = createServer((request, response) => {
    const txid = new URL(request.url ?? '', 'http://localhost').searchParams.get('txid')
    const verdict = Object.entries(txids).find(([, one]) => one === txid)?.[0]
    response.writeHead(isDown ? 503 : 200).end(JSON.stringify({ verdict, report: 'r-1' }))
    isDown = false
  })
  afterAll(() => screening.close())

  it('is shown', () => {
    const example = textOf('test/shop/screening-example.ts')
    expect(pages.filter((shown) => shown.includes(`\`\`\`ts\n${example}\`\`\``))).toHaveLength(1)
  })

  it('decides about what is held for review, by the events that an endpoint gets', async () => {
    const number = (sql: string) => workers.number('tron-wallet', sql)
    const to = 'a'.repeat(40)
    await number(`INSERT INTO scan (id, height, finalized, finalized_time, finalized_at, advanced_at, caught_up_at,
      tried_at)
      VALUES (1, 9, 9, 0, 0, 0, 0, 0)`)
    await number(
      `INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (1, 12, unhex('${to}'), 9, 0)`,
    )
    await number('UPDATE scan SET finalized = 20, height = 20')
    const before = received[0]?.length ?? 0
    for (const txid of Object.values(txids)) {
      await number(`INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw,
        native, state,
        reason, review, amount, created_at, changed_at)
          VALUES (unhex('${txid}'), 0, 15, 1, 12, unhex('${'f'.repeat(40)}'), unhex('${to}'),
        '2000000000', 1, 'held', 'review', 'open', 0, 1, 1)`)
    }
    await open(12) // any post wakes the endpoints, which then deliver all new events
    await vi.waitFor(() => expect(received[0]?.length).toBeGreaterThanOrEqual(before + 4), { timeout: 30_000 })
    const events = (received[0] ?? []).slice(before).map((body) => JSON.parse(body))
    expect(events.map(({ type }) => type)).toEqual([...Array(3).fill('deposit.held'), 'entry.posted'])
    const { url } = await listen(screening)
    const screen = createScreening(workers.url('tron-wallet'), backendSecret, url)
    await expect(screen(events[0])).rejects.toThrow('no answer')
    // webhooks deliver at least once, so an event can come twice
    for (const event of [...events, ...events]) await screen(event)
    const states = Object.values(txids).map((txid) =>
      number(`SELECT instr('credited refused  held', state) FROM transfer WHERE txid = '${txid}'`),
    )
    expect(await Promise.all(states)).toEqual([1, 10, 19])
    expect(await call('wallets', 12)).toMatchObject({ answer: { list: [{ amt: '2000', cuy: 1 }, { amt: '10' }] } })
  })
})
