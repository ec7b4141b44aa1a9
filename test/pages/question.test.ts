import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/deposit/languages/en.ts'
import { outcomeWords } from '../../src/pages/deposit/outcome.ts'
import { allReasons, handInTexts, heldReasons, refusedReasons } from '../../src/worker/common/reasons.ts'
import { textOf } from '../support/source-files.ts'
import { usePages } from './fixture.ts'
import { askAbout, openFold } from './reading.ts'
import type { Scripted } from './scripted-service.ts'
import { txidOf } from './story.ts'

const pages = usePages()

/**
 * An answer of the service, and texts of the page about it: what has happened, then what becomes of
 * the money and what to do.
 */
type Answer = readonly [Scripted, en: readonly string[], zh: readonly string[]]

const support = 'the support of the site or app that gave you this page'
const supportInChinese = '向您提供本页面的网站或应用的客服'

/** A failure of the service with this `x-reason`. `seconds` is its `Retry-After`. */
const refused = (status: number, reason: string, seconds?: number): Scripted => ({
  status,
  msg: 'the sentence of the service',
  headers: { 'x-reason': reason, ...(seconds === undefined ? {} : { 'retry-after': `${seconds}` }) },
})

const answers: readonly Answer[] = [
  [{ msg: 'success: already credited 25 USDT' }, ['Credited', 'It is in your balance'], ['已入账', '已计入您的余额']],
  [
    { status: 404, msg: 'no such transaction' },
    ['does not know this transaction', 'pending or failed, the money has not left', 'try again in a minute'],
    ['没有这笔交易', '资金还没有转出', '一分钟后再试'],
  ],
  [
    refused(409, 'not-final', 41),
    ['On its way', 'final in about 41 s', 'If it pays your address'],
    ['确认中', '约 41 秒后', '如果付款到您的地址'],
  ],
  [
    refused(409, 'finality-late', 15),
    ['On its way', 'whose answers are late just now', 'credited by itself once it is final'],
    ['确认中', '网络响应延迟'],
  ],
  [
    refused(409, 'nodes-disagree'),
    ['cannot be decided yet', 'Nothing is lost by waiting', support],
    ['无法判定', '等待不会造成损失', supportInChinese],
  ],
  [
    refused(422, 'transaction-failed'),
    ['nothing has arrived', 'the money has not left your wallet', 'you can send it again'],
    ['没有到账', '资金没有离开您的钱包', '可以重新转账'],
  ],
  [
    refused(422, 'no-transfer'),
    ['not sent to your address', 'nothing has arrived here', 'who alone can send it back'],
    ['没有转到您的地址', '这里没有到账', '只有对方能够退回'],
  ],
  ...['not-accepted', 'trc10'].map(
    (reason): Answer => [
      refused(422, reason),
      ['not accepted here', 'not in your balance', 'Send no more of it', support],
      ['不被接受', '没有计入余额', '请不要再转入', supportInChinese],
    ],
  ),
  ...['not-a-transfer', 'zero-amount'].map(
    (reason): Answer => [refused(422, reason), ['moved no money to you', support], ['没有向您付款', supportInChinese]],
  ),
  ...['from-own-address', 'internal-transfer', 'from-operator'].map(
    (reason): Answer => [refused(422, reason), ['It is not a deposit', support], ['这不是充值', supportInChinese]],
  ),
  [
    refused(422, 'below-minimum'),
    ['has arrived and is recorded', 'below the minimum', support],
    ['已到账并有记录', '低于最低金额', supportInChinese],
  ],
  [refused(422, 'dust'), ['has arrived and is recorded', 'You need to do nothing'], ['已到账并有记录', '您无需操作']],
  [refused(422, 'retired'), ['has arrived and is safe', support], ['妥善保管', supportInChinese]],
  [refused(422, 'review'), ['was looked at, and is not credited', support], ['经审核后没有入账', supportInChinese]],
  [refused(409, 'review'), ['being looked at before it is credited'], ['都会经过审核']],
  [
    refused(409, 'paid-before-issue'),
    ['older than your address', 'not credited by itself', support],
    ['早于您的地址', '不会自动入账', supportInChinese],
  ],
  [
    refused(409, 'credited-otherwise'),
    ['has arrived and is safe', 'send the transaction number to', support],
    ['妥善保管', '请将交易号发给', supportInChinese],
  ],
  [
    refused(409, 'too-large'),
    ['has arrived and is safe', 'send the transaction number to', support],
    ['妥善保管', '请将交易号发给', supportInChinese],
  ],
  [refused(409, 'wallet-full'), ['credited by itself when there is room'], ['有空间后会自动入账']],
  [refused(409, 'decimals-unknown'), ['Your money is safe'], ['您的资金安全']],
  [refused(429, 'own-allowance', 60), ['try again in 60 s'], ['60 秒后再试']],
  [{ status: 500, msg: 'internal error' }, ['as described here is safe'], ['资金是安全的']],
  [{ status: 502, body: '<html>' }, ['The service cannot answer right now'], ['服务暂时无法响应']],
  // A reason that the page does not know yet.
  [refused(409, 'toString'), ['cannot be decided yet', 'the sentence of the service'], ['无法判定']],
  [
    refused(422, 'new-word'),
    ['it brought nothing to your account', 'the sentence of the service'],
    ['没有给您的账户带来入账'],
  ],
]

