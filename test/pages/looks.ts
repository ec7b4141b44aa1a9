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
const themeNames: readonly [Theme, Theme] = ['light', 'dark']
/** A phone and a desktop: there is no third way to lay out parts. */
const axeWindows = [windows[0], windows[3]] as const

/** What has to be seen in a state without scrolling, by its selectors: in some windows less than in others. */
export type Seen = (window: Window) => readonly string[]

/** The page has the theme of the browser some frames later. */
const themeFramesMax = 60

/** Runs in the page. */
async function waitForPaper(paper: string, framesMax: number): Promise<void> {
  for (let frames = 0; frames < framesMax; frames += 1) {
    await new Promise(requestAnimationFrame)
    if (getComputedStyle(document.body).backgroundColor === paper) return
  }
}

/** Makes a window so large, and waits until the page is laid out in it: a busy browser takes some frames. */
async function resize(page: Page, window: Window): Promise<void> {
  await page.setViewport(window)
  await page.evaluate(async (width) => {
    for (let frame = 0; frame < 100 && innerWidth !== width; frame += 1) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
  }, window.width)
}

/** How often a page is measured again that does not fit: a busy browser can show the layout of the window before for some frames. */
const measuresMax = 5

/** What does not fit once the page is laid out: what is wrong stays wrong. */
async function settledMisfits(page: Page, seen: Parameters<typeof misfits>[1]): Promise<string[]> {
  let found: string[] = []
  for (let measure = 0; measure < measuresMax; measure += 1) {
    found = await misfits(page, seen)
    if (found.length === 0) break
    await page.evaluate(async () => {
      for (let frame = 0; frame < 20; frame += 1) await new Promise(requestAnimationFrame)
    })
  }
  return found
}

/**
 * What is wrong with an open page, each with where. `nth` is the place of its state among the others. A window has one theme in one
 * language, and the other theme in the other language: a theme moves nothing. axe, which takes longest, looks once in each language: in
 * one with the light theme, in the other with the dark one, and by turns on a phone and on a desktop. The colours of a state do not
 * depend on the language, nor its names on the theme.
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
      note(`${theme} ${window.width}`, await settledMisfits(page, window === zoomed ? [] : seen(window)))
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
