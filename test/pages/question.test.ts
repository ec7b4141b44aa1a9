import { describe, expect, it } from 'vitest'
import { textOf } from '../support/source-files.ts'
import { usePages } from './fixture.ts'
import { askAbout } from './reading.ts'
import type { Scripted } from './scripted-service.ts'
import { txidOf } from './story.ts'

const pages = usePages()

/** An answer of the service, and what the page says about it: what has happened, then what about the money and what to do. */
type Answer = readonly [Scripted, en: readonly string[], zh: readonly string[]]

const support = 'the support of the site or app that gave you this page'
const supportInChinese = '向您提供本页面的网站或应用的客服'

const answers: readonly Answer[] = [
  [{ msg: 'success: already credited 25 USDT' }, ['Credited', 'It is in your balance'], ['已入账', '已计入您的余额']],
  [
    { status: 404, msg: 'no such transaction' },
    ['does not know this transaction', 'pending or failed, the money has not left', 'try again in a minute'],
    ['没有这笔交易', '资金还没有转出', '一分钟后再试'],
  ],
  [
    { status: 409, reason: 'not-final', msg: 'a sentence', headers: { 'retry-after': '41' } },
    ['On its way', 'final in about 41 s', 'If it pays your address'],
    ['确认中', '约 41 秒后', '如果付款到您的地址'],
  ],
  [
    {
      status: 409,
      reason: 'finality-late',
      msg: 'a sentence',
      headers: { 'retry-after': '15' },
    },
    ['On its way', 'whose answers are late just now', 'credited by itself once it is final'],
    ['确认中', '网络响应延迟'],
  ],
  [
    { status: 409, msg: 'a new reason' },
    ['cannot be decided yet', 'Nothing is lost by waiting', support],
    ['无法判定', '等待不会造成损失', supportInChinese],
  ],
  [{ status: 422, msg: 'a new reason' }, ['it brought nothing to your account', support], ['没有给您的账户带来入账']],
  [{ status: 429, msg: 'wait, please', headers: { 'retry-after': '60' } }, ['try again in 60 s'], ['60 秒后再试']],
  [{ status: 500, msg: 'internal error' }, ['as described here is safe'], ['资金是安全的']],
  [{ status: 502, body: '<html>' }, ['The service cannot answer right now'], ['服务暂时无法响应']],
]

/** Answers that are known by the word of the service, whatever its sentence is. */
const known: readonly Answer[] = [
  [
    { status: 422, reason: 'transaction-failed' },
    ['nothing has arrived', 'the money has not left your wallet', 'you can send it again'],
    ['没有到账', '资金没有离开您的钱包', '可以重新转账'],
  ],
  [
    { status: 422, reason: 'no-transfer' },
    ['not sent to your address', 'nothing has arrived here', 'who alone can send it back'],
    ['没有转到您的地址', '这里没有到账', '只有对方能够退回'],
  ],
  [
    { status: 422, reason: 'not-accepted' },
    ['not accepted here', 'not in your balance', 'Send no more of it', support],
    ['不被接受', '没有计入余额', '请不要再转入', supportInChinese],
  ],
  [
    { status: 422, reason: 'below-minimum' },
    ['has arrived and is recorded', 'below the minimum', support],
    ['已到账并有记录', '低于最低金额', supportInChinese],
  ],
  [
    { status: 422, reason: 'dust' },
    ['has arrived and is recorded', 'You need to do nothing'],
    ['已到账并有记录', '您无需操作'],
  ],
  [{ status: 422, reason: 'retired' }, ['has arrived and is safe', support], ['妥善保管', supportInChinese]],
  [
    { status: 409, reason: 'paid-before-issue' },
    ['older than your address', 'not credited by itself', support],
    ['早于您的地址', '不会自动入账', supportInChinese],
  ],
  [
    { status: 409, reason: 'too-large' },
    ['has arrived and is safe', 'send the transaction number to', support],
    ['妥善保管', '请将交易号发给', supportInChinese],
  ],
  [{ status: 409, reason: 'wallet-full' }, ['credited by itself when there is room'], ['自动入账']],
]

describe('a question about a transaction', () => {
  it.each(['en', 'zh'] as const)(
    'is answered with what has happened, whether the money is safe and what to do; and the sentence of the service only where it says more (%s)',
    async (language) => {
      const page = await pages.openLoaded({ languages: [language] })
      for (const [scripted, en, zh] of [...answers, ...known]) {
        const msg = scripted.msg ?? 'the sentence of the service'
        pages.answer('/tron/recharge', { ...scripted, msg })
        const words = await askAbout(page, ` https://tronscan.org/#/transaction/${txidOf(9)} `)
        for (const part of language === 'en' ? en : zh) expect(words).toContain(part)
        expect(words.includes(msg)).toBe(/already credited|a new reason/.test(msg))
      }
      expect(pages.asked(`/tron/recharge?txid=${txidOf(9)}`)).toBe(answers.length + known.length)
    },
  )

  it('is never answered with a failed transfer where the transaction has not failed', async () => {
    const page = await pages.openLoaded()
    for (const [scripted] of [...answers, ...known.slice(1)]) {
      pages.answer('/tron/recharge', scripted)
      expect(await askAbout(page, txidOf(9))).not.toContain('The transfer failed')
    }
  })

  it('is not sent where it is no transaction number', async () => {
    const page = await pages.openLoaded()
    expect(await askAbout(page, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH')).toContain('That is no transaction number')
    expect(pages.asked('/tron/recharge')).toBe(0)
  })
})

describe('the words for whoever pays', () => {
  it('name who can help by what a person knows', () => {
    const texts = ['deposit/texts.ts', 'kit/texts.ts'].map((file) => textOf(`src/pages/${file}`)).join('')
    expect(texts).not.toMatch(/\boperator\b|运营/)
  })
})
