import { beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/addresses/address.ts'
import { ok } from '../../../src/common/result.ts'
import type { Deposit, Pending } from '../../../src/deposits/deposit.ts'
import type { Amount } from '../../../src/ledger/amount.ts'
import type { CheckNowReport } from '../../../src/scan/check-now.ts'
import { addressOf } from '../../support/chain-builder.ts'
import { appWith, fine, read, trx } from '../app-harness.ts'
import { addressIn, payFinal, type RunningService, startService, trxTo, usdtTo } from '../service.ts'

const said = (msg: string) => ({ status: 200, body: { code: 200, msg } })
const refused = (status: number, msg: string) => ({ status, body: { code: status, msg } })

describe('GET /tron/recharge', () => {
  let service: RunningService
  let own: Address
  beforeEach(async () => {
    service = await startService()
    own = await addressIn(await service.get('/tron/generate'))
  })
  const check = async (query = '', uid = 7) => read(await service.get(`/tron/recharge${query}`, uid))

  test('finds nothing, which is success', async () => {
    expect(await check()).toEqual(said('success: nothing new'))
  })

  test('succeeds for a caller without an address, before anything was scanned', async () => {
    const empty = await startService()
    expect(await read(await empty.get('/tron/recharge'))).toEqual(said('success: nothing new'))
  })

  test('credits what is final, once, and tells each caller only of their own', async () => {
    payFinal(service, trxTo(own, 1_500_000n), usdtTo(own, 25_000_000n), usdtTo(own, 1n))
    expect(await check('', 8)).toEqual(said('success: nothing new'))
    payFinal(service, trxTo(own, 1_500_000n), usdtTo(own, 25_000_000n), usdtTo(own, 1n))
    expect(await check()).toEqual(said('success: credited 1.5 TRX and 25.000001 USDT'))
    expect(await check()).toEqual(said('success: nothing new'))
    const wallets = await read(await service.get('/wallet/list'))
    expect(wallets.body).toMatchObject({ data: { list: [{ amt: 3 }, { amt: 50.000002 }] } })
  })

  test('says what it saw that is not final yet, and about how long that takes', async () => {
    service.chain.add([usdtTo(own, 5n)])
    service.chain.addEmpty(5)
    const { status, body } = await check()
    expect(status).toBe(200)
    expect((body as { msg: string }).msg).toMatch(/^success: nothing new; 1 transfer seen, final in about \d+ s$/)
    expect(await check('', 8)).toEqual(said('success: nothing new'))
  })

  test('credits one transaction by its txid, and says so again later', async () => {
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n))
    expect(await check(`?txid=${txid}`)).toEqual(said('success: credited 25 USDT'))
    expect(await check(`?txid=0x${txid?.toUpperCase()}`)).toEqual(said('success: credited before: 25 USDT'))
  })

  test('asks for patience where the transaction is not final yet', async () => {
    const block = service.chain.add([usdtTo(own, 5n)])
    const response = await service.get(`/tron/recharge?txid=${block.transactions[0]?.txid}`)
    const seconds = Number(response.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(await read(response)).toEqual(refused(409, `seen, final in about ${seconds} s`))
  })

  test('knows no transaction that the nodes don’t know', async () => {
    expect(await check(`?txid=${'ab'.repeat(32)}`)).toEqual(refused(404, 'no such transaction'))
  })

  test('says nothing about somebody else’s transaction but that it holds nothing for the caller', async () => {
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n))
    const [toNobody] = payFinal(service, usdtTo(addressOf(5), 25_000_000n))
    const answer = await check(`?txid=${txid}`, 8)
    expect(answer.status).toBe(422)
    expect(await check(`?txid=${toNobody}`, 8)).toEqual(answer)
    expect(JSON.stringify(answer.body)).not.toMatch(/\d{4}|USDT|25/)
    await check()
    expect(await check(`?txid=${txid}`, 8)).toEqual(answer)
  })

  test.each(['txid=', 'txid=1', `txid=${'g'.repeat(64)}`, `txid=${'ab'.repeat(33)}`])('refuses ?%s', async (query) => {
    expect(await check(`?${query}`)).toEqual(refused(400, 'txid: 64 hex digits, 0x allowed in front'))
  })

  test('refuses txid given twice', async () => {
    const txid = `txid=${'ab'.repeat(32)}`
    const msg = 'txid: 64 hex digits, 0x allowed in front, given once'
    expect(await check(`?${txid}&${txid}`)).toEqual(refused(400, msg))
  })

  test('is 503 where no node answers', async () => {
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 503 })
    const unavailable = refused(503, 'no Tron node gave a usable answer: try again later')
    expect(await check()).toEqual(unavailable)
    expect(await check(`?txid=${'ab'.repeat(32)}`)).toEqual(unavailable)
  })
})

describe('what recharge says', () => {
  const quiet: CheckNowReport = { credited: [], unconfirmed: null, pending: [], behindBlocks: 0, problem: null }
  const deposit = (currency: typeof trx, units: bigint) => ({ cuy: currency.cuy, amount: units as Amount }) as Deposit
  const waiting = (reason: Pending['reason']) => ({ reason }) as Pending

  test.each<[string, Partial<CheckNowReport>, string]>([
    ['nothing', {}, 'nothing new'],
    ['a deposit', { credited: [deposit(trx, 25_000_000n)] }, 'credited 25 TRX'],
    [
      'deposits in two currencies, in the currencies’ order',
      { credited: [deposit(fine, 1n), deposit(trx, 2n), deposit(trx, 1n)] },
      'credited 0.000003 TRX and 0.000001 FINE',
    ],
    [
      'one unfinal transfer',
      { unconfirmed: { count: 1, seconds: 40 } },
      'nothing new; 1 transfer seen, final in about 40 s',
    ],
    ['two of them', { unconfirmed: { count: 2, seconds: 3 } }, 'nothing new; 2 transfers seen, final in about 3 s'],
    [
      'deposits that wait',
      { pending: [waiting('no-api'), waiting('disagreement'), waiting('no-api')] },
      'nothing new; 2 transfers not credited yet: no source is configured that can tell TRX from a worthless token, ' +
        'so TRX deposits wait; 1 transfer not credited yet: the nodes do not agree about this transaction yet',
    ],
    ['a backlog', { behindBlocks: 1200, problem: 'out-of-budget' }, 'nothing new; the scan is 1200 blocks behind'],
    ['one block', { behindBlocks: 1 }, 'nothing new; the scan is 1 block behind'],
    ['silent nodes', { problem: 'no-answer' }, 'nothing new; no node gave a usable answer'],
    ['nodes that disagree', { problem: 'disagreement' }, 'nothing new; the nodes disagree'],
    ['a fork', { problem: 'forked' }, 'nothing new; the scan has stopped until an operator has looked at the chain'],
    ['a long scan', { problem: 'still-running' }, 'nothing new; a scan is still running'],
    [
      'everything at once',
      {
        credited: [deposit(trx, 1_000_000n)],
        unconfirmed: { count: 1, seconds: 9 },
        behindBlocks: 2,
        problem: 'no-answer',
      },
      'credited 1 TRX; 1 transfer seen, final in about 9 s; no node gave a usable answer; the scan is 2 blocks behind',
    ],
  ])('of %s', async (_what, changes, told) => {
    const { get } = appWith({ recharge: () => Promise.resolve(ok({ ...quiet, ...changes })) })
    expect(await read(await get('/tron/recharge'))).toEqual(said(`success: ${told}`))
  })
})
