import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { desktop, usePages } from './fixture.ts'
import { hostile, variants } from './hostile.ts'
import { askAbout, openFold, seeIn, tokenOf } from './reading.ts'
import { order, regular, txidOf, withdrawing } from './story.ts'

const pages = usePages()

/**
 * Makes the page request this path again. `round` is the new user's uid, so that nothing comes from
 * the page's memory.
 */
async function askAnew(page: Page, path: string, round: number): Promise<void> {
  const before = pages.asked(path)
  if (path === '/currencies') await page.reload()
  else
    await page.evaluate(
      (token) => location.replace(`#token=${token}`),
      tokenOf({ sub: `${round}`, ...(path === '/tron/orders' ? { order: '1041' } : {}) }),
    )
  await expect.poll(() => pages.asked(path), { interval: 5, timeout: 20_000 }).toBeGreaterThan(before)
}

describe('hostile texts', () => {
  it('in any member of any answer are shown as texts or refused, never run', async () => {
    const { entries, payouts } = withdrawing()
    pages.tell({ ...regular(), entries, payouts, orders: [order({ return: 'https://shop.example/' })] })
    const page = await pages.openLoaded(desktop, `#token=${tokenOf({ sub: '1' })}`)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    await openFold(page, 'wallet')
    await openFold(page, 'arrivals')
    const normal = new Map(pages.service.routes)
    let round = 1
    for (const [path, script] of normal) {
      const url = new URL(`${pages.service.url}${path}?limit=20&order=1041`)
      const sample = script(url, {} as never) // safe: no script here reads the request
      for (const data of variants(sample.data)) {
        pages.service.routes.set(path, () => ({ ...sample, data, msg: hostile }))
        round += 1
        if (path !== '/tron/recharge') await askAnew(page, path, round)
      }
      pages.service.routes.set(path, script)
      if (path === '/currencies') {
        await askAnew(page, path, round)
        await openFold(page, 'wallet')
      }
    }
    expect(round).toBeGreaterThan(60)
    expect(dialogs).toEqual([])
    await page.evaluate((token) => location.replace(`#token=${token}`), tokenOf({ sub: '999' }))
    await seeIn(page, '.balances', '3.5')
    pages.answer('/tron/recharge', { status: 422, msg: hostile })
    expect(await askAbout(page, txidOf(1))).toContain('<img src=x')
    // only the page's own two scripts
    expect(await page.$$eval('img, script, iframe, object', (all) => all.length)).toBe(2)
  })

  it('in a token or in the settings of the page are texts as well', async () => {
    const brand = { name: hostile, color: 'red;}', logo: 'https://elsewhere.example/x' }
    pages.service.settings = { ...noPageSettings, origins: [hostile], brand }
    const reference = hostile.slice(0, 100)
    pages.story.orders = [order({ order: reference, return: 'javascript:alert(1)' })]
    const page = await pages.openFor({ sub: hostile, name: hostile, order: reference })
    await seeIn(page, '.owner', '<img src=x')
    await seeIn(page, '.brand', '<img src=x')
    expect(await page.$$eval('iframe, object, img', (all) => all.length)).toBe(0)
    expect(await page.$$eval('a', (all) => all.filter(({ host }) => host !== 'tronscan.org').length)).toBe(0)
  })
})

describe('accessibility', () => {
  it('needs no more than a keyboard, in the order of the page', async () => {
    const page = await pages.openLoaded(desktop)
    const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id)
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('中文')
    await page.keyboard.press('Enter')
    await seeIn(page, 'h1', '充值')
    expect(await focused()).toBe('English') // the focus stays on the button
    await page.keyboard.press('Enter')
    await seeIn(page, 'h1', 'Deposit')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await seeIn(page, '.pay h2', 'Send USDT')
    const order: unknown[] = []
    for (let press = 0; press < 4; press += 1) {
      await page.keyboard.press('Tab')
      order.push(await focused())
      if (press === 2) await page.keyboard.press('Enter')
    }
    expect(order).toEqual(['Copy the address', 'How to pay', 'I paid, but nothing shows', 'Check for new payments'])
  })
})

describe('the files', () => {
  it('that a reader loads are no more than 30 KB in all, gzipped, in any language, and 7 KB more for the wallet', () => {
    const all = [...pages.service.files].filter(([path]) => path.startsWith('/deposit'))
    const used = all.filter(([path]) => path === '/deposit/wallet.js')
    expect(used.map(([, { gzipped }]) => gzipped.length < 7_168)).toEqual([true])
    const files = all.filter((one) => !used.includes(one))
    const sizes = files.map(([path, { gzipped }]) => ({ path, size: gzipped.length }))
    const sum = (list: typeof sizes) => list.reduce((total, { size }) => total + size, 0)
    const languages = sizes.filter(({ path }) => path.includes('/languages/'))
    expect([sizes.length, languages.length]).toEqual([6, 2])
    const others = sizes.filter((one) => !languages.includes(one))
    for (const language of languages) expect(sum([...others, language])).toBeLessThan(30_720)
  })
})