describe('a question about a transaction', () => {
  it.each(['en', 'zh'] as const)(
    'is answered with what has happened, whether the money is safe and what to do; and the sentence of the service only where it says more (%s)',
    async (language) => {
      const page = await pages.openLoaded({ languages: [language] })
      await openFold(page, 'question')
      for (const [scripted, en, zh] of answers) {
        pages.answer('/tron/recharge', scripted)
        const words = await askAbout(page, ` https://tronscan.org/#/transaction/${txidOf(9)} `)
        for (const part of language === 'en' ? en : zh) expect(words).toContain(part)
        const isQuoted = words.includes(scripted.msg ?? '-')
        const isUnknown = /toString|new-word/.test(JSON.stringify(scripted.headers ?? {}))
        expect([words, isQuoted]).toEqual([words, isUnknown || scripted.status === undefined])
        const hasFailed = scripted.headers?.['x-reason'] === 'transaction-failed'
        expect([words, words.includes(language === 'en' ? 'The transfer failed' : '转账失败')]).toEqual([
          words,
          hasFailed,
        ])
      }
      expect(pages.asked(`/tron/recharge?txid=${txidOf(9)}`)).toBe(answers.length)
    },
  )

  it('is answered in words for every word that the service has for a transaction', () => {
    const words = (reason: string) => outcomeWords(en, reason, false)
    expect([...heldReasons, ...refusedReasons].filter((reason) => words(reason) === null)).toEqual([])
    const others = allReasons().filter((reason) => words(reason) === null)
    const aboutNothing =
      /^(not-final|finality-late|other-cell|content-|partly-|backend-|insufficient|gap-|issuing-|key-|start-|deploying|rate-|.*-allowance|not-configured|.*-unavailable|scan-|not-in-|decided-|to-|money-|payouts-|stuck-|no-final-|unknown-payout|too-many-orders|order-credited)/
    const ofPayouts: readonly string[] = Object.keys(handInTexts())
    expect(others.filter((reason) => !aboutNothing.test(reason) && !ofPayouts.includes(reason))).toEqual([])
  })

  it('is not sent where it is no transaction number', async () => {
    const page = await pages.openLoaded()
    expect(await askAbout(page, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH')).toContain('That is no transaction number')
    expect(pages.asked('/tron/recharge')).toBe(0)
  })
})

describe('the words for whoever pays', () => {
  it('name who can help by what a person knows', () => {
    const texts = ['en', 'zh'].map((name) => textOf(`src/pages/deposit/languages/${name}.ts`)).join('')
    expect(texts).not.toMatch(/\boperator\b|运营/)
  })
})
