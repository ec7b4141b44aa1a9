import { beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/worker/chain/address.ts'
import { blockSeconds } from '../../../src/worker/chain/block.ts'
import type { Amount } from '../../../src/worker/common/amount.ts'
import { explainHeld } from '../../../src/worker/deposits/explain.ts'
import { shownMax } from '../../../src/worker/deposits/store/of-caller.ts'
import { describeResult } from '../../../src/worker/http/routes/tron-recharge.ts'
import type { Currency } from '../../../src/worker/ledger/currencies.ts'
import type { CheckNowResult } from '../../../src/worker/scan/check.ts'
import { fine, trx, twoCurrencies } from '../../support/currencies.ts'
import { addressOf } from '../../support/transaction-spec.ts'
import { addressIn, payFinal, type RunningService, read, startService, trxTo, usdtTo } from '../service.ts'

describe('GET /tron/recharge', () => {
  const succeeded = (note: string) => ({ status: 200, body: { code: 200, msg: `success: ${note}` } })
  let service: RunningService
  let own: Address
  beforeEach(async () => {
    service = await startService()
    own = await addressIn(await service.get('/tron/generate'))
  })
  const check = async (query = '', uid = 7) => read(await service.get(`/tron/recharge${query}`, uid))

  test('is a success where it finds nothing', async () => {
    expect(await check()).toEqual(succeeded('nothing new'))
  })

  test('credits what is final, once, and shows each caller only their own deposits', async () => {
    payFinal(service, trxTo(own, 1_500_000n), usdtTo(own, 25_000_000n), usdtTo(own, 1n))
    expect(await check('', 8)).toEqual(succeeded('nothing new'))
    service.clock.seconds += blockSeconds // a scan younger than a block is not repeated
    payFinal(service, trxTo(own, 1_500_000n), usdtTo(own, 25_000_000n), usdtTo(own, 1n))
    expect(await check()).toEqual(succeeded('credited 1.5 TRX and 25.000001 USDT'))
    service.clock.seconds += 1 // otherwise the credits of the same millisecond would still count as new
    expect(await check()).toEqual(succeeded('nothing new'))
    const wallets = await read(await service.get('/wallet/list'))
    expect(wallets.body).toMatchObject({ data: { list: [{ amt: 3 }, { amt: 50.000002 }] } })
  })

  test('shows a transfer that is not final yet, and only to its own caller', async () => {
    service.chain.add([usdtTo(own, 5n)])
    service.chain.addEmpty(5)
    const { status, body } = await check()
    expect({ status, body }).toMatchObject({ status: 200, body: { msg: expect.stringContaining('1 transfer found') } })
    expect(await check('', 8)).toEqual(succeeded('nothing new'))
  })

  test('counts no TRC-10 transfer', async () => {
    service.chain.add([{ kind: 'trc10', from: addressOf(99), to: own, amount: 5n }, trxTo(own, 5n), usdtTo(own, 5n)])
    expect((await check()).body).toMatchObject({ msg: expect.stringContaining('; 2 transfers found, final in') })
  })

  test('credits one transaction by its txid, and is a success again later', async () => {
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n))
    expect(await check(`?txid=${txid}`)).toEqual(succeeded('credited 25 USDT'))
    expect(await check(`?txid=0x${txid?.toUpperCase()}`)).toEqual(succeeded('already credited 25 USDT'))
  })

  test('is 409 with the seconds to wait where the transaction is not final yet', async () => {
    const block = service.chain.add([usdtTo(own, 5n)])
    const response = await service.get(`/tron/recharge?txid=${block.transactions[0]?.txid}`)
    const seconds = Number(response.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(await read(response)).toMatchObject({ status: 409, body: { msg: expect.stringContaining(`${seconds} s`) } })
  })

  test('is the same for the transaction of another caller as for one that pays no caller', async () => {
    const [txid] = payFinal(service, usdtTo(own, 25_000_000n))
    const [foreignTxid] = payFinal(service, usdtTo(addressOf(5), 25_000_000n))
    const result = await check(`?txid=${txid}`, 8)
    expect(result.status).toBe(422)
    expect(await check(`?txid=${foreignTxid}`, 8)).toEqual(result)
    expect(JSON.stringify(result.body)).not.toMatch(/\d{4}|USDT|25/)
    await check()
    expect(await check(`?txid=${txid}`, 8)).toEqual(result)
  })
})

