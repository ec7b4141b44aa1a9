import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { ago } from './ago.ts'
import { useDesk } from './desk-fixture.ts'
import { addDifferences, addEvents, alarm, faults, owned, posted, wellDesk } from './desk-story.ts'
import { desktop } from './fixture.ts'
import { noneOpen, paidOut } from './payout-fixture.ts'
import { askDesk, downloadedBy, poke, see, seeIn, showList, textOfFirst } from './reading.ts'
import { exact, type Scripted } from './scripted-service.ts'
import { payAddress, txidOf } from './story.ts'

const at = useDesk()
const { pages, open } = at
const tone = (page: Page) => page.$eval('.status', (status) => status.getAttribute('data-tone'))

async function openWell(): Promise<Page> {
  const page = await open()
  await seeIn(page, '#state', 'All is well')
  return page
}

describe('the first screen', () => {
  it('says that all is well, with exact sums, delays and charts, and with the token out of the address', async () => {
    const page = await openWell()
    expect(await page.evaluate(() => location.hash)).toBe('')
    expect(await tone(page)).toBe('good')
    await see(page, '9,007,199,254.740993')
    await see(page, '0 blocks behind final block 70,000,019')
    await seeIn(page, '.delays', 'About a minute is normal.')
    expect(await page.$$eval('.chart [role="img"]', (all) => all.map((one) => one.getAttribute('aria-label')))).toEqual(
      [
        expect.stringMatching(/^Deposits a day: \d+ in all, at most 10$/),
        expect.stringMatching(/^Sum of deposits a day: [\d,.]+ TRX in all, at most 89.5 TRX$/),
        expect.stringMatching(/^Entries a day: Payment: /),
      ],
    )
    expect(await page.$$eval('.chart:first-child tbody tr', (rows) => rows.length)).toBe(30)
  })

  it('says what is wrong and what to do, for each hidden fault', async () => {
    const page = await open()
    for (const [, change, says, advice] of faults) {
      change(Object.assign(at.desk, wellDesk()))
      await poke(page)
      await seeIn(page, '#state', says)
      expect(await textOfFirst(page, '#state + p')).toContain(advice)
      expect(await tone(page)).toMatch(/bad|warn/)
      expect(await page.$('.findings')).toBeNull()
    }
  })

  it('says that a setting is wrong, before anybody signs in', async () => {
    const unconfigured: Scripted = { status: 503, reason: 'not-configured', msg: 'a sentence' }
    for (const path of pages.service.routes.keys()) pages.answer(path, unconfigured)
    const page = await open(desktop, '')
    await seeIn(page, '#state', 'A setting is wrong')
    await seeIn(page, '.status', 'npm run doctor')
  })

  it('has the worst first and each of the others once, in both languages', async () => {
    for (const [, change] of faults) change(at.desk)
    at.desk.summary.alarms = [
      alarm('node-lies', { node: 2 }),
      alarm('a-new-kind', { setting: 'x' }),
      alarm('chain-forked'),
    ]
    addDifferences(at.desk)
    const page = await open({ ...desktop, languages: ['zh-CN'] })
    await seeIn(page, '#state', '有一个最终区块与已存储的区块不相接')
    expect(await page.$$eval('[data-kind]', (all) => all.map((one) => one.getAttribute('data-kind')))).toEqual([
      ...['chain-forked', 'reconciliation-shortfall', 'gap-unread', 'reconciliation-surplus'],
      ...['held', 'node-lies', 'a-new-kind', 'endpoint-failing'],
    ])
    expect(await textOfFirst(page, '.findings li')).toContain('−9,007,199,254.740993 USDT')
    await page.click('header button')
    await seeIn(page, '#state', 'A final block does not follow the stored one.')
    await see(page, 'raised a-new-kind')
    expect(
      await page.$$eval('[data-urgency]', (all) =>
        all.map((one) => [one.getAttribute('data-urgency'), one.textContent]),
      ),
    ).toEqual([
      ['now', 'Act now.'],
      ['now', 'Act now.'],
      ['this-week', 'Act this week.'],
      ['today', 'Act today.'],
      ['now', 'Act now.'],
    ]) // findings that are no alarm have no urgency
    await page.reload()
    // the browser remembers the chosen language
    await seeIn(page, '#state', 'A final block does not follow the stored one.')
  })

  it('names a kind once, with the first of what it is about and the number of the others', async () => {
    const gap = (from: number) => ({ from, to: from, since: ago(60), attempts: 1, why: `cannot read ${from}`, seen: 0 })
    at.desk.summary.gaps = [5, 6, 7, 8, 9].map(gap)
    const page = await open()
    await seeIn(page, '#state', '5 ranges of blocks could not be read')
    expect(await page.$('.findings')).toBeNull()
    const status = await textOfFirst(page, '.status')
    expect(status).toContain('Block 7: cannot read 7')
    expect(status).not.toContain('cannot read 8')
    expect(status).toContain('and 2 more')
  })

  it('names nodes, endpoints and blocks by what they are in the settings, and the log line to look for', async () => {
    faults[0]?.[1](at.desk)
    const { summary } = at.desk
    summary.alarms.push(alarm('node-lies', { node: 2, why: 'wrong-chain' }), alarm('nodes-disagree', { height: 106 }))
    summary.alarms.push(alarm('event-set-aside', { endpoint: 1, event: 31 }))
    const page = await open()
    await seeIn(page, '#state', 'Blocks 100 to 105')
    const status = await textOfFirst(page, '.status')
    for (const words of [
      ...['Node 2: number 2 in TRON_NODES', 'Its URL is number 1 in WEBHOOKS · event 31', 'Block 106 · Since'],
      ...['Deposits seen there, and waiting: 2', 'look for nodes-disagree, node-lies.'],
    ]) {
      expect(status).toContain(words)
    }
    expect(status).not.toContain('Block 103') // the alarm for block 103 follows from the gap that is named
    faults[4]?.[1](Object.assign(at.desk, wellDesk()))
    at.desk.summary.scan.problem = 'no-answer'
    await poke(page)
    await seeIn(page, '.status', 'Too few nodes answer · the scan has not advanced')
  })

  it('says of a node that fails or cannot be used why it failed last, with its alarm and where too few nodes answer', async () => {
    const { summary } = at.desk
    const failure = 'this part of its HTTP API is switched off (HTTP 404)'
    summary.quorum = 1 // otherwise the first sentence would be that too few nodes answer
    Object.assign(summary.nodes?.[1] ?? {}, { state: 'refuses', failure, failed_at: ago(20) })
    summary.alarms.push(alarm('node-unfit', { node: 2 }))
    const page = await open()
    await seeIn(page, '#state', 'is a lite node')
    await seeIn(page, '.status', failure)
    Object.assign(summary.scan, { status: 'behind', behind: 102, msg: 'nodes', finalized_at: ago(365) })
    await poke(page)
    await seeIn(page, '#state', 'The newest final block is 6 min old')
    await seeIn(page, '.status', 'node 2 (two.example): refuses')
    await seeIn(page, '.status', failure)
  })

  it('says that the scan falls behind, why, and what to do', async () => {
    const { summary } = at.desk
    Object.assign(summary.scan, { status: 'behind', behind: 400, problem: 'out-of-time', msg: 'behind by 400 blocks' })
    summary.alarms.push(alarm('scan-behind'))
    const page = await open()
    await seeIn(page, '#state', 'For ten minutes the scan was more than two minutes of blocks below')
    await seeIn(page, '.status', 'Run npm run doctor -- --production: it asks each node')
  })

  it('gives no amount for certain where decimals differ, and none to the user', async () => {
    faults[7]?.[1](at.desk)
    addEvents(at.desk)
    const page = await open()
    await seeIn(page, '#state', 'USDT: the decimals')
    await seeIn(page, '.status', 'USDT: cuy 2 in CURRENCIES · Held deposits: 1')
    await seeIn(page, '[data-cuy="2"]', 'Its amounts are not certain')
    expect(await textOfFirst(page, '[data-cuy="1"]')).not.toContain('not certain')
    await seeIn(page, 'section:has(> #lists)', '25 USDT (not certain)')
    await showList(page, 'events')
    await seeIn(page, 'section:has(> #lists)', 'Deposit: On its way · 25 USDT (not certain)')
    expect(await askDesk(page, txidOf(9))).toContain('npm run operate -- currency --cuy 2')
    expect(await textOfFirst(page, 'blockquote')).toMatch(/^Your payment of USDT has arrived and is safe/)
  })

  it('says what an issuer did: in the sums, and in the stories of the address and of its user', async () => {
    for (const [name, change] of faults) if (name === 'a frozen address') change(at.desk)
    Object.assign(at.desk.summary.currencies[1] ?? {}, { destroyed: exact('10.5') })
    const page = await open()
    await seeIn(page, '#state', 'has frozen an address')
    await seeIn(page, '[data-cuy="2"]', 'Of this, frozen by the issuer: 25 on 1 addresses. It cannot be collected.')
    expect(await textOfFirst(page, '[data-cuy="2"]')).toContain('Destroyed by the issuer−10.5')
    expect(await textOfFirst(page, '[data-cuy="1"]')).not.toContain('issuer')
    for (const question of [payAddress, '7']) {
      const story = await askDesk(page, question)
      expect(story).toContain('Frozen by the issuer of USDT')
      expect(story).toContain('user keeps the credit')
    }
    at.desk.deposits = [] // even without deposits, as the user may have paid to other addresses
    expect(await askDesk(page, '7')).toContain('Frozen by the issuer of USDT')
    at.desk.frozen = []
    expect(await askDesk(page, payAddress)).not.toContain('issuer')
  })

  it('lists what waits for a look, with its age, and leads to it', async () => {
    for (const [name, change] of faults) if (name === 'a deposit that waits for a look') change(at.desk)
    const page = await open()
    await seeIn(page, '#state', 'A person looks at it before it is credited')
    expect(await textOfFirst(page, '.status')).toContain('2\u00a0h')
    await page.click('.status button')
    await seeIn(page, 'section:has(> #lists)', '25 USDT')
    expect(await textOfFirst(page, 'section:has(> #lists) table')).toContain('2\u00a0h')
    expect(await askDesk(page, txidOf(9))).toContain('Decide: credit it, or refuse it')
  })

  it('says where addresses were read before their newest deposits', async () => {
    Object.assign(at.desk.summary.currencies[0] ?? {}, { owed: exact('300'), held: exact('0'), unread: 1 })
    const page = await openWell()
    await seeIn(page, '[data-cuy="1"]', 'Of these, perhaps read before their newest deposit: 1.')
    expect(await textOfFirst(page, '[data-cuy="2"]')).not.toContain('before')
    expect(await page.$('.currencies .fault')).toBeNull()
  })

  it.each([
    ['en', 'Database1,234 MB of 10,000 MB (12 %)', 'Full on 2027-03-04'],
    ['zh-CN', '数据库1,234 MB，上限 10,000 MB（12 %）', '将于 2027-03-04 写满'],
  ])('shows the size of the database, and the day on which it is full: %s', async (language, size, full) => {
    const page = await open({ ...desktop, languages: [language] })
    await seeIn(page, '.delays', size)
    expect(await textOfFirst(page, '.delays')).not.toContain(full)
    at.desk.summary.database.full_on = '2027-03-04'
    await poke(page)
    await seeIn(page, '.delays', full)
  })

  it('says that the delay of the nodes is not known where it is not', async () => {
    at.desk.summary.scan.finalized_at = null
    const page = await openWell()
    await seeIn(page, '.delays', 'Newest final blockNot known')
  })

  it('says what to do about an answer that does not help, and keeps what it has', async () => {
    const answers: readonly [Scripted, string][] = [
      [{ status: 403, msg: 'the scope must include ledger:read' }, 'Its scope has to include'],
      [{ status: 404, msg: 'no such path' }, 'Set BACKEND_JWT_SECRET'],
      [{ status: 500, msg: 'internal error' }, 'The service cannot answer right now'],
      [{ data: {} }, 'The answer of the service could not be read'],
      [{ status: 401, msg: 'a valid bearer token is required' }, 'The token is wrong or has expired'],
    ]
    const page = await openWell()
    for (const [scripted, says] of answers) {
      pages.answer('/ledger/summary', scripted)
      await poke(page)
      await seeIn(page, '.status', says)
    }
    await see(page, '9,007,199,254.740993')
    expect(await page.$('#token')).not.toBeNull()
  })
})

