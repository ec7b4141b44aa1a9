/**
 * Measures how soon the deposit page is drawn on a phone with a slow connection, an empty cache and
 * a service that answers at once. Prints JSON, for `npm run bench -- page`. The argument is the
 * number of rounds.
 */
import type { Browser, Page } from 'puppeteer-core'
import { startBrowser, stopBrowser } from './browser.ts'
import { type ScriptedService, startScriptedService } from './scripted-service.ts'
import { newcomer, serve } from './story.ts'

/** A middle-class phone has about a quarter of this machine's speed. */
const cpuSlowdown = 4
/** Latency of a round trip in milliseconds; download and upload in bytes per second. */
const connections = {
  slow4G: { latency: 150, download: 1_600_000 / 8, upload: 750_000 / 8 },
  slow3G: { latency: 400, download: 400_000 / 8, upload: 400_000 / 8 },
}

/**
 * Milliseconds from the navigation until the browser has drawn the heading (`words`) and the
 * address.
 */
interface Times {
  words?: number
  address?: number
}

const [service, started] = await Promise.all([startScriptedService(), startBrowser()])
serve(service, newcomer())
const times: Record<string, Times[]> = {}
for (const [name, connection] of Object.entries(connections)) {
  times[name] = []
  // The first round is not counted: it warms the browser up.
  for (let round = 0; round <= Number(process.argv[2]); round += 1) {
    const drawn = await openOnce(started, service, connection)
    if (round > 0) times[name].push(drawn)
  }
}
process.stdout.write(JSON.stringify(times))
await Promise.all([stopBrowser(started), service.close()])

async function openOnce(
  browser: Browser,
  { url }: ScriptedService,
  connection: (typeof connections)[keyof typeof connections],
): Promise<Times> {
  const context = await browser.createBrowserContext() // with an empty cache
  const page = await context.newPage()
  await page.setViewport({ width: 390, height: 844 })
  await page.emulateCPUThrottling(cpuSlowdown)
  await page.emulateNetworkConditions(connection)
  await page.evaluateOnNewDocument(noteDrawings)
  await page.goto(`${url}/deposit`)
  const drawn = await drawnTimes(page)
  await context.close()
  return drawn
}

async function drawnTimes(page: Page): Promise<Times> {
  const handle = await page.waitForFunction(() => {
    const { drawn } = window as unknown as { drawn: Times } // safe: `noteDrawings` sets it
    return Object.keys(drawn).length === 2 ? drawn : null
  })
  return (await handle.jsonValue()) ?? {}
}

/**
 * Runs in the page before the page's own scripts. Notes in `window.drawn` when the heading and the
 * address are drawn.
 */
function noteDrawings(): void {
  const drawn: Times = {}
  Object.assign(window, { drawn })
  const noted = new Set<keyof Times>()
  const note = (name: keyof Times, selector: string) => {
    const found = document.querySelector(selector)
    if (found === null || noted.has(name)) return
    noted.add(name)
    requestAnimationFrame(() =>
      setTimeout(() => {
        drawn[name] = performance.now() // after the frame was drawn
      }),
    )
  }
  new MutationObserver(() => {
    note('words', 'h1')
    note('address', '.destination button')
  }).observe(document, { childList: true, subtree: true })
}
