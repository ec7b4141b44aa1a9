/**
 * A real browser. On Linux x64 it comes from an npm package; elsewhere it is an installed one, or
 * the one of CHROME_PATH.
 */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import axe from 'axe-core'
import puppeteer, {
  type Browser,
  type BrowserContext,
  type HTTPRequest,
  type Page,
  type Viewport,
} from 'puppeteer-core'
import { endGroup } from '../support/child-processes.ts'
import { root, UserError } from '../support/project.ts'
import { hanFont } from './han-font.ts'

/** Makes the package believe that it runs on AWS Lambda: only there it unpacks its libraries. */
const lambda = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x', AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
const cache = `${root}node_modules/.cache/`
/** Chrome's options. The package's own ones need a GPU. */
const args = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
]

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** The browser settings of a reader. By default a phone with a light theme, in English. */
export interface Reader {
  readonly width?: number
  readonly height?: number
  readonly languages?: readonly string[]
  readonly isDark?: boolean
  /**
   * Screen pixels for each pixel of the page. Two with half the width shows the page as at 200 %
   * zoom.
   */
  readonly scale?: number
}

/** An open page, with what a test checks beside its content. */
export interface OpenPage {
  readonly page: Page
  /** Uncaught errors, errors in the console, and violations of the content security policy. */
  readonly faults: readonly string[]
  /** The sum of the layout shifts that no action of the reader has caused. */
  shift(): Promise<number>
  /**
   * Clears the page's storage, history and faults, and leaves it, so that another reader can have
   * it.
   */
  leave(): Promise<void>
  /** Opens a URL for another reader, in the page that `leave` has cleared. */
  again(url: string, reader?: Reader): Promise<void>
  close(): Promise<void>
}

/** Starts a headless browser; `stopBrowser` must end it. */
export async function startBrowser(): Promise<Browser> {
  return puppeteer.launch({ ...(await findBrowser()), headless: 'shell', args })
}

/** Kills the browser: if it is asked to close, it sometimes never does. */
export async function stopBrowser(browser: Browser): Promise<void> {
  const pid = browser.process()?.pid
  if (pid !== undefined) endGroup(pid, 'SIGKILL')
  await browser.close()
}

/** The path of the browser, and the environment that it needs. */
async function findBrowser(): Promise<{ readonly executablePath: string; readonly env?: NodeJS.ProcessEnv }> {
  const { CHROME_PATH: chosen } = process.env
  if (chosen) return { executablePath: chosen }
  if (process.platform === 'linux' && process.arch === 'x64') {
    const folder = await unpackBrowser()
    const own = { LD_LIBRARY_PATH: `${folder}/al2023/lib`, FONTCONFIG_FILE: writeFonts(folder) }
    return { executablePath: `${folder}/chromium`, env: { ...process.env, ...own } }
  }
  const found = installed.find((path) => existsSync(path))
  if (found === undefined) throw new UserError('No browser was found: set CHROME_PATH to the path of one.')
  process.stderr.write(`The browser of these tests is ${found}.\n`)
  return { executablePath: found }
}

/**
 * The folder with the package's browser, which is unpacked once. It is unpacked under another name
 * and then renamed: the package would otherwise use files that another process is still writing, or
 * that an ended process has left incomplete.
 */
async function unpackBrowser(): Promise<string> {
  const folder = `${cache}browser`
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const own = mkdtempSync(`${folder}-`)
  const env = { ...process.env, ...lambda, TMPDIR: own }
  await promisify(execFile)(process.execPath, [`${root}test/pages/unpack-browser.ts`], { env })
  try {
    renameSync(own, folder)
  } catch (thrown) {
    if (!existsSync(folder)) throw thrown
    rmSync(own, { recursive: true }) // another process was faster
  }
  return folder
}

/**
 * Writes a fontconfig file that names the package's fonts and one for Chinese. Returns its path.
 */
function writeFonts(folder: string): string {
  const own = `${cache}fonts`
  mkdirSync(own, { recursive: true })
  const dirs = [`${folder}/fonts`, own].map((dir) => `<dir>${dir}</dir>`).join('')
  const files = {
    'han.ttf': hanFont(),
    'fonts.conf': `<fontconfig>${dirs}<cachedir>${own}/cache</cachedir></fontconfig>\n`,
  }
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(`${own}/${name}.${process.pid}`, content)
    // another process may be reading it: rename replaces it at once
    renameSync(`${own}/${name}.${process.pid}`, `${own}/${name}`)
  }
  return `${own}/fonts.conf`
}

/**
 * How long `passTime` lets the browser wait for answers: the browser sometimes goes on waiting for
 * an answer that it has already received.
 */
const answersMs = 20_000
/** How long `passTime` first waits for answers to earlier requests: some never come. */
const earlierAnswersMs = 1_000
/** The requests of each page without an answer yet. */
const underWay = new WeakMap<Page, Set<HTTPRequest>>()

