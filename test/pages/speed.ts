/**
 * Opens the deposit page as a phone does on a slow connection, with an empty cache and a service that answers at once, and prints when the
 * browser had drawn what: JSON, for `npm run bench -- page`. The argument is how often.
 */
import type { Browser, Page } from 'puppeteer-core'
import { startBrowser, stopBrowser } from './browser.ts'
import { type ScriptedService, startScriptedService } from './scripted-service.ts'
import { newcomer, serve } from './story.ts'

/** A phone of the middle class has about a quarter of the speed of the machine that this runs on. */
const cpuSlowdown = 4
/** Connections: milliseconds for a round trip, and bytes a second down and up. */
const connections = {
  slow4G: { latency: 150, download: 1_600_000 / 8, upload: 750_000 / 8 },
  slow3G: { latency: 400, download: 400_000 / 8, upload: 400_000 / 8 },
}

/** Milliseconds from the navigation until the browser has drawn it. */
interface Times {
  words?: number
  address?: number
}

const [service, started] = await Promise.all([startScriptedService(), startBrowser()])
serve(service, newcomer())
const times: Record<string, Times[]> = {}
for (const [name, connection] of Object.entries(connections)) {
  times[name] = []
  // The first round warms up the browser.
  for (let round = 0; round <= Number(process.argv[2]); round += 1) {
    const drawn = await openOnce(started, service, connection)
    if (round > 0) times[name].push(drawn)
  }
}
process.stdout.write(JSON.stringify(times))
await Promise.all([stopBrowser(started), service.close()])

/** Opens the page once. */
async function openOnce(
  browser: Browser,
  { url }: ScriptedService,
  connection: (typeof connections)[keyof typeof connections],
): Promise<Times> {
  const context = await browser.createBrowserContext() // with a cache of its own
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
    const { drawn } = window as unknown as { drawn: Times } // noteDrawings sets it
    return Object.keys(drawn).length === 2 ? drawn : null
  })
  return (await handle.jsonValue()) ?? {}
}

/** Runs in the page before its own script. */
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
        drawn[name] = performance.now() // after the drawing
      }),
    )
  }
  new MutationObserver(() => {
    note('words', 'h1')
    note('address', '.destination button')
  }).observe(document, { childList: true, subtree: true })
}
