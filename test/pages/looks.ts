/** Every look of a page, language by theme by window, and what is wrong in one: by what the browser has drawn. */
import type { Page } from 'puppeteer-core'
import { violationsOf } from './browser.ts'
import { misfits } from './misfits.ts'
import { foreignTexts } from './reading.ts'

/** A window, in pixels. */
export interface Window {
  readonly width: number
  readonly height: number
}

/** From the narrowest phone to a wide desktop. */
export const windows = [
  { width: 320, height: 568 },
  { width: 360, height: 640 },
  { width: 390, height: 844 },
  { width: 1366, height: 650 },
  { width: 1920, height: 1_080 },
] as const satisfies readonly Window[]

/** The languages of the pages: as a browser names them, and as the page has to. */
export const languages = [
  ['en', 'en'],
  ['zh', 'zh-CN'],
] as const

/** The themes, with the paper and the ink of each. */
export const themes = {
  light: ['rgb(244, 245, 243)', 'rgb(23, 32, 29)'],
  dark: ['rgb(16, 20, 19)', 'rgb(231, 236, 234)'],
} as const

/** A desktop at 200 % zoom. */
const zoomed = { width: 640, height: 430 }

/** The language that a page has to have. */
type Tag = (typeof languages)[number][1]
type Theme = keyof typeof themes
/** The width at which axe looks, by language and theme: it takes longest. */
type AxeAt = Readonly<Partial<Record<`${Tag} ${Theme}`, (typeof windows)[number]['width']>>>
/**
 * Each language and each theme once, and a phone and a desktop, for there is no third way to lay out parts. The colours of a state do
 * not depend on the language, nor its names on the theme. The widths are exchanged from one state to the next.
 */
const axeWidths: readonly AxeAt[] = [
  { 'en light': 320, 'zh-CN dark': 1_366 },
  { 'en light': 1_366, 'zh-CN dark': 320 },
]

/** What has to be seen in a state without scrolling, by its selectors: in some windows less than in others. */
export type Seen = (window: Window) => readonly string[]

/**
 * What is wrong with an open page, in both themes and all windows; each with where. `nth` is the place of its state among the others.
 */
export async function wrongLooks(page: Page, tag: Tag, seen: Seen, nth: number): Promise<string[]> {
  const axeAt = axeWidths[nth % axeWidths.length] ?? {}
  const found: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    await page.evaluate(() => new Promise(requestAnimationFrame)) // the page hears of the theme before its next frame
    for (const window of windows) {
      await page.setViewport(window)
      const wrong = await misfits(page, seen(window))
      if (axeAt[`${tag} ${theme}`] === window.width) wrong.push(...(await violationsOf(page)))
      found.push(...wrong.map((one) => `${tag} ${theme} ${window.width}: ${one}`))
    }
    await page.setViewport(zoomed)
    found.push(...(await misfits(page)).map((one) => `${tag} ${theme} zoomed: ${one}`))
    const applied = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body)
      return [document.documentElement.lang, backgroundColor, color]
    })
    const wanted = [tag, ...themes[theme]]
    found.push(...applied.flatMap((one, index) => (one === wanted[index] ? [] : [`${tag} ${theme}: ${one}`])))
  }
  return [...found, ...(await foreignTexts(page, tag)).map((text) => `${tag}: another language: ${text}`)]
}
