import { describe, expect, it } from 'vitest'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { textOf } from '../support/source-files.ts'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { addDifferences, faults, onChain, owned } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { askDesk, seeIn, textOfFirst } from './reading.ts'
import { exact, type Scripted } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at

/**
 * An answer of the service, and the page's words: what is the matter, what support can do, and what
 * to tell the user.
 */
type Answer = readonly [answer: ReturnType<typeof onChain>, says: string, next: string, forUser: string]

const inEnglish: readonly Answer[] = [
  [
    onChain('unknown', 'no such transaction'),
    'not known here, nor to any node',
    'Ask the user for the txid',
    'We cannot find the transaction',
  ],
  [
    onChain('creditable', 'it is final; the scan or the question of its owner credits it', 7),
    'It is final, and not credited yet',
    'by asking for this txid on the deposit page',
    'credited to your balance soon',
  ],
  [
    onChain('not-final', 'found', null, { reason: 'not-final', seconds: 41 }),
    'Not yet: in about 41 s',
    'Look it up again in a minute',
    'makes it final in about 41 s',
  ],
  [
    onChain('not-final', 'found, late', null, { reason: 'finality-late' }),
    'Not yet, and the answers of the network are late',
    'Look it up again in a minute',
    'are late just now',
  ],
  [
    onChain('undecided', 'a sentence', 7, { reason: 'nodes-disagree' }),
    'The Tron nodes disagree',
    'npm run doctor -- --production',
    'it cannot be credited yet. The Tron nodes disagree',
  ],
  [
    onChain('worthless', 'a sentence', 7, { reason: 'internal-transfer' }),
    'so it is no deposit',
    'Nothing has to be done',
    'Nothing of it is credited. It was sent by this service',
  ],
  [
    onChain('worthless', 'a sentence', null, { reason: 'no-transfer' }),
    'It concerns no user of this service',
    'Compare its recipient in an explorer',
    'It pays no address of this service',
  ],
  [onChain('credited', 'already credited', 7), 'It is credited', 'Look it up again', 'is in your balance'],
  [
    onChain('worthless', 'a new sentence', 7),
    'a new sentence',
    'have a backend post an adjustment (POST /ledger/entries, type 9)',
    '“a new sentence”',
  ],
  [onChain('a-new-answer', 'a new sentence', 7), 'It cannot be decided yet', 'Look it up again', '“a new sentence”'],
]

const inChinese: readonly Answer[] = [
  [onChain('worthless', 'a sentence', 7, { reason: 'transaction-failed' }), '执行失败', '无需处理', '执行失败'],
  [
    onChain('not-final', 'found', null, { reason: 'not-final', seconds: 41 }),
    '约 41 秒后',
    '一分钟后',
    '约 41 秒后最终确认',
  ],
]

describe('a transaction of which no deposit is stored', () => {
  it.each([
    ['English', 'en', inEnglish],
    ['Chinese', 'zh-CN', inChinese],
  ] as const)(
    'has what the chain says, what to do, and a sentence for the user: %s',
    async (_name, language, answers) => {
      const page = await open({ ...desktop, languages: [language] })
      await page.waitForSelector('#state')
      for (const [answer, says, next, forUser] of answers) {
        at.desk.chain = answer
        const shown = await askDesk(page, txidOf(99))
        for (const words of [says, next, answer.why]) expect(shown).toContain(words)
        expect(await textOfFirst(page, 'blockquote')).toContain(forUser)
        expect(await textOfFirst(page, '.result [lang="en"]')).toBe(answer.why)
      }
    },
  )

  it('leads to its user, and names unread blocks where it can be in one', async () => {
    faults[0]?.[1](at.desk)
    at.desk.chain = onChain('creditable', 'it is final', 7)
    const page = await open()
    await page.waitForSelector('#state')
    expect(await askDesk(page, txidOf(99))).toContain('it can be in one of them')
    await page.click('.steps button')
    await seeIn(page, '.result', 'Balances')
  })

  it('says how long to wait where the nodes cannot be asked, and that nothing is stored', async () => {
    const answers: readonly (readonly [Scripted, string])[] = [
      [{ status: 429, msg: 'used up', headers: { 'retry-after': '40' } }, 'Look it up again in 40 s'],
      [{ status: 503, msg: 'no Tron node', headers: { 'retry-after': '5' } }, 'Look it up again in 5 s'],
      [{ status: 409, msg: 'nothing is credited until an operator' }, 'The service has refused'],
    ]
    const page = await open()
    await page.waitForSelector('#state')
    for (const [scripted, says] of answers) {
      pages.answer('/ledger/transaction', scripted)
      const shown = await askDesk(page, txidOf(99))
      for (const words of [says, scripted.msg ?? '', 'No deposit of this transaction is stored']) {
        expect(shown).toContain(words)
      }
    }
  })

  it('does not ask the nodes about what is stored', async () => {
    const page = await open()
    await page.waitForSelector('#state')
    await askDesk(page, txidOf(8))
    expect(pages.asked('/ledger/transaction')).toBe(0)
  })
})

