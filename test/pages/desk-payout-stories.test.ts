import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { alarm, happened, onChain, owned, posted } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { addPayouts, paidOut, payoutAddress, payoutTo } from './payout-fixture.ts'
import { askDesk, downloadedBy, filterBy, foreignTexts, poke, press, seeIn, showList, textOfFirst } from './reading.ts'
import { exact } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const lists = 'section:has(> #lists)'

/** A payout, texts of its story, and the text that the user is told. */
type Expected = readonly [id: number, says: readonly string[], forUser: string]

const inEnglish: readonly Expected[] = [
  [
    41,
    [
      ...['10 USDT: Waits for a person', 'by shop', `To ${payoutTo}`, '10 USDT, and a fee of 0.5 USDT', 'User 7'],
      ...['no limit of PAYOUTS allowed it, or payouts were stopped', 'payout.waiting', 'Whoever asked for it cannot'],
    ],
    'is being looked at',
  ],
  [
    42,
    ['By office', 'the signer is offered it', 'ended without paying: 1', 'names each payout that it does not sign'],
    'is sent soon.',
  ],
  [
    43,
    [
      ...['By the limits of PAYOUTS', txidOf(43), 'It can get into a block until', 'Again and again, to every node'],
      ...['Nobody can cancel it now'],
    ],
    `is on its way (transaction ${txidOf(43)})`,
  ],
  [
    44,
    [
      txidOf(44),
      'Block 70,000,000, final: exactly this has left',
      'Taken from the balance at once: 10 USDT',
      'Nothing has',
    ],
    `to ${payoutTo} is paid (transaction ${txidOf(44)})`,
  ],
  [
    45,
    [
      ...[
        'has failed: nothing was paid',
        'The chain says OUT_OF_ENERGY: its energy',
        'It cost 1.53 TRX, and 11,850 energy',
      ],
      ...['failed: a sentence', 'Block 70,000,001, final', 'Repair the cause'],
    ],
    'is delayed',
  ],
  [
    46,
    ['Nobody has approved it', '10.5 USDT is back', 'asked for twice', 'under another osn'],
    '10.5 USDT is back in your',
  ],
  [47, ['Its transactions have expired', 'ended without paying: 3', 'the clock of the signer'], 'is delayed'],
  [
    48,
    [
      ...['without paying exactly this', '12 units of the contract TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
      ...[`to ${payoutAddress}`, 'decide who pays for it first', '"moved": true'],
    ],
    'is delayed',
  ],
]

const inChinese: readonly Expected[] = [
  [41, ['10 USDT：待批准', '申请方：shop', '另收手续费 0.5 USDT', '须人工决定', '申请者本人不能批准'], '正在审核'],
  [42, ['批准方：office', '已提供给签名程序', '已结束但未付款的交易：1 笔', '请查看签名程序'], '很快付出'],
  [43, ['在 PAYOUTS 限额之内', txidOf(43), '之前可被打包', '反复发送给每个节点', '现在无法取消'], '正在途中'],
  [44, ['10 USDT：已付出', '区块 70,000,000，已最终确认：已如数付给收款方', '无需处理'], '提现已付出'],
  [
    45,
    ['受阻', '执行失败：没有付款', '链上结果 OUT_OF_ENERGY：能量不足', '消耗 1.53 TRX 和 11,850 能量', '请排除原因'],
    '有延迟',
  ],
  [46, ['未经批准', '10.5 USDT 已退回余额', '另一个订单号'], '10.5 USDT 已退回您的余额'],
  [47, ['其交易均已过期', '签名程序的时钟'], '有延迟'],
  [
    48,
    ['没有如数付款', '已从提现地址转出：合约 TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t 的 12 个单位', '已有资金转出'],
    '有延迟',
  ],
]

describe('the story of a payout', () => {
  it.each([
    ['English', 'en', inEnglish],
    ['Chinese', 'zh-CN', inChinese],
  ] as const)(
    'has each state and reason, what to do, and a sentence for the user: %s',
    async (_name, language, all) => {
      addPayouts(at.desk)
      const page = await open({ ...desktop, languages: [language] })
      await page.waitForSelector('#state')
      for (const [id, says, forUser] of all) {
        const story = await askDesk(page, `payout ${id}`)
        for (const words of says) expect(story).toContain(words)
        expect(await textOfFirst(page, 'blockquote')).toContain(forUser)
        if (language === 'zh-CN') expect(await foreignTexts(page, 'zh')).toEqual([])
      }
    },
  )

  it('says why it is not signed, and what follows when it has expired', async () => {
    addPayouts(at.desk)
    at.desk.payouts = [
      paidOut(2, 'approved', { approved_by: 'limits', why: 'it waits: the issuer has paused the token' }),
      paidOut(1, 'signed', { approved_by: 'limits', txid: txidOf(1), expires_at: ago(600) }),
    ]
    const page = await open()
    await page.waitForSelector('#state')
    const expired = await askDesk(page, 'payout 1')
    for (const words of ['It has expired, and is not sent any more', 'it is never paid twice']) {
      expect(expired).toContain(words)
    }
    const waiting = await askDesk(page, 'payout 2')
    for (const words of [
      'Not yet: the signer is not offered it.',
      'paused the token',
      'until then it can be cancelled',
    ]) {
      expect(waiting).toContain(words)
    }
    Object.assign(at.desk.summary.payouts ?? {}, { stopped: { why: 'restored', since: ago(700), txids: [] } })
    await poke(page)
    await seeIn(page, '.result', 'payouts are stopped, and the signer is offered none')
    await seeIn(page, '.result', 'Leave the signer running')
  })

  it('is found by its order, with its entries, by its transactions, and by an address of its own', async () => {
    addPayouts(at.desk)
    at.desk.entries = [
      posted(9, 9, '1', { osn: 'payout-46', by: 'office' }),
      posted(8, 5, '10.5', { osn: 'payout-46' }),
      posted(7, 4, '-0.5', { osn: 'payout-46', by: 'shop' }),
      posted(6, 2, '-10', { osn: 'payout-46', by: 'shop' }),
    ]
    const page = await open(desktop, '#token=good&uid=7&osn=payout-46')
    await seeIn(page, '.result', '10 USDT: Cancelled')
    await seeIn(page, '.result', 'Entries: 3')
    const order = await textOfFirst(page, '.result')
    expect(order).toContain('−10 USDT Withdrawal')
    expect(order).toContain('Adjustment: +1 USDT') // an entry with the same `osn`, which does not belong to the payout
    expect(await askDesk(page, `https://tronscan.org/#/transaction/${txidOf(44)}`)).toContain('10 USDT: Paid')
    expect(pages.asked('/ledger/transaction')).toBe(0)
    const list = { list: [paidOut(42, 'approved', { approved_by: 'office', attempts: 1 })], count: 1 }
    pages.answer('/ledger/payouts', { data: list })
    expect(await askDesk(page, txidOf(40))).toContain('an earlier one of the payout, which went on without it')
  })

  it('is shown also where the summary comes late, and nobody knew before whether there are payouts', async () => {
    addPayouts(at.desk)
    const summary = pages.service.routes.get('/ledger/summary')
    pages.answer('/ledger/summary', { status: 503, msg: 'not now' })
    const page = await open(desktop, '#token=good&payout=41')
    await seeIn(page, '.status', 'not now')
    await seeIn(page, '.result', 'There is no such payout')
    if (summary !== undefined) pages.service.routes.set('/ledger/summary', summary)
    await poke(page)
    await seeIn(page, '.result', '10 USDT: Waits for a person')
  })

  it('has its txid with a button that copies it', async () => {
    addPayouts(at.desk)
    const page = await open()
    await page.waitForSelector('#state')
    await askDesk(page, 'payout 44')
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void Object.assign(document, { title: text })
    })
    await press(page, 'Copy the txid')
    await seeIn(page, '.steps', 'Copied')
    expect(await page.title()).toBe(txidOf(44))
  })
})

