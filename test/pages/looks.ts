/** Checks how a page looks in each language, theme and window, by what the browser has drawn. */
import type { Page } from 'puppeteer-core'
import { resize, violationsOf } from './browser.ts'
import { misfits } from './misfits.ts'
import { foreignTexts } from './reading.ts'

/** The size of a window, in pixels. */
export interface Window {
  readonly width: number
  readonly height: number
}

/** The windows from the narrowest phone to a wide desktop. */
export const windows = [
  { width: 320, height: 568 },
  { width: 360, height: 640 },
  { width: 390, height: 844 },
  { width: 1366, height: 650 },
  { width: 1920, height: 1_080 },
] as const satisfies readonly Window[]

/** The languages: as the browser names them, and as the page's `lang` must. */
export const languages = [
  ['en', 'en'],
  ['zh', 'zh-CN'],
] as const

/** The themes, with the background colour and the text colour that the page must have. */
export const themes = {
  light: ['rgb(244, 245, 243)', 'rgb(23, 32, 29)'],
  dark: ['rgb(16, 20, 19)', 'rgb(231, 236, 234)'],
} as const

/** A desktop at 200 % zoom. */
const zoomed = { width: 640, height: 430 }

/** The `lang` that the page must have. */
type Tag = (typeof languages)[number][1]
type Theme = keyof typeof themes
const themeNames: readonly [Theme, Theme] = ['light', 'dark']
/** The windows for axe: a phone and a desktop, which are the only two layouts. */
const axeWindows = [windows[0], windows[3]] as const

/**
 * The selectors of what must be visible without scrolling. A small window may need fewer of them.
 */
export type Seen = (window: Window) => readonly string[]

/** The most frames until the page has changed to the browser's theme. */
const themeFramesMax = 60

/** Runs in the page: waits until its background has the colour `paper`. */
async function waitForPaper(paper: string, framesMax: number): Promise<void> {
  for (let frames = 0; frames < framesMax; frames += 1) {
    await new Promise(requestAnimationFrame)
    if (getComputedStyle(document.body).backgroundColor === paper) return
  }
}

/**
 * All that is wrong with the look of an open page, each with language, theme and window. `nth` is
 * the number of the page's state. To save time, each window is checked in one theme for the first
 * language and in the other theme for the second: a theme moves nothing. axe takes longest, so it
 * checks once in each language: with the light theme in one and the dark theme in the other,
 * alternating between phone and desktop.
 */
export async function wrongLooks(page: Page, tag: Tag, seen: Seen, nth: number): Promise<string[]> {
  const isSecond = Number(tag !== languages[0][1])
  const found: string[] = []
  const note = (where: string, wrong: readonly string[]) => found.push(...wrong.map((one) => `${tag} ${where}: ${one}`))
  for (const [place, theme] of themeNames.entries()) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    await page.evaluate(waitForPaper, themes[theme][0], themeFramesMax)
    for (const window of [...windows, zoomed].filter((_, index) => (index + nth + isSecond) % 2 === place)) {
      await resize(page, window)
      note(`${theme} ${window.width}`, await misfits(page, window === zoomed ? [] : seen(window)))
    }
    const applied = await page.evaluate(() => {
      const { backgroundColor, color } = getComputedStyle(document.body)
      return [document.documentElement.lang, backgroundColor, color]
    })
    const wanted = [tag, ...themes[theme]]
    note(
      theme,
      applied.filter((one, index) => one !== wanted[index]),
    )
    if (place !== isSecond) continue
    const window = axeWindows[(nth + isSecond) % 2] ?? windows[0]
    await resize(page, window)
    note(`${theme} ${window.width}`, await violationsOf(page))
  }
  note('another language', await foreignTexts(page, tag))
  return found
}