describe('a part of an address or of a txid', () => {
  const [begin, end] = [payAddress.slice(0, 6), payAddress.slice(-6)]

  it('leads to the one story of what begins and ends so, however it is written', async () => {
    const page = await open()
    await page.waitForSelector('#state')
    for (const asked of [`${begin}…${end}`, `${begin}...${end}`, `${begin} ${end}`, `${begin}…`, begin]) {
      expect(await askDesk(page, asked)).toContain('User 7: address 3')
    }
    const txid = txidOf(8)
    for (const asked of [`${txid.slice(0, 6)}…${txid.slice(-6)}`, txid.slice(0, 8)]) {
      expect(await askDesk(page, asked)).toContain(`${txid}25 USDT: Credited`)
    }
  })

  it('has an address of its own, and a list where several begin so', async () => {
    at.desk.deposits = [1, 2, 3].map((n) => owned(n, 'credited', { txid: `abcdef${String(n).repeat(58)}`, entry: 5 }))
    const page = await open()
    await page.waitForSelector('#state')
    const several = await askDesk(page, 'ABCDEF…')
    for (const says of ['Begins with “abcdef”', 'abcdef111', 'abcdef222', 'abcdef333', 'There are more']) {
      expect(several).toContain(says)
    }
    expect(await page.evaluate(() => location.hash)).toBe('#part=abcdef%E2%80%A6')
    await page.click('.result li button')
    await seeIn(page, '.result', '25 USDT: Credited')
    await page.goBack()
    await seeIn(page, '.result', 'There are more')
  })

  it.each([
    ['en', ['Nothing begins with “TWer2Y” and ends with “zzzz”', 'Looked for among the addresses of users', 'Senders']],
    ['zh-CN', ['没有以“TWer2Y”开头、以“zzzz”结尾的地址或交易', '不查找付款方地址']],
  ])('that nothing has: the page says what it looked for, and where (%s)', async (language, says) => {
    const page = await open({ ...desktop, languages: [language] })
    await page.waitForSelector('#state')
    const answer = await askDesk(page, 'TWer2Y…zzzz')
    for (const one of says) expect(answer).toContain(one)
  })

  it('can be the reference of an order as well, which is looked for first', async () => {
    const page = await open()
    await page.waitForSelector('#state')
    at.desk.entries = at.desk.entries.map((one) => ({ ...one, osn: begin }))
    expect(await askDesk(page, begin)).toContain('entry.posted')
  })
})

describe('what belongs to no user, at reserved addresses', () => {
  it.each([
    ['en', 'Reserved: give it to its user by a transfer', 'Reserved: address 3'],
    ['zh-CN', '预留：请以转账交给其用户', '预留：地址编号 3'],
  ])('is called reserved (%s): an address, a transaction, their owner', async (language, whose, address) => {
    pages.answer('/ledger/address', { data: { uid: reservedUid, id: 3, address: payAddress, reserved: true } })
    at.desk.deposits = []
    at.desk.chain = onChain('creditable', 'it is final; the scan or the question of its owner credits it', reservedUid)
    const page = await open({ ...desktop, languages: [language] })
    await page.waitForSelector('#state')
    expect(await askDesk(page, payAddress)).toContain(address)
    expect(await askDesk(page, txidOf(99))).toContain(whose)
    expect(await askDesk(page, String(reservedUid))).toContain(whose)
  })
})

describe('a gap', () => {
  it('has the deposits that were seen in it: they wait, and their stories say so', async () => {
    faults[0]?.[1](at.desk)
    at.desk.deposits = [
      owned(10, 'seen', { seconds: 41, created_at: ago(16) }),
      owned(9, 'seen', { seconds: 0, created_at: ago(7_250) }),
    ]
    const page = await open()
    await seeIn(page, 'section:has(#gaps)', 'Deposits seen there, and waiting: 2')
    expect(await askDesk(page, 'gap 100')).toContain('Seen, and not credited yet')
    expect(await page.$$eval('.result tbody tr', (all) => all.length)).toBe(1)
    await page.click('.result tbody button')
    await seeIn(page, '.result', 'its block seems to be one that could not be read')
    expect(await textOfFirst(page, 'blockquote')).toContain('as soon as its block can be read here')
    expect(await askDesk(page, txidOf(10))).toContain('Not yet: in about 41 s')
  })
})

describe('the differences', () => {
  it.each([
    [390, '-1234567890.123456789012345678'],
    [320, '-9007199254.740993'],
  ])('have every amount in one line on a phone of %i pixels', async (width, amount) => {
    addDifferences(at.desk)
    for (const one of at.desk.summary.differences) Object.assign(one, { amt: exact(amount) })
    const page = await open({ width })
    await seeIn(page, 'section:has(#differences)', '−')
    const lines = await page.$$eval('section:has(#differences) td span', (all) =>
      all.flatMap((one) => {
        const [text] = one.childNodes
        const [shown] = /−[\d,.]+/.exec(one.textContent) ?? []
        if (text === undefined || shown === undefined) return []
        const range = document.createRange()
        range.setStart(text, one.textContent.indexOf(shown))
        range.setEnd(text, one.textContent.indexOf(shown) + shown.length)
        return [range.getClientRects().length]
      }),
    )
    expect(lines).toEqual([1, 1])
  })

  it('lead to the documentation of the post that they advise, which has an adjustment', async () => {
    addDifferences(at.desk)
    const page = await open()
    const link = await page.waitForSelector('.status a')
    const route = textOf('src/worker/http/routes/post-ledger-entries.ts')
    expect(await link?.evaluate((one) => [one.getAttribute('href'), one.textContent])).toEqual([
      `/docs#/Ledger/${/^ {4}id: '(\w+)'/m.exec(route)?.[1]}`,
      'POST /ledger/entries',
    ])
    expect(route).toContain("name: 'an adjustment'") // it works: the examples of the documentation are run as tests
  })

  it('say how many addresses there are where not all are shown', async () => {
    at.desk.summary.differences = [{ cuy: 1, address: payAddress, amt: 1, since: ago(60) }]
    for (const currency of at.desk.summary.currencies) currency.differing = 20
    const page = await open()
    await seeIn(page, 'section:has(#differences)', 'More than recorded: +1 TRX')
    await seeIn(page, 'section:has(#differences)', '1 of 40 are shown.')
    await seeIn(page, 'section:has(#differences)', 'Often it is TRX that a contract sent')
  })
})