describe('the box', () => {
  it('has the payouts to an address, and says what the payout address is', async () => {
    addPayouts(at.desk)
    const page = await open()
    await page.waitForSelector('#state')
    const to = await askDesk(page, payoutTo)
    for (const words of ['No user has this address, but payouts go to it', 'Payouts: 8', 'Stuck']) {
      expect(to).toContain(words)
    }
    at.desk.summary.alarms = [alarm('address-frozen', { cuy: 2, address: payoutAddress })]
    await poke(page)
    await seeIn(page, '#state', 'has frozen an address')
    const own = await askDesk(page, payoutAddress)
    for (const words of [
      'The address that payouts are paid from',
      'no deposit',
      '250.25',
      'Frozen by the issuer of USDT',
    ]) {
      expect(own).toContain(words)
    }
    expect(await askDesk(page, payAddress)).not.toContain('Payouts')
    expect(await askDesk(page, 'payout 99')).toContain('There is no such payout')
  })

  it('has both directions of a user, each page by page with its file', async () => {
    addPayouts(at.desk)
    at.desk.payouts = Array.from({ length: 45 }, (_, index) =>
      paidOut(45 - index, 'paid', { amt: exact(`${index}.5`) }),
    )
    at.desk.deposits = Array.from({ length: 25 }, (_, index) => owned(25 - index, 'credited'))
    const page = await open({}, '#token=good&uid=7')
    await seeIn(page, '.result', 'Payouts: 45')
    await seeIn(page, '.result', 'Deposits: 25')
    const rows = '.result .rows:has([aria-label="Download as CSV: Payouts"])'
    for (const shown of ['20 of 45', '40 of 45', 'All 45 are shown']) {
      await seeIn(page, rows, shown)
      await page.$$eval(`${rows} button`, (all) => all.find((one) => one.textContent === 'Show more')?.click())
    }
    expect((await downloadedBy(page, `${rows} [aria-label^="Download"]`)).split('\r\n')).toHaveLength(1 + 45 + 1)
    expect(await pages.shift()).toBeLessThan(0.1)
    expect(await askDesk(page, '8')).toContain('no deposit, no order and no entry')
  })
})

