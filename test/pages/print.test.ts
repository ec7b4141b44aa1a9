import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { usePages } from './fixture.ts'
import { openFold, poke, seeIn } from './reading.ts'
import { exact } from './scripted-service.ts'
import { order, payAddress, transfer, txidOf } from './story.ts'

const pages = usePages()
const shop = 'https://shop.example'
const asked = order({ order: 'A-1041', return: `${shop}/` })
const claims = { sub: '7', name: 'Anna Wei', order: 'A-1041' }

/** The texts that are printed, including those that style sheets add. */
async function printedLines(page: Page): Promise<string[]> {
  await page.pdf() // the page prepares itself on its event `beforeprint`
  await page.emulateMediaType('print')
  const lines = await page.evaluate(() => {
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT)
    while (walker.nextNode()) {
      const element = walker.currentNode as Element // safe: the walker shows only elements
      if (!element.checkVisibility() || element.closest('.unseen, noscript')) continue
      const added = getComputedStyle(element, '::after').content
      const own = [...element.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE).map((one) => one.textContent)
      const isSeen = Number.parseFloat(getComputedStyle(element).fontSize) > 0
      const text = `${isSeen ? own.join('') : ''}${/^"(.*)"$/.exec(added)?.[1] ?? ''}`.trim()
      if (text !== '') found.push(text)
    }
    return found
  })
  await page.emulateMediaType('screen')
  return lines
}

describe('on paper', () => {
  it('what was paid is a receipt: order, amount, whole transaction numbers, times', async () => {
    pages.service.settings = {
      ...noPageSettings,
      origins: [shop],
      brand: { name: 'Tea & Co', color: '#635bff', logo: null },
    }
    pages.story.orders = [{ ...asked, amt: '24.5', at_least: '24' }]
    const page = await pages.openFor(claims, { isDark: true })
    pages.story.transfers = [
      transfer(5, 'credited', { amt: exact('5'), created_at: '2026-11-22T14:05:00.000Z' }),
      transfer(4, 'credited', { amt: exact('20'), created_at: '2026-11-22T14:04:00.000Z' }),
    ]
    await poke(page)
    await seeIn(page, '.summary', 'Paid')
    const lines = await printedLines(page)
    const text = lines.join('\n')
    for (const words of [
      ...['Tea & Co', 'Receipt', 'Anna Wei', 'A-1041', 'Paid', '24.5 USDT has arrived and is credited.'],
      ...['Asked for', '24.5 USDT', 'Network', 'TRON', 'Address', payAddress],
      ...['20 USDT', '5 USDT', txidOf(5), txidOf(4), '2026-11-22T14:05:00.000Z', '2026-11-22T14:04:00.000Z'],
      ...[new URL(pages.service.url).host, 'Printed '],
    ]) {
      expect(text).toContain(words)
    }
    expect(
      lines.filter((line) => /^(Copy|Back to|View|How to|中文|I paid|Balance)/.test(line) || line.includes('…')),
    ).toEqual([])
    await page.emulateMediaType('print')
    const colors = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body)
      return [backgroundColor, color]
    })
    expect(colors).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
    const lefts = await page.$$eval('header .brand, .owner, .summary h2', (all) =>
      all.map((one) => one.getBoundingClientRect().left),
    )
    expect(lefts.map((one) => one === lefts[0])).toEqual([true, true, true, true]) // all begin at the same margin
  })

  it('what was paid is a receipt in Chinese, too: address, network and the amount that was asked for', async () => {
    pages.story.orders = [{ ...asked, amt: '25', at_least: '24' }]
    const page = await pages.openFor(claims, { languages: ['zh'] })
    pages.story.transfers = [transfer(4, 'credited', { amt: exact('24') })]
    await poke(page)
    await seeIn(page, '.summary', '支付成功')
    const text = (await printedLines(page)).join('\n')
    for (const words of ['25 USDT', '24 USDT', '网络', 'TRON（波场）', '充值地址', payAddress, 'A-1041', txidOf(4)])
      expect(text).toContain(words)
  })

  it('what is to be paid has the whole address, its code, the amount and the network', async () => {
    pages.story.orders = [asked]
    const page = await pages.openFor(claims)
    await openFold(page, 'how')
    const text = (await printedLines(page)).join('')
    for (const words of ['Send 25 USDT', 'TRON (TRC-20)', 'Only USDT', 'Deposit']) expect(text).toContain(words)
    expect(text).toContain(payAddress.slice(5, -5))
    expect(text).not.toContain('Receipt')
    expect(text).not.toContain('Pay from a crypto wallet')
    await page.emulateMediaType('print')
    expect(await page.$eval('.qr', (code) => code.getBoundingClientRect().width)).toBeGreaterThan(100)
  })
})