describe('the box', () => {
  it('answers to a txid with the whole story, and with a sentence for the user', async () => {
    const page = await openWell()
    const story = await askDesk(page, `https://tronscan.org/#/transaction/${txidOf(8)}`)
    const order = ['25 USDT: Credited', 'Seen', payAddress, 'User 7: address 3', 'Final', 'Entry 5: +25 USDT']
    const places = [...order, 'deposit.credited', 'Endpoint 2 has it', 'was credited to your balance'].map((text) =>
      story.indexOf(text),
    )
    expect(places.every((place, index) => place > (places[index - 1] ?? -1))).toBe(true)
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void Object.assign(document, { title: text })
    })
    await page.click('.result .note button')
    await see(page, 'Copied')
    expect(await page.title()).toMatch(/^Your payment of 25 USDT arrived and was credited to your balance on /)
  })

  const review = { reason: 'review', why: 'a person looks at it' }
  const states: readonly [state: string, members: object, says: string, forUser: string][] = [
    ['seen', { seconds: 43 }, 'Not yet: in about 43 s', 'is on its way'],
    [
      'seen',
      {},
      'the answers of the network are late: nobody can say when',
      'are late just now; it is credited by itself',
    ],
    ['seen', { seconds: 0 }, 'By now: its block is read next', 'as soon as its block can be read here'],
    ['dropped', {}, 'Not in the chain any more', 'has dropped the block'],
    ['held', { reason: 'wallet-full', why: 'no room' }, 'has no room for it', 'has arrived and is safe'],
    ['refused', { reason: 'dust', why: 'too small' }, 'less than the smallest amount', 'but it was not credited'],
    ['held', { reason: 'toString', why: 'a new reason' }, 'a new reason', 'a new reason'],
    [
      'held',
      review,
      'No. A person looks at it before it is credited.',
      'yet. A person looks at it before it is credited.',
    ],
    ['refused', review, 'No. A person has refused it.', 'was not credited. A person has refused it.'],
  ]
  it('explains each state and reason of a deposit', async () => {
    const page = await openWell()
    for (const [state, members, says, forUser] of states) {
      at.desk.deposits = [owned(8, state, members)]
      expect(await askDesk(page, txidOf(8))).toContain(says)
      expect(await textOfFirst(page, 'blockquote')).toContain(forUser)
    }
  })

  it('answers to whatever support has: a txid, an address, a user or an order, known or not', async () => {
    const page = await openWell()
    const order = ['Payment: −2.5 USDT', 'Posted by shop', 'entry.posted', 'Endpoint 1 has it']
    const answers: readonly (readonly [question: string, says: readonly string[]])[] = [
      [txidOf(99), ['not known here, nor to any node', 'Ask the user for the txid', 'We cannot find the transaction']],
      [payAddress, ['User 7: address 3', 'Deposits: 1', '25 USDT']],
      ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', ['No user has this address', 'character by character']],
      ['7', ['User 7', '22.5 USDT', 'Deposits: 1', 'Entries: 2', 'two cups', 'Balance after it: ']],
      ['8', ['no deposit, no order and no entry']],
      ['7 order-1001', order],
      ['#7', ['User 7', '22.5 USDT']],
      ['user 7', ['User 7', '22.5 USDT']],
      [
        '7 order-1002',
        ['No order, no entry and no payout has the reference “7 order-1002”', 'look up the user, or the amount'],
      ],
      ['order-1001', [...order, 'User 7']],
      ['ordér', ['No order, no entry and no payout has the reference “ordér”']],
    ]
    for (const [question, says] of answers) {
      const answer = await askDesk(page, question)
      for (const one of says) expect(answer).toContain(one)
    }
    expect(await page.evaluate(() => location.hash)).toBe('#osn=ord%C3%A9r')
    expect(pages.asked('/ledger/address?uid')).toBe(0) // that request would issue an address
  })

  it('finds an order without its user, also where it looks like a user, or like a user with an order', async () => {
    at.desk.summary.payouts = noneOpen()
    const page = await openWell()
    const shop = (osn: string) => posted(7, 5, '1.5', { osn, by: 'shop' })
    for (const osn of ['117', '#117', '117 a', 'user 117']) {
      at.desk.entries = [shop(osn)]
      expect(await askDesk(page, osn), osn).toContain('Refund: +1.5 USDT')
    }
    at.desk.entries = [shop('117')]
    for (const asked of ['order 117', 'Order 117', '订单 117', '订单117']) {
      expect(await askDesk(page, asked), asked).toContain('Refund: +1.5 USDT')
    }
    expect(await askDesk(page, '118')).toContain('no deposit, no order and no entry')
    at.desk.payouts = [paidOut(41, 'waiting', { osn: 'order-9' })]
    expect(await askDesk(page, 'order-9')).toContain('10 USDT: Waits for a person')
  })

  it('goes to the deposits of an amount', async () => {
    at.desk.deposits = [
      owned(9, 'credited', { cuy: 1, amt: exact('61') }),
      owned(8, 'credited', { cuy: 2, amt: exact('61') }),
      owned(7, 'credited', { cuy: 1, amt: exact('61.5') }),
    ]
    const page = await openWell()
    const listed = () => page.$$eval('section:has(> #lists) td button', (all) => all.map((one) => one.textContent))
    for (const [question, found] of [
      ['61 TRX', ['61 TRX']],
      ['61.0', ['61 TRX', '61 USDT']],
      ['trx 61.5', ['61.5 TRX']],
    ] as const) {
      await page.$eval('#question', (input, text) => Object.assign(input, { value: text }), question)
      await page.$eval('form:has(#question)', (form) => (form as HTMLFormElement).requestSubmit()) // safe: a form
      await seeIn(
        page,
        'section:has(> #lists)',
        found.length === 1 ? 'The only one is shown.' : `All ${found.length} are shown.`,
      )
      expect(await listed()).toEqual(found)
    }
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('lists')
  })

  it('says of an endpoint that was added later that it never got the event', async () => {
    Object.assign(at.desk.summary.endpoints[1] ?? {}, { begins_at: '2026-11-23T00:00:00.000Z' })
    const page = await openWell()
    const story = await askDesk(page, '7 order-1001')
    expect(story).toContain('Endpoint 1 has it')
    expect(story).toContain('Endpoint 2 was added later, and never got it')
  })

  it('says which endpoint lacks the event', async () => {
    faults[3]?.[1](at.desk)
    at.desk.entries = at.desk.entries.map((one) => ({ ...one, created_at: ago(60) }))
    const page = await open()
    await seeIn(page, '#state', 'Webhook endpoint 2 fails')
    const story = await askDesk(page, '7 order-1001')
    expect(story).toContain('Endpoint 1 has it')
    expect(story).toContain('Endpoint 2 does not have it yet HTTP 500')
  })
})

describe('the lists of the summary', () => {
  it('lead from each row to its story, and come as files', async () => {
    for (const [, change] of faults.slice(0, 4)) change(at.desk)
    addDifferences(at.desk)
    const page = await open()
    const first = (id: string) => `section:has(> div > #${id}) td button`
    const stories = [
      ['gaps', 'Deposits in these blocks are not credited yet'],
      ['differences', 'More than recorded: +12.5 TRX What to do: Compare'],
    ] as const
    for (const [id, says] of stories) {
      await page.waitForSelector(first(id))
      await page.$eval(first(id), (row) => (row as HTMLElement).click()) // safe: a button
      await seeIn(page, '.result', says)
    }
    await page.$$eval('.delays button', (all) => all.at(-1)?.click())
    await seeIn(page, '.result', 'Its events wait in their order')
    expect(await downloadedBy(page, '#gaps + button')).toContain('"100","105"')
    expect(await downloadedBy(page, '#differences + button')).toContain(`"TRX","12.5","${payAddress}"`)
  })
})