describe('the events of payouts', () => {
  it.each([
    [
      'en',
      ['Payout: Cancelled', 'Payout: Stuck', 'Payout: Waits for a person'],
      'has failed: nothing was paid',
      'Cancelled',
    ],
    ['zh-CN', ['链上提现：已取消', '链上提现：受阻', '链上提现：待批准'], '执行失败：没有付款', '已取消'],
  ])(
    'have words in rows and in the filter, and lead to the story of the payout: %s',
    async (language, names, why, end) => {
      addPayouts(at.desk)
      at.desk.events = at.desk.payouts
        .filter(({ id }) => [41, 45, 46].includes(id))
        .reverse()
        .map((payout, index) => happened(index + 1, `payout.${payout.state}`, payout))
      at.desk.summary.newest_event = 3
      const page = await open({ ...desktop, languages: [language] })
      await showList(page, 'events')
      await seeIn(page, lists, '3')
      const shown = await page.$$eval(`${lists} td button`, (all) => all.map((one) => one.textContent))
      expect(shown).toEqual(names.map((name) => `${name} · 10 USDT`))
      await seeIn(page, lists, why)
      const options = await page.$$eval('#filter-state option', (all) => all.map((one) => one.textContent))
      expect(options.filter((one) => one?.startsWith(names[0]?.slice(0, 4) ?? '-'))).toHaveLength(6)
      const file = await downloadedBy(page, `${lists} [aria-label*="CSV"]`)
      expect(file).toContain('"7","10","USDT",,"payout-46",,"asked for twice"')
      await page.click(`${lists} td button`)
      await seeIn(page, '.result h3', end)
      await filterBy(page, 'state', 'payout.stuck')
      await seeIn(page, lists, why)
      expect(await page.$$eval(`${lists} tbody tr`, (all) => all.length)).toBe(1)
    },
  )
})

describe('a transaction that stops payouts', () => {
  it('has what to do about it, and no word that all is done', async () => {
    addPayouts(at.desk)
    Object.assign(at.desk.summary.payouts ?? {}, {
      stopped: { why: 'unknown-transaction', since: ago(60), txids: [txidOf(98), txidOf(99)] },
    })
    at.desk.chain = onChain('worthless', 'a sentence', null, { reason: 'from-operator' })
    const page = await open()
    await page.waitForSelector('#state')
    const story = await askDesk(page, txidOf(99))
    expect(story).toContain('npm run operate -- payouts resume')
    expect(story).not.toContain('Nothing has to be done')
  })
})