describe('the message', () => {
  const quiet: CheckNowResult = { credited: [], unconfirmed: null, held: [], behindBlocks: 0, problem: null }
  const deposit = ({ cuy }: Currency, units: bigint) => ({ cuy, amount: units as Amount })
  const usedUp = 'the requests that the nodes allow are used up for now'
  const everything: Partial<CheckNowResult> = {
    credited: [deposit(trx, 1_000_000n)],
    unconfirmed: { count: 1, seconds: 9 },
    held: [{ reason: 'retired' }],
    behindBlocks: 2,
    problem: 'no-answer',
  }

  test.each<[string, Partial<CheckNowResult>, string]>([
    ['nothing', {}, 'nothing new'],
    ['a deposit', { credited: [deposit(trx, 25_000_000n)] }, 'credited 25 TRX'],
    [
      'deposits in two currencies, in the order of the currencies',
      { credited: [deposit(fine, 1n), deposit(trx, 2n), deposit(trx, 1n)] },
      'credited 0.000003 TRX and 0.000001 FINE',
    ],
    ['a transfer', { unconfirmed: { count: 1, seconds: 40 } }, 'nothing new; 1 transfer found, final in about 40 s'],
    ['two', { unconfirmed: { count: 2, seconds: 3 } }, 'nothing new; 2 transfers found, final in about 3 s'],
    [
      'held transfers, by their reason',
      { held: [{ reason: 'retired' }, { reason: 'too-large' }, { reason: 'retired' }] },
      `nothing new; 2 transfers not credited yet: ${explainHeld('retired')}; ` +
        `1 transfer not credited yet: ${explainHeld('too-large')}`,
    ],
    [
      'as many held ones as are read, of which there can be more',
      { held: Array.from({ length: shownMax }, (_, i) => ({ reason: i < 9 ? 'too-large' : 'retired' })) },
      `nothing new; at least 9 transfers not credited yet: ${explainHeld('too-large')}; ` +
        `at least 91 transfers not credited yet: ${explainHeld('retired')}`,
    ],
    [
      'as many as are read that are not final',
      { unconfirmed: { count: shownMax, seconds: 3 } },
      'nothing new; at least 100 transfers found, final in about 3 s',
    ],
    ['a backlog', { behindBlocks: 1200, problem: 'out-of-time' }, 'nothing new; the scan is 1200 blocks behind'],
    ['one block', { behindBlocks: 1 }, 'nothing new; the scan is 1 block behind'],
    ['a scan without time', { problem: 'out-of-time' }, 'nothing new; the scan did not finish in time'],
    ['nodes that do not respond', { problem: 'no-answer' }, 'nothing new; no node gave a usable response'],
    ['nodes that disagree', { problem: 'disagreement' }, 'nothing new; the nodes disagree'],
    ['a fork', { problem: 'forked' }, 'nothing new; the scan is stopped until an operator has checked the chain'],
    ['a long scan', { problem: 'still-running' }, 'nothing new; a scan is still running'],
    [
      'an allowance that is used up',
      { problem: 'limited', behindBlocks: 1 },
      `nothing new; ${usedUp}; the scan is 1 block behind`,
    ],
    [
      'all of these',
      everything,
      `credited 1 TRX; 1 transfer found, final in about 9 s; 1 transfer not credited yet: ${explainHeld('retired')}; ` +
        'no node gave a usable response; the scan is 2 blocks behind',
    ],
  ])('of %s', (_what, changes, message) => {
    expect(describeResult({ ...quiet, ...changes }, twoCurrencies)).toBe(message)
  })
})
