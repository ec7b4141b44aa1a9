import type { HTTPRequest, Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { violationsOf } from './browser.ts'
import { usePages } from './fixture.ts'
import { drawn, seeIn } from './reading.ts'

const pages = usePages()

/**
 * Opens the page, whose scripts are held back until `release` is called, as on a slow connection.
 */
async function openSlowly(reader: object): Promise<{ page: Page; release: () => void }> {
  const page = await pages.open(reader, '', 'about:blank')
  const held: HTTPRequest[] = []
  await page.setRequestInterception(true)
  let isHeld = true
  page.on('request', (request) => {
    if (isHeld && request.url().endsWith('.js')) held.push(request)
    else void request.continue()
  })
  // not awaited, because it resolves only when all scripts have loaded
  void page.goto(`${pages.service.url}/deposit`).catch(() => null)
  const release = () => {
    isHeld = false
    for (const request of held.splice(0)) void request.continue()
  }
  return { page, release }
}

const painted = (page: Page) =>
  page.waitForFunction(
    () => location.pathname === '/deposit' && performance.getEntriesByName('first-contentful-paint').length > 0,
  )

describe('before its scripts are there', () => {
  it.each([
    ['light', false],
    ['dark', true],
  ])('the page is not blank: %s', async (_what, isDark) => {
    const { page, release } = await openSlowly({ isDark })
    await painted(page)
    const shown = await page.$$eval('main .skeleton', (all) =>
      all.map((one) => one.getBoundingClientRect().height > 20),
    )
    expect(shown).toEqual(Array(4).fill(true))
    expect(await page.$eval('header', ({ textContent }) => textContent?.trim())).toBe('Deposit 充值')
    // The card has no colour of its own yet, because a white card would dazzle in the dark theme.
    const card = await page.$eval('.card', (one) => getComputedStyle(one).backgroundColor)
    expect(card).toBe('rgba(0, 0, 0, 0)')
    // nothing yet that looks like an address or a button
    expect(await page.$$('main :not(section):not(div)')).toEqual([])
    release()
    await page.waitForSelector('.address', { visible: true })
    await seeIn(page, 'h1', 'Deposit')
    await drawn(page)
    expect(await pages.shift()).toBeLessThan(0.1)
    expect(await page.$$('body > main')).toHaveLength(1)
    await page.close() // the page intercepts requests, so no other test may get it
  })

  it('is right for a screen reader', async () => {
    const { page, release } = await openSlowly({})
    await painted(page)
    expect(await violationsOf(page)).toEqual([])
    release()
    await page.close()
  })

  it('nothing waits for scripts where there are none: the page says that it needs them', async () => {
    const page = await pages.open({}, '', 'about:blank')
    await page.setJavaScriptEnabled(false)
    await page.goto(`${pages.service.url}/deposit`)
    const text = await page.$eval('noscript', (one) => one.textContent)
    expect(text).toContain('This page needs JavaScript')
    expect(await page.$eval('main', (one) => getComputedStyle(one).display)).toBe('none')
    await page.setJavaScriptEnabled(true)
    await page.close()
  })
})
