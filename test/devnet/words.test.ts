import { describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { eventLine, isWorthPrinting, refusedTokenLine, welcome } from './words.ts'

const base = 'http://127.0.0.1:8787'
const address = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const shop = 'http://127.0.0.1:8791'

describe('npm start prints', () => {
  it('three links, how to pay and where the rest is: six lines without a token', () => {
    const text = welcome({ base, address, shop, desk: `${shop}/desk`, chainPort: undefined })
    const lines = text.split('\n')
    expect(lines.length).toBeLessThanOrEqual(6)
    expect(lines[0]).toMatch(`${base}/deposit `) // as docs/start.md says
    expect([...text.matchAll(/http:\S+/g)].map(([url]) => url)).toEqual([`${base}/deposit`, shop, `${shop}/desk`])
    expect(text).toContain(`npm run pay -- ${address} 25 USDT`)
    expect(text).toContain('npm start -- --help')
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120)
  })

  it('what there is without the secrets of the shop and of backends', () => {
    const text = welcome({ base, address, shop: null, desk: null, chainPort: '9201' })
    expect([...text.matchAll(/http:\S+/g)].map(([url]) => url)).toEqual([`${base}/deposit`])
    expect(text).toContain(`DEVNET_PORT=9201 npm run pay -- ${address}`)
  })

  it('which users are in which cell, where there are several', () => {
    const cells = [{ uids: '1-999999' }, { uids: '1000000-' }]
    const running = { base, address, shop: null, desk: null, chainPort: undefined }
    expect(welcome({ ...running, cells })).toBe(
      welcome(running).replace('\n\n', '\ncell 1 has users 1-999999, cell 2 has users 1000000-\n\n'),
    )
  })

  const txid = '5073138ac9063bca7c636268221a5e03e89ad5163ffb2e06e467d18ce8e195f7'
  const ofDeposit = { txid, position: 0, address }
  const payout = { id: 1, cuy: 2, amt: 5, to: address, osn: 'payout-1' }
  it.each([
    ['deposit.seen', { ...ofDeposit, cuy: 2, amt: 25, seconds: 18 }, '25 USDT, 5073138a…, final in about 18 s'],
    ['deposit.credited', { ...ofDeposit, entry: { osn: txid, cuy: 1, amt: 3.5 } }, '3.5 TRX, 5073138a…'],
    ['deposit.dropped', { txid, position: 0 }, '5073138a…'],
    [
      'deposit.held',
      { ...ofDeposit, cuy: 2, reason: 'review', why: 'it is looked at' },
      'USDT, 5073138a…, it is looked at',
    ],
    ['entry.posted', { entry: { osn: 'order-1001', cuy: 2, amt: -2.5 } }, '-2.5 USDT, order-1001'],
    ['payout.stuck', { ...payout, reason: 'failed' }, '5 USDT, payout-1, failed'],
    ['payout.paid', { ...payout, cuy: 9, txid }, '5 of currency 9, payout-1'],
    ['address.frozen', { address, cuy: 2, txid }, 'USDT, 5073138a…'],
  ])('one short line for an event: %s', (type, data, rest) => {
    const symbols = new Map([
      [1, 'TRX'],
      [2, 'USDT'],
    ])
    const event = { id: 12, type, uid: 1, created_at: '2026-11-27T08:35:26.696Z', data }
    expect(eventLine(event, symbols)).toBe(`Event 12: ${type}, user 1, ${rest}`)
  })

  it('the cell of an event, where there are several: each cell counts its own', () => {
    const entry = { osn: 'order-1', cuy: 2, amt: -2.5 }
    const event = { id: 12, type: 'entry.posted', uid: 1_000_000, cell: 2, data: { entry } }
    expect(eventLine(event, new Map())).toBe(
      'Event 12 of cell 2: entry.posted, user 1000000, -2.5 of currency 2, order-1',
    )
  })

  it('an event of a form that it does not know as it is', () => {
    expect(eventLine({ type: 'new' }, new Map())).toBe('Event: {"type":"new"}')
  })

  it.each([
    [false, '[wrangler:info] GET /tron/generate 200 OK (82ms)'],
    [false, '{"level":"info","event":"request","route":"/tron/generate","status":200}'],
    [false, '{"level":"info","event":"tick","durationMs":383}'],
    [false, ''],
    [true, '{"level":"warn","event":"node-error"}'],
    [true, '{"level":"error","alarm":"payout-stuck"}'],
    [true, '{"level":"error","event":"request-crashed","text":"TypeError: [wrangler:info]"}'],
    [true, '[wrangler:error] the script could not be built'],
    [true, '✘ [ERROR] Build failed with 1 error:'],
  ])('%s of what the service prints: %s', (isPrinted, line) => {
    expect(isWorthPrinting(line)).toBe(isPrinted)
  })
})

describe('a refused token', () => {
  const line = (status: number, route: string) =>
    `{"level":"info","event":"request","requestId":"1","route":"${route}","method":"GET","status":${status},"durationMs":1}`
  it('is named with the secret that it should be signed with', () => {
    expect(refusedTokenLine(line(401, '/wallet/list'))).toMatch(/^GET \/wallet\/list: 401\. .* AUTH_JWT_SECRET /)
    expect(refusedTokenLine(line(401, '/ledger/entries'))).toMatch(/ BACKEND_JWT_SECRET /)
  })
  it('is the only request that is named', () => {
    expect(refusedTokenLine(line(200, '/wallet/list'))).toBeNull()
    expect(refusedTokenLine('{"level":"info","event":"tick","status":401}')).toBeNull()
    expect(refusedTokenLine('{"level":"info" and no JSON')).toBeNull()
  })
})

describe('npm start -- --help', () => {
  const start = (args: readonly string[], environment = {}) =>
    runCommand('test/devnet/start.ts', args, { withoutNetwork: true, environment })

  it('has the rest, with one token, and starts nothing', async () => {
    const { code, out } = await start(['--help'])
    expect(code).toBe(0)
    expect(out.match(/eyJ[\w.-]+/g)).toHaveLength(1)
    for (const part of [
      '/tron/recharge',
      '/ledger/entries',
      '/ledger/payouts',
      'npm run payout -- run',
      'npm run collect -- plan',
    ])
      expect(out).toContain(part)
    expect(out).toContain('-H "authorization: Bearer $TOKEN"')
  })

  it('names the ports that are chosen, and refuses options that it does not know', async () => {
    const { out } = await start(['--help'], { PORT: '8901', DEVNET_PORT: '9201' })
    expect(out).toContain('curl http://127.0.0.1:8901/tron/generate')
    expect(out).toContain('http://127.0.0.1:9201/jsonrpc')
    const close = await start([], { PORT: '9087', DEVNET_PORT: '9090' }) // the shop's is the chain's
    expect(close.all).toBe('PORT and DEVNET_PORT are too close: choose ports that differ by 5 or more.\n')
    const { code, all } = await start(['--port', '1'])
    expect([code, all]).toEqual([2, expect.stringContaining('npm start -- --help')])
    const taken = await start(['3'], { npm_config_cells: 'true' }) // what npm makes of "npm start --cells 3"
    expect([taken.code, taken.all]).toEqual([
      2,
      expect.stringMatching(
        /^npm has taken --cells for itself\. Write "--" before the options: npm start -- --cells\n$/,
      ),
    ])
  })
})
