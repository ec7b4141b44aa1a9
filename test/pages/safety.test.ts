import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Reader, violationsOf } from './browser.ts'
import { desktop, usePages } from './fixture.ts'
import { hostile, variants } from './hostile.ts'
import { askAbout, choose, poke, see, seeIn } from './reading.ts'
import { newcomer, regular, type Story, txidOf } from './story.ts'

const pages = usePages()

describe('hostile texts', () => {
  it('in any member of any answer are shown as texts or refused, never run', async () => {
    const page = await pages.open(desktop, '#token=t0')
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    pages.tell(regular())
    const normal = new Map(pages.service.routes)
    let round = 0
    for (const [path, script] of normal) {
      const url = new URL(`${pages.service.url}${path}?limit=20`)
      const sample = script(url, {} as never) // no script here reads the request
      for (const data of variants(sample.data)) {
        pages.service.routes.set(path, () => ({ ...sample, data, msg: hostile }))
        round += 1
        const before = pages.asked('/wallet/flow/list')
        await page.evaluate((token) => location.replace(`#token=${token}`), `t${round}`)
        await page.waitForFunction(() => location.hash === '')
        await expect
          .poll(() => pages.asked('/wallet/flow/list'), { interval: 5, timeout: 20_000 })
          .toBeGreaterThan(before)
      }
      pages.service.routes.set(path, script)
    }
    expect(round).toBeGreaterThan(60)
    expect(dialogs).toEqual([])
    await page.evaluate(() => location.replace('#token=last'))
    await seeIn(page, '.balances', '3.5')
    pages.answer('/tron/recharge', { status: 422, msg: hostile })
    expect(await askAbout(page, txidOf(1))).toContain('<img src=x')
    expect(await page.$$eval('img, script, iframe, object', (all) => all.length)).toBe(2) // the scripts of the page
  })
})

describe('accessibility', () => {
  it.each<[string, Reader, Story]>([
    ['light on a phone', {}, regular()],
    ['dark on a desktop', { ...desktop, isDark: true }, regular()],
    ['dark on a phone in Chinese', { isDark: true, languages: ['zh-CN'] }, newcomer()],
    ['light at 200 % zoom', { width: 640, height: 430, scale: 2 }, { ...regular(), network: 'local' }],
  ])('has no violations: %s', async (_what, reader, story) => {
    pages.tell(story)
    const page = await pages.openLoaded(reader)
    await choose(page, 2)
    pages.answer('/tron/recharge', { status: 422, msg: 'the transaction failed' })
    await askAbout(page, txidOf(1))
    pages.answer('/tron/deposits', { status: 503, msg: 'later' })
    await poke(page)
    await page.waitForSelector('.trouble:not([hidden])')
    await page.$$eval('details', (all) => {
      for (const one of all) one.open = true
    })
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  })

  it('needs no more than a keyboard, in the order of the page', async () => {
    const page = await pages.openLoaded(desktop)
    const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id)
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('中文')
    await page.keyboard.press('Enter')
    await see(page, '选择要充值的币种')
    expect(await focused()).toBe('English') // the focus stays where it was
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await see(page, 'Send only TRX')
    await page.keyboard.press('ArrowDown')
    await see(page, 'Send only USDT')
    const order: unknown[] = []
    for (let press = 0; press < 5; press += 1) {
      await page.keyboard.press('Tab')
      order.push(await focused())
    }
    expect(order).toEqual(['Copy the address', 'Check now', 'txid', 'Look it up', expect.stringContaining('All')])
  })
})

describe('the files', () => {
  it('are no more than 30 KB in all, gzipped', () => {
    const files = [...pages.service.files].filter(([path]) => path.startsWith('/deposit'))
    const sizes = files.map(([, { content }]) => gzipSync(content).length)
    expect(sizes.length).toBe(4)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(30_720)
  })
})
