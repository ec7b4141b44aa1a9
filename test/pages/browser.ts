/** A real browser: the one of the npm package on Linux x64, else the one that is installed, or that of CHROME_PATH. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import axe from 'axe-core'
import puppeteer, { type Browser, type BrowserContext, type HTTPRequest, type Page } from 'puppeteer-core'
import { endGroup } from '../support/child-processes.ts'
import { root, UserError } from '../support/project.ts'
import { hanFont } from './han-font.ts'

/** The package unpacks its libraries only where it takes the machine for a Lambda. */
const lambda = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x', AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
const cache = `${root}node_modules/.cache/`
/** Its own arguments need a GPU. */
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

/** What a reader's browser is like. */
export interface Reader {
  readonly width?: number
  readonly height?: number
  readonly languages?: readonly string[]
  readonly isDark?: boolean
  /** Pixels of the screen for one of the page: two shows it as at 200 % zoom where the width is halved. */
  readonly scale?: number
}

/** An open page with what must not happen in it. */
export interface OpenPage {
  readonly page: Page
  /** Uncaught errors, errors of the console, and violations of the content security policy. */
  readonly faults: readonly string[]
  /** How far visible things have moved without an action of the reader. */
  shift(): Promise<number>
  /** Leaves the page as if nobody had been here: without storage, history and faults. */
  leave(): Promise<void>
  /** Opens an address in the page that was left, as another reader. */
  again(url: string, reader?: Reader): Promise<void>
  close(): Promise<void>
}

/** Starts the browser. */
export async function startBrowser(): Promise<Browser> {
  return puppeteer.launch({ ...(await findBrowser()), headless: 'shell', args })
}

/** Ends the browser at once: one that is asked to close sometimes never does. */
export async function stopBrowser(browser: Browser): Promise<void> {
  const pid = browser.process()?.pid
  if (pid !== undefined) endGroup(pid, 'SIGKILL')
  await browser.close()
}

/** Where the browser is, and what its process needs. */
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
 * The folder with the browser of the package, which is unpacked once. It gets its name when all of it is there: the package
 * itself takes what another process still writes, or what an ended one has left.
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
    rmSync(own, { recursive: true }) // another process was first
  }
  return folder
}

/** Writes what says where fonts are: those of the package, and one for Chinese. Returns its path. */
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
    renameSync(`${own}/${name}.${process.pid}`, `${own}/${name}`) // another process may read it now
  }
  return `${own}/fonts.conf`
}

/** So long the browser waits for answers while time passes. It can go on waiting for one that it has had, if it was asked for before. */
const answersMs = 20_000
/** So long such answers are waited for before: some of them never come. */
const earlierAnswersMs = 1_000
/** The requests of each page that are under way. */
const underWay = new WeakMap<Page, Set<HTTPRequest>>()

/** Resolves when no request of a page is under way, or after a while. */
async function answersHaveCome(page: Page): Promise<void> {
  const end = performance.now() + earlierAnswersMs
  while ((underWay.get(page)?.size ?? 0) > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Pages whose time no longer passes by itself. */
export const outOfTime = new WeakSet<Page>()

/**
 * Lets time pass in a page, as far as it can see: its timers fire one after the other, without waiting. While the page waits for an
 * answer, its time stands still; after this it does so for good, but for more of this.
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

/** A wait that is longer hangs: a busy machine is slower than a quiet one. */
const waitMs = 120_000

/** Opens an address as a reader, in a context of its own. */
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
    shift: () => page.evaluate(() => (window as unknown as { shift: number }).shift), // watchPage sets it
    async leave() {
      await page.evaluate(() => {
        localStorage.clear()
        sessionStorage.clear()
      })
      await page.goto('about:blank')
      requests.clear() // of some that the page has left no end is reported
      const session = await page.createCDPSession()
      await session.send('Page.resetNavigationHistory')
      await session.detach()
      faults.length = 0
    },
    again: (url, reader = {}) => show(url, reader),
    close: () => context.close(),
  }
}

/** Runs in the page before its own script. */
function watchPage(languages: string[]): void {
  Object.defineProperty(navigator, 'languages', { get: () => languages })
  const own = window as unknown as { shift: number; reportFault(text: string): void } // openAs exposes the function
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

/** What axe finds wrong for people who use a screen reader or a keyboard: the rules with their elements. `only`: of these rules. */
export async function violationsOf(page: Page, only: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate((rules) => {
    const found = { resultTypes: ['violations' as const] } // what is right is not listed: that takes a quarter of the time
    return (window as unknown as { axe: typeof axe }).axe.run(
      rules === null ? found : { ...found, runOnly: [...rules] },
    )
  }, only)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