/** Resolves when no request of the page is under way, or after `earlierAnswersMs`. */
async function answersHaveCome(page: Page): Promise<void> {
  const end = performance.now() + earlierAnswersMs
  while ((underWay.get(page)?.size ?? 0) > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** The pages in which `passTime` has stopped the clock. */
export const outOfTime = new WeakSet<Page>()

/**
 * Moves the page's clock forward: its timers fire one after the other, without real waiting. The
 * clock stands still while the page waits for an answer. Afterwards it moves only by further calls.
 */
export async function passTime(page: Page, ms: number): Promise<void> {
  outOfTime.add(page)
  await answersHaveCome(page)
  const session = await page.createCDPSession()
  const over = new Promise<void>((resolve) => session.once('Emulation.virtualTimeBudgetExpired', () => resolve()))
  const begin = (policy: 'pauseIfNetworkFetchesPending' | 'advance') =>
    session.send('Emulation.setVirtualTimePolicy', { policy, budget: ms })
  await begin('pauseIfNetworkFetchesPending')
  const timer = setTimeout(() => void begin('advance'), answersMs)
  await over
  clearTimeout(timer)
  await session.detach()
}

/** How many frames a page has for the new size of its window, and how often the size is sent. */
const resizeFramesMax = 60
const resizesMax = 5

/**
 * Resizes the window and waits until the page has its size. A busy Chrome sometimes answers that it
 * has resized the window, and never tells the page.
 *
 * @throws {Error} if the page does not get its size
 */
export async function resize(page: Page, window: Viewport): Promise<void> {
  const { width, height } = window
  for (let sent = 0; sent < resizesMax; sent += 1) {
    await page.setViewport(window)
    if (await page.evaluate(waitForSize, width, height, resizeFramesMax)) return
    await page.setViewport({ ...window, width: width + 1 }) // Chrome does nothing if it is sent the same size again
  }
  throw new Error(`The browser did not tell the page that its window is ${width} x ${height} pixels.`)
}

/** Runs in the page: whether its window gets the size within `framesMax` frames. */
async function waitForSize(width: number, height: number, framesMax: number): Promise<boolean> {
  const hasSize = () => innerWidth === width && innerHeight === height
  for (let frames = 0; frames < framesMax && !hasSize(); frames += 1) await new Promise(requestAnimationFrame)
  await new Promise(requestAnimationFrame)
  return hasSize()
}

/** Longer than any wait on a busy machine: after this time a test counts as hanging. */
const waitMs = 120_000

/** Opens a URL for a reader, in a browser context of its own. */
export async function openAs(browser: Browser, address: string, first: Reader = {}): Promise<OpenPage> {
  const context: BrowserContext = await browser.createBrowserContext()
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  const requests = new Set<HTTPRequest>()
  underWay.set(page, requests)
  page.on('request', (one) => requests.add(one))
  for (const end of ['requestfinished', 'requestfailed'] as const) page.on(end, (one) => requests.delete(one))
  await page.exposeFunction('reportFault', (text: string) => faults.push(text))
  let watch = ''
  const show = async (url: string, reader: Reader) => {
    const { width = 390, height = 844, languages = ['en'], isDark = false, scale = 1 } = reader
    await page.setViewport({ width, height, deviceScaleFactor: scale })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }])
    if (watch !== '') await page.removeScriptToEvaluateOnNewDocument(watch)
    watch = (await page.evaluateOnNewDocument(watchPage, [...languages])).identifier
    await page.goto(url)
  }
  await show(address, first)
  return {
    page,
    faults,
    shift: () => page.evaluate(() => (window as unknown as { shift: number }).shift), // safe: `watchPage` sets it
    async leave() {
      await page.evaluate(() => {
        localStorage.clear()
        sessionStorage.clear()
      })
      await page.goto('about:blank')
      requests.clear() // Chrome does not report the end of some requests of a page that was left
      const session = await page.createCDPSession()
      await session.send('Page.resetNavigationHistory')
      await session.detach()
      faults.length = 0
    },
    again: (url, reader = {}) => show(url, reader),
    close: () => context.close(),
  }
}

/** Runs in the page, before the page's own scripts. */
function watchPage(languages: string[]): void {
  Object.defineProperty(navigator, 'languages', { get: () => languages })
  // safe: `openAs` exposes the function
  const own = window as unknown as { shift: number; reportFault(text: string): void }
  own.shift = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (!entry.hadRecentInput) own.shift += entry.value
    }
  }).observe({ type: 'layout-shift', buffered: true })
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    own.reportFault(`${violatedDirective}: ${blockedURI}`)
  })
}

/**
 * The violations of accessibility that axe finds: each rule with the HTML of its elements. `only`
 * limits the check to these rules.
 */
export async function violationsOf(page: Page, only: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate((rules) => {
    // axe is four times as fast if it does not list the rules that hold
    const found = { resultTypes: ['violations' as const] }
    return (window as unknown as { axe: typeof axe }).axe.run(
      rules === null ? found : { ...found, runOnly: [...rules] },
    )
  }, only)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
