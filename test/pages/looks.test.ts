import { describe, expect, it } from 'vitest'
import { noPageSettings } from '../../src/worker/http/page-settings.ts'
import { resize } from './browser.ts'
import { usePages } from './fixture.ts'
import { languages, themes, windows, wrongLooks } from './looks.ts'
import { misfits } from './misfits.ts'
import { foreignTexts, strange } from './reading.ts'

const pages = usePages()

const layouts: readonly (readonly [what: string, body: string, found: readonly string[]])[] = [
  ['a page that is too wide', '<p style="width: 500px">Wide</p>', ['wider than the window: 500']],
  ['a text that leaves the window', '<p style="margin-left: -50px">Left</p>', ['beyond the window: Left']],
  ['a text that leaves its box', '<p style="width: 50px">Unbreakable</p>', ['cut off: Unbreakable']],
  [
    'a text that is cut off',
    '<div style="overflow: hidden; height: 10px"><p style="padding-top: 9px">Low</p></div>',
    ['cut off: Low'],
  ],
  [
    'a text over another one',
    '<p>Below</p><p style="position: absolute; top: 0">Above</p>',
    ['over another: Below / Above'],
  ],
  [
    'a button over a text',
    '<p>Below</p><button class="b" style="position: absolute; top: 0">.</button>',
    ['over another: button b / Below', 'over another: Below / .'],
  ],
  [
    'what is below the window',
    '<p id="seen" style="margin-top: 700px">x</p>',
    ['not seen: #seen, which ends at 718 of 640'],
  ],
  [
    'what has something over it',
    '<p id="seen">x</p><div style="position: absolute; inset: 0"></div>',
    ['not seen: #seen, which ends at 18 of 640'],
  ],
  ['what is not there', '', ['not there: #seen']],
  [
    'nothing where a part of the page scrolls',
    '<div style="overflow: auto"><p style="width: 500px">Wide</p></div>',
    [],
  ],
  ['nothing in what only a screen reader says', '<p style="clip-path: inset(50%); width: 1px">Said</p>', []],
]

describe('what is wrong in a look of a page', () => {
  it('is found: a page that is too wide, a text that is cut off or over another one, and what is not seen', async () => {
    const page = await pages.open({ width: 360, height: 640 }, '', 'about:blank')
    for (const [what, body, found] of layouts) {
      await page.setContent(`<style>body, p { margin: 0; font: 16px/18px sans-serif }</style>${body}`)
      const seen = JSON.stringify(found).includes('#seen') ? ['#seen'] : []
      expect([what, ...(await misfits(page, seen))]).toEqual([what, ...found])
    }
  })

  it('is found in each theme, window and language', async () => {
    const page = await pages.open({}, '', 'about:blank')
    await page.setContent('<html lang="fr"><p>确认中</p><p>not in the title</p></html>')
    const [en = [], zh = []] = [
      await wrongLooks(page, 'en', () => ['h1'], 0),
      await wrongLooks(page, 'zh-CN', () => ['h1'], 0),
    ]
    for (const { width } of windows) {
      const missing = [...en, ...zh].filter((one) => one.endsWith(` ${width}: not there: h1`))
      // each window is measured in both themes
      expect(new Set(missing.map((one) => one.split(' ')[1]))).toEqual(new Set(['dark', 'light']))
    }
    for (const theme of Object.keys(themes)) {
      for (const wrong of ['fr', 'rgba(0, 0, 0, 0)', 'rgb(0, 0, 0)']) expect(zh).toContain(`zh-CN ${theme}: ${wrong}`)
    }
    const titles = [...en, ...zh].filter((one) => one.includes('document-title')) // found by axe
    expect(titles.map((one) => one.split(': ')[0])).toEqual(['en light 320', 'zh-CN dark 1366'])
    expect(zh).toContain('zh-CN another language: not in the title')
    expect(await foreignTexts(page, 'en')).toEqual(['确认中'])
  })

  it('is measured only when the page has the size of the window', async () => {
    const page = await pages.open({}, '', 'about:blank')
    const hearsAfter = (resizes: number) =>
      page.evaluate((needed) => {
        let heard = 0
        addEventListener('resize', () => {
          heard += 1
        })
        const width = () => (heard > needed ? document.documentElement.clientWidth : 0)
        Object.defineProperty(window, 'innerWidth', { get: width, configurable: true })
      }, resizes)
    await hearsAfter(1)
    await resize(page, windows[1])
    expect(await page.evaluate(() => innerWidth)).toBe(360)
    await hearsAfter(Number.POSITIVE_INFINITY)
    await expect(resize(page, windows[2])).rejects.toThrow('did not tell the page that its window is 390 x 844 pixels')
  })

  it('is measured in a browser whose Chinese is as wide as that of a reader', async () => {
    pages.service.settings = { ...noPageSettings, brand: { name: 'Tea & Co', color: null, logo: null } }
    const page = await pages.openLoaded({ languages: ['zh'] })
    const width = await page.$eval('header h1', (title) => {
      const range = document.createRange()
      range.selectNodeContents(title)
      return range.getBoundingClientRect().width / Number.parseFloat(getComputedStyle(title).fontSize)
    })
    expect(width).toBeCloseTo('充值'.length, 1)
  })

  it('is Chinese with the space of another language in it, or with English', () => {
    const wrong = [
      '已到账 ，暂未入账',
      '已到账。 请等待',
      '正在 确认',
      '发现于 the block of it',
      '已入账.',
      '交易（ 已入账）',
    ]
    expect(wrong.filter((text) => !strange.test(text))).toEqual([])
    expect(languages.map(([, tag]) => tag)).toEqual(['en', 'zh-CN'])
  })
})
